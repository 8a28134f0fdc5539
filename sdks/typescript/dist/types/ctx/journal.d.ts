/**
 * What earlier executions recorded, handed out by what was done and under which name: the n-th use
 * gets the n-th record, so that what runs side by side may come in any order.
 */
import { RiverrunError } from '../errors.ts';
import type { JournalRecord } from '../wire.ts';
export type Op = 'memo' | 'emit' | 'trigger' | 'await' | 'call' | 'enqueue' | 'start';
export declare class Journal {
    #private;
    constructor(records: readonly JournalRecord[]);
    /** The record for the next use of a name; undefined once they are used up. */
    next(op: Op, name: string): JournalRecord | undefined;
    /** How often this was done so far, in this execution. */
    uses(op: Op, name: string): number;
    /** The error that records were left which nobody asked for: the code is not what it was. */
    mismatch(): RiverrunError | undefined;
}
