/**
 * Outcomes of what code does, on their way to its journal. What fails is tried again by itself, as
 * the server decides: only the final error reaches the code, and it is recorded first.
 */
import { CancelledError, RiverrunError } from '../errors.ts';
import type { PendingRetry } from '../wire.ts';
import type { Op } from './journal.ts';
/** What code does, and as which use of the name. */
export interface Doing {
    op: Op;
    name: string;
    nth: number;
    /** The kinds of the events that were emitted inside of it. */
    emits?: string[];
    /** How it is tried again, where not as its process is. */
    retry?: unknown;
    /** How long one try may take. */
    timeoutMs?: number | undefined;
}
/** One try, as the function that it calls sees it. */
export interface Try {
    /** From 1. */
    readonly attempt: number;
    /** Aborted when the try has taken too long, or the work is to stop. */
    readonly signal: AbortSignal;
}
/** A try that the code got as over; what it still does must not count. */
export interface Bounded extends Try {
    readonly over: RiverrunError | undefined;
}
/** Whether the work is to stop. `signal` is created when it is read, which costs more than a `ctx.run`. */
export interface Stop {
    readonly cancelled: CancelledError | undefined;
    readonly signal: AbortSignal;
}
export interface OutcomesOptions {
    ask: (method: 'memo' | 'memo.failed', params: Record<string, unknown>) => Promise<any>;
    stop: Stop;
    /** Ends the execution with an error. The code does not continue: neither its `catch` nor its `finally`. */
    leave: (error: RiverrunError) => Promise<never>;
    /** What failed in earlier executions, and is tried again. */
    pending?: readonly PendingRetry[];
}
export declare class Outcomes {
    #private;
    constructor(options: OutcomesOptions);
    /**
     * Does something and has its outcome recorded. What it throws is what a replay would throw.
     * `suspend` leaves a long wait for the next try to the server.
     */
    of<Value>(doing: Doing, work: (attempt: Bounded) => Value | Promise<Value>, suspend?: () => Promise<never>): Promise<Value>;
}
/** How a record says which use of its name it is of. */
export declare function numbered(nth: number): {
    nth?: number;
};
