/**
 * The context of one invocation. Most handlers use little of it, so what costs something is made
 * when it is first asked for. Methods are bound: `const { emit, run } = ctx` works.
 */
import type { AwaitApi } from '../awaits.ts';
import type { RunCallOptions, Context, RunOptions, RunTry, StartOptions } from '../context.ts';
import { CancelledError, type CancelReason, RiverrunError } from '../errors.ts';
import type { InvokeParams } from '../wire.ts';
import { StepExecution } from './execution.ts';
import { type Link } from './link.ts';
import { LinkLogger, type LogSettings } from './logger.ts';
import { LinkState } from './state.ts';
export declare class InvocationContext implements Context {
    #private;
    /** What a step does beyond a job: it is executed again and again, with what it did before. */
    readonly execution: StepExecution | undefined;
    /** Called when the code of a job must not continue: an outcome of `ctx.run` cannot be recorded. */
    onLeave: (error: RiverrunError) => void;
    /** `batch` is the context of the batch to which this job belongs. */
    constructor(link: Link, params: InvokeParams, settings: LogSettings, batch?: InvocationContext);
    get state(): LinkState;
    get logger(): LinkLogger;
    get signal(): AbortSignal;
    get checkpoint(): Context['checkpoint'];
    get await(): AwaitApi;
    get kind(): 'job' | 'call' | 'step';
    get process(): string | undefined;
    get jobId(): string | undefined;
    get queueName(): string | undefined;
    get runId(): string | undefined;
    get flow(): string | undefined;
    get step(): string | undefined;
    get visit(): number | undefined;
    get awaited(): any;
    get config(): any;
    get tenantId(): string | undefined;
    get attempt(): number;
    get maxAttempts(): number;
    get timeoutMs(): number | undefined;
    job: (which: number | string) => InvocationContext;
    correlationId: () => string | undefined;
    causationId: () => string | undefined;
    emit: (event: string | {
        type?: string;
        kind?: string;
        data?: unknown;
    }, data?: unknown) => Promise<string>;
    progress: (pct: number, detail?: unknown) => void;
    partial: (value: unknown, path?: string) => void;
    run: <Value>(name: string, fn: (attempt: RunTry) => Value | Promise<Value>, options?: RunOptions) => Promise<Value>;
    patched: (id: string) => boolean;
    call: (process: string, input?: unknown, { retry, ...options }?: RunCallOptions) => Promise<any>;
    enqueue: Context['enqueue'];
    start: (flow: string, input?: unknown, options?: StartOptions) => Promise<{
        runId: string;
        created: boolean;
    }>;
    isLeaseValid: () => Promise<boolean>;
    /** Why the invocation is to stop; undefined while it is not. */
    get cancelled(): CancelledError | undefined;
    cancel(reason: CancelReason): void;
}
