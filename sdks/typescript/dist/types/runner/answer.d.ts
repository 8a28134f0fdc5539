/**
 * What a handler returned, as the text of an answer.
 */
import type { Limits } from '../wire.ts';
/** JSON text of a value. Throws if there is none, or if it is too long. */
export declare function valueText(value: unknown, limitBytes: number): string;
/** The answer of a batch: a list is one result for each job, anything else is the result of all. */
export declare function batchText(value: unknown, jobs: number, { resultBytes, messageBytes }: Limits): string;
