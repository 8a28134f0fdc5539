/**
 * Runs a handler as a runner would, without a server.
 */

import type { ProcessConfig } from '../config.ts'
import type { Context, Job } from '../context.ts'
import { InvocationContext } from '../ctx/invocation.ts'
import type { Link } from '../ctx/link.ts'
import { redactor } from '../ctx/redact.ts'
import { definition } from '../define.ts'
import { CancelledError, type CancelReason } from '../errors.ts'
import { recordOf, revive } from '../failure.ts'
import { isObject } from '../json.ts'
import type { InvokeParams } from '../wire.ts'
import type { FakeClock } from './clock.ts'
import { copy, type Effects, Memory, type MemoryOptions } from './memory.ts'
import { canonicalRetry } from './retry.ts'
import { checkOutput, checksOf, givenInput } from './schemas.ts'
import { checkOptions, checkSettings } from './words.ts'

export interface TestOptions extends MemoryOptions {
  config?: ProcessConfig
  jobId?: string
  queue?: string
  /** The name of the job. */
  name?: string
  attempt?: number
  maxAttempts?: number
  runId?: string
  correlationId?: string
  causationId?: string
  tenantId?: string
  enqueuedAt?: string
  /** The handler is cancelled after this long. */
  timeoutMs?: number
  /** Goes on where an earlier attempt stopped: with its state, checkpoint and recorded runs. */
  after?: Execution
  /** Time that passes as fast as the handler waits. */
  clock?: FakeClock
  signal?: AbortSignal
}

/** What a handler did, and what it left behind. */
export interface Kept extends Readonly<Effects> {
  state: Record<string, unknown>
  checkpoint: unknown
  journal: MemoryOptions['journal'] & {}
}

export interface Execution<Value = any> extends Kept {
  status: 'completed' | 'failed' | 'cancelled'
  value?: Value
  error?: any
  attempt: number
  /** Of a batch: what was done with `ctx.job` for each of its jobs. */
  jobs?: Kept[]
}

export interface TestContext extends Readonly<Effects> {
  ctx: Context
  readonly state: Record<string, unknown>
  readonly checkpoint: unknown
  cancel(reason?: CancelReason): void
}

/** A context that answers from memory, for calling a handler by hand. */
export function createTestContext(options: TestOptions = {}): TestContext {
  const memory = new Memory(memoryOptions(options), checksOf(options.config, options.schemas))
  const context = contextOf([memory], options, undefined)
  return {
    ...effects(memory),
    ctx: context,
    cancel: (reason = 'user') => context.cancel(reason),
    get state() {
      return memory.state
    },
    get checkpoint() {
      return memory.checkpoint
    },
  }
}

const known = [
  'state', 'stateSchema', 'schemas', 'journal', 'checkpoint', 'calls', 'conflicts', 'leaseValid', 'config', 'jobId', 'queue', 'name', 'attempt', 'maxAttempts',
  'runId', 'correlationId', 'causationId', 'tenantId', 'enqueuedAt', 'timeoutMs', 'after', 'clock', 'signal',
]

export type Handler = (first: any, ctx: any) => any

/** A handler, or a module that exports one as its default, with or without a `config`. */
export type Executable = Handler | { default: Handler; config?: ProcessConfig }

/**
 * Runs a handler once. `input` is a job's data where the handler takes a job, and a list where its
 * config has `batch`. An error is not thrown; the result contains it.
 */
export async function execute<Value = any>(executable: Executable, input?: unknown, given: TestOptions = {}): Promise<Execution<Value>> {
  checkOptions('execute', given, known)
  const { handler, config, takes } = parts(executable)
  const options: TestOptions = { ...given, config: { ...config, ...given.config } }
  checkSettings(options.config as ProcessConfig, handler.name)
  const count = isBatch(options, input) ? Math.max(1, input.length) : 1
  const checks = await checksOf(options.config, options.schemas)
  const memories = Array.from({ length: count }, () => new Memory(memoryOptions(options), checks))
  const memory = memories[0] as Memory
  const ctx = contextOf(memories, options, input)
  if (takes === 'job' && options.config?.batch && !Array.isArray(input)) throw new TypeError('the config has batch: give a list of inputs')
  const argument = (given: unknown): unknown => (takes === 'job' ? jobArgument(given, options) : given)
  const invoke = async (): Promise<unknown> => {
    if (!isBatch(options, input)) return checkOutput(checks, await handler(argument(await givenInput(checks, input)), ctx))
    // On the server each job of a batch is checked when it is added, and each result for itself.
    const given = await Promise.all(input.map((one, at) => givenInput(checks, one, `the input of job ${at}`)))
    const value = await handler(argument(given), ctx)
    if (!Array.isArray(value)) return checkOutput(checks, value)
    value.forEach((one, at) => one instanceof Error || checkOutput(checks, one, `the result of job ${at}`))
    return value
  }
  const timer = options.timeoutMs === undefined ? undefined : setTimeout(() => ctx.cancel('timeout'), options.timeoutMs)
  const onAbort = (): void => ctx.cancel('user')
  options.signal?.addEventListener('abort', onAbort)
  if (options.signal?.aborted) onAbort()
  try {
    const left = new Promise<never>((_, reject) => (ctx.onLeave = reject))
    const running = settled(Promise.race([left, Promise.resolve().then(invoke)]), ctx)
    const outcome = await (options.clock ? options.clock.run(running) : running)
    const execution = finished(memory, options, outcome)
    return isBatch(options, input) ? { ...execution, jobs: memories.map(kept) } : execution
  } finally {
    for (const one of memories) one.ended = true
    clearTimeout(timer)
    options.signal?.removeEventListener('abort', onAbort)
  }
}

/** What is to be called, and what it says about itself. */
export function parts(executable: Executable): { handler: Handler; config: ProcessConfig; takes: 'input' | 'job' } {
  const handler = typeof executable === 'function' ? executable : executable.default
  const defined = definition(handler)
  const exported = typeof executable === 'function' ? undefined : executable.config
  return { handler, config: { ...defined?.config, ...exported }, takes: defined?.takes ?? 'input' }
}

export type Outcome = Pick<Execution, 'status' | 'value' | 'error'>

export async function settled(running: Promise<unknown>, ctx: InvocationContext): Promise<Outcome> {
  try {
    const value = await running
    return { status: 'completed', value: value === undefined ? null : value }
  } catch (error) {
    const stopped = error instanceof CancelledError || (ctx.cancelled && error instanceof Error && error.name === 'AbortError')
    return stopped ? { status: 'cancelled', error } : { status: 'failed', error: withCode(error) }
  }
}

/** An error with a code, as the server shows every failure. */
function withCode(error: unknown): unknown {
  if (!isObject(error)) return revive(recordOf(error))
  if (error.code === undefined && Object.isExtensible(error)) error.code = 'HANDLER_ERROR'
  return error
}

function finished(memory: Memory, options: TestOptions, outcome: Outcome): Execution {
  return { ...outcome, ...kept(memory), attempt: attemptOf(options) }
}

function kept(memory: Memory): Kept {
  const { state, checkpoint, journal } = memory
  return { ...effects(memory), state, checkpoint, journal }
}

function isBatch(options: TestOptions, input: unknown): input is unknown[] {
  return options.config?.batch !== undefined && Array.isArray(input)
}

export function effects({ logs, events, progress, partials, enqueued, calls, started }: Memory): Effects {
  return { logs, events, progress, partials, enqueued, calls, started }
}

export function memoryOptions(options: Pick<TestOptions, 'after' | 'config' | 'clock' | keyof MemoryOptions>): MemoryOptions {
  const { after } = options
  return {
    ...(after && { state: after.state, journal: after.journal, checkpoint: after.checkpoint }),
    ...options,
    retryPolicy: options.config?.retry ?? options.config?.retryPolicy,
    hasClock: options.clock !== undefined,
  }
}

/** In a batch each job has a memory of its own; the first one's is that of the batch. */
class BatchMemory implements Link {
  constructor(readonly memories: Memory[]) {}

  request(method: string, { jobId, ...params }: Record<string, unknown>): Promise<any> {
    return this.#of(jobId).request(method, params)
  }

  notify(method: string, { jobId, ...params }: Record<string, unknown>): void {
    this.#of(jobId).notify(method, params)
  }

  #of(jobId: unknown): Memory {
    const at = typeof jobId === 'string' ? Number(jobId.slice(jobId.lastIndexOf('-') + 1)) : 0
    return this.memories[at] as Memory
  }
}

function contextOf(memories: Memory[], options: TestOptions, input: unknown): InvocationContext {
  const memory = memories[0] as Memory
  const { jobId = 'job-0', runId = 'run-0', correlationId, causationId, tenantId, timeoutMs, enqueuedAt } = options
  const params: InvokeParams = {
    file: '',
    kind: 'job',
    jobId,
    queue: queueOf(options),
    input,
    attempt: attemptOf(options),
    maxAttempts: maxAttemptsOf(options),
    runId,
    correlationId,
    causationId,
    tenantId,
    checkpoint: memory.checkpoint,
    journal: copy(memory.journal),
    timeoutMs,
    enqueuedAt,
  }
  if (isBatch(options, input)) {
    params.jobs = input.map((one, at) => ({ jobId: `${jobId}-${at}`, input: one, attempt: params.attempt, maxAttempts: params.maxAttempts }))
  }
  const { level = 'debug', redact } = options.config?.logger ?? {}
  const link = params.jobs ? new BatchMemory(memories) : memory
  return new InvocationContext(link, params, { level, redact: redactor(redact) })
}

function jobArgument(input: unknown, options: TestOptions): unknown {
  const { jobId = 'job-0' } = options
  if (!options.config?.batch) return job(input, jobId, options)
  return (input as unknown[]).map((one, index) => job(one, `${jobId}-${index}`, options))
}

function job(data: unknown, id: string, options: TestOptions): Omit<Job, 'isLeaseValid'> {
  const queue = queueOf(options)
  return {
    id,
    name: options.name ?? queue,
    queue,
    data,
    attempt: attemptOf(options),
    maxAttempts: maxAttemptsOf(options),
    enqueuedAt: options.enqueuedAt ?? new Date().toISOString(),
  }
}

function queueOf({ queue, config }: TestOptions): string {
  const named = config?.queue
  return queue ?? (typeof named === 'object' ? named.name : named) ?? 'test'
}

function attemptOf({ attempt, after }: TestOptions): number {
  return attempt ?? (after ? after.attempt + 1 : 1)
}

function maxAttemptsOf({ maxAttempts, config }: TestOptions): number {
  return maxAttempts ?? canonicalRetry(config?.retry ?? config?.retryPolicy).maxAttempts ?? 1
}
