/**
 * Cuts what comes in into lines. A line that comes in many pieces is put together once, so its
 * cost grows with its length and not with the square of it.
 */
export declare class Lines {
    #private;
    limitBytes: number;
    /** The lines that `chunk` completes. Throws `NotAMessage` if one is longer than the limit. */
    take(chunk: Buffer): string[];
}
