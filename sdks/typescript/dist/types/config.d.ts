/**
 * What a process says about itself. Every field is optional.
 */
import type { Duration } from './awaits.ts';
import type { LogLevel } from './context.ts';
import type { RunEvent } from './events.ts';
import type { Schema } from './schema.ts';
export type RunMode = 'queue' | 'flow' | 'call';
export interface Backoff {
    /** `exponential` where absent. */
    type?: 'fixed' | 'exponential';
    /** Before the second attempt; an exponential backoff doubles it each time. */
    delayMs: number;
    /** No wait is longer than this. */
    maxDelayMs?: number;
    /** 0 to 1: the part of each wait that is left to chance. */
    jitter?: number;
}
/** What happens to an attempt that fails, in the form that flows use as well. */
export interface Retry {
    /** How often a job is tried in all, the first try included: 3 where absent; 1 means never again. */
    maxAttempts?: number;
    /** Before the second attempt. 1000 where absent. */
    backoffMs?: number;
    /** Each further delay is longer by this factor. 2 where absent. */
    backoffMultiplier?: number;
    /** No delay is longer than this. 60000 where absent. */
    maxBackoffMs?: number;
    /** Codes or names of errors that are retried; all errors where absent. */
    retryOn?: string[];
    /** 0 to 1: the share of each delay that is random. */
    jitter?: number;
    /** What happens after the last attempt: by default the job is a dead letter; `retry` retries without a limit. */
    onFail?: 'dlq' | 'retry' | 'drop';
}
/** The form of `Retry` in the specifications. */
export interface RetryPolicy {
    /** How often a job is tried in all, the first try included: 3 where absent; 1 means never again. */
    attempts?: number;
    backoff?: Backoff;
    /** Codes or names of errors that are worth another attempt; any error where absent. */
    retriableErrors?: string[];
    /** What happens after the last attempt: by default the job is a dead letter; `retry` retries without a limit. */
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
/** An expression over `input` as text, or a function of it, that gives each job a key. */
export type KeyOf<Input = any> = string | ((input: Input) => string);
/** The first job of each window counts; the others are it. */
export interface Throttle<Input = any> {
    windowMs: number;
    /** Each value of this expression counts separately; without it, each key of the jobs does. */
    key?: KeyOf<Input>;
}
/** The last job is kept, once no other was added for `delayMs`. */
export interface Debounce<Input = any> {
    delayMs: number;
    /** Each value of this expression counts separately; without it, each key of the jobs does. */
    key?: KeyOf<Input>;
}
export interface Idempotency<Input = any> {
    /** `auto`: jobs with equal data are one. */
    key: 'auto' | KeyOf<Input>;
    /** How long a key is taken. Default: as long as its job is stored. */
    windowMs?: number;
}
export interface Dlq {
    enabled?: boolean;
    /** Where dead letters go; the queue's own where absent. */
    queue?: string;
}
/** What functions in the config of a step see of the run. */
export interface RunContext {
    runId: string;
    flowName: string;
    input: any;
    state: any;
}
/** A type of event that enters a step. Each matching event makes a visit. */
export interface Subscription {
    eventKind: string;
    /** Only events for which it holds. */
    when?: ((event: RunEvent, ctx: RunContext) => boolean) | string;
    /** Gives the step's input; the event's data where absent. */
    map?: ((event: RunEvent, ctx: RunContext) => unknown) | string;
}
interface AwaitLimits {
    timeout?: Duration;
    /** The step that is entered when it takes longer; the visit fails with `AWAIT_TIMEOUT` where absent. */
    onTimeout?: string;
}
/** A wait after the handler: the visit ends so much later. */
export interface AwaitTimeConfig {
    type: 'time';
    /** A function is one of what the handler returned, and gives milliseconds. */
    delay: Duration | ((result: any) => number);
}
/** A wait before the handler, which finds the event as `ctx.awaited`. */
export interface AwaitEventConfig extends AwaitLimits {
    type: 'event';
    eventKind: string;
    where?: ((event: RunEvent, ctx: RunContext) => boolean) | string;
    /** Dot paths into the event, each with a path into `input` or `state`, or `{ value }`: found by an index. */
    match?: Record<string, string | {
        value: unknown;
    }>;
    lookback?: Duration | 'run';
}
/** A wait before the handler, which finds the payload as `ctx.awaited`. */
export interface AwaitTriggerConfig extends AwaitLimits {
    type: 'trigger';
    triggerType?: 'webhook' | 'user' | 'api';
    /**
     * Shown to the person or program that resumes the callback: JSON whose strings may contain parts of
     * the step's input and of the run's state (`${input.order}`, `${total}`), or a function.
     */
    payload?: ((ctx: Omit<RunContext, 'flowName'>) => unknown) | object | string | number | boolean | null;
    /** The variable in the server's environment that holds the secret with which bodies must be signed. */
    secretEnv?: string;
    /** Requests before the step continues; `ctx.awaited` is then the list of their bodies. */
    many?: number;
}
export type AwaitConfig = AwaitTimeConfig | AwaitEventConfig | AwaitTriggerConfig;
/** What undoes a finished visit of the step when the run fails, or when one of these events comes. */
export interface Compensation {
    step: string;
    on?: string | string[];
}
/** What a process is as a step, in whichever flow. */
export interface StepConfig {
    /** The step's name; that of the process where absent. */
    step?: string;
    /** `entry`: where runs of the flow begin. Where absent, a step that no event enters is one. */
    role?: 'entry' | 'step';
    /** That of the flow, if it is the entry. */
    version?: string;
    /** Which events enter it. */
    subscriptions?: Subscription[];
    /** Kinds of events that enter it: subscriptions without `when` and `map`. */
    triggers?: string | string[];
    /** `all`: it is entered once there is one event of each subscribed kind; its input has a member for each. */
    join?: 'any' | 'all';
    await?: AwaitConfig;
    emits?: string[];
    compensation?: Compensation;
    /** Of the entry: what happens when a step has failed for good: the run stops (`stop`), or active steps finish first (`finish`). */
    onFailure?: 'stop' | 'finish';
}
/** How far a run may go before it fails. */
export interface FlowLimits {
    /** Visits of steps, 1,000 where absent (`MAX_STEPS`). */
    maxSteps?: number;
    /** Waits in the code of one visit, 10,000 where absent (`MAX_AWAITS`). */
    maxAwaits?: number;
    /** Bytes of one step's output, 1 MiB where absent, and of the whole state, 10 MiB. */
    maxValueBytes?: number;
    maxStateBytes?: number;
}
/** A flow that a process is a step of. */
export interface FlowConfig extends StepConfig {
    /**
     * That of the entry's step where the entry gives none. Another step without one is part of every
     * flow that emits what it subscribes to, or that names it.
     */
    id?: string;
    /** Of the entry: how far a run may go. */
    limits?: FlowLimits;
}
/** The same under its older name. */
export type FlowRole = FlowConfig;
export interface LoggerConfig {
    /** Nothing below this level is sent. */
    level?: LogLevel;
    /** Further keys whose values are redacted, besides password, token, secret and similar ones. */
    redact?: string[];
}
/**
 * A function in a config is not called in this process: its source is sent to the server, which
 * evaluates it in a sandbox. It can use its arguments and nothing else.
 */
export interface ProcessConfig<Input = any, State extends object = any, Output = any> extends StepConfig {
    /** `queue` where absent. */
    runMode?: RunMode;
    /** The name of the queue, with or without settings; that of the file where absent. */
    queue?: string | {
        name?: string;
        concurrency?: number;
    };
    name?: string;
    description?: string;
    tags?: string[];
    metadata?: Record<string, unknown>;
    /** The flow or the flows that it is a step of, by id or with what it is there. `step` and what belongs to it may stand at the top as well. */
    flow?: string | FlowConfig | (string | FlowConfig)[];
    /** How many invocations run at once, over all workers. */
    concurrency?: number;
    /** Jobs with the same key take turns with those of other keys. Used where a job was given none. */
    key?: KeyOf<Input>;
    /** How many jobs of one key run at once. */
    keyConcurrency?: number;
    rateLimit?: RateLimit;
    throttle?: Throttle<Input>;
    debounce?: Debounce<Input>;
    batch?: Batch;
    retry?: Retry;
    /** Another form of `retry`. */
    retryPolicy?: RetryPolicy;
    dlq?: Dlq;
    /** An attempt that takes longer is cancelled. */
    timeoutMs?: number;
    /** Jobs with the same key are one job. `auto`: those with equal data. Else a function, or an expression as text. */
    idempotencyKey?: 'auto' | (string & {}) | ((input: Input) => string);
    /** How long a key is taken. Default: as long as its job is stored. */
    idempotencyWindowMs?: number;
    /** Both in one. */
    idempotency?: Idempotency<Input>;
    inputSchema?: Schema<Input>;
    outputSchema?: Schema<Output>;
    /** What `ctx.state` must look like; a write that breaks it is refused in the handler. */
    state?: Schema<State>;
    logger?: LoggerConfig;
    /** Whether the frames of a call are recorded as events; on where absent. */
    persistFrames?: boolean;
    /** How much of what one attempt says is kept; 10,000 lines and 4 MiB where absent. */
    logs?: {
        maxLines?: number;
        maxBytes?: number;
    };
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
