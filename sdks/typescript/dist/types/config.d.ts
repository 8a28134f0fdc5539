/**
 * What a process says about itself. Every field is optional.
 */
import type { LogLevel } from './context.ts';
import type { RunEvent } from './events.ts';
import type { Schema } from './schema.ts';
export type RunMode = 'queue' | 'flow' | 'call';
export interface Backoff {
    type: 'fixed' | 'exponential';
    /** Before the second attempt; an exponential backoff doubles it each time. */
    delayMs: number;
    /** No wait is longer than this. */
    maxDelayMs?: number;
    /** 0 to 1: the part of each wait that is left to chance. */
    jitter?: number;
}
export interface RetryPolicy {
    /** How often a job is tried in all; 1 means never again. */
    attempts: number;
    backoff?: Backoff;
    /** Codes or names of errors that are worth another attempt; any error where absent. */
    retriableErrors?: string[];
    /** What becomes of a job whose attempts are used up: a dead letter where absent; `retry` tries for ever. */
    onFail?: 'dlq' | 'retry' | 'drop';
}
export interface RateLimit {
    max: number;
    durationMs: number;
}
export interface Batch {
    /** A handler gets up to this many jobs at once. */
    size: number;
    /** How long the first job of a batch waits for others. */
    waitMs?: number;
}
export interface Dlq {
    enabled?: boolean;
    /** Where dead letters go; the queue's own where absent. */
    queue?: string;
}
export interface Subscription {
    eventKind?: string;
    stream?: string | ((flowId: string, correlationId?: string) => string);
    when?: {
        kind?: string | string[];
        where?: (event: RunEvent) => boolean;
    } | ((event: RunEvent) => boolean) | string;
    map?: ((event: RunEvent) => unknown) | string;
}
export interface FlowRole {
    id: string;
    role: 'entry' | 'step';
    step: string;
    emits?: string[];
    version?: string;
    triggers?: string | string[];
    subscriptions?: Subscription[];
    compensation?: {
        step: string;
        on: string | string[];
    };
}
export interface LoggerConfig {
    /** Nothing below this level is sent. */
    level?: LogLevel;
    /** Keys whose values never leave the process, beside password, token, secret and the like. */
    redact?: string[];
}
/**
 * A function in a config is not called in this process: its source is sent to the server, which
 * evaluates it in a sandbox. It can use its arguments and nothing else.
 */
export interface ProcessConfig<Input = any, State extends object = any, Output = any> {
    /** `queue` where absent. */
    runMode?: RunMode;
    /** The name of the queue, with or without settings; that of the file where absent. */
    queue?: string | {
        name?: string;
        concurrency?: number;
    };
    name?: string;
    description?: string;
    flow?: FlowRole;
    /** How many invocations run at once, over all workers. */
    concurrency?: number;
    /** Jobs with the same key take turns with those of other keys. Used where a job was given none. */
    key?: string | ((input: Input) => string);
    /** How many jobs of one key run at once. */
    keyConcurrency?: number;
    rateLimit?: RateLimit;
    /** The first job in each window counts; the others are it. */
    throttle?: {
        windowMs: number;
    };
    /** The last job counts, once nobody has added another for a while. */
    debounce?: {
        delayMs: number;
    };
    batch?: Batch;
    retryPolicy?: RetryPolicy;
    dlq?: Dlq;
    /** An attempt that takes longer is cancelled. */
    timeoutMs?: number;
    /** How long a handler has to end after it was cancelled; 5,000 where absent. */
    cancelGraceMs?: number;
    /** Jobs with the same key are one job. `auto`: those with equal data. Else a function, or an expression as text. */
    idempotencyKey?: 'auto' | (string & {}) | ((input: Input) => string);
    inputSchema?: Schema<Input>;
    outputSchema?: Schema<Output>;
    /** What `ctx.state` must look like; a write that breaks it is refused in the handler. */
    state?: Schema<State>;
    logger?: LoggerConfig;
    /** Whether the frames of a call are recorded as events; on where absent. */
    persistFrames?: boolean;
}
type Inferred<Config, Field extends string> = Config extends {
    [key in Field]?: infer S;
} ? S extends {
    readonly '~standard': {
        readonly types?: {
            readonly output: infer T;
        } | undefined;
    };
} ? T : any : any;
/** The type of a job's data, from the schema in its config. */
export type InferInput<Config> = Inferred<Config, 'inputSchema'>;
/** The type of the state, from the schema in its config. */
export type InferState<Config> = Inferred<Config, 'state'>;
export {};
