/**
 * A run, reduced from its events as the server reduces them. Pure functions without any import
 * from Node: what they give is new where something changed and the same where nothing did, so it
 * can be held by a reactive view.
 */
import type { RunEvent, RunStatus, VisitStatus } from '../events.ts';
import { type Visit } from './visits.ts';
export interface RunError {
    code?: string;
    message: string;
    details?: unknown;
    [member: string]: unknown;
}
export interface StepView {
    status: VisitStatus;
    /** How often the run has entered the step. */
    visits: number;
    /** Of the latest visit; 0 before its first. */
    attempt: number;
    startedAt?: string;
    endedAt?: string;
    error?: RunError;
}
export interface RunView {
    runId: string;
    flow: string;
    version: string;
    status: RunStatus;
    input: unknown;
    state: Record<string, unknown>;
    /** The latest news of each step. */
    steps: Record<string, StepView>;
    /** The visits that have not ended. */
    visits: Visit[];
    progress?: {
        pct?: number;
        detail?: unknown;
    };
    result?: unknown;
    error?: RunError;
    cancellation?: {
        source: string;
        reason?: string;
    };
    paused: boolean;
    createdAt: string;
    updatedAt: string;
    endedAt?: string;
    /** How many events led here. */
    events: number;
    /** Begin after it to read on. */
    lastEventId?: string;
}
/** A run before its first event. */
export declare function emptyRun(): RunView;
/** The run after one more event. An event that was seen already changes nothing. */
export declare function reduceRun(run: RunView, event: RunEvent): RunView;
export declare function reduceEvents(events: Iterable<RunEvent>, from?: RunView): RunView;
/** The run after each event, as they come. */
export declare function followRun(events: AsyncIterable<RunEvent>, from?: RunView): AsyncGenerator<RunView, RunView>;
