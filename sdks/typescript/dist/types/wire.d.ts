/**
 * The messages of docs/reference/protocol.md, as far as this SDK reads and writes them.
 */
export declare const protocolVersion = 1;
/** The code of an error answer after which the code of the execution must not continue. */
export declare const executionOver = -32002;
export interface Limits {
    messageBytes: number;
    resultBytes: number;
}
export interface InvokeParams {
    process?: string;
    /** Where the code is; a worker knows that itself. */
    file?: string;
    export?: string;
    revision?: number;
    kind?: 'job' | 'call' | 'step';
    jobId?: string | null;
    queue?: string | null;
    name?: string | null;
    input?: unknown;
    jobs?: BatchJob[];
    attempt?: number | null;
    maxAttempts?: number | null;
    runId?: string | null;
    flow?: string | null;
    step?: string | null;
    visit?: number | null;
    correlationId?: string | null;
    causationId?: string | null;
    tenantId?: string | null;
    checkpoint?: unknown;
    journal?: JournalRecord[] | null;
    awaited?: unknown;
    /** Of a step: operations of its code that failed before and are tried again. */
    retries?: PendingRetry[] | null;
    config?: unknown;
    timeoutMs?: number | null;
    enqueuedAt?: string | null;
    /** By it a worker that comes back names what it still runs. */
    lease?: string | null;
}
export interface BatchJob {
    jobId?: string | null;
    name?: string | null;
    input?: unknown;
    attempt?: number | null;
    maxAttempts?: number | null;
    correlationId?: string | null;
    causationId?: string | null;
    tenantId?: string | null;
    checkpoint?: unknown;
    journal?: JournalRecord[] | null;
    enqueuedAt?: string | null;
}
/** When and how an operation of the code is tried again: the answer to `memo.failed`. */
export interface TryAgain {
    /** The number of the try that comes, from 2. */
    attempt: number;
    retryAfterMs: number;
    /** The execution ends, and the server waits. */
    suspend?: boolean;
}
export interface PendingRetry extends TryAgain {
    op: string;
    name: string;
    nth?: number;
}
export interface JournalRecord {
    op: string;
    name?: string;
    /** Which use of the name it was; absent for the first. */
    nth?: number;
    value?: unknown;
    error?: Failure | null;
    /** Of a `ctx.run`: the kinds of the events that were emitted inside of it. */
    emits?: string[];
}
/** What the code of a step waits for: the answer of an invocation that is to be called again. */
export type Suspended = {
    type: 'time';
    resumeAt: string;
} | {
    type: 'time';
    afterMs: number;
} | {
    type: 'event';
    eventKind: string;
    match?: Record<string, unknown>;
    where?: string;
    lookbackMs?: number;
    lookback?: 'run' | 'none';
    timeoutMs?: number;
} | {
    type: 'trigger';
    triggerId: string;
    timeoutMs?: number;
}
/** Nothing is left to do but what failed, whose next try has its time. */
 | {
    type: 'retry';
};
/** An error as it is recorded: flat, and JSON throughout. */
export interface Failure {
    message: string;
    code?: string;
    name?: string;
    stack?: string;
    retriable?: boolean;
    retryAfterMs?: number;
    details?: unknown;
    /** Of an error in a journal: what else stood in it, for the code that catches it. */
    members?: Record<string, unknown>;
}
export interface WireError {
    code: number;
    message: string;
    data?: Omit<Failure, 'message'> & Record<string, unknown>;
}
export interface Message {
    id?: number;
    method?: string;
    params?: Record<string, unknown>;
    result?: unknown;
    error?: WireError;
}
