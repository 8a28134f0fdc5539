/**
 * A step through all of its waits: its handler is called again after each, by the real engine.
 */
import { type Executable } from './execute.ts';
import { type FlowOptions, type FlowWarning, type VisitRun } from './flow.ts';
export interface StepOptions extends Omit<FlowOptions, 'entry'> {
    /** The name of the step; that in its config where absent. */
    step?: string;
    /** What the await in its config has brought. Where absent that await is played first. */
    awaited?: unknown;
}
export interface StepRun<Value = any> extends Omit<VisitRun<Value>, 'step' | 'visit' | 'input'> {
    /** Expressions that threw: what each was to judge was passed over. */
    warnings: FlowWarning[];
    state: Record<string, unknown>;
    elapsedMs: number;
    journal: {
        op: string;
        name?: string;
    }[];
}
/** An error does not throw: it is in what comes back. */
export declare function runStep<Value = any>(executable: Executable, options?: StepOptions): Promise<StepRun<Value>>;
