/**
 * Answers a context as the server would, from memory, and keeps what was asked for.
 */
import type { EnqueueOptions, LogLevel, NewJob, StartOptions } from '../context.ts';
import type { Retry, RetryPolicy } from '../config.ts';
import type { Link } from '../ctx/link.ts';
import type { JournalRecord, PendingRetry } from '../wire.ts';
import { type Checks } from './schemas.ts';
import { type StateCheck } from './state-check.ts';
type State = Record<string, unknown>;
type Params = Record<string, any>;
export interface LogLine {
    level: LogLevel;
    message: string;
    meta?: Record<string, unknown>;
}
/** What a handler did, in the order in which it did it. */
export interface Effects {
    logs: LogLine[];
    events: {
        id: string;
        ts: string;
        type: string;
        data?: unknown;
    }[];
    progress: {
        pct: number;
        detail?: unknown;
    }[];
    partials: {
        path?: string;
        value: unknown;
    }[];
    enqueued: (NewJob & {
        jobId: string;
    })[];
    calls: {
        process: string;
        input: unknown;
        timeoutMs?: number;
    }[];
    started: {
        flow: string;
        input: unknown;
        options?: StartOptions;
        runId: string;
    }[];
}
/** What becomes of the callbacks that code has made. */
declare class Callbacks {
    #private;
    made(id: string, isForMany: boolean, expiresMs: number | undefined): void;
    used(id: string): void;
    /** Whether it can no longer be resumed. */
    isUsed(id: string): boolean;
    expiresMs(id: string): number | undefined;
}
/** The state of a run, which all of its visits share, and the triggers that it has made. */
export declare class Store {
    state: State;
    version: number;
    readonly triggers: Map<string, MadeTrigger>;
    readonly callbacks: Callbacks;
    constructor(state?: State);
    makeTrigger(type: string, payload: unknown): MadeTrigger;
}
export interface MadeTrigger {
    id: string;
    url: string;
    type: string;
    /** Shown to the person or program that resumes it. */
    payload: unknown;
}
export interface MemoryOptions {
    state?: State;
    /** Checks the state in place of the config's `state`. */
    stateSchema?: StateCheck;
    /** False: nothing is held against the schemas of the config. */
    schemas?: boolean;
    journal?: JournalRecord[];
    checkpoint?: unknown;
    /** What `ctx.call` gives for each process. */
    calls?: Record<string, (input: any) => unknown>;
    /** So many conditional writes are refused first, as if somebody else had been faster. */
    conflicts?: number;
    /** What `ctx.isLeaseValid` gives. */
    leaseValid?: boolean;
    /** How failed operations of the code are tried again: as the config's `retry`. */
    retryPolicy?: Retry | RetryPolicy | undefined;
    /** False: the code does not wait before it tries again, since no simulated time passes. */
    hasClock?: boolean;
}
/** A try of a `ctx.run`, or of another operation that is recorded, which failed and was followed by another. */
export interface RunRetry {
    op: string;
    name: string;
    nth?: number;
    /** The try that failed, from 1. */
    attempt: number;
    error: any;
    failedAt: string;
    delayMs: number;
}
interface PendingTry {
    op: string;
    name: string;
    nth?: number;
    failures: number;
    atMs: number;
}
export declare class Memory implements Link, Effects {
    #private;
    readonly logs: LogLine[];
    readonly events: Effects['events'];
    readonly progress: Effects['progress'];
    readonly partials: Effects['partials'];
    readonly enqueued: Effects['enqueued'];
    readonly calls: Effects['calls'];
    readonly started: Effects['started'];
    readonly journal: JournalRecord[];
    /** Tries of `ctx.run` and the like that failed and were followed by another, in order. */
    readonly runRetries: RunRetry[];
    /** What failed and has no outcome yet, with the time of its next try. */
    readonly pending: Map<string, PendingTry>;
    checkpoint: unknown;
    ended: boolean;
    /** Of a step what it emits and writes is recorded too. */
    constructor(options: MemoryOptions, checks: Checks | Promise<Checks>, store?: Store, isStep?: boolean);
    get state(): State;
    /** Like the wire, it lets nothing through but JSON, and gives copies. */
    request(method: string, params: Params): Promise<any>;
    notify(method: string, params: Params): void;
    /** What an execution gets of what failed before it. */
    get retries(): PendingRetry[];
}
export declare function isSameJob({ jobId, queue, options }: Effects['enqueued'][number], to: string, wanted: EnqueueOptions): boolean;
/** A value as it is after its way over the wire. */
export declare function copy<T>(value: T): T;
export {};
