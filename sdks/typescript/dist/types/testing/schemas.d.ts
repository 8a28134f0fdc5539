/**
 * The schemas of a process, held against what goes into a handler and comes out of it, as the server
 * does it: by the JSON Schema that a config becomes, whatever library its schemas are of.
 */
import type { ProcessConfig } from '../config.ts';
import { type Parse } from '../runner/inputs.ts';
import type { Check, SchemaIssue } from './json-schema.ts';
export interface Checks {
    /** What the schema makes of an input, as for a handler in a runner. */
    parse?: Parse | undefined;
    input?: Check | undefined;
    output?: Check | undefined;
    state?: Check | undefined;
}
/** What the schemas of a config check. Throws if one of them cannot be understood. */
export declare function checksOf(config?: ProcessConfig, schemas?: boolean): Promise<Checks>;
/** Throws what the server refuses an input with. */
export declare function checkInput({ input: check }: Checks, input: unknown, what?: string): void;
/** The input as a handler gets it. Throws what the server or the schema refuses it with. */
export declare function givenInput<T>(checks: Checks, input: T, what?: string): Promise<T>;
/** Gives the result back, or throws what it fails with on the server. */
export declare function checkOutput<T>({ output: check }: Checks, value: T, what?: string): T;
/** After "… breaks the schema": where, if it is not the whole value, and what. */
export declare function issueText({ path, message }: Pick<SchemaIssue, 'path' | 'message'>): string;
