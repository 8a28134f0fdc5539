/**
 * How a module says what it is. None of these does more than mark what it was given: a runner
 * finds the mark, and a test can call the handler as a function.
 */
import type { Batch, ProcessConfig } from './config.ts';
import type { Context, Job, StepContext } from './context.ts';
export type ProcessHandler<Input = any, State extends object = any, Output = any> = (input: Input, ctx: Context<State>) => Output | Promise<Output>;
export type WorkerHandler<Data = any, State extends object = any, Output = any> = (job: Job<Data>, ctx: Context<State>) => Output | Promise<Output>;
interface Mark {
    takes: 'input' | 'job';
    config: ProcessConfig | undefined;
}
/**
 * What a handler of batches may return: a list with one entry for each job, in which an error is
 * that job's error, or anything else as the result of all.
 */
export type BatchHandler<Item, State extends object> = (items: Item[], ctx: Context<State>) => unknown;
type BatchConfig<Input, State extends object> = ProcessConfig<Input, State> & {
    batch: Batch;
};
/** A queue worker: its handler gets the job, or a list of jobs if the config has `batch`. */
export declare function defineQueueWorker<Data = any, State extends object = any>(handler: BatchHandler<Job<Data>, State>, config: BatchConfig<Data, State>): BatchHandler<Job<Data>, State>;
export declare function defineQueueWorker<Data = any, State extends object = any, Output = any>(handler: WorkerHandler<Data, State, Output>, config?: ProcessConfig<Data, State, Output>): WorkerHandler<Data, State, Output>;
/** A process of any kind: its handler gets the input, or a list of inputs if the config has `batch`. */
export declare function defineProcess<Input = any, State extends object = any>(handler: BatchHandler<Input, State>, config: BatchConfig<Input, State>): BatchHandler<Input, State>;
export declare function defineProcess<Input = any, State extends object = any, Output = any>(handler: ProcessHandler<Input, State, Output>, config?: ProcessConfig<Input, State, Output>): ProcessHandler<Input, State, Output>;
export type StepHandler<Input = any, State extends object = any, Output = any> = (input: Input, ctx: StepContext<State>) => Output | Promise<Output>;
/** A step of a flow: its config says of which, and which events enter it. */
export declare function defineStep<Input = any, State extends object = any, Output = any>(handler: StepHandler<Input, State, Output>, config?: ProcessConfig<Input, State, Output>): StepHandler<Input, State, Output>;
/** Gives back the config as it is, with its types checked: `export const config = defineQueueConfig({…})`. */
export declare function defineQueueConfig<const Config extends ProcessConfig>(config: Config): Config;
/** What a value was defined as; undefined for anything that was not. */
export declare function definition(value: unknown): Mark | undefined;
export {};
