/**
 * `ctx.await`: turns what a handler wants to wait for into what the protocol says of it.
 */
import type { AwaitApi, AwaitEventOptions, AwaitTriggerOptions, Duration, Trigger } from '../awaits.ts';
import type { StepExecution } from './execution.ts';
export declare class StepAwaits implements AwaitApi {
    #private;
    constructor(step: StepExecution);
    time: (until: Duration | Date) => Promise<void>;
    event: (options: AwaitEventOptions | string, ...more: never[]) => Promise<any>;
    trigger: (options?: AwaitTriggerOptions) => Promise<Trigger>;
}
/** What `ctx.await` is where nothing can be called again. */
export declare function awaitsOutside(kind: string): AwaitApi;
