/**
 * Jobs that are added one by one, faster than the server answers, go to it together.
 *
 * What is asked for while requests for a queue are under way waits for one of them and is then sent
 * as one request, as are calls that are made together; a lone call goes at once. The server takes
 * such a request whole or not at all, so where it refuses one because of a job in it, the halves are
 * sent, and so on: each call is settled by what became of its own job.
 */
import type { Enqueued } from '../context.ts';
export type SendJobs = (queue: string, create: boolean, json: string) => Promise<{
    jobs: Enqueued[];
}>;
export declare class Gather {
    #private;
    constructor(send: SendJobs);
    /** The job's text is made by the caller: what it changes afterwards is not in it. */
    add(queue: string, create: boolean, json: string): Promise<Enqueued>;
}
