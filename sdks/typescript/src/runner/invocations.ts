/**
 * Runs handlers for a server, from its `invoke` to the answer, over any transport: the pipe of the
 * runner, or the connections of a worker.
 */

import { AsyncLocalStorage } from 'node:async_hooks'
import { CancelledError, type CancelReason, RiverrunError } from '../errors.ts'
import { describe } from '../failure.ts'
import type { Job } from '../context.ts'
import type { BatchJob, InvokeParams, JournalRecord, Limits, Suspended } from '../wire.ts'
import { batchText, valueText } from './answer.ts'
import { type Parsed, parsedInputs, withRefused } from './inputs.ts'
import { Invocation } from './invocation.ts'
import type { Process } from './modules.ts'
import type { Peer } from './peer.ts'

/** What is said to the server. */
export type Voice = Pick<Peer, 'request' | 'notify' | 'answer' | 'refuse'>

export class Invocations {
  limits: Limits = { messageBytes: 16 * 1024 * 1024, resultBytes: 1024 * 1024 }
  readonly running = new Map<number, Invocation>()
  readonly #voice: Voice
  readonly #current = new AsyncLocalStorage<Invocation>()
  readonly #idle = new Set<() => void>()

  constructor(voice: Voice) {
    this.#voice = voice
  }

  /** The invocation whose code is running now, if one is known. */
  get current(): Invocation | undefined {
    const current = this.#current.getStore()
    return current?.ended ? undefined : current
  }

  add(id: number, params: InvokeParams): Invocation {
    const invocation = new Invocation(id, params, this.#voice)
    this.running.set(id, invocation)
    return invocation
  }

  cancel(id: number, reason: CancelReason = 'user'): void {
    this.running.get(id)?.cancel(reason)
  }

  cancelAll(reason: CancelReason): void {
    for (const invocation of this.running.values()) invocation.cancel(reason)
  }

  /** Calls `done` when nothing runs, or when the time is over. */
  drain(graceMs: number, done: (unfinished: number) => void): void {
    const end = (): void => {
      clearTimeout(timer)
      this.#idle.delete(end)
      done(this.running.size)
    }
    const timer = setTimeout(end, graceMs)
    if (this.running.size === 0) end()
    else this.#idle.add(end)
  }

  execute(invocation: Invocation, process: Process): void {
    if (!process.parse) return this.#call(invocation, process, invocation.params)
    const given = ({ params, refused }: Parsed): void => {
      if (invocation.cancelledBefore) return this.fail(invocation, new CancelledError(invocation.cancelledBefore))
      invocation.refused = refused
      if (params.jobs?.length === 0) this.#answer(invocation, [])
      else this.#call(invocation, process, params)
    }
    try {
      const parsed = parsedInputs(process.parse, invocation.params)
      if (parsed instanceof Promise) parsed.then(given).catch((error) => this.fail(invocation, error))
      else given(parsed)
    } catch (error) {
      this.fail(invocation, error)
    }
  }

  #call(invocation: Invocation, process: Process, params: InvokeParams): void {
    const ctx = invocation.begin(process.logs, params)
    ctx.onLeave = (error) => this.fail(invocation, error)
    if (ctx.execution) ctx.execution.onLeave = (outcome, seen) => this.#left(invocation, outcome, seen)
    let result: unknown
    try {
      result = this.#current.run(invocation, process.handler, argument(process, params), ctx)
    } catch (error) {
      this.fail(invocation, error)
      return
    }
    if (!isThenable(result)) {
      this.#finished(invocation, result)
      return
    }
    // What only looks like a promise may throw from its `then`; a real one is taken as it is.
    Promise.resolve(result).then(
      (value) => this.#finished(invocation, value),
      (error) => this.fail(invocation, error),
    )
  }

  /** Ends an invocation with an error, unless it has ended. */
  fail(invocation: Invocation, error: unknown): void {
    if (invocation.ended) return
    invocation.ctx?.execution?.threw()
    const failure = describe(error)
    if (isCancellation(invocation, error)) this.#voice.refuse(invocation.id, { ...failure, code: 'CANCELLED' }, -32001)
    else this.#voice.refuse(invocation.id, failure)
    this.#ended(invocation)
  }

  #finished(invocation: Invocation, value: unknown): void {
    if (invocation.ended) return
    const returned = invocation.ctx?.execution?.returned()
    if (!returned) return this.#answer(invocation, value)
    returned.then((problem) => (problem ? this.fail(invocation, problem) : this.#answer(invocation, value)))
  }

  #left(invocation: Invocation, outcome: Suspended | RiverrunError, seen: JournalRecord[]): void {
    if (invocation.ended) return
    if (outcome instanceof RiverrunError) return this.fail(invocation, outcome)
    this.#voice.answer(invocation.id, JSON.stringify({ suspended: outcome, ...(seen.length && { seen }) }))
    this.#ended(invocation)
  }

  #answer(invocation: Invocation, value: unknown): void {
    if (invocation.ended) return
    const { jobs } = invocation.params
    let text: string
    try {
      text = jobs ? batchText(withRefused(value, invocation.refused, jobs.length), jobs.length, this.limits) : `{"value":${valueText(value, this.limits.resultBytes)}}`
    } catch (error) {
      this.fail(invocation, error)
      return
    }
    this.#voice.answer(invocation.id, text)
    this.#ended(invocation)
  }

  #ended(invocation: Invocation): void {
    invocation.ended = true
    this.running.delete(invocation.id)
    if (this.running.size === 0) for (const wake of [...this.#idle]) wake()
  }
}

/** What a handler gets first: a job or an input, or a list of them. */
function argument({ takes }: Process, params: InvokeParams): unknown {
  if (takes === 'input') return params.jobs ? params.jobs.map((job) => job.input) : params.input
  return params.jobs ? params.jobs.map((job) => jobOf(job, params)) : jobOf(params, params)
}

function jobOf(job: BatchJob, { queue }: InvokeParams): Omit<Job, 'isLeaseValid'> {
  return {
    id: job.jobId ?? '',
    name: job.name ?? queue ?? '',
    queue: queue ?? '',
    data: job.input,
    attempt: job.attempt ?? 1,
    maxAttempts: job.maxAttempts ?? 1,
    enqueuedAt: job.enqueuedAt ?? undefined,
  }
}

/** Whether a handler ended because it was asked to, and not for a reason of its own. */
function isCancellation({ ctx }: Invocation, error: unknown): boolean {
  if (error instanceof CancelledError) return true
  return ctx?.cancelled !== undefined && error instanceof Error && error.name === 'AbortError'
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
}
