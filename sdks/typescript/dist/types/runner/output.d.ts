/**
 * Where messages leave. What is sent within one turn of the event loop is gathered and written in
 * one call; what the pipe does not take at once waits without blocking anybody.
 */
export declare class Output {
    #private;
    /** Called with true when too much is unwritten, and with false when it is gone. */
    onCrowded: (crowded: boolean) => void;
    /** Throws if `fd` is not the writing end of a pipe or a socket. */
    constructor(fd: number);
    /** `line` ends with a line break. */
    send(line: string): void;
    /** Writes what is left, then calls `done`. */
    finish(done: () => void): void;
}
