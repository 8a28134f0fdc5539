/**
 * The context of one invocation. Most handlers use little of it, so what costs something is made
 * when it is first asked for. Methods are bound: `const { emit, run } = ctx` works.
 */

import type { AwaitApi } from '../awaits.ts'
import type { RunCallOptions, Context, Enqueued, EnqueueOptions, NewJob, RunOptions, RunTry, StartOptions } from '../context.ts'
import { CancelledError, type CancelReason, RiverrunError } from '../errors.ts'
import { revive } from '../failure.ts'
import type { BatchJob, InvokeParams } from '../wire.ts'
import { awaitsOutside, StepAwaits } from './awaits.ts'
import { jobIdOf, type RunSettings, StepExecution } from './execution.ts'
import { Journal } from './journal.ts'
import { type Link, linkOfJob } from './link.ts'
import { LinkLogger, type LogSettings } from './logger.ts'
import { Outcomes } from './outcomes.ts'
import { LinkState } from './state.ts'

export class InvocationContext implements Context {
  /** What a step does beyond a job: it is executed again and again, with what it did before. */
  readonly execution: StepExecution | undefined
  /** Called when the code of a job must not continue: an outcome of `ctx.run` cannot be recorded. */
  onLeave: (error: RiverrunError) => void = () => {}
  readonly #link: Link
  readonly #params: InvokeParams
  readonly #settings: LogSettings
  readonly #batch: InvocationContext | undefined
  #jobs: InvocationContext[] | undefined
  #state: LinkState | undefined
  #logger: LinkLogger | undefined
  #journal: Journal | undefined
  #outcomes: Outcomes | undefined
  #await: AwaitApi | undefined
  #checkpoint: Context['checkpoint'] | undefined
  #abort: AbortController | undefined
  #cancelled: CancelledError | undefined

  /** `batch` is the context of the batch to which this job belongs. */
  constructor(link: Link, params: InvokeParams, settings: LogSettings, batch?: InvocationContext) {
    this.execution = params.kind === 'step' ? new StepExecution(link, params, this) : undefined
    if (this.execution) this.execution.onForgotten = (message) => this.logger.warn(message)
    this.#link = this.execution ?? link
    this.#params = params
    this.#settings = settings
    this.#batch = batch
  }

  get state(): LinkState {
    return (this.#state ??= new LinkState(this.#link, this.execution))
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

  get await(): AwaitApi {
    return (this.#await ??= this.execution ? new StepAwaits(this.execution) : awaitsOutside(this.kind))
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

  get visit(): number | undefined {
    return this.#params.visit ?? undefined
  }

  get awaited(): any {
    return this.#params.awaited ?? undefined
  }

  get config(): any {
    return this.#params.config ?? {}
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

  emit = async (event: string | { type?: string; kind?: string; data?: unknown }, data?: unknown): Promise<string> => {
    const { type = undefined, kind = type, data: given = data } = typeof event === 'string' ? { kind: event } : (event ?? {})
    if (typeof kind !== 'string' || !kind) throw new RiverrunError('BAD_EVENT', 'emit needs the type of the event', { retriable: false })
    const ask = async (): Promise<string> => (await this.#link.request('emit', { type: kind, data: given })).id
    return (await (this.execution ? this.execution.emit(kind, ask) : ask())) ?? ''
  }

  progress = (pct: number, detail?: unknown): void => {
    if (!Number.isFinite(pct)) throw new TypeError(`progress must be a number from 0 to 100, is ${pct}`)
    this.#link.notify('progress', { pct: Math.min(100, Math.max(0, pct)), detail })
  }

  partial = (value: unknown, path?: string): void => this.#link.notify('partial', { path, value: value ?? null })

  run = async <Value>(name: string, fn: (attempt: RunTry) => Value | Promise<Value>, options: RunOptions = {}): Promise<Value> => {
    const settings = runSettings(name, options)
    if (this.execution) return this.execution.run(name, async (attempt) => json(name, await fn(attempt)), settings)
    this.#journal ??= new Journal(this.#params.journal ?? [])
    const memo = this.#journal.next('memo', name)
    if (memo?.error) throw revive(memo.error)
    if (memo) return (memo.value ?? null) as Value
    const nth = this.#journal.uses('memo', name)
    this.#outcomes ??= new Outcomes({ ask: (method, params) => this.#link.request(method, params), stop: this, leave: (error) => this.#leave(error) })
    return this.#outcomes.of({ op: 'memo', name, nth, ...settings }, async (attempt) => json(name, await fn(attempt)) as Value)
  }

  patched = (id: string): boolean => (this.execution ? this.execution.patched(id) : true)

  call = (process: string, input?: unknown, { retry, ...options }: RunCallOptions = {}): Promise<any> => {
    const ask = async (): Promise<unknown> => (await this.#link.request('call', { process, input: input ?? null, ...options })).value
    return this.execution ? this.execution.recorded('call', process, ask, { retry }) : ask()
  }

  enqueue: Context['enqueue'] = async (
    to: string | NewJob[],
    data?: unknown,
    options?: EnqueueOptions & { name?: string },
  ): Promise<any> => {
    if (typeof to !== 'string') return this.#enqueue(to, (jobs) => ({ jobs }))
    const { name, ...rest } = options ?? {}
    const job: NewJob = { queue: to, ...(name !== undefined && { name }), data: data ?? null }
    if (Object.keys(rest).length) job.options = rest
    return (await this.#enqueue([job], ([one]) => ({ ...one })))[0]
  }

  start = (flow: string, input?: unknown, options?: StartOptions): Promise<{ runId: string; created: boolean }> => {
    const ask = (given?: StartOptions) => this.#link.request('start', { flow, input: input ?? {}, options: given })
    if (!this.execution) return ask(options)
    const isNamed = options?.idempotencyKey !== undefined || options?.runId !== undefined
    return this.execution.recorded('start', flow, (id) => ask(isNamed ? options : { ...options, idempotencyKey: id }), { retry: false })
  }

  isLeaseValid = async (): Promise<boolean> => (await this.#link.request('lease', {})).valid === true

  /** Why the invocation is to stop; undefined while it is not. */
  get cancelled(): CancelledError | undefined {
    return this.#batch ? this.#batch.cancelled : this.#cancelled
  }

  cancel(reason: CancelReason): void {
    if (this.#cancelled) return
    this.#cancelled = new CancelledError(reason)
    this.#abort?.abort(this.#cancelled)
  }

  #leave(error: RiverrunError): Promise<never> {
    const { onLeave } = this.#batch ?? this
    onLeave(error)
    return new Promise(() => {})
  }

  #contextOf(job: BatchJob): InvocationContext {
    const { jobs, ...shared } = this.#params
    return new InvocationContext(linkOfJob(this.#link, job.jobId ?? ''), { ...shared, ...job }, this.#settings, this)
  }

  async #enqueue(jobs: NewJob[], params: (jobs: NewJob[]) => Record<string, unknown>): Promise<Enqueued[]> {
    const ask = (given: NewJob[]) => this.#link.request('enqueue', params(given))
    const queues = [...new Set(jobs.map(({ queue }) => queue))].join(',')
    const recorded = this.execution?.recorded('enqueue', queues, (id) => ask(jobs.map((job, index) => withId(job, jobs.length > 1 ? `${id}/${index + 1}` : id))), { retry: false })
    return (await (recorded ?? ask(jobs))).jobs
  }
}

/** A job that is added again by a later execution is then the same job. */
function withId(job: NewJob, id: string): NewJob {
  const options = job.options ?? {}
  const isNamed = (['jobId', 'idempotencyKey', 'dedupe', 'throttle', 'debounce'] as const).some((one) => options[one] !== undefined)
  return isNamed ? job : { ...job, options: { ...options, jobId: jobIdOf(id) } }
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

/** What the retry policy of an operation has, in both forms. */
const retrySettings = ['maxAttempts', 'backoffMs', 'backoffMultiplier', 'maxBackoffMs', 'retryOn', 'jitter', 'attempts', 'backoff', 'retriableErrors']

/** A setting that is none would be found out only when the run fails. */
function runSettings(name: string, options: RunOptions): RunSettings {
  const invalid = (problem: string): RiverrunError => new RiverrunError('INPUT_ERROR', `run(${JSON.stringify(name)}): ${problem}`, { retriable: false })
  if (typeof options !== 'object' || options === null) throw invalid(`options must be an object with retry and timeoutMs, not ${String(options)}`)
  const { retry, timeoutMs, ...unknown } = options
  const stranger = Object.keys(unknown)[0]
  if (stranger !== undefined) throw invalid(`there is no option ${JSON.stringify(stranger)}: there are retry and timeoutMs`)
  if (timeoutMs !== undefined && !(typeof timeoutMs === 'number' && timeoutMs > 0)) throw invalid(`timeoutMs must be a positive number, is ${String(timeoutMs)}`)
  if (retry !== undefined && retry !== false && !(typeof retry === 'number' && Number.isInteger(retry) && retry > 0) && (typeof retry !== 'object' || retry === null)) {
    throw invalid(`retry must be false, a number of attempts or a policy such as { maxAttempts: 5, backoffMs: 1000 }`)
  }
  if (typeof retry === 'object') {
    const word = Object.keys(retry).find((key) => !retrySettings.includes(key))
    if (word !== undefined) throw invalid(`retry has no setting ${JSON.stringify(word)}: it has maxAttempts, backoffMs, backoffMultiplier, maxBackoffMs, retryOn and jitter`)
  }
  return { ...(retry !== undefined && { retry }), ...(timeoutMs !== undefined && { timeoutMs: Math.min(timeoutMs, 2 ** 31 - 1) }) }
}

/** What a replay would give back for a value. */
function json(name: string, value: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(value) ?? 'null')
  } catch (cause) {
    throw new RiverrunError('RESULT_NOT_JSON', `what run(${JSON.stringify(name)}) gave is not JSON: ${(cause as Error).message}`, { retriable: false, cause })
  }
}
