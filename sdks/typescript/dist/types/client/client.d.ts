/**
 * A riverrun server, as a program sees it. Works in Node and in browsers.
 */
import type { Enqueued, EnqueueOptions, NewJob, StartOptions } from '../context.ts';
import { type RunEvent, type RunStatus } from '../events.ts';
import { type RunView } from '../live/run.ts';
import { type ClientOptions } from './http.ts';
import type { Frame, JobRecord, JobState, Page, PageQuery, QueueRecord, Run, RunRecord, Why } from './records.ts';
import { type LoggedEvent, type OnKindOptions, type SubscribeOptions } from './subscribe.ts';
export interface AddOptions {
    /** Makes the queue although no process takes its jobs yet. */
    create?: boolean;
}
export interface CleanOptions {
    /** Only those that ended at least this long ago. */
    olderThanMs?: number;
    limit?: number;
}
export interface CallOptions {
    timeoutMs?: number;
    signal?: AbortSignal;
}
export interface StartedRun {
    runId: string;
    status: RunStatus;
    created: boolean;
}
export interface NewEvent {
    type: string;
    data?: unknown;
    /** The run whose stream it goes to. */
    runId?: string;
    /** A full name, such as `nq:webhook:github`; `nq:global` where neither is given. */
    stream?: string;
    correlationId?: string;
    causationId?: string;
}
export declare class Riverrun {
    #private;
    constructor(options?: ClientOptions);
    /** When this is answered the job is on disk. */
    enqueue<Data = unknown>(queue: string, data: Data, options?: EnqueueOptions & AddOptions & {
        name?: string;
    }): Promise<Enqueued>;
    /** All of them or none. */
    enqueueMany<Data = unknown>(queue: string, jobs: Omit<NewJob<Data>, 'queue'>[], options?: AddOptions): Promise<Enqueued[]>;
    job<Data = unknown, Result = unknown>(jobId: string): Promise<JobRecord<Data, Result>>;
    jobs(queue: string, query?: PageQuery & {
        state?: JobState | JobState[];
    }): Promise<Page<JobRecord>>;
    retryJob(jobId: string): Promise<unknown>;
    cancelJob(jobId: string, reason?: string): Promise<unknown>;
    /** Lets a delayed job begin now. */
    promoteJob(jobId: string): Promise<unknown>;
    /** Changes a job that has not begun. */
    updateJob(jobId: string, changes: {
        priority?: number;
        delayMs?: number;
    }): Promise<JobRecord>;
    /** Removes a job that does not run. */
    removeJob(jobId: string): Promise<void>;
    /** Waits until a job has ended, however it ends, over reconnects and restarts of the server. */
    waitJob<Data = unknown, Result = unknown>(jobId: string, options?: CallOptions): Promise<JobRecord<Data, Result>>;
    /** What becomes of a job and what its handler says, as it happens. */
    followJob(jobId: string, options?: SubscribeOptions): AsyncGenerator<RunEvent, void>;
    /** What happens to the jobs of a queue from now on. Nothing of it is stored: see `onMissed`. */
    followQueue(queue: string, options?: Omit<SubscribeOptions, 'from' | 'follow'>): AsyncGenerator<RunEvent, void>;
    queues(): Promise<QueueRecord[]>;
    queue(name: string): Promise<QueueRecord>;
    pauseQueue(name: string): Promise<unknown>;
    resumeQueue(name: string): Promise<unknown>;
    /** Removes what waits; with `delayed` also what waits for its time. */
    drainQueue(name: string, options?: {
        delayed?: boolean;
    }): Promise<{
        removed: number;
    }>;
    /** Removes jobs that have ended. */
    cleanQueue(name: string, options?: CleanOptions & {
        state?: 'completed' | 'failed' | 'cancelled';
    }): Promise<{
        removed: number;
    }>;
    /** Jobs that have failed for good, newest first. */
    deadLetters(queue: string, query?: PageQuery): Promise<Page<JobRecord>>;
    /** Lets dead letters wait again, from their first attempt on. */
    redrive(queue: string, options?: {
        limit?: number;
        perSecond?: number;
    }): Promise<{
        redriven: number;
    }>;
    purgeDeadLetters(queue: string, options?: CleanOptions): Promise<{
        removed: number;
    }>;
    /** Runs a process at once and gives back its value. Its error is thrown, with its code. */
    call<Value = any>(process: string, input?: unknown, { timeoutMs, signal }?: CallOptions): Promise<Value>;
    /** The same, with everything that the process says on its way. Leaving the loop early cancels the call. */
    frames(process: string, input?: unknown, { timeoutMs, signal }?: CallOptions): AsyncGenerator<Frame, void>;
    /** Calls a process, hands each frame to `onFrame`, and gives back the value. */
    callWith<Value = any>(process: string, input: unknown, onFrame: (frame: Frame) => void, options?: CallOptions): Promise<Value>;
    /** Starts a run of a flow. When this is answered the run is on disk. */
    start(flow: string, input?: unknown, options?: StartOptions): Promise<StartedRun>;
    run<State = Record<string, unknown>, Result = unknown>(runId: string): Promise<Run<State, Result>>;
    runs(query?: PageQuery & {
        flow?: string;
        status?: RunStatus | RunStatus[];
    }): Promise<Page<RunRecord>>;
    cancel(runId: string, reason?: string): Promise<unknown>;
    /** Why a run does not move, or what it does: each active visit and what it waits for. */
    why(runId: string): Promise<Why>;
    /** Opens a trigger: whoever waits for it goes on with `payload`. */
    fire(triggerId: string, payload?: unknown): Promise<unknown>;
    /** Waits until a run has ended, however it ends, over reconnects and restarts of the server. */
    wait<State = Record<string, unknown>, Result = unknown>(runId: string, options?: CallOptions): Promise<Run<State, Result>>;
    /** Emits an event into a run, a stream, or the global one. */
    emit(event: NewEvent): Promise<{
        stream: string;
        ids: string[];
    }>;
    /** The events of a stream with a full name, such as `nq:flow:<runId>` or `nq:global`, as they happen. */
    subscribe(stream: string, options?: SubscribeOptions): AsyncGenerator<RunEvent, void>;
    /**
     * All events of some kinds, of every run and stream, as they happen: `order.paid`, or `order` for
     * every `order.*`. The `cursor` of the last one that was seen leads to those after it.
     */
    onKind(kinds: string | string[], options?: OnKindOptions): AsyncGenerator<LoggedEvent, void>;
    /** The events of a run as they happen. */
    follow(runId: string, options?: SubscribeOptions): AsyncGenerator<RunEvent, void>;
    /** A run as it stands after each of its events, until it ends. */
    watch(runId: string, options?: Pick<SubscribeOptions, 'signal' | 'onReconnect'>): AsyncGenerator<RunView, RunView>;
}
