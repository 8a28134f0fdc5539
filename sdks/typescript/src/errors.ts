/**
 * Errors that carry a decision: which code, whether to try again, and when.
 */

export interface ErrorOptions {
  /** What belongs to the code, as JSON. */
  details?: unknown
  cause?: unknown
  /** False: trying again is of no use. */
  retriable?: boolean
  /** Try again after this many milliseconds, whatever the backoff says. */
  retryAfterMs?: number
}

/** An error with a stable code. What the server refuses arrives as one, and handlers may throw their own. */
export class RiverrunError extends Error {
  override name = 'RiverrunError'
  readonly code: string
  readonly details?: unknown
  readonly retriable?: boolean
  readonly retryAfterMs?: number

  constructor(code: string, message: string, options: ErrorOptions = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined)
    this.code = code
    if (options.details !== undefined) this.details = options.details
    if (options.retriable !== undefined) this.retriable = options.retriable
    if (options.retryAfterMs !== undefined) this.retryAfterMs = options.retryAfterMs
  }
}

/** Trying again is of no use: the job fails at once, whatever its retry policy says. */
export class NonRetriableError extends RiverrunError {
  override name = 'NonRetriableError'

  constructor(message: string, options: Omit<ErrorOptions, 'retriable'> & { code?: string } = {}) {
    super(options.code ?? 'NON_RETRIABLE', message, { ...options, retriable: false })
  }
}

/** Try again, but not before a time: a service said "come back in a minute". */
export class RetryAfterError extends RiverrunError {
  override name = 'RetryAfterError'

  /** `after` is in milliseconds from now, or a date. */
  constructor(message: string, after: number | Date, options: Omit<ErrorOptions, 'retryAfterMs'> & { code?: string } = {}) {
    const retryAfterMs = Math.max(0, typeof after === 'number' ? after : after.getTime() - Date.now())
    super(options.code ?? 'RETRY_AFTER', message, { ...options, retryAfterMs })
  }
}

export type CancelReason = 'user' | 'timeout' | 'shutdown' | 'lease-lost' | 'client-gone' | (string & {})

/** Why `ctx.signal` was aborted. A handler that throws it ends as cancelled. */
export class CancelledError extends RiverrunError {
  override name = 'CancelledError'
  readonly reason: CancelReason

  constructor(reason: CancelReason) {
    super('CANCELLED', `cancelled: ${reason}`, { retriable: false })
    this.reason = reason
  }
}

/**
 * The server accepts nothing more from this execution, or cannot record what it did. The code of a
 * step must not continue: its `catch` would undo effects although nothing has failed for good.
 */
export class ExecutionOver extends RiverrunError {}
