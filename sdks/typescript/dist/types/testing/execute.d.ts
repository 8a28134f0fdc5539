/**
 * Runs a handler as a runner would, without a server.
 */
import type { ProcessConfig } from '../config.ts';
import type { Context } from '../context.ts';
import { InvocationContext } from '../ctx/invocation.ts';
import { type CancelReason } from '../errors.ts';
import type { FakeClock } from './clock.ts';
import { type Effects, Memory, type MemoryOptions } from './memory.ts';
export interface TestOptions extends MemoryOptions {
    config?: ProcessConfig;
    jobId?: string;
    queue?: string;
    /** The name of the job. */
    name?: string;
    attempt?: number;
    maxAttempts?: number;
    runId?: string;
    correlationId?: string;
    causationId?: string;
    tenantId?: string;
    enqueuedAt?: string;
    /** The handler is cancelled after this long. */
    timeoutMs?: number;
    /** Goes on where an earlier attempt stopped: with its state, checkpoint and recorded runs. */
    after?: Execution;
    /** Time that passes as fast as the handler waits. */
    clock?: FakeClock;
    signal?: AbortSignal;
}
/** What a handler did, and what it left behind. */
export interface Kept extends Readonly<Effects> {
    state: Record<string, unknown>;
    checkpoint: unknown;
    journal: MemoryOptions['journal'] & {};
}
export interface Execution<Value = any> extends Kept {
    status: 'completed' | 'failed' | 'cancelled';
    value?: Value;
    error?: any;
    attempt: number;
    /** Of a batch: what was done with `ctx.job` for each of its jobs. */
    jobs?: Kept[];
}
export interface TestContext extends Readonly<Effects> {
    ctx: Context;
    readonly state: Record<string, unknown>;
    readonly checkpoint: unknown;
    cancel(reason?: CancelReason): void;
}
/** A context that answers from memory, for calling a handler by hand. */
export declare function createTestContext(options?: TestOptions): TestContext;
export type Handler = (first: any, ctx: any) => any;
/** A handler, or a module that exports one as its default, with or without a `config`. */
export type Executable = Handler | {
    default: Handler;
    config?: ProcessConfig;
};
/**
 * Runs a handler once. `input` is a job's data where the handler takes a job, and a list where its
 * config has `batch`. An error is not thrown; the result contains it.
 */
export declare function execute<Value = any>(executable: Executable, input?: unknown, given?: TestOptions): Promise<Execution<Value>>;
/** What is to be called, and what it says about itself. */
export declare function parts(executable: Executable): {
    handler: Handler;
    config: ProcessConfig;
    takes: 'input' | 'job';
};
export type Outcome = Pick<Execution, 'status' | 'value' | 'error'>;
export declare function settled(running: Promise<unknown>, ctx: InvocationContext): Promise<Outcome>;
export declare function effects({ logs, events, progress, partials, enqueued, calls, started }: Memory): Effects;
export declare function memoryOptions(options: Pick<TestOptions, 'after' | 'config' | 'clock' | keyof MemoryOptions>): MemoryOptions;
