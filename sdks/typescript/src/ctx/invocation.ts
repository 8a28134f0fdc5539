/**
 * The context of one invocation. Most handlers use little of it, so what costs something is made
 * when it is first asked for. Methods are bound: `const { emit, run } = ctx` works.
 */

import type { Context, EnqueueOptions, NewJob, StartOptions } from '../context.ts'
import { CancelledError, type CancelReason, RiverrunError } from '../errors.ts'
import { describe, revive } from '../failure.ts'
import type { BatchJob, InvokeParams } from '../wire.ts'
import { Journal } from './journal.ts'
import { type Link, linkOfJob } from './link.ts'
import { LinkLogger, type LogSettings } from './logger.ts'
import { LinkState } from './state.ts'

export class InvocationContext implements Context {
  readonly #link: Link
  readonly #params: InvokeParams
  readonly #settings: LogSettings
  readonly #batch: InvocationContext | undefined
  #jobs: InvocationContext[] | undefined
  #state: LinkState | undefined
  #logger: LinkLogger | undefined
  #journal: Journal | undefined
  #checkpoint: Context['checkpoint'] | undefined
  #abort: AbortController | undefined
  #cancelled: CancelledError | undefined

  /** `batch` is the context of the batch to which this job belongs. */
  constructor(link: Link, params: InvokeParams, settings: LogSettings, batch?: InvocationContext) {
    this.#link = link
    this.#params = params
    this.#settings = settings
    this.#batch = batch
  }

  get state(): LinkState {
    return (this.#state ??= new LinkState(this.#link))
  }

  get logger(): LinkLogger {
    return (this.#logger ??= new LinkLogger(this.#link, this.#settings))
  }

  get signal(): AbortSignal {
    if (this.#batch) return this.#batch.signal
    if (!this.#abort) {
      this.#abort = new AbortController()
      if (this.#cancelled) this.#abort.abort(this.#cancelled)
    }
    return this.#abort.signal
  }

  get checkpoint(): Context['checkpoint'] {
    return (this.#checkpoint ??= checkpoint(this.#link, this.#params.checkpoint ?? undefined))
  }

  get kind(): 'job' | 'call' | 'step' {
    return this.#params.kind ?? 'job'
  }

  get process(): string | undefined {
    return this.#params.process
  }

  get jobId(): string | undefined {
    return this.#params.jobId ?? undefined
  }

  get queueName(): string | undefined {
    return this.#params.queue ?? undefined
  }

  get runId(): string | undefined {
    return this.#params.runId ?? undefined
  }

  get flow(): string | undefined {
    return this.#params.flow ?? undefined
  }

  get step(): string | undefined {
    return this.#params.step ?? undefined
  }

  get tenantId(): string | undefined {
    return this.#params.tenantId ?? undefined
  }

  get attempt(): number {
    return this.#params.attempt ?? 1
  }

  get maxAttempts(): number {
    return this.#params.maxAttempts ?? 1
  }

  get timeoutMs(): number | undefined {
    return this.#params.timeoutMs ?? undefined
  }

  job = (which: number | string): InvocationContext => {
    const { jobs = [this.#params] } = this.#params
    const at = typeof which === 'number' ? which : jobs.findIndex((job) => job.jobId === which)
    const job = jobs[at]
    if (!job) throw new RangeError(`this invocation has no job ${JSON.stringify(which)}; it has ${jobs.length}`)
    if (!this.#params.jobs) return this
    this.#jobs ??= []
    return (this.#jobs[at] ??= this.#contextOf(job))
  }

  correlationId = (): string | undefined => this.#params.correlationId ?? this.#params.runId ?? this.#params.jobId ?? undefined

  causationId = (): string | undefined => this.#params.causationId ?? undefined

  emit = async (event: string | { type: string; data?: unknown }, data?: unknown): Promise<string> => {
    const params = typeof event === 'string' ? { type: event, data } : { type: event.type, data: event.data }
    return (await this.#link.request('emit', params)).id
  }

  progress = (pct: number, detail?: unknown): void => {
    if (!Number.isFinite(pct)) throw new TypeError(`progress must be a number from 0 to 100, is ${pct}`)
    this.#link.notify('progress', { pct: Math.min(100, Math.max(0, pct)), detail })
  }

  partial = (value: unknown, path?: string): void => this.#link.notify('partial', { path, value: value ?? null })

  run = async <Value>(name: string, fn: () => Value | Promise<Value>): Promise<Value> => {
    this.#journal ??= new Journal(this.#params.journal ?? [])
    const memo = this.#journal.next(name)
    if (memo?.error) throw revive(memo.error)
    if (memo) return (memo.value ?? null) as Value
    const value = json(name, await this.#outcome(name, fn))
    await this.#link.request('memo', { name, value })
    return value as Value
  }

  call = async (process: string, input?: unknown, options?: { timeoutMs?: number }): Promise<any> =>
    (await this.#link.request('call', { process, input: input ?? null, ...options })).value

  enqueue: Context['enqueue'] = async (
    to: string | NewJob[],
    data?: unknown,
    options?: EnqueueOptions & { name?: string },
  ): Promise<any> => {
    if (typeof to !== 'string') return (await this.#link.request('enqueue', { jobs: to })).jobs
    const { name, ...rest } = options ?? {}
    const job: Record<string, unknown> = { queue: to, name, data: data ?? null }
    if (Object.keys(rest).length) job.options = rest
    return (await this.#link.request('enqueue', job)).jobs[0]
  }

  start = async (flow: string, input?: unknown, options?: StartOptions): Promise<{ runId: string; created: boolean }> =>
    this.#link.request('start', { flow, input: input ?? {}, options })

  isLeaseValid = async (): Promise<boolean> => (await this.#link.request('lease', {})).valid === true

  /** Why the invocation is to stop; undefined while it is not. */
  get cancelled(): CancelledError | undefined {
    return this.#cancelled
  }

  cancel(reason: CancelReason): void {
    if (this.#cancelled) return
    this.#cancelled = new CancelledError(reason)
    this.#abort?.abort(this.#cancelled)
  }

  #contextOf(job: BatchJob): InvocationContext {
    const { jobs, ...shared } = this.#params
    return new InvocationContext(linkOfJob(this.#link, job.jobId ?? ''), { ...shared, ...job }, this.#settings, this)
  }

  async #outcome<Value>(name: string, fn: () => Value | Promise<Value>): Promise<Value> {
    try {
      return await fn()
    } catch (error) {
      const failure = describe(error)
      if (failure.retriable === false && !(error instanceof CancelledError)) {
        await this.#link.request('memo', { name, error: failure })
      }
      throw error
    }
  }
}

function checkpoint(link: Link, first: unknown): Context['checkpoint'] {
  let data = first
  return {
    get data() {
      return data
    },
    async save(next: unknown) {
      await link.request('checkpoint', { data: next })
      data = next
    },
  }
}

/** What a replay would give back for a value. */
function json(name: string, value: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(value) ?? 'null')
  } catch (cause) {
    throw new RiverrunError('RESULT_NOT_JSON', `what run(${JSON.stringify(name)}) gave is not JSON: ${(cause as Error).message}`, { cause })
  }
}
