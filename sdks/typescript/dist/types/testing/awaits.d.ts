/**
 * What an await in a config says, as the server reads it: the fields of its type, the values that
 * its `match` names.
 */
import type { AwaitConfig } from '../config.ts';
import { RiverrunError } from '../errors.ts';
interface Issue {
    path: string;
    message: string;
}
/** Why the server would not take the await in, if it would not. */
export declare function awaitIssues(at: string, declared: AwaitConfig): Generator<Issue>;
/** What must stand at the paths of a declared `match`, or why the step fails. */
export declare function wantedValues(match: Record<string, unknown>, ctx: {
    input: unknown;
    state: unknown;
}): Record<string, unknown> | RiverrunError;
export {};
