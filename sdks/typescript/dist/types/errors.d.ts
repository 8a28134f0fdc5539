/**
 * Errors that carry a decision: which code, whether to try again, and when.
 */
export interface ErrorOptions {
    /** What belongs to the code, as JSON. */
    details?: unknown;
    cause?: unknown;
    /** False: trying again is of no use. */
    retriable?: boolean;
    /** Try again after this many milliseconds, whatever the backoff says. */
    retryAfterMs?: number;
}
/** An error with a stable code. What the server refuses arrives as one, and handlers may throw their own. */
export declare class RiverrunError extends Error {
    name: string;
    readonly code: string;
    readonly details?: unknown;
    readonly retriable?: boolean;
    readonly retryAfterMs?: number;
    constructor(code: string, message: string, options?: ErrorOptions);
}
/** Trying again is of no use: the job fails at once, whatever its retry policy says. */
export declare class NonRetriableError extends RiverrunError {
    name: string;
    constructor(message: string, options?: Omit<ErrorOptions, 'retriable'> & {
        code?: string;
    });
}
/** Try again, but not before a time: a service said "come back in a minute". */
export declare class RetryAfterError extends RiverrunError {
    name: string;
    /** `after` is in milliseconds from now, or a date. */
    constructor(message: string, after: number | Date, options?: Omit<ErrorOptions, 'retryAfterMs'> & {
        code?: string;
    });
}
export type CancelReason = 'user' | 'timeout' | 'shutdown' | 'lease-lost' | 'client-gone' | (string & {});
/** Why `ctx.signal` was aborted. A handler that throws it ends as cancelled. */
export declare class CancelledError extends RiverrunError {
    name: string;
    readonly reason: CancelReason;
    constructor(reason: CancelReason);
}
/**
 * The server accepts nothing more from this execution, or cannot record what it did. The code of a
 * step must not continue: its `catch` would undo effects although nothing has failed for good.
 */
export declare class ExecutionOver extends RiverrunError {
}
