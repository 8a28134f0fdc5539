/**
 * A step through all of its waits: its handler is called again after each, by the real engine.
 */
import { type Executable } from './execute.ts';
import { type FlowOptions, type FlowWarning, type VisitRun } from './flow.ts';
export interface StepOptions extends Omit<FlowOptions, 'entry'> {
    /** The name of the step; that in its config where absent. */
    step?: string;
    /** The result of the await in its config. Without it, the await is executed first. */
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
/** An error is not thrown; the result contains it. */
export declare function runStep<Value = any>(executable: Executable, options?: StepOptions): Promise<StepRun<Value>>;
