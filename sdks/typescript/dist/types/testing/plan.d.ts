/**
 * The steps of a flow, as the configs of processes tell of them: as the server puts flows together.
 */
import type { FlowLimits, ProcessConfig, StepConfig, Subscription } from '../config.ts';
import { type Executable, type Handler } from './execute.ts';
import { type Checks } from './schemas.ts';
export interface PlannedStep extends StepConfig {
    name: string;
    isEntry: boolean;
    subscriptions: Subscription[];
    handler: Handler;
    takes: 'input' | 'job';
    config: ProcessConfig;
    /** Of the entry: how far a run may go. */
    limits?: FlowLimits;
    checks?: Checks;
}
export interface Planned {
    flow: string;
    entry: PlannedStep;
    steps: Map<string, PlannedStep>;
}
/** The flow that is asked for; else the one of the entry, the first that is named, or the one with the only beginning. */
export declare function plan(executables: Executable[] | Record<string, Executable>, { flow, entry }: {
    flow?: string;
    entry?: string;
}): Planned;
/** The process as a step of that flow, or of its first one. Undefined if it is part of other flows alone. */
export declare function plannedStep(executable: Executable, key: string | undefined, flow: string | undefined): PlannedStep | undefined;
/** Has the steps check what goes in and out. The state is the run's, and the schema of it the entry's. */
export declare function withChecks(steps: Map<string, PlannedStep>, entry: PlannedStep, schemas: boolean | undefined): Promise<void>;
