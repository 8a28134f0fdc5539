/**
 * The frames of a WebSocket (RFC 6455), as the client's side reads and writes them.
 */
export declare const opcode: {
    readonly continuation: 0;
    readonly text: 1;
    readonly binary: 2;
    readonly close: 8;
    readonly ping: 9;
    readonly pong: 10;
};
/** What came breaks the rules; the connection is closed with this code. */
export declare class BrokenRules extends Error {
    readonly code: number;
    constructor(code: number, message: string);
}
export type Came = {
    type: 'text';
    text: string;
} | {
    type: 'ping' | 'pong';
    payload: Buffer;
} | {
    type: 'close';
    code: number;
    reason: string;
};
/** A frame of a client: its payload is masked. */
export declare function frame(kind: number, payload: Buffer): Buffer;
/** Puts together what comes in pieces. A message of many pieces is joined once. */
export declare class FrameReader {
    #private;
    readonly limitBytes: number;
    constructor(limitBytes: number);
    /** What `chunk` completes. Throws `BrokenRules`. */
    take(chunk: Buffer): Came[];
}
