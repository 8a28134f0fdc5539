import type { PatchOptions, StateApi } from '../context.ts';
import type { StepExecution } from './execution.ts';
import type { Link } from './link.ts';
type Change = (before: any) => unknown;
/** The state of a run, seen from an invocation. In a step what it reads and writes is recorded. */
export declare class LinkState implements StateApi<any> {
    #private;
    constructor(link: Link, step?: StepExecution);
    get: (key: string) => Promise<any>;
    has: (key: string) => Promise<boolean>;
    getAll: () => Promise<any>;
    set: (key: string, value: unknown) => Promise<void>;
    delete: (key: string) => Promise<void>;
    setBatch: (values: Record<string, unknown>) => Promise<void>;
    patch: (first: string | Change, second?: Change | PatchOptions, third?: PatchOptions) => Promise<any>;
}
export {};
