/**
 * Waiting in the middle of a step's code: what a handler can wait for, and with what.
 */
import type { RunEvent } from './events.ts';
/** Milliseconds, or text such as `90s`, `1h 30m`, `2 days`, `PT5M`. A day has 24 hours. */
export type Duration = number | (string & {});
export interface AwaitEventOptions<Data = any> {
    /** The type of the event. */
    kind: string;
    /** Dot paths into the event and what it has there: `{ 'data.orderId': order.id }`. Found by an index. */
    match?: Record<string, unknown>;
    /**
     * A function whose source is sent to the server and called there. It sees `event`, `ctx.input`
     * and `input`, and no other variable of the handler: those go into `match`.
     */
    where?: ((event: RunEvent<Data>, ctx: {
        input: any;
    }) => boolean) | string;
    /** After this long, or from this date on, the await throws `AWAIT_TIMEOUT`. Never where absent. */
    timeout?: Duration | Date;
    /**
     * Which earlier events count: `run`, those since the run began, where absent; with a duration
     * those of the last so long; with `none` only those from now on. The run is given each once.
     */
    lookback?: Duration | 'run' | 'none';
}
export interface AwaitTriggerOptions {
    /** Who resumes the callback; `webhook` where absent. */
    type?: 'webhook' | 'user' | 'api';
    /** Shown to the person or program that resumes the callback. */
    payload?: unknown;
    /** A duration from the creation, or a date; then `wait` throws `AWAIT_TIMEOUT`. Without it `wait` has no limit. */
    timeout?: Duration | Date;
    /** The callback can be resumed repeatedly; each `wait` returns the next body. */
    many?: boolean;
    /** Requests must be signed with it. */
    secret?: string;
}
/** A callback: a URL that resumes the step. */
export interface Trigger<Payload = any> {
    readonly id: string;
    /** A POST to this URL resumes the step. It cannot be guessed. */
    readonly url: string;
    /** Waits until the callback is resumed; returns the body of the request. */
    wait(): Promise<Payload>;
}
/**
 * Waits for which nothing is held: the execution ends, and when what it waits for has come the
 * handler is called again and given the recorded answers. One at a time; for "whichever comes
 * first, but not longer than" there is `timeout`.
 */
export interface AwaitApi {
    /** For a time: milliseconds, a duration such as `30 days`, or a date. */
    time(until: Duration | Date): Promise<void>;
    /** For an event that is emitted from now on, by any run or from outside. */
    event<Data = any>(options: AwaitEventOptions<Data> | string): Promise<RunEvent<Data>>;
    /** Makes a trigger; its `wait` is what waits. */
    trigger<Payload = any>(options?: AwaitTriggerOptions): Promise<Trigger<Payload>>;
}
