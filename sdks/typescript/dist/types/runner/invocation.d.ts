import { InvocationContext } from '../ctx/invocation.ts';
import type { Link } from '../ctx/link.ts';
import type { LogSettings } from '../ctx/logger.ts';
import { type CancelReason, RiverrunError } from '../errors.ts';
import type { InvokeParams } from '../wire.ts';
import type { Voice } from './invocations.ts';
/** One run of a handler, from the request to its answer. Once it has ended it says nothing more. */
export declare class Invocation implements Link {
    #private;
    readonly id: number;
    readonly params: InvokeParams;
    readonly voice: Voice;
    ended: boolean;
    /** Why it was cancelled before its handler was called. */
    cancelledBefore: CancelReason | undefined;
    /** Jobs of its batch that the handler is not given: their inputs broke the schema. */
    refused: ReadonlyMap<number, RiverrunError>;
    constructor(id: number, params: InvokeParams, voice: Voice);
    /** Makes the context, once the process and with it its settings are known. */
    begin(settings: LogSettings, params?: InvokeParams): InvocationContext;
    get ctx(): InvocationContext | undefined;
    cancel(reason: CancelReason): void;
    request(method: string, params: Record<string, unknown>): Promise<unknown>;
    notify(method: string, params: Record<string, unknown>): void;
}
