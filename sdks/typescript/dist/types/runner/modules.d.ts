/**
 * Loads the modules of a project and finds the processes in them.
 *
 * A module is loaded once in the life of a runner. Node cannot drop a module that it has loaded or
 * tried to load, nor those that it imports in turn, so a newer revision, and one that has failed, is
 * answered with RELOAD: the server then starts a fresh runner, and this one ends what it runs with
 * the code that it began with.
 */
import type { LogSettings } from '../ctx/logger.ts';
import { type JsonObject } from '../json.ts';
import { type Parse } from './inputs.ts';
export interface Process {
    handler: (first: unknown, ctx: unknown) => unknown;
    /** Whether the handler gets the job or its input. */
    takes: 'input' | 'job';
    config: JsonObject;
    logs: LogSettings;
    /** Where the schema of its input can do that. */
    parse: Parse | undefined;
}
export type Processes = Map<string, Process>;
export declare class Modules {
    #private;
    /** The processes of a module that is loaded, without waiting; undefined if `load` is needed. */
    loaded(file: string, revision: number | undefined): Processes | undefined;
    load(file: string, revision?: number): Promise<Processes>;
}
