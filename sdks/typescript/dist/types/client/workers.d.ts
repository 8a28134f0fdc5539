import { type Client } from './http.ts';
import type { WorkerRecord } from './records.ts';
/** The programs that run work for the server from elsewhere. */
export declare class WorkersApi {
    #private;
    constructor(client: Client);
    list(): Promise<WorkerRecord[]>;
    /** Gives it no more work, and lets it go when what it runs has ended or `graceMs` are over. */
    drain(id: number, options?: {
        graceMs?: number;
    }): Promise<unknown>;
}
