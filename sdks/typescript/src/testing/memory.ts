/**
 * Answers a context as the server would, from memory, and keeps what was asked for.
 */

import type { Enqueued, EnqueueOptions, LogLevel, NewJob, StartOptions } from '../context.ts'
import type { Retry, RetryPolicy } from '../config.ts'
import type { Link } from '../ctx/link.ts'
import { RiverrunError } from '../errors.ts'
import { deleteAt, getAt, setAt } from '../live/path.ts'
import type { Failure, JournalRecord, PendingRetry, TryAgain } from '../wire.ts'
import { checkBytes, checkEvent, checkSecret } from './emitted.ts'
import { canonicalRetry, retryDelayMs } from './retry.ts'
import { type Checks, issueText } from './schemas.ts'
import { type StateCheck, type StateIssue, type WriteCheck, writeCheck } from './state-check.ts'

type State = Record<string, unknown>
type Params = Record<string, any>

export interface LogLine {
  level: LogLevel
  message: string
  meta?: Record<string, unknown>
}

/** What a handler did, in the order in which it did it. */
export interface Effects {
  logs: LogLine[]
  events: { id: string; ts: string; type: string; data?: unknown }[]
  progress: { pct: number; detail?: unknown }[]
  partials: { path?: string; value: unknown }[]
  enqueued: (NewJob & { jobId: string })[]
  calls: { process: string; input: unknown; timeoutMs?: number }[]
  started: { flow: string; input: unknown; options?: StartOptions; runId: string }[]
}

/** What becomes of the callbacks that code has made. */
class Callbacks {
  readonly #known = new Map<string, { isForMany: boolean; isUsed: boolean; expiresMs: number | undefined }>()

  made(id: string, isForMany: boolean, expiresMs: number | undefined): void {
    this.#known.set(id, { isForMany, isUsed: false, expiresMs })
  }

  used(id: string): void {
    const callback = this.#known.get(id)
    if (callback) callback.isUsed = true
  }

  /** Whether it can no longer be resumed. */
  isUsed(id: string): boolean {
    const callback = this.#known.get(id)
    return callback !== undefined && callback.isUsed && !callback.isForMany
  }

  expiresMs(id: string): number | undefined {
    return this.#known.get(id)?.expiresMs
  }
}

/** The state of a run, which all of its visits share, and the triggers that it has made. */
export class Store {
  state: State
  version = 0
  readonly triggers = new Map<string, MadeTrigger>()
  readonly callbacks = new Callbacks()

  constructor(state: State = {}) {
    this.state = copy(state)
  }

  makeTrigger(type: string, payload: unknown): MadeTrigger {
    const id = `trigger-${this.triggers.size + 1}`
    // People are shown a page.
    const place = type === 'user' ? 'approve' : 'api/triggers'
    const trigger = { id, url: `http://127.0.0.1:4600/${place}/${id}`, type, payload }
    this.triggers.set(id, trigger)
    return trigger
  }
}

export interface MadeTrigger {
  id: string
  url: string
  type: string
  /** Shown to the person or program that resumes it. */
  payload: unknown
}

export interface MemoryOptions {
  state?: State
  /** Checks the state in place of the config's `state`. */
  stateSchema?: StateCheck
  /** False: nothing is held against the schemas of the config. */
  schemas?: boolean
  journal?: JournalRecord[]
  checkpoint?: unknown
  /** What `ctx.call` gives for each process. */
  calls?: Record<string, (input: any) => unknown>
  /** So many conditional writes are refused first, as if somebody else had been faster. */
  conflicts?: number
  /** What `ctx.isLeaseValid` gives. */
  leaseValid?: boolean
  /** How failed operations of the code are tried again: as the config's `retry`. */
  retryPolicy?: Retry | RetryPolicy | undefined
  /** False: the code does not wait before it tries again, since no simulated time passes. */
  hasClock?: boolean
}

/** A try of a `ctx.run`, or of another operation that is recorded, which failed and was followed by another. */
export interface RunRetry {
  op: string
  name: string
  nth?: number
  /** The try that failed, from 1. */
  attempt: number
  error: any
  failedAt: string
  delayMs: number
}

interface PendingTry {
  op: string
  name: string
  nth?: number
  failures: number
  atMs: number
}

/** The server waits for what has its time later than that. */
const inPlaceMs = 5000

function operationKey(op: string, name: string, nth = 1): string {
  return `${nth} ${op} ${name}`
}

/** What the code says of its retries, over what the config says. */
function policyOf(config: Retry | RetryPolicy | undefined, said: unknown): Retry {
  const policy = canonicalRetry(config)
  if (said === undefined || said === null) return policy
  if (said === false) return { ...policy, maxAttempts: 1 }
  return typeof said === 'number' ? { ...policy, maxAttempts: said } : { ...policy, ...canonicalRetry(said as Retry) }
}

const writes = new Set(['state.set', 'state.delete', 'state.setBatch'])

export class Memory implements Link, Effects {
  readonly logs: LogLine[] = []
  readonly events: Effects['events'] = []
  readonly progress: Effects['progress'] = []
  readonly partials: Effects['partials'] = []
  readonly enqueued: Effects['enqueued'] = []
  readonly calls: Effects['calls'] = []
  readonly started: Effects['started'] = []
  readonly journal: JournalRecord[]
  /** Tries of `ctx.run` and the like that failed and were followed by another, in order. */
  readonly runRetries: RunRetry[] = []
  /** What failed and has no outcome yet, with the time of its next try. */
  readonly pending = new Map<string, PendingTry>()
  checkpoint: unknown
  ended = false
  #conflicts: number
  readonly #options: MemoryOptions
  readonly #store: Store
  readonly #isStep: boolean
  #check: WriteCheck | Promise<WriteCheck>

  /** Of a step what it emits and writes is recorded too. */
  constructor(options: MemoryOptions, checks: Checks | Promise<Checks>, store = new Store(options.state), isStep = false) {
    this.#check = checks instanceof Promise ? checks.then(({ state }) => writeCheck(options.stateSchema, state)) : writeCheck(options.stateSchema, checks.state)
    // An invalid schema is an error when it is used.
    if (this.#check instanceof Promise) this.#check.catch(() => {})
    this.#isStep = isStep
    this.#options = options
    this.#store = store
    this.journal = copy(options.journal ?? [])
    this.checkpoint = options.checkpoint
    this.#conflicts = options.conflicts ?? 0
  }

  get state(): State {
    return this.#store.state
  }

  /** Like the wire, it lets nothing through but JSON, and gives copies. */
  async request(method: string, params: Params): Promise<any> {
    if (this.ended) throw new RiverrunError('INVOCATION_ENDED', `${method} came after the handler had ended`)
    const answer = this.#answers[method]
    if (!answer) throw new RiverrunError('INTERNAL', `the test kit does not know ${method}`)
    const { seen = [], inRun = false, ...asked } = copy(params)
    if (this.#check instanceof Promise) this.#check = await this.#check
    this.journal.push(...seen)
    const answered = await answer(asked)
    if (this.#isStep && !inRun && writes.has(method)) this.journal.push({ op: method, name: asked.key ?? '', value: method === 'state.setBatch' ? asked.values : asked.value })
    return copy(answered)
  }

  notify(method: string, params: Params): void {
    if (this.ended) return
    const said = copy(params)
    if (method === 'log') this.logs.push(said as LogLine)
    else if (method === 'progress') this.progress.push(said as Effects['progress'][number])
    else if (method === 'partial') this.partials.push(said as Effects['partials'][number])
  }

  readonly #answers: Record<string, (params: Params) => unknown> = {
    'state.get': ({ key }) => ({ value: getAt(this.state, key), version: this.#store.version }),
    'state.has': ({ key }) => ({ has: getAt(this.state, key) !== undefined }),
    'state.getAll': () => ({ state: this.state, version: this.#store.version }),
    'state.set': ({ key, value, ifVersion }) => this.#write(setAt(this.state, key, value), ifVersion),
    'state.delete': ({ key, ifVersion }) => this.#write(deleteAt(this.state, key), ifVersion),
    'state.setBatch': ({ values, ifVersion }) => {
      const next = Object.entries(values).reduce((state, [key, value]) => setAt(state, key, value), this.state)
      return this.#write(next, ifVersion)
    },
    emit: ({ type, data }) => {
      checkEvent(type, data)
      const id = `${Date.now()}-${this.events.length}`
      this.events.push({ id, ts: new Date().toISOString(), type, data })
      if (this.#isStep) this.journal.push({ op: 'emit', name: type })
      return { id }
    },
    'memo.failed': ({ op = 'memo', name, nth, error, retry, emits }) => this.#tryFailed({ op, name, ...(nth && { nth }), error, ...(emits && { emits }) }, retry),
    memo: ({ op = 'memo', name, nth, value, error, emits }) => {
      this.pending.delete(operationKey(op, name, nth))
      this.journal.push({ op, name, ...(nth && { nth }), ...(error ? { error } : { value }), ...(emits && { emits }) })
      return {}
    },
    'await.trigger': ({ type, payload, timeoutMs, many = false, secret }) => {
      checkSecret(secret)
      checkBytes('payload', payload)
      const { id, url } = this.#store.makeTrigger(type, payload)
      this.#store.callbacks.made(id, many, timeoutMs === undefined ? undefined : Date.now() + timeoutMs)
      this.journal.push({ op: 'trigger', name: type, value: { id, url } })
      return { id, url }
    },
    checkpoint: ({ data }) => {
      this.checkpoint = data
      return {}
    },
    enqueue: ({ jobs, ...job }) => ({ jobs: ((jobs ?? [job]) as NewJob[]).map((one) => this.#enqueue(one)) }),
    call: (params) => this.#call(params as Effects['calls'][number]),
    start: ({ flow, input, options }) => {
      const runId = options?.runId ?? `run-${this.started.length + 1}`
      this.started.push({ flow, input, options, runId })
      return { runId, created: true }
    },
    lease: () => ({ valid: this.#options.leaseValid ?? true, untilMs: Date.now() + 30_000 }),
  }

  /** As the server decides it: what failed is tried again, or its error is final and recorded. */
  #tryFailed(record: JournalRecord & { error: Failure }, retry: unknown): TryAgain | { final: true } {
    const { op, name = '', nth, error } = record
    const key = operationKey(op, name, nth)
    const failures = (this.pending.get(key)?.failures ?? 0) + 1
    const delayMs = retryDelayMs(policyOf(this.#options.retryPolicy, retry), error, failures)
    if (delayMs === undefined) {
      this.pending.delete(key)
      const { retryAfterMs, ...final } = error
      this.journal.push({ ...record, error: { ...final, retriable: false } })
      return { final: true }
    }
    const retryAfterMs = this.#options.hasClock === false ? 0 : delayMs
    this.pending.set(key, { op, name, ...(nth && { nth }), failures, atMs: Date.now() + retryAfterMs })
    this.runRetries.push({ op, name, ...(nth && { nth }), attempt: failures, error, failedAt: new Date().toISOString(), delayMs })
    return { attempt: failures + 1, retryAfterMs, ...(this.#isStep && retryAfterMs > inPlaceMs && { suspend: true }) }
  }

  /** What an execution gets of what failed before it. */
  get retries(): PendingRetry[] {
    return [...this.pending.values()].map(({ failures, atMs, ...operation }) => {
      const retryAfterMs = Math.max(0, atMs - Date.now())
      return { ...operation, attempt: failures + 1, retryAfterMs, ...(retryAfterMs > inPlaceMs && { suspend: true }) }
    })
  }

  #write(next: State, ifVersion: number | undefined): { version: number } {
    if (ifVersion !== undefined && this.#conflicts > 0) {
      this.#conflicts -= 1
      this.#store.version += 1
    }
    if (ifVersion !== undefined && ifVersion !== this.#store.version) {
      throw new RiverrunError('STATE_CONFLICT', 'the state has moved on', { details: { version: this.#store.version } })
    }
    const issues = (this.#check as WriteCheck)(this.state, next)
    if (issues.length) throw new RiverrunError('STATE_INVALID', `the write breaks the state's schema${issueText(issues[0] as StateIssue)}`, { details: { issues } })
    this.#store.state = next
    this.#store.version += 1
    return { version: this.#store.version }
  }

  #enqueue(job: NewJob): Enqueued {
    const options: EnqueueOptions = job.options ?? {}
    const same = this.enqueued.find((other) => isSameJob(other, job.queue, options))
    if (same) return { jobId: same.jobId, created: false }
    const jobId = options.jobId ?? `job-${this.enqueued.length + 1}`
    this.enqueued.push({ ...job, jobId })
    return { jobId, created: true }
  }

  async #call(call: Effects['calls'][number]): Promise<{ value: unknown }> {
    this.calls.push(call)
    const answer = this.#options.calls?.[call.process]
    if (!answer) throw new RiverrunError('PROCESS_NOT_FOUND', `no process is called ${call.process}; give one in calls`)
    return { value: (await answer(call.input)) ?? null }
  }
}

export function isSameJob({ jobId, queue, options }: Effects['enqueued'][number], to: string, wanted: EnqueueOptions): boolean {
  if (wanted.jobId !== undefined && jobId === wanted.jobId) return true
  return queue === to && wanted.idempotencyKey !== undefined && options?.idempotencyKey === wanted.idempotencyKey
}

/** A value as it is after its way over the wire. */
export function copy<T>(value: T): T {
  return value === undefined ? value : JSON.parse(JSON.stringify(value))
}
