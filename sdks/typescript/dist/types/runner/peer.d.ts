/**
 * JSON-RPC over lines: matches answers to requests, and hands requests and notifications on.
 */
import type { Failure } from '../wire.ts';
import type { Output } from './output.ts';
export interface Listener {
    onRequest(id: number, method: string, params: Record<string, unknown>): void;
    onNotification(method: string, params: Record<string, unknown>): void;
}
export declare class NotAMessage extends Error {
}
export declare class Peer {
    #private;
    limitBytes: number;
    constructor(output: Output, listener: Listener);
    /** Throws `NotAMessage` if the line is none. */
    receive(line: string): void;
    request(method: string, params: Record<string, unknown>): Promise<unknown>;
    notify(method: string, params: Record<string, unknown>): void;
    /** `result` is JSON text. */
    answer(id: number, result: string): void;
    refuse(id: number, failure: Failure, code?: number): void;
}
