import type { Failure, JournalRecord } from '../wire.ts';
export interface Memo {
    value?: unknown;
    error?: Failure | null;
}
/** What earlier attempts recorded, handed out by name in the order of the records. */
export declare class Journal {
    #private;
    constructor(records: readonly JournalRecord[]);
    /** The record for the next use of a name; undefined once they are used up. */
    next(name: string): Memo | undefined;
}
