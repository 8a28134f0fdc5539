/**
 * A riverrun server, as a program sees it. Works in Node and in browsers.
 */
import type { Enqueued, EnqueueOptions, NewJob, StartOptions } from '../context.ts';
import { type RunEvent, type RunStatus } from '../events.ts';
import { type RunView } from '../live/run.ts';
import { type Client, type ClientOptions } from './http.ts';
import { FlowsApi } from './flows.ts';
import type { Attempt, Frame, JobRecord, JobState, Opened, Page, PageQuery, ProcessRecord, QueueRecord, Redriven, Run, RunJob, RunRecord, StateAt, Version, Why } from './records.ts';
import { type LoggedEvent, type OnKindOptions, type SubscribeOptions } from './subscribe.ts';
import { SchedulesApi, TriggersApi } from './triggers.ts';
import { WorkersApi } from './workers.ts';
export interface AddOptions {
    /** Creates the queue even if no process takes its jobs yet. */
    create?: boolean;
}
/** A moment: a date, ISO 8601, or milliseconds since 1970. */
export type Moment = Date | string | number;
/** Which ended jobs: those that have all that is named. */
export interface JobFilter {
    /** The code of the job's error. */
    code?: string;
    name?: string;
    key?: string;
    tag?: string;
    /** Ended at or before this time. */
    before?: Moment;
    /** Ended at or after this time. */
    after?: Moment;
}
export interface CleanOptions {
    /** Only those that ended at least this long ago. */
    olderThanMs?: number;
    limit?: number;
    /** Only those that it names, the newest first; without it the oldest first. */
    filter?: JobFilter;
}
export interface RedriveOptions {
    /** At most this many, the newest first; all where absent. */
    limit?: number;
    /** At most this number of them start per second. */
    perSecond?: number;
    filter?: JobFilter;
}
export interface JobQuery extends PageQuery {
    status?: JobState | JobState[];
    /** The older name of `status`. */
    state?: JobState | JobState[];
    tag?: string;
    name?: string;
    key?: string;
}
export interface RunQuery extends PageQuery {
    flow?: string;
    version?: string;
    status?: RunStatus | RunStatus[];
    tag?: string;
    tenant?: string;
    /** The run that started them. */
    parent?: string;
    /** What their ids begin with. */
    prefix?: string;
    /** Created at or after. */
    since?: Moment;
    /** Created before. */
    until?: Moment;
    /** `desc`, the newest first, where absent. */
    order?: 'asc' | 'desc';
}
export interface EventQuery extends PageQuery {
    /** `asc`, the oldest first, where absent. */
    order?: 'asc' | 'desc';
    /** The older name of `order`. */
    direction?: 'forward' | 'backward';
    /** Only these types; `log` takes every `log.*`. */
    type?: string | string[];
    step?: string;
    since?: Moment;
    until?: Moment;
}
export interface WaitOptions {
    timeoutMs?: number;
    signal?: AbortSignal;
}
export interface CallOptions extends WaitOptions {
    /** The call's id; a fresh one where absent. Its stream is `call/<id>`. */
    callId?: string;
    correlationId?: string;
    /** With false the call continues when this program disconnects. */
    cancelOnDisconnect?: boolean;
    /** False records nothing of it. */
    persistFrames?: boolean;
}
export interface StartedRun {
    runId: string;
    status: RunStatus;
    created: boolean;
}
export interface StreamEvent {
    type: string;
    data?: unknown;
    stepName?: string;
    attempt?: number;
    correlationId?: string;
    causationId?: string;
    /** The tenant of the event. Only awaits and triggers of this tenant, or of none, receive it. An event of a run has the tenant of the run. */
    tenantId?: string;
}
export interface NewEvent extends StreamEvent {
    /** The run whose stream gets the event. */
    runId?: string;
    /** A full name, such as `nq:webhook:github`; `nq:global` where neither is given. */
    stream?: string;
    /** The same key again, for the same stream, stores nothing and answers with the first event. Remembered as long as emitted events are: 7 days, unless `retention.emitted` says otherwise. */
    idempotencyKey?: string;
}
export interface FireOptions {
    /** The secret that the trigger was made with: the payload is signed with it. */
    secret?: string;
}
export declare class Riverrun {
    #private;
    readonly flows: FlowsApi;
    readonly triggers: TriggersApi;
    readonly schedules: SchedulesApi;
    readonly workers: WorkersApi;
    /** The `client` of the functions of `riverrun/api`. */
    readonly api: Client;
    constructor(options?: ClientOptions);
    /** When this is answered the job is on disk. Calls that are made side by side share requests. */
    enqueue<Data = unknown>(queue: string, data: Data, options?: EnqueueOptions & AddOptions & {
        name?: string;
    }): Promise<Enqueued>;
    /** All of them or none. */
    enqueueMany<Data = unknown>(queue: string, jobs: Omit<NewJob<Data>, 'queue'>[], options?: AddOptions): Promise<Enqueued[]>;
    job<Data = unknown, Result = unknown>(jobId: string): Promise<JobRecord<Data, Result>>;
    /** A page may hold fewer jobs than `limit`, even none, although more follow: `nextCursor` says so. */
    jobs(queue: string, query?: JobQuery): Promise<Page<JobRecord>>;
    /** Jobs of all queues, one queue after the other, or of `queue`. */
    findJobs(query?: JobQuery & {
        queue?: string;
    }): Promise<Page<JobRecord>>;
    /** The jobs that drive runs which have not ended; `stalled`: that were to move longer than a lease ago. */
    runJobs(query?: PageQuery & {
        flow?: string;
        status?: RunStatus | RunStatus[];
        stalled?: boolean;
    }): Promise<Page<RunJob>>;
    /** Lets a job that has ended wait again, from its first attempt on. */
    retryJob(jobId: string): Promise<JobRecord>;
    cancelJob(jobId: string, reason?: string): Promise<JobRecord>;
    /** Lets a delayed job begin now. */
    promoteJob(jobId: string): Promise<JobRecord>;
    /** Changes a job that has not begun. */
    updateJob(jobId: string, changes: {
        priority?: number;
        delayMs?: number;
    }): Promise<JobRecord>;
    /** Removes a job that does not run. */
    removeJob(jobId: string): Promise<void>;
    /** Waits until a job has ended, however it ends, over reconnects and restarts of the server. */
    waitJob<Data = unknown, Result = unknown>(jobId: string, options?: WaitOptions): Promise<JobRecord<Data, Result>>;
    /** The events of a job and the output of its handler, as they happen. */
    followJob(jobId: string, options?: SubscribeOptions): AsyncGenerator<RunEvent, void>;
    /** What happens to the jobs of a queue from now on. Nothing of it is stored: see `onMissed`. */
    followQueue(queue: string, options?: Omit<SubscribeOptions, 'from' | 'follow'>): AsyncGenerator<RunEvent, void>;
    queues(): Promise<QueueRecord[]>;
    queue(name: string): Promise<QueueRecord>;
    pauseQueue(name: string): Promise<QueueRecord>;
    resumeQueue(name: string): Promise<QueueRecord>;
    /** Removes waiting jobs; with `delayed` also jobs that wait for their time. */
    clearQueue(name: string, options?: {
        delayed?: boolean;
    }): Promise<{
        removed: number;
        left: number;
    }>;
    /** The older name of `clearQueue`. */
    drainQueue(name: string, options?: {
        delayed?: boolean;
    }): Promise<{
        removed: number;
        left: number;
    }>;
    /** Removes jobs that have ended. */
    cleanQueue(name: string, options?: CleanOptions & {
        status?: 'completed' | 'failed' | 'cancelled'; /** The older name of `status`. */
        state?: 'completed' | 'failed' | 'cancelled';
    }): Promise<{
        removed: number;
    }>;
    /** Jobs that have failed for good, newest first; those that `filter` names. */
    deadLetters(queue: string, { filter, ...page }?: PageQuery & {
        filter?: JobFilter;
    }): Promise<Page<JobRecord>>;
    /**
     * Lets dead letters wait again, from their first attempt on: those that had failed by now, each
     * once. A longer redrive continues in the background: `goesOn` is then true.
     */
    redrive(queue: string, options?: RedriveOptions): Promise<Redriven>;
    purgeDeadLetters(queue: string, options?: CleanOptions): Promise<{
        removed: number;
    }>;
    /** Runs a process at once and gives back its value. Its error is thrown, with its code. */
    call<Value = any>(process: string, input?: unknown, { signal, ...options }?: CallOptions): Promise<Value>;
    /** The same, with everything that the process says on its way. Leaving the loop early cancels the call. */
    frames(process: string, input?: unknown, { signal, ...options }?: CallOptions): AsyncGenerator<Frame, void>;
    /** Calls a process, hands each frame to `onFrame`, and gives back the value. */
    callWith<Value = any>(process: string, input: unknown, onFrame: (frame: Frame) => void, options?: CallOptions): Promise<Value>;
    /** Starts a run of a flow. When this is answered the run is on disk. */
    start(flow: string, input?: unknown, options?: StartOptions): Promise<StartedRun>;
    /** Starts a run and waits until it has ended, however it ends. */
    startAndWait<State = Record<string, unknown>, Result = unknown>(flow: string, input?: unknown, { timeoutMs, signal, ...options }?: StartOptions & WaitOptions): Promise<Run<State, Result>>;
    run<State = Record<string, unknown>, Result = unknown>(runId: string): Promise<Run<State, Result>>;
    runs(query?: RunQuery): Promise<Page<RunRecord>>;
    /** For good: what runs is asked to stop, what waits is removed, children follow. */
    cancel(runId: string, reason?: string): Promise<Run>;
    /** It begins no more steps until it is resumed; attempts that run are let finish. */
    pause(runId: string, reason?: string): Promise<Run>;
    resume(runId: string): Promise<Run>;
    /** Starts the same again: with the same input or another one, in its own version or the `latest`. */
    rerun(runId: string, options?: {
        input?: unknown;
        latest?: boolean;
    }): Promise<StartedRun>;
    /** A new run that shares the past of this one up to the event `at`, or up to now. */
    fork(runId: string, options?: {
        at?: string;
    }): Promise<StartedRun>;
    /** Deletes a run that has ended, with its stream. */
    deleteRun(runId: string): Promise<void>;
    /** The state now, or as it was after an event (its id) or at a time. */
    state<State = Record<string, unknown>>(runId: string, options?: {
        at?: Moment;
    }): Promise<StateAt<State>>;
    /** The attempts of steps that have ended, in the order in which they ended. */
    history(runId: string, query?: PageQuery): Promise<Page<Attempt>>;
    /** What one cause set in motion: the events of runs, jobs and triggers with this correlation id, in order of time. */
    story(correlationId: string, query?: PageQuery): Promise<Page<RunEvent & {
        stream: string;
    }>>;
    /** The number of events without a subscriber, by type. */
    unheard(): Promise<unknown>;
    /** How many wait for events and for callbacks, and how many events an expression has yet to judge. */
    awaits(): Promise<unknown>;
    /** The runs that its steps started. */
    children(runId: string, query?: RunQuery): Promise<Page<RunRecord>>;
    /** Why a run or a job does not move, or what it does: each active visit and what it waits for. */
    why(runId: string): Promise<Why>;
    /** Resumes the step that waits for a callback: it continues with `payload`. `triggers.fire` starts a flow. */
    fire(triggerId: string, payload?: unknown, { secret }?: FireOptions): Promise<Opened>;
    /** Waits until a run has ended, however it ends, over reconnects and restarts of the server. */
    wait<State = Record<string, unknown>, Result = unknown>(runId: string, options?: WaitOptions): Promise<Run<State, Result>>;
    /** Emits an event into a run, a stream, or the global one. */
    emit(event: NewEvent): Promise<{
        stream: string;
        ids: string[];
    }>;
    /** Appends events to a stream, all of them or none: to `webhook` `github`, or to `flow` and a run's id. */
    append(type: string, id: string, events: StreamEvent | StreamEvent[]): Promise<{
        stream: string;
        ids: string[];
    }>;
    /** A page of what a run's stream holds. */
    events(runId: string, query?: EventQuery): Promise<Page<RunEvent>>;
    /** A page of the stream with a full name, such as `nq:job:<jobId>` or `nq:global`. */
    streamEvents(stream: string, query?: EventQuery): Promise<Page<RunEvent>>;
    /** The events of a stream with a full name, such as `nq:flow:<runId>` or `nq:global`, as they happen. */
    subscribe(stream: string, options?: SubscribeOptions): AsyncGenerator<RunEvent, void>;
    /**
     * All events of some kinds, of every run and stream, as they happen: `order.paid`, or `order` for
     * every `order.*`. The `cursor` of the last one that was seen leads to those after it.
     */
    onKind(kinds: string | string[], options?: OnKindOptions): AsyncGenerator<LoggedEvent, void>;
    /** The events of a run as they happen. */
    follow(runId: string, options?: SubscribeOptions): AsyncGenerator<RunEvent, void>;
    /** A run after each of its events, until it ends. */
    watch(runId: string, options?: Pick<SubscribeOptions, 'signal' | 'onReconnect'>): AsyncGenerator<RunView, RunView>;
    /** What the server can run, and what it cannot because its file does not load. */
    processes(): Promise<ProcessRecord[]>;
    version(): Promise<Version>;
}
