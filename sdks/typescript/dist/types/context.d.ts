/**
 * What a handler is given beside its input.
 */
import type { AwaitApi } from './awaits.ts';
import type { Retry, RetryPolicy } from './config.ts';
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';
export interface Logger {
    debug(message: string, meta?: Record<string, unknown>): void;
    info(message: string, meta?: Record<string, unknown>): void;
    warn(message: string, meta?: Record<string, unknown>): void;
    error(message: string, meta?: Record<string, unknown>): void;
    /** A logger whose lines all carry these members. */
    child(bindings: Record<string, unknown>): Logger;
}
/** Below a known key, a dot path leads into the value. */
type PathInto<State extends object> = `${keyof State & string}.${string}`;
/**
 * The state of the run that this invocation belongs to. Each operation is answered when it is
 * durable. Keys are dot paths.
 */
export interface StateApi<State extends object> {
    get<Key extends keyof State & string>(key: Key): Promise<State[Key] | undefined>;
    get(key: PathInto<State>): Promise<any>;
    set<Key extends keyof State & string>(key: Key, value: State[Key]): Promise<void>;
    set(key: PathInto<State>, value: unknown): Promise<void>;
    delete(key: (keyof State & string) | PathInto<State>): Promise<void>;
    has(key: (keyof State & string) | PathInto<State>): Promise<boolean>;
    getAll(): Promise<Partial<State>>;
    /** Sets several keys at once: all of them or none. */
    setBatch(values: Partial<State>): Promise<void>;
    /**
     * Sets the keys that `change` returns, and nothing if somebody else has written meanwhile: then
     * `change` is called again with what is there now. It may be called more than once, so it must
     * not have effects of its own. Keys that it leaves out stay as they are.
     */
    patch<Change extends Partial<State> | undefined | void>(change: (state: Partial<State>) => Change | Promise<Change>, options?: PatchOptions): Promise<Change>;
    /** The same for one key. Returning undefined writes nothing. */
    patch<Key extends keyof State & string>(key: Key, change: (value: State[Key] | undefined) => State[Key] | undefined | Promise<State[Key] | undefined>, options?: PatchOptions): Promise<State[Key] | undefined>;
    patch(key: PathInto<State>, change: (value: any) => unknown, options?: PatchOptions): Promise<any>;
}
export interface PatchOptions {
    /** How often to start over before the conflict is thrown; 100 where absent. */
    retries?: number;
}
export interface Checkpoint<Data = any> {
    /** What was saved last, by an earlier attempt of this job or this one; undefined if nothing. */
    readonly data: Data | undefined;
    /** Keeps `data` for the next attempt, should this one not end well. */
    save(data: Data): Promise<void>;
}
export interface EnqueueOptions {
    /** Enqueues nothing if a job with this id is there. */
    jobId?: string;
    /** Higher goes first; 0 where absent. */
    priority?: number;
    delayMs?: number;
    /** A date, ISO 8601, or milliseconds since 1970. */
    runAt?: string | number | Date;
    /** How often it is tried in all, the first try included; as its process says where absent. */
    attempts?: number;
    backoff?: {
        type: 'fixed' | 'exponential';
        delayMs: number;
        maxDelayMs?: number;
        jitter?: number;
    };
    timeoutMs?: number;
    /** Codes or names of errors that are worth another attempt. */
    retriableErrors?: string[];
    /** One job for the key: as long as the job is known, or for `idempotencyWindowMs`. */
    idempotencyKey?: string;
    idempotencyWindowMs?: number;
    /** The same, said in one. */
    idempotency?: {
        key: string;
        windowMs?: number;
    };
    /** One job for the key until it has ended, or for a time. */
    dedupe?: {
        key: string;
        windowMs?: number;
    };
    throttle?: {
        key?: string;
        windowMs: number;
    };
    debounce?: {
        key?: string;
        delayMs: number;
    };
    /** Jobs with the same key take turns with those of other keys, and share limits per key. */
    key?: string;
    tenantId?: string;
    tags?: string[];
    metadata?: Record<string, unknown>;
    correlationId?: string;
    causationId?: string;
    onFail?: 'retry' | 'dlq' | 'drop';
}
export interface NewJob<Data = unknown> {
    queue: string;
    /** That of the queue where absent. */
    name?: string;
    data: Data;
    options?: EnqueueOptions;
}
export interface Enqueued {
    jobId: string;
    /** False if a key or an id was there already: `jobId` is then that job's. */
    created: boolean;
}
export interface StartOptions {
    idempotencyKey?: string;
    tags?: string[];
    metadata?: Record<string, unknown>;
    tenantId?: string;
    delayMs?: number;
    version?: string;
    runId?: string;
}
export interface Started {
    runId: string;
    created: boolean;
}
/** How a `ctx.run` is tried again, and how long a try may take. */
export interface RunOptions {
    /** As the `retry` of the process where absent; a number of attempts, the first included; false for one. */
    retry?: Omit<Retry, 'onFail'> | Omit<RetryPolicy, 'onFail'> | number | false;
    /** A try that takes longer fails with `TIMEOUT`, which counts as any failed try. */
    timeoutMs?: number;
}
/** One try of a `ctx.run`. */
export interface RunTry {
    /** From 1. */
    readonly attempt: number;
    /** Aborted when the try exceeds its time, or when the work has to stop. */
    readonly signal: AbortSignal;
}
export interface RunCallOptions {
    timeoutMs?: number;
    /** In a step: how the call is tried again; as the `retry` of the process where absent. */
    retry?: RunOptions['retry'];
}
export interface Context<State extends object = any> {
    readonly state: StateApi<State>;
    readonly logger: Logger;
    /** Aborted when the work is to stop, with a `CancelledError` that says why. */
    readonly signal: AbortSignal;
    readonly checkpoint: Checkpoint;
    /** Waits that cost nothing, in a step of a flow; elsewhere each is refused with `AWAIT_OUTSIDE_FLOW`. */
    readonly await: AwaitApi;
    readonly kind: 'job' | 'call' | 'step';
    readonly process: string | undefined;
    readonly jobId: string | undefined;
    readonly queueName: string | undefined;
    readonly runId: string | undefined;
    readonly flow: string | undefined;
    readonly step: string | undefined;
    /** Of a step: the n-th time that its run entered it. */
    readonly visit: number | undefined;
    /** Of a step: what the await in its config has brought, an event or the payload of a trigger. */
    readonly awaited: any;
    /** In a step whose type is the name of the process: the `config` of the step. Otherwise an empty object. */
    readonly config: any;
    readonly tenantId: string | undefined;
    /** From 1. */
    readonly attempt: number;
    /** The number of the last attempt that may be made. It counts the first try. */
    readonly maxAttempts: number;
    /** An attempt that takes longer is cancelled. */
    readonly timeoutMs: number | undefined;
    /**
     * The context of one job of a batch, by its place in the list or by its id: what is said and asked
     * there belongs to that job alone. What is said on the context of the batch itself belongs to its
     * first job.
     */
    job(which: number | string): Context<State>;
    /** The same for all work that one cause set in motion. */
    correlationId(): string | undefined;
    /** The event or job that led to this invocation. */
    causationId(): string | undefined;
    /**
     * Appends an event to the run's stream; gives back its id, or an empty text in a step of a flow:
     * there it is stored with what the step does next, at the latest with its end.
     */
    emit(type: string, data?: unknown): Promise<string>;
    emit(event: {
        type: string;
        data?: unknown;
    } | {
        kind: string;
        data?: unknown;
    }): Promise<string>;
    /** 0 to 100, and anything worth showing beside it. */
    progress(pct: number, detail?: unknown): void;
    /** A piece of the result, for those who watch. `path` says where in the result it belongs. */
    partial(value: unknown, path?: string): void;
    /**
     * Calls `fn` and records its value: should this attempt not end well, the next one is given the
     * recorded value and `fn` is not called again. What comes back has been through JSON, so that
     * both ways give the same. When `fn` throws it is called again by itself, with backoff, as
     * `retry` says. Only its final error is thrown here, and it is recorded: a later attempt gets the
     * same error. The n-th use of a name is its n-th record: calls that run side by side need names
     * of their own.
     */
    run<Value>(name: string, fn: (attempt: RunTry) => Value | Promise<Value>, options?: RunOptions): Promise<Value>;
    /**
     * Whether code that was changed takes its new path: false in a step that was already past this
     * point when the change came, true in all others. So old runs keep the path that they began.
     */
    patched(id: string): boolean;
    /** Runs another process at once, and gives back its value. In a step it is retried like `run`. */
    call<Value = any>(process: string, input?: unknown, options?: RunCallOptions): Promise<Value>;
    enqueue(queue: string, data?: unknown, options?: EnqueueOptions & {
        name?: string;
    }): Promise<Enqueued>;
    /** All of them or none. */
    enqueue(jobs: NewJob[]): Promise<Enqueued[]>;
    /** Starts a run of a flow. */
    start(flow: string, input?: unknown, options?: StartOptions): Promise<Started>;
    /** Whether what this handler does still counts. Ask before an effect that must not happen twice. */
    isLeaseValid(): Promise<boolean>;
}
/** The context of a step of a flow. */
export interface StepContext<State extends object = any, Awaited = any> extends Context<State> {
    readonly kind: 'step';
    readonly runId: string;
    readonly flow: string;
    readonly step: string;
    readonly visit: number;
    readonly awaited: Awaited;
}
export interface Job<Data = any> {
    readonly id: string;
    readonly name: string;
    readonly queue: string;
    readonly data: Data;
    /** From 1. */
    readonly attempt: number;
    readonly maxAttempts: number;
    /** ISO 8601. */
    readonly enqueuedAt: string | undefined;
    /** Whether this job is still this worker's: as `ctx.isLeaseValid`. */
    isLeaseValid(): Promise<boolean>;
}
export {};
