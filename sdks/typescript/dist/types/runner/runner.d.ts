/**
 * The runner's side of docs/reference/protocol.md: loads modules and runs their handlers.
 */
import { type CancelReason } from '../errors.ts';
import { type Limits } from '../wire.ts';
import type { Invocation } from './invocation.ts';
import type { Output } from './output.ts';
import { type Listener, Peer } from './peer.ts';
export declare const heartbeatMs = 10000;
type Params = Record<string, unknown>;
export declare class Runner implements Listener {
    #private;
    readonly peer: Peer;
    /** Called with what the server takes and sends at most. */
    onLimits: (limits: Limits) => void;
    constructor(output: Output);
    /** The invocation whose code is running now, if one is known. */
    get current(): Invocation | undefined;
    onRequest(id: number, method: string, params: Params): void;
    onNotification(method: string, params: Params): void;
    /** Ends an invocation with an error that none of its handler's promises carries. */
    fail(invocation: Invocation, error: unknown): void;
    cancelAll(reason: CancelReason): void;
}
export {};
