/**
 * Inputs as handlers get them: where the schema of a config can parse, what it makes of them, with
 * its defaults and coercions. The server has held them against the JSON Schema before.
 */
import { RiverrunError } from '../errors.ts';
import type { InvokeParams } from '../wire.ts';
/** What a schema makes of an input; a promise if it takes its time. Throws what the server would refuse it with. */
export type Parse = (input: unknown) => unknown;
/** An invocation with its inputs parsed. A job of a batch whose input was refused is left out of it. */
export interface Parsed {
    params: InvokeParams;
    refused: Map<number, RiverrunError>;
}
/** Undefined for what cannot parse, such as a JSON Schema. */
export declare function parserOf(schema: unknown): Parse | undefined;
/** Throws, or is rejected, with what is wrong with the input; of a batch each input is its job's affair. */
export declare function parsedInputs(parse: Parse, params: InvokeParams): Parsed | Promise<Parsed>;
/** What a handler returned for the jobs that it was given, with the errors of the others in their places. */
export declare function withRefused(value: unknown, refused: ReadonlyMap<number, RiverrunError>, jobs: number): unknown;
