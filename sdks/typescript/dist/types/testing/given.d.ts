/**
 * What comes from outside in a test: events, and whoever opens triggers.
 */
import type { Duration } from '../awaits.ts';
import type { RunEvent } from '../events.ts';
import type { MadeTrigger } from './memory.ts';
export interface GivenEvent {
    type?: string;
    /** The same under its older name. */
    kind?: string;
    data?: unknown;
    /** When it comes: a date, or so long after the start. As soon as somebody waits for it where absent. */
    at?: Date | Duration;
    runId?: string;
    correlationId?: string;
}
/** An event as expressions and handlers see it. */
export type SeenEvent = RunEvent & {
    kind: string;
};
declare const isLater: unique symbol;
/** An answer that takes its time. */
export interface Later {
    [isLater]: true;
    after: Duration;
    payload: unknown;
}
/** What opens a trigger, so long after the handler began to wait: `triggers: () => later('2 days', { approved: true })`. */
export declare function later(after: Duration, payload?: unknown): Later;
/**
 * Answers for whoever is to open triggers: with the payload, with `later(…)`, or with undefined for
 * nobody. One function for all, or one for each type.
 */
export type Triggers = ((trigger: MadeTrigger) => unknown) | Partial<Record<'webhook' | 'user' | 'api', (trigger: MadeTrigger) => unknown>>;
/** What somebody opens a trigger with, and how long that takes. */
export interface Opened {
    payload: unknown;
    afterMs: number;
}
/** The payload of a trigger, and how long it takes; undefined if nobody opens it. */
export declare function opened(triggers: Triggers | undefined, trigger: MadeTrigger): Promise<Opened | undefined>;
/** When a given event comes; undefined for as soon as somebody waits for it. */
export declare function arrivalMs({ at }: GivenEvent, startMs: number): number | undefined;
export declare function milliseconds(what: string, duration: Duration): number;
export {};
