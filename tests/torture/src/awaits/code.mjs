// Code that waits: it does what its input says, in that order. What it does to the world it notes
// in a file, before it is recorded and after.

import { appendFileSync } from 'node:fs'

export const config = {
  queue: 'torture-code',
  concurrency: 32,
  timeoutMs: 5_000,
  retryPolicy: { attempts: 30, backoff: { type: 'fixed', delayMs: 20 } },
}

export default async function (input, ctx) {
  const note = (name, what) => appendFileSync('effects.jsonl', JSON.stringify({ run: ctx.runId, name, what }) + '\n')
  const answers = []
  for (const [at, wish] of input.plan.entries()) {
    answers.push(await once(wish, at))
  }
  return answers

  async function once(wish, at) {
    switch (wish.do) {
      case 'run': {
        await ctx.run(`r${at}`, () => note(`r${at}`, 'did'))
        note(`r${at}`, 'recorded')
        return { ran: true }
      }
      case 'time':
        await ctx.await.time(wish.ms)
        return { rested: true }
      case 'event': {
        const match = { 'data.key': input.key, 'data.at': at }
        const where = wish.filtered ? '(event) => event.data.n >= 0' : undefined
        return came(async () => (await ctx.await.event({ kind: 'torture.paid', match, where, ...times(wish) })).data.n)
      }
      case 'callback': {
        const callback = await ctx.await.trigger({ type: 'api', payload: { at }, ...times(wish) })
        return came(async () => (await callback.wait()).n)
      }
    }
  }
}

function times({ timeoutMs, lookbackMs }) {
  return { timeout: timeoutMs ?? undefined, lookback: lookbackMs ?? undefined }
}

async function came(wait) {
  try {
    return { came: await wait() }
  } catch (error) {
    if (error.code !== 'AWAIT_TIMEOUT') throw error
    return { late: true }
  }
}
