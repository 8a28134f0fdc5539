/**
 * Errors on their way to the wire and back.
 */
import { RiverrunError } from './errors.ts';
import { type Failure, type WireError } from './wire.ts';
/** The failure of something that was thrown. */
export declare function describe(thrown: unknown): Failure;
/** What is recorded of an error that code may catch, as the journal gives it back. */
export declare function recordOf(thrown: unknown): Failure;
/** The error that a failure stands for: its own message, name, stack and members, ours to throw. */
export declare function revive(failure: Failure): RiverrunError;
/** The error that an answer of the server stands for, with the stack of who asked. */
export declare function refusal({ code: kind, message, data }: WireError): RiverrunError;
/** The error of an answer: the stable code and all else that is optional stand in `data`. */
export declare function wireError(failure: Failure, code?: number): WireError;
