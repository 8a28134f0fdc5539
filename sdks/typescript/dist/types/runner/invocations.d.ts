/**
 * Runs handlers for a server, from its `invoke` to the answer, over any transport: the pipe of the
 * runner, or the connections of a worker.
 */
import { type CancelReason } from '../errors.ts';
import type { InvokeParams, Limits } from '../wire.ts';
import { Invocation } from './invocation.ts';
import type { Process } from './modules.ts';
import type { Peer } from './peer.ts';
/** What is said to the server. */
export type Voice = Pick<Peer, 'request' | 'notify' | 'answer' | 'refuse'>;
export declare class Invocations {
    #private;
    limits: Limits;
    readonly running: Map<number, Invocation>;
    constructor(voice: Voice);
    /** The invocation whose code is running now, if one is known. */
    get current(): Invocation | undefined;
    add(id: number, params: InvokeParams): Invocation;
    cancel(id: number, reason?: CancelReason): void;
    cancelAll(reason: CancelReason): void;
    /** Calls `done` when nothing runs, or when the time is over. */
    drain(graceMs: number, done: (unfinished: number) => void): void;
    execute(invocation: Invocation, process: Process): void;
    /** Ends an invocation with an error, unless it has ended. */
    fail(invocation: Invocation, error: unknown): void;
}
