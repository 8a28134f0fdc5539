/**
 * Follows a stream over any number of connections: each begins after the last event that was
 * seen, so the reader gets every event once and in order.
 */
import { type RunEvent } from '../events.ts';
import { type Client, type SendOptions } from './http.ts';
export interface SubscribeOptions {
    /** Begin after this event. `end`: only what happens from now on. Everything where absent. */
    from?: string;
    /** Only these types; `log` takes every `log.*`. */
    types?: string[];
    /** `until-end` is over when the run or the job is. `forever` where absent. */
    follow?: 'until-end' | 'forever';
    signal?: AbortSignal;
    /** A connection on which nothing comes for this long is given up; 60,000 where absent. */
    idleMs?: number;
    /** Called before each new connection but the first, with what ended the last one. */
    onReconnect?: (reason: unknown) => void;
    /**
     * Called when events of a queue are lost to this reader: it was too slow, or was away since the
     * event `after`. The jobs themselves are on the server. Other streams lose nothing.
     */
    onMissed?: (missed: Missed) => void;
}
export interface Missed {
    /** At least so many. */
    missed?: number;
    after?: string;
}
/** What somebody who follows kinds of events may say. */
export interface OnKindOptions extends Pick<SubscribeOptions, 'signal' | 'idleMs' | 'onReconnect'> {
    /** Begin after this `cursor`. `start`: everything that is kept. What happens from now on where absent. */
    from?: string;
}
/** An event among those of other streams. */
export interface LoggedEvent<Data = any> extends RunEvent<Data> {
    /** The full name of the stream that it is from. */
    stream: string;
    /** Its place among all events: pass it as `from` to continue after it. */
    cursor: string;
}
/** What of a request for a stream changes from one connection to the next. */
interface Connecting extends SendOptions {
    query: {
        from?: string;
        type?: string;
        follow?: 'until-end' | 'forever';
    };
}
/** Sends the request for a stream. */
export type Open = (to: Connecting) => Promise<Response>;
export declare function onKind(client: Client, kinds: string | string[], options?: OnKindOptions): AsyncGenerator<LoggedEvent, void>;
export declare function subscribe(open: Open, options?: SubscribeOptions): AsyncGenerator<RunEvent, void>;
export {};
