/**
 * Outcomes of what code does, on their way to its journal.
 */
import type { Failure } from '../wire.ts';
import type { Op } from './journal.ts';
/** What code does, and as which use of the name. */
export interface Doing {
    op: Op;
    name: string;
    nth: number;
    /** The kinds of the events that were emitted inside of it. */
    emits?: string[];
}
type Outcome = Doing & {
    value?: unknown;
    error?: Failure;
};
export declare class Outcomes {
    #private;
    /** `memo` asks the server to record one. */
    constructor(memo: (params: Record<string, unknown>) => Promise<unknown>);
    /** Does something and has its outcome recorded. What it throws is what a replay would throw. */
    of<Value>(doing: Doing, work: () => Value | Promise<Value>): Promise<Value>;
    /** The code goes on after what it was thrown, so the next execution is to go the same way. */
    livedWith(thrown?: Iterable<Outcome>): Promise<void>;
}
/** How a record says which use of its name it is of. */
export declare function numbered(nth: number): {
    nth?: number;
};
export {};
