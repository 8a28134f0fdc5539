/**
 * Outcomes of what code does, on their way to its journal. What fails is tried again by itself, as
 * the server decides: only the final error reaches the code, and it is recorded first.
 */

import { CancelledError, ExecutionOver, RiverrunError } from '../errors.ts'
import { recordOf, revive } from '../failure.ts'
import type { Failure, PendingRetry, TryAgain } from '../wire.ts'
import type { Op } from './journal.ts'

/** What code does, and as which use of the name. */
export interface Doing {
  op: Op
  name: string
  nth: number
  /** The kinds of the events that were emitted inside of it. */
  emits?: string[]
  /** How it is tried again, where not as its process is. */
  retry?: unknown
  /** How long one try may take. */
  timeoutMs?: number | undefined
}

/** One try, as the function that it calls sees it. */
export interface Try {
  /** From 1. */
  readonly attempt: number
  /** Aborted when the try has taken too long, or the work is to stop. */
  readonly signal: AbortSignal
}

/** A try that the code got as over; what it still does must not count. */
export interface Bounded extends Try {
  readonly over: RiverrunError | undefined
}

/** Whether the work is to stop. `signal` is created when it is read, which costs more than a `ctx.run`. */
export interface Stop {
  readonly cancelled: CancelledError | undefined
  readonly signal: AbortSignal
}

export interface OutcomesOptions {
  ask: (method: 'memo' | 'memo.failed', params: Record<string, unknown>) => Promise<any>
  stop: Stop
  /** Ends the execution with an error. The code does not continue: neither its `catch` nor its `finally`. */
  leave: (error: RiverrunError) => Promise<never>
  /** What failed in earlier executions, and is tried again. */
  pending?: readonly PendingRetry[]
}

export class Outcomes {
  readonly #options: OutcomesOptions

  constructor(options: OutcomesOptions) {
    this.#options = options
  }

  /**
   * Does something and has its outcome recorded. What it throws is what a replay would throw.
   * `suspend` leaves a long wait for the next try to the server.
   */
  async of<Value>(doing: Doing, work: (attempt: Bounded) => Value | Promise<Value>, suspend?: () => Promise<never>): Promise<Value> {
    const { stop, leave } = this.#options
    let next = this.#pending(doing)
    for (;;) {
      if (next?.suspend && suspend) return suspend()
      if (next) await pause(next.retryAfterMs, stop.signal)
      if (stop.cancelled) return leave(stop.cancelled)
      let value: Value
      try {
        value = await bounded(doing, next?.attempt ?? 1, stop, work)
      } catch (thrown) {
        if (thrown instanceof ExecutionOver) return leave(thrown)
        // A try that fails while the work is to stop fails because of that.
        if (stop.cancelled) return leave(stop.cancelled)
        if (thrown instanceof CancelledError) throw thrown
        const error = recordOf(thrown)
        if (error.retriable === false) throw await this.#final(doing, error)
        const { retry } = doing
        const answer: TryAgain & { final?: boolean } = await this.#record('memo.failed', params(doing, retry === undefined ? { error } : { error, retry }))
        if (answer.final) throw revive(final(error))
        next = answer
        continue
      }
      try {
        await this.#record('memo', params(doing, { value }))
      } catch (refused) {
        // The server does not accept the value. The function has run, so the refusal is its outcome.
        throw await this.#final(doing, recordOf(refused))
      }
      return value
    }
  }

  /** Records that an operation has failed for good; gives the error that a replay would throw. */
  async #final(doing: Doing, error: Failure): Promise<RiverrunError> {
    await this.#record('memo', params(doing, { error }))
    return revive(error)
  }

  /** Asks the server to record an outcome. Code never continues with an outcome that is not recorded. */
  async #record(method: 'memo' | 'memo.failed', asked: Record<string, unknown>): Promise<any> {
    try {
      return await this.#options.ask(method, asked)
    } catch (error) {
      const refused = error as RiverrunError
      if (refused.retriable === false && !(refused instanceof ExecutionOver) && 'value' in asked) throw refused
      return this.#options.leave(refused)
    }
  }

  #pending({ op, name, nth }: Doing): TryAgain | undefined {
    return this.#options.pending?.find((one) => one.op === op && one.name === name && (one.nth ?? 1) === nth)
  }
}

function params({ op, name, nth, emits }: Doing, outcome: Record<string, unknown>): Record<string, unknown> {
  const params: Record<string, unknown> = op === 'memo' ? { name } : { op, name }
  if (nth > 1) params.nth = nth
  if (emits?.length) params.emits = [...emits]
  return Object.assign(params, outcome)
}

/** An error as it is recorded when it was the last: code that lets it through has failed for good. */
function final({ retryAfterMs, ...error }: Failure): Failure {
  return { ...error, retriable: false }
}

/** A try without a limit of its own. */
class Unlimited implements Bounded {
  readonly attempt: number
  readonly over = undefined
  readonly #stop: Stop

  constructor(attempt: number, stop: Stop) {
    this.attempt = attempt
    this.#stop = stop
  }

  get signal(): AbortSignal {
    return this.#stop.signal
  }
}

/** How a record says which use of its name it is of. */
export function numbered(nth: number): { nth?: number } {
  return nth > 1 ? { nth } : {}
}

/** One try; with a limit it fails with `TIMEOUT` when its time is over. */
function bounded<Value>(doing: Doing, attempt: number, stop: Stop, work: (attempt: Bounded) => Value | Promise<Value>): Value | Promise<Value> {
  const { name, timeoutMs } = doing
  if (timeoutMs === undefined) return work(new Unlimited(attempt, stop))
  const controller = new AbortController()
  const given = { attempt, signal: controller.signal, over: undefined as RiverrunError | undefined }
  const abort = (): void => controller.abort(stop.cancelled)
  if (stop.cancelled) abort()
  else stop.signal.addEventListener('abort', abort)
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      given.over = new RiverrunError('TIMEOUT', `try ${attempt} of run(${JSON.stringify(name)}) took longer than ${timeoutMs} ms`)
      controller.abort(given.over)
      reject(given.over)
    }, timeoutMs)
  })
  const running = (async () => work(given))()
  // It may fail later; the error is then ignored.
  running.catch(() => {})
  return Promise.race([running, late]).finally(() => {
    clearTimeout(timer)
    stop.signal.removeEventListener('abort', abort)
  })
}

/** Waits, at most until the work is to stop. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const go = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', go)
      resolve()
    }
    const timer = setTimeout(go, ms)
    if (signal.aborted) go()
    else signal.addEventListener('abort', go, { once: true })
  })
}
