/**
 * What a run could undo: visits of steps with a `compensation` whose work is done, in the order in
 * which they ended. Each is undone once.
 */
import type { Failure } from '../wire.ts';
import type { Visit } from './visit.ts';
/** A visit whose work is done, the step that undoes it, and what that step is given. */
export interface Undo {
    step: string;
    visit: {
        step: string;
        visit: number;
    };
    input: {
        step: string;
        visit: number;
        result: unknown;
        error: unknown;
    };
}
export declare class Undoing {
    #private;
    /** The run has failed, and undoes what it did. */
    hasBegun: boolean;
    finished({ step, number, undoes }: Visit, result: unknown): void;
    /** What ended last of all that can be undone. */
    last(error: unknown): Undo | undefined;
    isCalledBy(kind: string): boolean;
    /** What an event of this kind undoes, the latest first. A run that has failed undoes everything anyway. */
    calledBy(kind: string): Undo[];
}
/** A failure as a step that undoes is told of it. */
export declare function reason({ code, message, details }: Failure, stepId?: string): Record<string, unknown>;
