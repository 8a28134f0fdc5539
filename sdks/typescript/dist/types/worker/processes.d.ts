/**
 * What an application offers to run, as the server gets it.
 */
import type { ProcessConfig } from '../config.ts';
import type { Processes } from '../runner/modules.ts';
/** A handler, defined or plain, or a module that exports one as its default, with or without a `config`. */
export type Offered = ((first: any, ctx: any) => unknown) | {
    default: (first: any, ctx: any) => unknown;
    config?: ProcessConfig;
};
/** By id, which is also the name of the queue where the config gives none. */
export declare function processesOf(offered: Record<string, Offered>): Promise<Processes>;
