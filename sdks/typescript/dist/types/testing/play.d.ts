/**
 * Plays a run on the engine: this process is its worker. What handlers ask for goes to the engine;
 * what a test wants to see of it is kept, and what a test answers itself (`calls`, `conflicts`,
 * `leaseValid`, `stateSchema`) does not get there.
 */
import type { Processes } from '../runner/modules.ts';
import type { FakeClock } from './clock.ts';
import { type Triggers } from './given.ts';
import { type Effects, type MemoryOptions } from './memory.ts';
/** What handlers of one visit did. */
export interface Traces extends Effects {
    executions: number;
}
export interface Played {
    report: any;
    /** By the step and the number of its visit. */
    traces: Map<string, Traces>;
}
export interface PlayOptions extends Pick<MemoryOptions, 'calls' | 'conflicts' | 'leaseValid' | 'stateSchema'> {
    triggers?: Triggers;
    awaited?: unknown;
}
export declare function visitKey(step: string, visit: number): string;
export declare function play(request: object, processes: Processes, clock: FakeClock, options: PlayOptions): Promise<Played>;
