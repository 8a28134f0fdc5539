/**
 * What comes from outside in a test: events, and answers to callbacks.
 */
import type { Duration } from '../awaits.ts';
import type { RunEvent } from '../events.ts';
import type { MadeTrigger } from './memory.ts';
export interface GivenEvent {
    type?: string;
    /** The same under its older name. */
    kind?: string;
    data?: unknown;
    /** When it comes: a date, or a duration after the start. Default: as soon as a step waits for it. */
    at?: Date | Duration;
    runId?: string;
    correlationId?: string;
}
/** An event as expressions and handlers see it. */
export type SeenEvent = RunEvent & {
    kind: string;
};
declare const isLater: unique symbol;
/** An answer that comes later. */
export interface Later {
    [isLater]: true;
    after: Duration;
    payload: unknown;
}
/** An answer to a callback, so long after the handler began to wait: `triggers: () => later('2 days', { approved: true })`. */
export declare function later(after: Duration, payload?: unknown): Later;
/**
 * Answers to callbacks: the body of the request, `later(…)`, or undefined for no answer. One function
 * for all callbacks, or one for each type.
 */
export type Triggers = ((trigger: MadeTrigger) => unknown) | Partial<Record<'webhook' | 'user' | 'api', (trigger: MadeTrigger) => unknown>>;
/** The answer to a callback, and how long it takes. */
export interface Opened {
    payload: unknown;
    afterMs: number;
}
/** The answer to a callback, and how long it takes; undefined without an answer. */
export declare function opened(triggers: Triggers | undefined, trigger: MadeTrigger): Promise<Opened | undefined>;
/** When a given event comes; undefined for as soon as somebody waits for it. */
export declare function arrivalMs({ at }: GivenEvent, startMs: number): number | undefined;
export declare function milliseconds(what: string, duration: Duration): number;
export {};
