/**
 * A trigger, reduced from the events of its stream as the server reduces them.
 */
import type { RunEvent } from '../events.ts';
export interface TriggerView {
    status: 'registered' | 'fired' | 'timeout' | 'cancelled';
    registeredAt?: string;
    /** When it was fired last. */
    firedAt?: string;
    /** When it timed out or was cancelled. */
    endedAt?: string;
    type?: string;
    /** What it was fired with last. */
    payload?: unknown;
    /** The run that waits for it, or that it started last. */
    correlationId?: string;
    /** The run that it started last. */
    runId?: string;
    /** How often it was fired. */
    fired: number;
    /** How often it was fired without starting a run. */
    failed: number;
}
/** A trigger before its first event. */
export declare function emptyTrigger(): TriggerView;
/** The trigger after an event; the same if the event says nothing of it. */
export declare function reduceTrigger(trigger: TriggerView, event: RunEvent): TriggerView;
