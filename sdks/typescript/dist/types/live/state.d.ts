import type { RunEvent } from '../events.ts';
type State = Record<string, unknown>;
/** The state after an event that writes to it; the same object after any other. */
export declare function reduceState(state: State, event: RunEvent): State;
export {};
