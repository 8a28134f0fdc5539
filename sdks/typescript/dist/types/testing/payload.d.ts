/**
 * What whoever opens a declared door is shown: what a function gives, or JSON with parts of the
 * step's input and of the run's state.
 */
import { RiverrunError } from '../errors.ts';
/** What a payload is made of. */
export interface PayloadContext {
    input: unknown;
    state: Record<string, unknown>;
    runId: string;
}
/** What is shown, or why the step fails. */
export declare function shownPayload(declared: unknown, ctx: PayloadContext): {
    payload: unknown;
} | RiverrunError;
/** Why the server would not take a payload in; undefined if it would. */
export declare function payloadProblem(declared: unknown): string | undefined;
