/**
 * One execution of a step's code: from the top to its end, or to a wait whose answer is not known
 * yet. What the code does is recorded, and what earlier executions recorded is not done again.
 */
import { RiverrunError } from '../errors.ts';
import type { InvokeParams, Suspended } from '../wire.ts';
import { type Op } from './journal.ts';
import type { Link } from './link.ts';
export declare class StepExecution implements Link {
    #private;
    /** Called when the code waits, or was found to be wrong when it did. */
    onLeave: (outcome: Suspended | RiverrunError) => void;
    constructor(link: Link, params: InvokeParams);
    request(method: string, params: Record<string, unknown>): Promise<any>;
    notify(method: string, params: Record<string, unknown>): void;
    /** Does something that the server records by itself. */
    once(op: Op, name: string, work: () => Promise<unknown>): Promise<any>;
    /**
     * Does something and has its outcome recorded. `work` is given an id that is the same in every
     * execution of the visit. Inside of a `ctx.run` nothing is recorded: the run is.
     */
    recorded(op: Op, name: string, work: (id: string) => unknown): Promise<any>;
    /** A part of the work that is recorded as a whole. */
    run(name: string, work: () => unknown): Promise<any>;
    /** Gives what a wait has brought, or ends this execution. */
    wait(name: string, makeWait: () => Suspended): Promise<any>;
    refuseInRun(): void;
    /** The handler has returned. Waits for what it left running; gives the error that its value does not count. */
    returned(): Promise<RiverrunError | undefined>;
    /** The handler has thrown. */
    threw(): void;
}
/** The form that ids of jobs have, made of any text. */
export declare function jobIdOf(text: string): string;
