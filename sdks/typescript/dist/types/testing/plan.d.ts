/**
 * The steps of a flow, as the configs of processes tell of them.
 */
import type { ProcessConfig, StepConfig, Subscription } from '../config.ts';
import { type Executable, type Handler } from './execute.ts';
export interface PlannedStep extends StepConfig {
    name: string;
    isEntry: boolean;
    subscriptions: (Subscription & {
        eventKind: string;
    })[];
    handler: Handler;
    takes: 'input' | 'job';
    config: ProcessConfig;
}
/** A step for each process that takes part in the flow; in the first flow that they name where none is given. */
export declare function plan(executables: Executable[] | Record<string, Executable>, flow: string | undefined): {
    flow: string;
    steps: Map<string, PlannedStep>;
};
/** Undefined if the process is part of other flows alone. */
export declare function plannedStep(executable: Executable, key: string | undefined, flow: string | undefined): PlannedStep | undefined;
/** Where runs begin: the step that says so, or the only one that no event enters. */
export declare function entryOf(steps: Map<string, PlannedStep>, wanted: string | undefined): PlannedStep;
