/**
 * A WebSocket to the server. It is our own because a worker has to see pings: a server that says
 * nothing for a minute is gone, and the WebSocket that newer Nodes bring hides them. So nothing has
 * to be installed either.
 */
import type { Socket } from 'node:net';
export interface SocketOptions {
    headers: Record<string, string>;
    /** A message may have so many bytes. */
    limitBytes: number;
    /** A connection over which nothing comes for so long is ended. */
    silentMs: number;
}
/** Connects. Rejects with `UNREACHABLE`, `NOT_RIVERRUN`, or the code that the server refused with. */
export declare function connect(url: URL, options: SocketOptions): Promise<WebSocket>;
export interface Listener {
    onText(text: string): void;
    /** Called once. 1006 if the connection broke. */
    onClose(code: number, reason: string): void;
}
export declare class WebSocket {
    #private;
    constructor(socket: Socket, head: Buffer, { limitBytes, silentMs }: SocketOptions);
    /** Nothing is read before somebody listens. */
    listen(listener: Listener): void;
    /** While much of what was said is unwritten nothing more is read. */
    send(text: string): void;
    close(code?: number, reason?: string): void;
}
