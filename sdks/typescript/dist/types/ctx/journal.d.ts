/**
 * What earlier executions recorded, handed out by what was done, under which name and as which use
 * of it: what runs side by side may end in any order. What has no number is handed out in order.
 * Code gets each answer after those that were recorded before it, as in the execution that recorded
 * them: code in which two operations have swapped places never asks for the first.
 */
import { RiverrunError } from '../errors.ts';
import type { JournalRecord } from '../wire.ts';
export type Op = 'memo' | 'emit' | 'trigger' | 'await' | 'call' | 'enqueue' | 'start' | 'patched' | Read | Write;
/** What was read of the state. */
export type Read = 'state.get' | 'state.has' | 'state.getAll';
/** What was written to it. */
export type Write = 'state.set' | 'state.delete' | 'state.setBatch';
/**
 * A note that the next emit of that kind is made inside of a `ctx.run`. One that failed may go
 * another way when it is tried again, so such an emit may be left without use.
 */
export declare const inRun = "inRun";
export declare class Journal {
    #private;
    constructor(records: readonly JournalRecord[]);
    /** Whether the code has asked for all that was recorded: what it does now is new. */
    get isUsedUp(): boolean;
    /** How much the code has asked for in this execution. */
    get asked(): number;
    /** Whether earlier executions have written this, whatever the value. */
    hasWritten(op: Write, name: string): boolean;
    /** The record for the next use of a name; undefined if there is none. */
    next(op: Op, name: string): JournalRecord | undefined;
    /** Where the record stands that was handed out last. */
    get place(): number;
    /** Whether the code has asked for all that was recorded before a place. */
    isInTurn(place: number): boolean;
    /**
     * Whether this was written before, by the next record of the name that has the value. Those before
     * it were left by an attempt that went another way: they no longer count, and if there is none at
     * all none does.
     */
    wrote(op: Write, name: string, value: unknown): boolean;
    /** How often this was done so far, in this execution: the number of the latest use. */
    uses(op: Op, name: string): number;
    /**
     * The error for records that the code did not request: the code has changed. With a
     * place, only records before it count.
     */
    mismatch(until?: number): RiverrunError | undefined;
}
