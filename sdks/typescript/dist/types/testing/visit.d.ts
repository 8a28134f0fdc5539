/**
 * One visit of a step: its handler is called, really again and again, with what it did before.
 */
import type { Failure, Suspended } from '../wire.ts';
import type { FakeClock } from './clock.ts';
import { type Outcome } from './execute.ts';
import { Memory, type Effects, type MemoryOptions, type RunRetry, type Store } from './memory.ts';
import type { PlannedStep } from './plan.ts';
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
export declare class Visit {
    #private;
    readonly step: PlannedStep;
    readonly number: number;
    readonly run: {
        runId: string;
        flow: string;
        tenantId?: string | undefined;
        correlationId?: string | undefined;
    };
    readonly options: MemoryOptions;
    readonly undoes?: {
        step: string;
        visit: number;
    } | undefined;
    readonly awaits: SimulatedAwait[];
    readonly retries: SimulatedRetry[];
    readonly memory: Memory;
    /** As it was when the visit was entered: each execution is given its own. */
    readonly input: unknown;
    readonly startedAt: string;
    awaited: unknown;
    /** The event that entered it. */
    enteredBy: unknown;
    /** What had come of the await whose timeout led here: it is `awaited`, until its own await brings something. */
    soFar: unknown;
    /** What the handler gave, of a visit that lets its declared time pass. */
    returned: {
        value: unknown;
    } | undefined;
    /** Attempts that failed since the code last went on after a wait. */
    failures: number;
    /** Waits of its code that are over. */
    awaitsOver: number;
    outcome: Pick<VisitRun, 'status' | 'value' | 'error'>;
    constructor(step: PlannedStep, number: number, input: unknown, run: {
        runId: string;
        flow: string;
        tenantId?: string | undefined;
        correlationId?: string | undefined;
    }, options: MemoryOptions, store: Store, undoes?: {
        step: string;
        visit: number;
    } | undefined);
    /** Calls the handler. Gives how it ended, or what it waits for. */
    execute(clock: FakeClock): Promise<Outcome | Suspended>;
    /** Whether its handler has been called. */
    get isBegun(): boolean;
    get attempt(): number;
    /** The next execution is another attempt. */
    failed(error: unknown, delayMs: number): void;
    began(type: SimulatedAwait['type'], name: string): SimulatedAwait;
    /** What a wait has brought: the next execution is given it. */
    settle(name: string, outcome: {
        value: unknown;
    } | {
        error: Failure;
    }): void;
    report(): VisitRun;
    get isActive(): boolean;
    end(outcome: Visit['outcome']): void;
}
