/** Checked by the compiler alone. */

import { z } from 'zod'
import { type AwaitConfig, defineProcess, defineQueueConfig, defineQueueWorker, defineStep, type FlowConfig, type InferInput, type InferState, type KnownEvent, type ProcessConfig, Riverrun, type RunEvent, type StepContext, type Subscription } from '../dist/types/index.js'
import { execute, later, runFlow, runStep } from '../dist/types/testing/index.js'
import { startWorker } from '../dist/types/worker/index.js'

interface TrainingData {
  epochs: number
}

interface TrainingState {
  status: 'idle' | 'training' | 'complete'
  epoch: number
  accuracy: number
  result?: { path: string }
}

export default defineQueueWorker<TrainingData, TrainingState>(async (job, ctx) => {
  const epochs: number = job.data.epochs
  await ctx.state.setBatch({ status: 'training', epoch: 0 })
  await ctx.state.set('result.path', 'x')
  // @ts-expect-error: not one of the values
  await ctx.state.set('status', 'invalid')
  // @ts-expect-error: not a key
  await ctx.state.get('nothing')
  const accuracy: number | undefined = await ctx.state.get('accuracy')
  const epoch: number | undefined = await ctx.state.patch('epoch', (before) => (before ?? 0) + 1)
  const { status } = await ctx.state.patch((state) => ({ status: state.epoch === epochs ? ('complete' as const) : ('training' as const) }))
  // @ts-expect-error: the key wants a number
  await ctx.state.patch('epoch', () => 'x')
  const charge: { id: string } = await ctx.run('charge', async () => ({ id: 'x' }))
  return { accuracy, epoch, status, charge, all: await ctx.state.getAll() }
})

export const config = defineQueueConfig({
  runMode: 'queue',
  queue: 'training',
  concurrency: 2,
  rateLimit: { max: 1, durationMs: 1000 },
  retryPolicy: { attempts: 3, backoff: { type: 'exponential', delayMs: 100, maxDelayMs: 1000, jitter: 0.5 }, onFail: 'dlq' },
  dlq: { enabled: true },
  timeoutMs: 1000,
  idempotencyKey: (input: TrainingData) => String(input.epochs),
  inputSchema: z.object({ epochs: z.number() }),
  outputSchema: { type: 'object' },
  state: z.object({ status: z.enum(['idle', 'training']) }),
  flow: { id: 'ml', role: 'step', step: 'train', emits: ['model.trained'], subscriptions: [{ eventKind: 'data.ready', when: (event) => event.data.rows > 0 }] },
})

/** Every setting that docs/guides/processes.md lists. One that is new there belongs here. */
export const everySetting: Required<ProcessConfig> = {
  runMode: 'queue',
  queue: { name: 'q', concurrency: 2 },
  concurrency: 2,
  key: (input) => input.user,
  keyConcurrency: 1,
  rateLimit: { max: 1, durationMs: 1000 },
  retry: { maxAttempts: 2, backoffMs: 5, onFail: 'drop' },
  retryPolicy: { onFail: 'drop', backoff: { delayMs: 5 } },
  dlq: { queue: 'dead' },
  timeoutMs: 1000,
  idempotencyKey: 'auto',
  idempotencyWindowMs: 1000,
  idempotency: { key: (input) => input.user, windowMs: 1000 },
  throttle: { windowMs: 1000, key: 'input.user' },
  debounce: { delayMs: 1000, key: (input) => input.user },
  batch: { size: 2, waitMs: 5 },
  logs: { maxLines: 1, maxBytes: 1 },
  inputSchema: {},
  outputSchema: {},
  state: {},
  persistFrames: false,
  flow: { id: 'f', limits: { maxSteps: 1 } },
  step: 's',
  role: 'entry',
  triggers: ['go'],
  subscriptions: [{ eventKind: 'go' }],
  join: 'any',
  await: { type: 'trigger', many: 2 },
  emits: ['done'],
  compensation: { step: 'undo' },
  onFailure: 'finish',
  version: '1.0.0',
  name: 'n',
  description: 'd',
  tags: ['t'],
  metadata: { any: 1 },
  logger: { level: 'warn' },
}

export const paced = defineQueueWorker<{ user: string }>(async (job) => job.data.user, {
  throttle: { windowMs: 1000, key: (input) => input.user },
  retryPolicy: { onFail: 'retry' },
  tags: ['t'],
})

// @ts-expect-error: the server has no such setting
defineProcess(() => 1, { cancelGraceMs: 5 })

// @ts-expect-error: a subscription is to one kind of event
export const incomplete: Subscription = { when: (event) => event.data }

// @ts-expect-error: no such mode
defineQueueConfig({ runMode: 'sometimes' })

export const inferred = defineQueueWorker<InferInput<typeof config>, InferState<typeof config>>(async (job, ctx) => {
  const epochs: number = job.data.epochs
  // @ts-expect-error: not one of the values
  await ctx.state.set('status', 'done')
  return epochs
})

export const inline = defineProcess(
  async (input, ctx) => {
    const n: number = input.n
    await ctx.state.set('total', n)
    return { n }
  },
  { inputSchema: z.object({ n: z.number() }), state: z.object({ total: z.number() }) },
)

/** Inputs are parsed, so the handler has what the schema gives. */
export const parsed = defineProcess((input) => input.n.toFixed(), { inputSchema: z.object({ n: z.coerce.number().default(3) }) })

export const batch = defineQueueWorker<TrainingData>(async (jobs) => jobs.map((job) => job.data.epochs), { batch: { size: 10 } })

export const untyped = defineQueueWorker(async (job, ctx) => {
  await ctx.state.set('anything', job.data.whatever)
  return ctx.state.get('anything')
})

const subscription: Subscription = { eventKind: 'order.created', when: (event, ctx) => event.data.total > ctx.input.least, map: (event) => event.data }
const declared: AwaitConfig = { type: 'event', eventKind: 'paid', where: (event, ctx) => event.data.id === ctx.input.id, match: { 'data.id': 'input.id' }, timeout: '24h', onTimeout: 'late' }
const callbacks: AwaitConfig[] = [
  { type: 'trigger', payload: 'order ${input.order}' },
  { type: 'trigger', payload: { order: '${input.order}', lines: [1, null] } },
  { type: 'trigger', payload: (ctx) => ({ order: ctx.input.order, run: ctx.runId.length, total: ctx.state.total }) },
  // @ts-expect-error: no payload sees the name of the flow
  { type: 'trigger', payload: (ctx) => ctx.flowName },
]
const role: FlowConfig = { id: 'order', step: 'pay', subscriptions: [subscription], join: 'all', await: declared, onFailure: 'finish', compensation: { step: 'refund' } }
// @ts-expect-error: a trigger has no eventKind
export const wrong: AwaitConfig = { type: 'trigger', eventKind: 'x' }

export const step = defineStep(
  async (input: { id: string }, ctx) => {
    const where: [string, string, number] = [ctx.runId, ctx.step, ctx.visit]
    await ctx.await.time(5000)
    await ctx.await.time(new Date())
    const event = await ctx.await.event<{ by: string }>({ kind: 'paid', match: { 'data.id': input.id }, timeout: '2d' })
    const by: string | undefined = event.data?.by
    const callback = await ctx.await.trigger<{ yes: boolean }>({ type: 'user', payload: { id: input.id } })
    const { yes }: { yes: boolean } = await callback.wait()
    // @ts-expect-error: no such kind of callback
    await ctx.await.trigger({ type: 'window' })
    await ctx.emit({ kind: 'done', data: 1 })
    return { where, by, yes, url: callback.url }
  },
  { flow: [role, 'gift'], emits: ['done'] },
)

export async function plain(_: { id: string }, ctx: StepContext<{ n: number }>): Promise<number> {
  return (await ctx.state.get('n')) ?? ctx.visit
}

export async function kits(): Promise<string> {
  const one = await runStep(step, { input: { id: 'x' }, events: [{ type: 'paid', at: '1h' }], triggers: { user: () => later('1d', { yes: true }) } })
  const all = await runFlow([step, plain], { entry: 'pay', start: new Date() })
  return one.awaits[0]?.outcome ?? all.visits[0]?.step ?? all.status
}

export async function client(): Promise<number> {
  const riverrun = new Riverrun({ url: 'http://127.0.0.1:4600' })
  const { jobId }: { jobId: string } = await riverrun.enqueue('emails', { to: 'ann' }, { priority: 1 })
  for await (const run of riverrun.watch(jobId)) if (run.status === 'failed') break
  for await (const frame of riverrun.frames('resize', {})) if (frame.type === 'progress') frame.data.pct?.toFixed()
  await riverrun.fire('t1', { yes: true })
  await riverrun.why('run')
  const done = await execute(untyped, {})
  return done.attempt
}

export function reported(event: KnownEvent): string {
  switch (event.type) {
    case 'step.failed':
      return `${event.data?.error.code} ${event.data?.willRetry}`
    case 'step.await.event':
      return `${event.data?.eventKind} ${event.data?.condition?.where} ${event.data?.timeoutAt}`
    case 'step.entered':
      return `${event.data?.undoes?.step}`
    case 'job.waiting':
      return `${event.data?.reason} ${event.data?.error?.code}`
    case 'flow.started':
      // @ts-expect-error: not in the data of this type
      return event.data?.error
    default:
      return event.type
  }
}

export const own: RunEvent = { id: '1-0', ts: '', type: 'order.paid', runId: 'r', flowName: 'f' }

/** A flow need not have an id: its entry's step names it. */
export const nameless: FlowConfig = { role: 'entry', step: 'begin', triggers: ['go'], onFailure: 'finish' }

export async function everything(): Promise<void> {
  const client = new Riverrun()
  const { redriven, goesOn }: { redriven: number; goesOn: boolean } = await client.redrive('q', { perSecond: 5, filter: { code: 'X', before: new Date() } })
  await client.enqueue('q', { redriven, goesOn }, { idempotencyKey: 'k', idempotencyWindowMs: 1000 })
  const { reasons } = await client.why('r')
  const waits = reasons.filter(({ kind }) => kind === 'await-event').map(({ eventKind }): string | undefined => eventKind)
  const run = await client.startAndWait<{ total: number }, { ok: boolean }>('f', {}, { timeoutMs: 1000, tags: waits.map(String) })
  const total: number = run.state.total
  const trigger = await client.triggers.create({ id: 't', type: 'schedule', flow: 'f', config: { everyMs: total } })
  await client.triggers.update(trigger.id, { inputMap: null, version: trigger.version })
  // @ts-expect-error: no such type
  await client.triggers.create({ id: 't', type: 'sometimes', flow: 'f' })
  const worker = await startWorker({ processes: { echo: (input: number) => input, defined: inline, module: { default: () => 1, config } }, concurrency: 2 })
  await worker.stop({ graceMs: 1000 })
}
