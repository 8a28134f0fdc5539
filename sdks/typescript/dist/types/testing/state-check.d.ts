import type { StandardSchema } from '../schema.ts';
import type { Check } from './json-schema.ts';
export interface StateIssue {
    path: string;
    message: string;
}
/** A schema that can check by itself (zod and the like), or a function that lists what is wrong. */
export type StateCheck = StandardSchema<any> | ((state: Record<string, unknown>) => StateIssue[]);
/** What a write would break. */
export type WriteCheck = (before: Record<string, unknown>, after: Record<string, unknown>) => StateIssue[];
/** By what a test asks for, or else by the schema of the config. */
export declare function writeCheck(given: StateCheck | undefined, schema: Check | undefined): WriteCheck;
