import type { Client, Options as Options2, TDataShape } from '../client/http.ts';
import type { AddJobsData, AppendEventsData, BackfillScheduleData, CancelFlowRunData, CancelJobData, CancelRunData, ChangeJobData, ChangeTriggerData, CleanQueueData, ClearQueueData, CreateTriggerData, DeadLettersData, DeleteRunData, DisableTriggerData, DrainWorkerData, EmitEventData, EnableTriggerData, EventsOfKindData, ExecuteData, ExecutionEventsData, ExecutionJobsData, FireTriggerData, FlowDiagramData, FlowRunsData, FlowVersionsData, FollowNamedData, FollowNamedResponse, FollowRunData, FollowRunResponse, FollowStreamData, FollowStreamResponse, ForkRunData, GetAwaitStatsData, GetExecutionData, GetFlowData, GetFlowRunData, GetFlowSchemaData, GetHandlerData, GetJobData, GetQueueData, GetRunData, GetStoryData, GetStreamData, GetTriggerData, GetUnheardData, ImportRunData, ListExecutionsData, ListFlowsData, ListHandlersData, ListJobsData, ListProcessesData, ListQueuesData, ListRunsData, ListSchedulesData, ListStreamsData, ListTriggersData, ListWorkersData, OpenapiJsonData, PauseQueueData, PauseRunData, PromoteJobData, PurgeData, QueueJobsData, RedriveData, RegisterFlowData, RemoveJobByIdData, RemoveJobData, RemoveTriggerData, RerunRunData, ResumeCallbackData, ResumeCallbackOfFlowData, ResumeQueueData, ResumeRunData, RetryJobData, RunAwaitsData, RunChildrenData, RunEventsData, RunHistoryData, RunJobsData, RunStateData, RunWhyData, StartRunData, StreamEventsData, TriggerHistoryData, TriggerStatsData, ValidateFlowData, VersionData } from './types.ts';
export type Options<TData extends TDataShape = TDataShape, ThrowOnError extends boolean = boolean, TResponse = unknown> = Options2<TData, ThrowOnError, TResponse> & {
    /**
     * You can provide a client instance returned by `createClient()` instead of
     * individual options. This might be also useful if you want to implement a
     * custom client.
     */
    client: Client;
    /**
     * You can pass arbitrary values through the `meta` object. This can be
     * used to access values that aren't defined as part of the SDK function.
     */
    meta?: Record<string, unknown>;
};
/**
 * Count open awaits
 *
 * How many awaits wait for events and callbacks, and how many events wait for a `where` expression or
 * an event trigger to be evaluated. `GET /api/runs/{id}/why` names what one run waits for.
 */
export declare const getAwaitStats: <ThrowOnError extends boolean = false>(options: Options<GetAwaitStatsData, ThrowOnError>) => Promise<import("./types.ts").AwaitStats>;
/**
 * Read or follow events by type
 *
 * All events of these types, across runs and streams, in the order in which they were stored. Each
 * event has its `stream` and its `cursor`. With `Accept: text/event-stream` they are sent live: `id`
 * is the cursor, `event` the type, `data` the event.
 */
export declare const eventsOfKind: <ThrowOnError extends boolean = false>(options: Options<EventsOfKindData, ThrowOnError>) => Promise<import("./types.ts").EventsOfKind>;
/**
 * Emit an event
 *
 * Into a run, a stream, or `nq:global`. With an idempotency key the event is stored once: a second
 * request with the same key for the same stream returns the first event. Keys are kept as long as
 * emitted events: 7 days, or `retention.emitted`.
 */
export declare const emitEvent: <ThrowOnError extends boolean = false>(options: Options<EmitEventData, ThrowOnError>) => Promise<import("./types.ts").Appended>;
/**
 * Count events without a receiver
 *
 * An event that no step, await or trigger receives is stored and can be read like any other
 * (`GET /api/events?type=`); this route counts such events. Types that did not occur for 7 days are
 * only part of `total`.
 */
export declare const getUnheard: <ThrowOnError extends boolean = false>(options: Options<GetUnheardData, ThrowOnError>) => Promise<import("./types.ts").Unheard>;
/**
 * Read a stream
 */
export declare const streamEvents: <ThrowOnError extends boolean = false>(options: Options<StreamEventsData, ThrowOnError>) => Promise<import("./types.ts").EventList>;
/**
 * Follow a stream by its full name
 *
 * Server-sent events: `id` is the id of the event, `event` its type, `data` the event.
 */
export declare const followNamed: <ThrowOnError extends boolean = false>(options: Options<FollowNamedData, ThrowOnError, FollowNamedResponse>) => Promise<Response>;
/**
 * List the streams of a type
 *
 * For `flow` the runs, each with its id as `id`.
 */
export declare const listStreams: <ThrowOnError extends boolean = false>(options: Options<ListStreamsData, ThrowOnError>) => Promise<import("./types.ts").StreamList>;
/**
 * Read a stream by type and id
 *
 * For `flow` the run; for other types the first and the last event and a page of events; for
 * `trigger` also the `state` that they reduce to. The stream of a job has its lifecycle (`job.added`,
 * `job.active`, `job.completed` …) and its logs, progress and partial results, in order.
 */
export declare const getStream: <ThrowOnError extends boolean = false>(options: Options<GetStreamData, ThrowOnError>) => Promise<import("./types.ts").Run | import("./types.ts").StreamView>;
/**
 * Append events
 *
 * One event or a list of events: all or none. Types that only the server writes, such as `flow.*` and
 * `step.*`, are rejected.
 */
export declare const appendEvents: <ThrowOnError extends boolean = false>(options: Options<AppendEventsData, ThrowOnError>) => Promise<import("./types.ts").Appended>;
/**
 * Follow a stream by type and id
 *
 * Server-sent events: `id` is the id of the event, `event` its type, `data` the event. `job` is the
 * lifecycle of a job with its logs. `queue` is a live channel of the jobs of a queue; it is not
 * stored, so a reader that was disconnected or too slow receives `stream.missed`.
 */
export declare const followStream: <ThrowOnError extends boolean = false>(options: Options<FollowStreamData, ThrowOnError, FollowStreamResponse>) => Promise<Response>;
/**
 * List executions
 *
 * Runs in the format of FlowMonkey. `/api/runs` is cheaper, because it does not read the state of
 * every run.
 */
export declare const listExecutions: <ThrowOnError extends boolean = false>(options: Options<ListExecutionsData, ThrowOnError>) => Promise<import("./types.ts").ExecutionList>;
/**
 * Read an execution
 */
export declare const getExecution: <ThrowOnError extends boolean = false>(options: Options<GetExecutionData, ThrowOnError>) => Promise<import("./types.ts").Execution>;
/**
 * Read an execution's events
 */
export declare const executionEvents: <ThrowOnError extends boolean = false>(options: Options<ExecutionEventsData, ThrowOnError>) => Promise<import("./types.ts").EventList>;
/**
 * List an execution's jobs
 *
 * The job of the run, and one for each visit of a process step.
 */
export declare const executionJobs: <ThrowOnError extends boolean = false>(options: Options<ExecutionJobsData, ThrowOnError>) => Promise<import("./types.ts").JobList>;
/**
 * List flows
 *
 * The newest version of every flow.
 */
export declare const listFlows: <ThrowOnError extends boolean = false>(options: Options<ListFlowsData, ThrowOnError>) => Promise<import("./types.ts").FlowList>;
/**
 * Register a flow
 *
 * A definition never changes under its id and version. Registering the same definition again has
 * no effect; another definition under the same version is rejected.
 */
export declare const registerFlow: <ThrowOnError extends boolean = false>(options: Options<RegisterFlowData, ThrowOnError>) => Promise<import("./types.ts").RegisteredFlow>;
/**
 * Answer a callback, at the path of the specifications
 */
export declare const resumeCallbackOfFlow: <ThrowOnError extends boolean = false>(options: Options<ResumeCallbackOfFlowData, ThrowOnError>) => Promise<import("./types.ts").Opened | import("./types.ts").StartedRun>;
/**
 * Validate a definition
 *
 * Returns all issues, each with its path and rule. Nothing is registered.
 */
export declare const validateFlow: <ThrowOnError extends boolean = false>(options: Options<ValidateFlowData, ThrowOnError>) => Promise<import("./types.ts").Validation>;
/**
 * Read a flow
 */
export declare const getFlow: <ThrowOnError extends boolean = false>(options: Options<GetFlowData, ThrowOnError>) => Promise<import("./types.ts").FlowDetail>;
/**
 * Draw a flow
 */
export declare const flowDiagram: <ThrowOnError extends boolean = false>(options: Options<FlowDiagramData, ThrowOnError>) => Promise<import("./types.ts").FlowDiagram>;
/**
 * List the runs of a flow
 *
 * The same as `/api/runs?flow=`.
 */
export declare const flowRuns: <ThrowOnError extends boolean = false>(options: Options<FlowRunsData, ThrowOnError>) => Promise<import("./types.ts").RunList>;
/**
 * Read a run of a flow
 *
 * The same as `/api/runs/{id}`, for a run of this flow.
 */
export declare const getFlowRun: <ThrowOnError extends boolean = false>(options: Options<GetFlowRunData, ThrowOnError>) => Promise<import("./types.ts").Run>;
/**
 * Cancel a run of a flow
 *
 * The same as `/api/runs/{id}/cancel`, for a run of this flow.
 */
export declare const cancelFlowRun: <ThrowOnError extends boolean = false>(options: Options<CancelFlowRunData, ThrowOnError>) => Promise<import("./types.ts").Run>;
/**
 * Start a run
 *
 * The run is on disk before the answer is sent. With `?wait=` the answer is the whole run: 200 if it
 * has ended, 202 with its current state if the time was over first.
 */
export declare const startRun: <ThrowOnError extends boolean = false>(options: Options<StartRunData, ThrowOnError>) => Promise<import("./types.ts").Run | import("./types.ts").StartedRun>;
/**
 * List the versions of a flow
 */
export declare const flowVersions: <ThrowOnError extends boolean = false>(options: Options<FlowVersionsData, ThrowOnError>) => Promise<import("./types.ts").FlowList>;
/**
 * List handlers
 */
export declare const listHandlers: <ThrowOnError extends boolean = false>(options: Options<ListHandlersData, ThrowOnError>) => Promise<import("./types.ts").HandlerList>;
/**
 * Read a handler
 */
export declare const getHandler: <ThrowOnError extends boolean = false>(options: Options<GetHandlerData, ThrowOnError>) => Promise<import("./types.ts").HandlerInfo>;
/**
 * Remove a job whose id cannot be part of a path
 *
 * The same as DELETE /api/jobs/{id}, for jobs that an earlier version stored under the id `.` or `..`.
 */
export declare const removeJobById: <ThrowOnError extends boolean = false>(options: Options<RemoveJobByIdData, ThrowOnError>) => Promise<void>;
/**
 * List jobs
 *
 * Lists queue jobs; with `status` alone, `stalled` or `flow`, the jobs of runs. A filtered page of
 * queue jobs may have fewer than `limit` jobs, or none, although more follow; then it has a
 * `nextCursor`.
 */
export declare const listJobs: <ThrowOnError extends boolean = false>(options: Options<ListJobsData, ThrowOnError>) => Promise<import("./types.ts").AnyJobList>;
/**
 * Remove a job
 *
 * One that runs has to be cancelled first.
 */
export declare const removeJob: <ThrowOnError extends boolean = false>(options: Options<RemoveJobData, ThrowOnError>) => Promise<void>;
/**
 * Read a job
 *
 * A job of a queue, or the one that drives a run, whose id is the run's.
 */
export declare const getJob: <ThrowOnError extends boolean = false>(options: Options<GetJobData, ThrowOnError>) => Promise<import("./types.ts").Job | import("./types.ts").QueueJob>;
/**
 * Change a job that has not begun
 */
export declare const changeJob: <ThrowOnError extends boolean = false>(options: Options<ChangeJobData, ThrowOnError>) => Promise<import("./types.ts").QueueJob>;
/**
 * Cancel a job
 *
 * One that waits ends at once; one that runs is asked to stop, and stopped. That of a step ends
 * with its run.
 */
export declare const cancelJob: <ThrowOnError extends boolean = false>(options: Options<CancelJobData, ThrowOnError>) => Promise<import("./types.ts").QueueJob>;
/**
 * Let a delayed job begin
 */
export declare const promoteJob: <ThrowOnError extends boolean = false>(options: Options<PromoteJobData, ThrowOnError>) => Promise<import("./types.ts").QueueJob>;
/**
 * Try a job again
 *
 * One that has ended waits again, from its first attempt on.
 */
export declare const retryJob: <ThrowOnError extends boolean = false>(options: Options<RetryJobData, ThrowOnError>) => Promise<import("./types.ts").QueueJob>;
/**
 * The OpenAPI document
 */
export declare const openapiJson: <ThrowOnError extends boolean = false>(options: Options<OpenapiJsonData, ThrowOnError>) => Promise<unknown>;
/**
 * List processes
 *
 * The processes that this server can run, with their configurations. A process whose file does not
 * load has an `error`; an earlier version of it may still run.
 */
export declare const listProcesses: <ThrowOnError extends boolean = false>(options: Options<ListProcessesData, ThrowOnError>) => Promise<import("./types.ts").ProcessList>;
/**
 * List queues
 *
 * Every queue that has had a job or has a process, with its counts, rates and latencies.
 */
export declare const listQueues: <ThrowOnError extends boolean = false>(options: Options<ListQueuesData, ThrowOnError>) => Promise<import("./types.ts").QueueList>;
/**
 * Read a queue
 */
export declare const getQueue: <ThrowOnError extends boolean = false>(options: Options<GetQueueData, ThrowOnError>) => Promise<import("./types.ts").Queue>;
/**
 * Remove ended jobs
 */
export declare const cleanQueue: <ThrowOnError extends boolean = false>(options: Options<CleanQueueData, ThrowOnError>) => Promise<import("./types.ts").Removed>;
/**
 * Remove all waiting jobs
 *
 * Jobs of steps are kept, because their runs wait for them. The specifications' name `drain` is
 * accepted in the path as well.
 */
export declare const clearQueue: <ThrowOnError extends boolean = false>(options: Options<ClearQueueData, ThrowOnError>) => Promise<import("./types.ts").Drained>;
/**
 * List the dead letters of a queue
 *
 * Jobs that have failed for good, newest first. A page of some of them only may hold fewer than
 * `limit`, even none, although more follow: `nextCursor` says so.
 */
export declare const deadLetters: <ThrowOnError extends boolean = false>(options: Options<DeadLettersData, ThrowOnError>) => Promise<import("./types.ts").QueueJobList>;
/**
 * Remove dead letters
 */
export declare const purge: <ThrowOnError extends boolean = false>(options: Options<PurgeData, ThrowOnError>) => Promise<import("./types.ts").Removed>;
/**
 * Redrive dead letters
 *
 * Queues the jobs that have failed by now again, each once, starting with their first attempt. If
 * there are many, the answer counts the first ones and the others follow in the background.
 */
export declare const redrive: <ThrowOnError extends boolean = false>(options: Options<RedriveData, ThrowOnError>) => Promise<import("./types.ts").Redriven>;
/**
 * List the jobs of a queue
 *
 * One state after the other: waiting and delayed ones in the order in which they will begin,
 * ended ones newest first.
 */
export declare const queueJobs: <ThrowOnError extends boolean = false>(options: Options<QueueJobsData, ThrowOnError>) => Promise<import("./types.ts").QueueJobList>;
/**
 * Add jobs to a queue
 *
 * One job, or several under `jobs`: all of them or none. They are on disk before the answer is sent.
 */
export declare const addJobs: <ThrowOnError extends boolean = false>(options: Options<AddJobsData, ThrowOnError>) => Promise<import("./types.ts").AddedJobs>;
/**
 * Pause a queue
 *
 * No job of it begins until it is resumed; those that run are let finish.
 */
export declare const pauseQueue: <ThrowOnError extends boolean = false>(options: Options<PauseQueueData, ThrowOnError>) => Promise<import("./types.ts").Queue>;
/**
 * Resume a queue
 */
export declare const resumeQueue: <ThrowOnError extends boolean = false>(options: Options<ResumeQueueData, ThrowOnError>) => Promise<import("./types.ts").Queue>;
/**
 * Call a process
 *
 * Runs a process at once, without a queue, and returns its result. With `Accept: text/event-stream`
 * its frames arrive as server-sent events (`log`, `progress`, `partial`, `heartbeat`), followed by
 * `result`, `error` or `cancelled`.
 */
export declare const execute: <ThrowOnError extends boolean = false>(options: Options<ExecuteData, ThrowOnError>) => Promise<import("./types.ts").Executed>;
/**
 * List runs
 */
export declare const listRuns: <ThrowOnError extends boolean = false>(options: Options<ListRunsData, ThrowOnError>) => Promise<import("./types.ts").RunList>;
/**
 * Import a run
 *
 * The body is a line of `riverrun runs export`: `{run, events, awaits}`. The run keeps its id and its
 * events. A run that has not ended continues here, with its awaits and callback URLs; it is rejected
 * if it waits for another run, or another run waits for it.
 */
export declare const importRun: <ThrowOnError extends boolean = false>(options: Options<ImportRunData, ThrowOnError>) => Promise<import("./types.ts").StartedRun>;
/**
 * Delete a run
 *
 * Deletes an ended run with its stream.
 */
export declare const deleteRun: <ThrowOnError extends boolean = false>(options: Options<DeleteRunData, ThrowOnError>) => Promise<void>;
/**
 * Read a run
 */
export declare const getRun: <ThrowOnError extends boolean = false>(options: Options<GetRunData, ThrowOnError>) => Promise<import("./types.ts").Run>;
/**
 * Read what a run waits for
 *
 * The awaits of a run in the form that an import needs: the events that it waits for, and its open
 * and closed callbacks. `GET /api/runs/{id}/why` has the same for people.
 */
export declare const runAwaits: <ThrowOnError extends boolean = false>(options: Options<RunAwaitsData, ThrowOnError>) => Promise<import("./types.ts").RunAwaits>;
/**
 * Cancel a run
 *
 * Running steps receive a stop signal, waiting ones are removed, child runs are cancelled too.
 */
export declare const cancelRun: <ThrowOnError extends boolean = false>(options: Options<CancelRunData, ThrowOnError>) => Promise<import("./types.ts").Run>;
/**
 * List a run's children
 *
 * The runs that its steps started. The same as `/api/runs?parent=`.
 */
export declare const runChildren: <ThrowOnError extends boolean = false>(options: Options<RunChildrenData, ThrowOnError>) => Promise<import("./types.ts").RunList>;
/**
 * Read a run's events
 */
export declare const runEvents: <ThrowOnError extends boolean = false>(options: Options<RunEventsData, ThrowOnError>) => Promise<import("./types.ts").EventList>;
/**
 * Fork a run
 *
 * Starts a new run that shares the events of this run up to a given one.
 */
export declare const forkRun: <ThrowOnError extends boolean = false>(options: Options<ForkRunData, ThrowOnError>) => Promise<import("./types.ts").Run | import("./types.ts").StartedRun>;
/**
 * Read a run's history
 *
 * One entry for each ended attempt of a step, in the order in which they ended.
 */
export declare const runHistory: <ThrowOnError extends boolean = false>(options: Options<RunHistoryData, ThrowOnError>) => Promise<import("./types.ts").HistoryList>;
/**
 * List a run's jobs
 */
export declare const runJobs: <ThrowOnError extends boolean = false>(options: Options<RunJobsData, ThrowOnError>) => Promise<import("./types.ts").JobList>;
/**
 * Pause a run
 *
 * No step starts until the run is resumed; running attempts finish.
 */
export declare const pauseRun: <ThrowOnError extends boolean = false>(options: Options<PauseRunData, ThrowOnError>) => Promise<import("./types.ts").Run>;
/**
 * Rerun a run
 *
 * Starts a new run of the same flow with the same or a different input. `?wait=` works as for
 * starting a run.
 */
export declare const rerunRun: <ThrowOnError extends boolean = false>(options: Options<RerunRunData, ThrowOnError>) => Promise<import("./types.ts").Run | import("./types.ts").StartedRun>;
/**
 * Resume a paused run
 */
export declare const resumeRun: <ThrowOnError extends boolean = false>(options: Options<ResumeRunData, ThrowOnError>) => Promise<import("./types.ts").Run>;
/**
 * Read a run's state
 *
 * The current state, or the state at an earlier event or time.
 */
export declare const runState: <ThrowOnError extends boolean = false>(options: Options<RunStateData, ThrowOnError>) => Promise<import("./types.ts").StateAt>;
/**
 * Follow a run
 *
 * Server-sent events: `id` is the id of the event, `event` its type, `data` the event.
 */
export declare const followRun: <ThrowOnError extends boolean = false>(options: Options<FollowRunData, ThrowOnError, FollowRunResponse>) => Promise<Response>;
/**
 * Explain why a run waits
 *
 * The reasons why a run does not continue, with ids and times: one for each active visit, the most
 * important first. The id may be that of a job.
 */
export declare const runWhy: <ThrowOnError extends boolean = false>(options: Options<RunWhyData, ThrowOnError>) => Promise<import("./types.ts").Why>;
/**
 * List schedules
 *
 * The triggers of type `schedule`, with their next due times.
 */
export declare const listSchedules: <ThrowOnError extends boolean = false>(options: Options<ListSchedulesData, ThrowOnError>) => Promise<import("./types.ts").TriggerList>;
/**
 * Start the missing runs of a range of due times
 *
 * Starts a run for each due time without one, from `from` (inclusive) to `to` (exclusive). At most
 * 1,000 at a time; `nextFrom` is where to continue. A due time whose run cannot be started has an
 * `error`, and the others are started. Due times older than the shortest retention of ended runs are
 * rejected without `forgotten`, because their runs may have been deleted.
 */
export declare const backfillSchedule: <ThrowOnError extends boolean = false>(options: Options<BackfillScheduleData, ThrowOnError>) => Promise<import("./types.ts").Backfilled>;
/**
 * Read the schema of definitions
 *
 * JSON Schema of a flow, for editors.
 */
export declare const getFlowSchema: <ThrowOnError extends boolean = false>(options: Options<GetFlowSchemaData, ThrowOnError>) => Promise<unknown>;
/**
 * Read a story
 *
 * All events with one correlation id, ordered by time: those of the run, job or call with that id,
 * of runs and jobs that were given it, of their sub-flows, and of other streams such as triggers.
 * Each event has its `stream` and, if known, its cause (`causationId`).
 */
export declare const getStory: <ThrowOnError extends boolean = false>(options: Options<GetStoryData, ThrowOnError>) => Promise<import("./types.ts").EventList>;
/**
 * List triggers
 *
 * By id.
 */
export declare const listTriggers: <ThrowOnError extends boolean = false>(options: Options<ListTriggersData, ThrowOnError>) => Promise<import("./types.ts").TriggerList>;
/**
 * Create a trigger
 *
 * An enabled trigger starts runs of its flow at once.
 */
export declare const createTrigger: <ThrowOnError extends boolean = false>(options: Options<CreateTriggerData, ThrowOnError>) => Promise<import("./types.ts").Trigger>;
/**
 * Remove a trigger
 *
 * Its runs continue.
 */
export declare const removeTrigger: <ThrowOnError extends boolean = false>(options: Options<RemoveTriggerData, ThrowOnError>) => Promise<import("./types.ts").RemovedTrigger>;
/**
 * Read a trigger
 */
export declare const getTrigger: <ThrowOnError extends boolean = false>(options: Options<GetTriggerData, ThrowOnError>) => Promise<import("./types.ts").Trigger>;
/**
 * Change a trigger
 *
 * Given members replace the existing ones, those of `config` one by one; null removes a member.
 * Every change is a new version. With `version` the change is rejected unless the trigger has that
 * version.
 */
export declare const changeTrigger: <ThrowOnError extends boolean = false>(options: Options<ChangeTriggerData, ThrowOnError>) => Promise<import("./types.ts").Trigger>;
/**
 * Answer a callback
 *
 * Resumes the step that waits for the callback (`ctx.await.trigger`, or `await: {type: trigger}` in
 * its config); the step receives the body. A callback is answered once, unless it was created for
 * many. If no step waits for the id and a trigger has it, the trigger is fired, as by
 * `/api/triggers/{id}/fire`.
 */
export declare const resumeCallback: <ThrowOnError extends boolean = false>(options: Options<ResumeCallbackData, ThrowOnError>) => Promise<import("./types.ts").Opened | import("./types.ts").StartedRun>;
/**
 * Disable a trigger
 *
 * It starts no runs until it is enabled.
 */
export declare const disableTrigger: <ThrowOnError extends boolean = false>(options: Options<DisableTriggerData, ThrowOnError>) => Promise<import("./types.ts").Trigger>;
/**
 * Enable a trigger
 *
 * A schedule continues with its next due time. Due times in the meantime do not count as missed.
 */
export declare const enableTrigger: <ThrowOnError extends boolean = false>(options: Options<EnableTriggerData, ThrowOnError>) => Promise<import("./types.ts").Trigger>;
/**
 * Fire a trigger manually
 *
 * Starts a run with the given input, for triggers of every type. `?wait=` works as for starting a run.
 */
export declare const fireTrigger: <ThrowOnError extends boolean = false>(options: Options<FireTriggerData, ThrowOnError>) => Promise<import("./types.ts").Run | import("./types.ts").StartedRun>;
/**
 * List the events of a trigger
 *
 * The last 1,000 events, the latest first: registered, fired, failed, missed, removed.
 */
export declare const triggerHistory: <ThrowOnError extends boolean = false>(options: Options<TriggerHistoryData, ThrowOnError>) => Promise<import("./types.ts").EventList>;
/**
 * Count the events of a trigger
 */
export declare const triggerStats: <ThrowOnError extends boolean = false>(options: Options<TriggerStatsData, ThrowOnError>) => Promise<import("./types.ts").TriggerStats>;
/**
 * Read the version
 */
export declare const version: <ThrowOnError extends boolean = false>(options: Options<VersionData, ThrowOnError>) => Promise<import("./types.ts").Version>;
/**
 * List workers
 *
 * The remote workers that are connected or may reconnect.
 */
export declare const listWorkers: <ThrowOnError extends boolean = false>(options: Options<ListWorkersData, ThrowOnError>) => Promise<import("./types.ts").WorkerList>;
/**
 * Drain a worker
 *
 * The worker gets no more work. Its connection ends when its current work has ended or the time is
 * over; unfinished work runs again elsewhere.
 */
export declare const drainWorker: <ThrowOnError extends boolean = false>(options: Options<DrainWorkerData, ThrowOnError>) => Promise<import("./types.ts").ShownWorker>;
