import type { StandardSchema } from '../schema.ts';
export interface StateIssue {
    path: string;
    message: string;
}
/** A schema that can check by itself (zod and the like), or a function that lists what is wrong. */
export type StateCheck = StandardSchema<any> | ((state: Record<string, unknown>) => StateIssue[]);
/** What is wrong with a state. A key that was not written yet is not wrong: states grow. */
export declare function stateIssues(check: StateCheck | undefined, state: Record<string, unknown>): StateIssue[];
