/**
 * Where a module does not parse. Node says so for CommonJS; for ES modules it says it only of
 * errors that end a process, so a process is started that ends of it.
 */
export interface Place {
    file: string;
    line: number;
    column?: number;
    /** The line itself, and marks below what is wrong. */
    shown: string;
}
/** Undefined if the place is unknown. */
export declare function syntaxPlace(error: Error, file: string): Promise<Place | undefined>;
