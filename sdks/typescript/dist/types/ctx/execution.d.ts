/**
 * One execution of a step's code: from the top to its end, or to a wait whose answer is not known
 * yet. What the code does is recorded, and what earlier executions recorded is not done again.
 */
import { RiverrunError } from '../errors.ts';
import type { InvokeParams, JournalRecord, Suspended } from '../wire.ts';
import { type Op, type Read, type Write } from './journal.ts';
import type { Link } from './link.ts';
import { type Bounded, type Stop, type Try } from './outcomes.ts';
/** How a part of the work is done. */
export interface RunSettings {
    retry?: unknown;
    timeoutMs?: number | undefined;
}
export declare class StepExecution implements Link {
    #private;
    /** Called when the code waits, or was found to be wrong when it did. */
    onLeave: (outcome: Suspended | RiverrunError, seen: JournalRecord[]) => void;
    /** Called when the handler has returned although it still waits. */
    onForgotten: (message: string) => void;
    constructor(link: Link, params: InvokeParams, stop: Stop);
    request(method: string, params: Record<string, unknown>): Promise<any>;
    notify(method: string, params: Record<string, unknown>): void;
    /** Emits, which the server records by itself. Inside of a `ctx.run` its record belongs to that. */
    emit(kind: string, ask: () => Promise<unknown>): Promise<any>;
    /** Does something that the server records by itself. */
    once(op: Op, name: string, work: () => Promise<unknown>): Promise<any>;
    /** Reads something that may have changed when the code is called again: then it gets this answer. */
    read(op: Read, name: string, ask: () => Promise<unknown>): Promise<any>;
    /** Writes something, unless an earlier execution did. Inside of a `ctx.run` it is part of that. */
    write(op: Write, name: string, params: Record<string, unknown>, value?: unknown): Promise<void>;
    /** Changes something by what it is now. If the change writes nothing, that is what is recorded. */
    patch(op: Write, name: string, change: (inRun: boolean) => Promise<unknown>): Promise<any>;
    /**
     * Does something and has its outcome recorded. `work` is given an id that is the same in every
     * execution of the visit. Inside of a `ctx.run` nothing is recorded: the run is.
     */
    recorded(op: Op, name: string, work: (id: string, attempt: Bounded) => unknown, settings?: RunSettings, emits?: string[]): Promise<any>;
    /** A part of the work that is recorded as a whole. */
    run(name: string, work: (attempt: Try) => unknown, settings?: RunSettings): Promise<any>;
    /** Whether the code takes the path of a change: runs that were past it before take the old one. */
    patched(id: string): boolean;
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
