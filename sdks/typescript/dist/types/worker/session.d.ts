/**
 * What a worker has to say to its server, over all of its connections. What may not have been received
 * is said again over the next one; the server does it once.
 */
import type { Voice } from '../runner/invocations.ts';
import type { Failure, InvokeParams, Message } from '../wire.ts';
import type { WebSocket } from './websocket.ts';
/** An invocation as the server knows it again. */
export interface Running {
    invocation: number;
    jobId: string;
    lease: string;
}
export declare class Session implements Voice {
    #private;
    limitBytes: number;
    /** Frames that were lost because too much waited. */
    lost: number;
    constructor(credits: number);
    /** What still runs, or has ended without an acknowledgement. */
    get running(): Running[];
    /** Whether messages for the server are still to be sent. */
    get hasMoreToSay(): boolean;
    begun(id: number, { jobId, jobs, runId, lease }: InvokeParams): void;
    /** The server knows this worker over a new connection: it gets what it may have missed. */
    connected(socket: WebSocket): void;
    disconnected(): void;
    /** Passes an answer of the server to the request that it answers. */
    settle({ id, result, error }: Message): void;
    request(method: string, params: Record<string, unknown>): Promise<unknown>;
    notify(method: string, params: Record<string, unknown>): void;
    answer(id: number, result: string): void;
    refuse(id: number, failure: Failure, code?: number): void;
}
