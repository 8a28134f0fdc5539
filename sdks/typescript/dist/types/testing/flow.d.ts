/**
 * A run of a flow in a test: the real engine executes it, with the handlers of the test and simulated time.
 */
import { FakeClock } from './clock.ts';
import { type Executable, parts } from './execute.ts';
import { type GivenEvent, type SeenEvent, type Triggers } from './given.ts';
import type { Effects, MemoryOptions, RunRetry } from './memory.ts';
import { type PlayOptions } from './play.ts';
export interface FlowOptions extends Omit<MemoryOptions, 'journal' | 'checkpoint' | 'retryPolicy' | 'hasClock'> {
    input?: unknown;
    /** Which flow, where the steps name several. */
    flow?: string;
    /** The step that the run begins with, where their configs leave it open. */
    entry?: string;
    /** What happens outside, in this order. */
    events?: GivenEvent[];
    triggers?: Triggers;
    /** When it begins; 2026-01-01 where absent. */
    start?: Date | number | string;
    /** A clock that is in charge already, in place of one that is made for this run. */
    clock?: FakeClock;
    runId?: string;
    tenantId?: string;
    correlationId?: string;
}
/** A wait, with the simulated times at which it began and ended. */
export interface SimulatedAwait {
    type: 'time' | 'event' | 'trigger';
    /** `time`, the kind of the event, or the id of the trigger. */
    name: string;
    from: string;
    /** Absent while it lasts. */
    until?: string;
    waitedMs?: number;
    outcome: 'time' | 'event' | 'trigger' | 'timeout' | 'waiting';
    value?: unknown;
}
/** A try that failed and was followed by another. */
export interface SimulatedRetry {
    attempt: number;
    error: any;
    /** When it failed, and how long it was waited until the next try. */
    failedAt: string;
    delayMs: number;
}
export interface VisitRun<Value = any> extends Readonly<Effects> {
    step: string;
    visit: number;
    input: unknown;
    /** The finished visit that this one undoes. */
    undoes?: {
        step: string;
        visit: number;
    };
    status: 'completed' | 'failed' | 'cancelled' | 'timeout' | 'waiting';
    value?: Value;
    error?: any;
    awaits: SimulatedAwait[];
    /** How often it was tried: 1, and 1 more for each of `retries`. */
    attempt: number;
    retries: SimulatedRetry[];
    /** Tries of `ctx.run` and the like that failed and were followed by another. */
    runRetries: readonly RunRetry[];
    /** How often the handler was called, over all attempts. */
    executions: number;
    startedAt: string;
    endedAt: string;
}
export interface FlowRun {
    /** `waiting`: a step waits for something that the test does not give. */
    status: 'completed' | 'failed' | 'waiting';
    error?: any;
    visits: VisitRun[];
    /** Emitted events and events from outside. */
    events: (SeenEvent & {
        stepName?: string;
    })[];
    /** Events that entered no step and for which no step waited. */
    unclaimed: SeenEvent[];
    /** Expressions that threw: what each was to judge was passed over. */
    warnings: FlowWarning[];
    state: Record<string, unknown>;
    startedAt: string;
    endedAt: string;
    elapsedMs: number;
}
/** Something that the run says in its stream, as `log.warn`. */
export interface FlowWarning {
    code: string;
    message: string;
    step: string;
}
/** What `runFlow` and `runStep` both take. */
export declare const sharedOptions: string[];
export declare function runFlow(steps: Executable[] | Record<string, Executable>, options?: FlowOptions): Promise<FlowRun>;
/** A handler and the config that makes it a step. */
export interface Step extends ReturnType<typeof parts> {
    name: string;
}
/** A visit with what its code did and must not do twice. */
export type Recorded = VisitRun & {
    journal: {
        op: string;
        name?: string;
        value?: unknown;
    }[];
};
/** Plays the steps, each with its name. */
export declare function simulate(named: Step[], options: FlowOptions & Pick<PlayOptions, 'awaited'>): Promise<Omit<FlowRun, 'visits'> & {
    visits: Recorded[];
}>;
