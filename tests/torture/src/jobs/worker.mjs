// Takes the jobs of the queue `node`. What it does on which attempt its input says; each attempt
// leaves lines in a file of their own, so that what was recorded can be held against what happened.

import { appendFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'

export const config = {
  queue: 'node',
  concurrency: 8,
  keyConcurrency: 3,
  timeoutMs: 5_000,
  retryPolicy: { attempts: 30, backoff: { type: 'fixed', delayMs: 20 } },
  dlq: { queue: 'node-dead' },
}

export default async function (input, ctx) {
  const note = (what) => appendFileSync('attempts.jsonl', JSON.stringify({ job: ctx.jobId, attempt: ctx.attempt, what }) + '\n')
  note('began')
  await ctx.state.set(`seen.a${ctx.attempt}`, input.n)
  note('wrote')
  ctx.progress(50, { n: input.n })
  ctx.logger.info('half of it', { attempt: ctx.attempt })
  await pause(input.ms, undefined, { signal: ctx.signal })
  switch (input.plan[ctx.attempt - 1] ?? 'work') {
    case 'throw':
      throw Object.assign(new Error('as planned'), { code: 'PLANNED' })
    case 'fatal':
      throw Object.assign(new Error('as planned, for good'), { code: 'PLANNED_FATAL', retriable: false })
    case 'hang':
      await pause(3_600_000, undefined, { signal: ctx.signal })
      break
    case 'exit':
      process.exit(7)
  }
  await ctx.state.set('done', ctx.attempt)
  note('ended')
  return { n: input.n, twice: input.n * 2, attempt: ctx.attempt, by: 'node' }
}
