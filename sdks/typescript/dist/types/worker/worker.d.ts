/**
 * A worker: connects to a server, executes its work, and reconnects when the connection
 * breaks. Running work continues meanwhile.
 */
import { RiverrunError } from '../errors.ts';
import type { Processes } from '../runner/modules.ts';
import { type Offered } from './processes.ts';
/** What the server says when it lets a worker in. */
export interface Welcome {
    /** Its number in `riverrun workers ls`. */
    workerId: number;
    /** Processes that the server has itself, and runs itself. */
    shadowed: string[];
    /** The flows that its processes make. */
    flows: {
        id: string;
        version: string;
    }[];
    /** Why some flow is not what its processes say: `FLOW_CONFLICT`, `FLOW_INCOMPLETE`, …. It works all the same. */
    faults: {
        code: string;
        message: string;
        flow?: string;
    }[];
}
export interface WorkerOptions {
    /** Where the server is: `RIVERRUN_URL`, else `http://127.0.0.1:4600` where absent. */
    url?: string | URL;
    /** Sent as a bearer token; `RIVERRUN_TOKEN` where absent. */
    token?: string;
    headers?: Record<string, string>;
    /** What it runs, by id. The id is also the name of the queue where a config gives none. */
    processes: Record<string, Offered>;
    /** Jobs, calls and steps at once; 16 where absent. */
    concurrency?: number;
    /** What people see in `riverrun workers ls`; the machine's name and the process's number where absent. */
    name?: string;
    tags?: string[];
    /** How long to wait at the start for a server that is not there yet; not at all where absent. */
    waitMs?: number;
    /**
     * On these signals it takes no more, ends what it runs, and then lets the signal do what it does;
     * SIGTERM and SIGINT where absent. A second one is not held up.
     */
    signals?: NodeJS.Signals[];
    /** Called whenever the server knows it: the first time, and each time after the connection broke. */
    onConnect?: (welcome: Welcome) => void;
    /** Called whenever a connection is lost. The worker connects again by itself. */
    onDisconnect?: (reason: RiverrunError) => void;
}
/** Connects a worker. Settles when the server knows it, and rejects if it cannot or does not want to. */
export declare function startWorker(options: WorkerOptions): Promise<Worker>;
export declare class Worker {
    #private;
    readonly name: string;
    /** Settles when the worker has ended: it was stopped or drained. Rejects if the server refuses it. */
    readonly ended: Promise<void>;
    constructor(options: WorkerOptions, processes: Processes);
    /** How many invocations run. */
    get running(): number;
    /** What the server said when it let the worker in last. */
    get welcome(): Welcome | undefined;
    get isConnected(): boolean;
    /** Settles when the server knows the worker. */
    begin(): Promise<void>;
    /**
     * Takes no more, and settles when what runs has ended and the server has let the worker go. What
     * has not ended after `graceMs` is asked to stop.
     */
    stop({ graceMs }?: {
        graceMs?: number;
    }): Promise<void>;
}
