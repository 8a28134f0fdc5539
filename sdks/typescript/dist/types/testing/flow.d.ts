/**
 * A run of a flow in memory: what steps emit enters the steps that subscribe to it, waits jump the
 * clock, until nothing is active, and what a failed run did is undone. A step that fails is tried again as
 * its retry policy says, after a backoff that jumps the clock too.
 */
import { FakeClock } from './clock.ts';
import type { Executable } from './execute.ts';
import { type GivenEvent, type SeenEvent, type Triggers } from './given.ts';
import { type MemoryOptions, Store } from './memory.ts';
import { type PlannedStep } from './plan.ts';
import { type Undo } from './undo.ts';
import { Visit, type VisitRun } from './visit.ts';
export interface FlowOptions extends Omit<MemoryOptions, 'journal' | 'checkpoint'> {
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
export interface FlowRun {
    /** `waiting`: something waits for what nobody gave. */
    status: 'completed' | 'failed' | 'waiting';
    error?: any;
    visits: VisitRun[];
    /** What was emitted, and what came from outside. */
    events: (SeenEvent & {
        stepName?: string;
    })[];
    /** Events that entered no step and that nobody waited for. */
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
/** Runs `work` with a clock in charge. */
export declare function simulate<T>({ clock, start }: Pick<FlowOptions, 'clock' | 'start'>, work: (clock: FakeClock) => Promise<T>): Promise<T>;
export declare class Simulation {
    #private;
    readonly flow: string;
    readonly steps: Map<string, PlannedStep>;
    readonly options: FlowOptions;
    readonly clock: FakeClock;
    readonly entry: Pick<PlannedStep, 'onFailure' | 'limits'>;
    readonly visits: Visit[];
    readonly store: Store;
    constructor(flow: string, steps: Map<string, PlannedStep>, options: FlowOptions, clock: FakeClock, entry: Pick<PlannedStep, 'onFailure' | 'limits'>);
    enter(step: PlannedStep, input: unknown, undoes?: Undo['visit']): Visit;
    play(): Promise<FlowRun>;
}
