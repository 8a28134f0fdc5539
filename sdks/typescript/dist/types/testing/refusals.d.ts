/**
 * What the server refuses of a flow and of a wait: with its codes, so that a test finds it first.
 */
import { RiverrunError } from '../errors.ts';
import type { Suspended } from '../wire.ts';
import type { PlannedStep } from './plan.ts';
/** No run waits for longer: ten years. */
export declare const longestMs: number;
/** A flow that the server would not take in. All that is wrong is told at once. */
export declare function checkFlow(flow: string, steps: Map<string, PlannedStep>): void;
/** Why the server would not let code wait for this; undefined if it would. */
export declare function refusedWait(wait: Suspended, untilMs: number | undefined, nowMs: number): RiverrunError | undefined;
export declare function usedDoor(): RiverrunError;
export declare function tooManyAwaits(limit: number): RiverrunError;
export declare function tooManySteps(limit: number): RiverrunError;
