import type { Client, Options as Options2, TDataShape } from '../client/http.ts';
import type { AddJobsData, AppendEventsData, BackfillScheduleData, CancelFlowRunData, CancelJobData, CancelRunData, ChangeJobData, ChangeTriggerData, CleanQueueData, CreateTriggerData, DeadLettersData, DeleteRunData, DisableTriggerData, DrainQueueData, DrainWorkerData, EmitEventData, EnableTriggerData, EventsOfKindData, ExecuteData, ExecutionEventsData, ExecutionJobsData, FireTriggerData, FlowDiagramData, FlowRunsData, FlowVersionsData, FollowNamedData, FollowNamedResponse, FollowRunData, FollowRunResponse, FollowStreamData, FollowStreamResponse, ForkRunData, GetAwaitStatsData, GetExecutionData, GetFlowData, GetFlowRunData, GetFlowSchemaData, GetHandlerData, GetJobData, GetQueueData, GetRunData, GetStoryData, GetStreamData, GetTriggerData, GetUnheardData, ImportRunData, ListExecutionsData, ListFlowsData, ListHandlersData, ListJobsData, ListProcessesData, ListQueuesData, ListRunsData, ListSchedulesData, ListStreamsData, ListTriggersData, ListWorkersData, OpenapiJsonData, OpenDoorData, OpenDoorOfFlowData, PauseQueueData, PauseRunData, PromoteJobData, PurgeData, QueueJobsData, RedriveData, RegisterFlowData, RemoveJobData, RemoveTriggerData, RerunRunData, ResumeQueueData, ResumeRunData, RetryJobData, RunAwaitsData, RunChildrenData, RunEventsData, RunHistoryData, RunJobsData, RunStateData, RunWhyData, StartRunData, StreamEventsData, TriggerHistoryData, TriggerStatsData, ValidateFlowData, VersionData } from './types.ts';
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
 * Count awaits
 *
 * How many wait for events and at doors, and how many events wait to be judged: those of which only
 * an expression (`where`), or an event trigger, can tell whom they concern. `why` says what one run
 * waits for.
 */
export declare const getAwaitStats: <ThrowOnError extends boolean = false>(options: Options<GetAwaitStatsData, ThrowOnError>) => Promise<import("./types.ts").AwaitStats>;
/**
 * Read or follow events of a kind
 *
 * All events of these kinds, of whatever run or stream, in the order in which they were stored.
 * Each also names its `stream` and its `cursor`. With `Accept: text/event-stream` they are followed live: `id` is
 * the cursor to go on after, `event` the type, `data` the event.
 */
export declare const eventsOfKind: <ThrowOnError extends boolean = false>(options: Options<EventsOfKindData, ThrowOnError>) => Promise<import("./types.ts").EventsOfKind>;
/**
 * Emit an event
 *
 * To a run, to a stream, or to `nq:global`. With an idempotency key it is stored once, however
 * often it is sent: the same key again, for the same stream, answers with the first. Keys are
 * remembered as long as emitted events are: 7 days, unless `retention.emitted` says otherwise.
 */
export declare const emitEvent: <ThrowOnError extends boolean = false>(options: Options<EmitEventData, ThrowOnError>) => Promise<import("./types.ts").Appended>;
/**
 * Count events that nobody reacted to
 *
 * An event that was emitted while no step, await or trigger was there for it is stored and can be
 * read like any other (`GET /api/events?kind=`); here it is counted. Kinds that did not come for a
 * day are only part of `total`.
 */
export declare const getUnheard: <ThrowOnError extends boolean = false>(options: Options<GetUnheardData, ThrowOnError>) => Promise<import("./types.ts").Unheard>;
/**
 * Read a stream
 */
export declare const streamEvents: <ThrowOnError extends boolean = false>(options: Options<StreamEventsData, ThrowOnError>) => Promise<import("./types.ts").EventList>;
/**
 * Follow a stream by its full name
 *
 * Server-sent events: `id` is the event's id, `event` its type, `data` the event.
 */
export declare const followNamed: <ThrowOnError extends boolean = false>(options: Options<FollowNamedData, ThrowOnError, FollowNamedResponse>) => Promise<Response>;
/**
 * List the streams of a type
 *
 * For `flow` the runs, each with its id as `id` too.
 */
export declare const listStreams: <ThrowOnError extends boolean = false>(options: Options<ListStreamsData, ThrowOnError>) => Promise<import("./types.ts").StreamList>;
/**
 * Read what a stream reduces to
 *
 * For `flow` the run; for other types what the stream begins and ends with, and a page of its
 * events; for `trigger` also the `state` that they reduce to. A job's stream holds its life (`job.added`, `job.active`, `job.completed` …) and what
 * its handler said, in order.
 */
export declare const getStream: <ThrowOnError extends boolean = false>(options: Options<GetStreamData, ThrowOnError>) => Promise<import("./types.ts").Run | import("./types.ts").StreamView>;
/**
 * Append events
 *
 * One event or a list of them: all or none. What became of a run and its steps (`flow.*`,
 * `step.*`) only the engine may say.
 */
export declare const appendEvents: <ThrowOnError extends boolean = false>(options: Options<AppendEventsData, ThrowOnError>) => Promise<import("./types.ts").Appended>;
/**
 * Follow a stream by type and id
 *
 * Server-sent events: `id` is the event's id, `event` its type, `data` the event. `job` shows the
 * job's life and what its handler says. `queue` is a live channel: what happens to the queue's
 * jobs from now on. Nothing of it is stored, so a reader that was away or too slow is told
 * (`stream.missed`).
 */
export declare const followStream: <ThrowOnError extends boolean = false>(options: Options<FollowStreamData, ThrowOnError, FollowStreamResponse>) => Promise<Response>;
/**
 * List executions
 *
 * Runs in FlowMonkey's shape. `/api/runs` is cheaper: it does not read every run's state.
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
 * The run's own, and one for each visit of a step that a process runs.
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
 * A definition is kept for ever under its id and version. The same definition again changes
 * nothing; another one under the same version is refused.
 */
export declare const registerFlow: <ThrowOnError extends boolean = false>(options: Options<RegisterFlowData, ThrowOnError>) => Promise<import("./types.ts").RegisteredFlow>;
/**
 * Let a step go on, under the name that the specification has
 */
export declare const openDoorOfFlow: <ThrowOnError extends boolean = false>(options: Options<OpenDoorOfFlowData, ThrowOnError>) => Promise<import("./types.ts").Opened | import("./types.ts").StartedRun>;
/**
 * Validate a definition
 *
 * Every issue at once, with its path and rule. Nothing is registered.
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
 * When this is answered the run is on disk. With `?wait=` the answer is the whole run: 200 if it
 * has ended, 202 as it stands if the time was over first.
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
 * List jobs
 *
 * Those of queues; with `status`, `stalled` or `flow` those of runs. A page of some jobs of queues
 * only may hold fewer than `limit`, even none, although more follow: `nextCursor` says so.
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
 * One that waits ends at once; one that runs is told to stop, and stopped. That of a step ends with
 * its run.
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
 * What this server can run: queue workers and callables, with their configs. What it cannot run,
 * because its file does not load, has an error; an earlier version of it may go on.
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
 * Let dead letters wait again
 *
 * From their first attempt on: those that had failed when this was asked for, each once. Of very
 * many the first are counted in the answer, and the others follow in the background.
 */
export declare const redrive: <ThrowOnError extends boolean = false>(options: Options<RedriveData, ThrowOnError>) => Promise<import("./types.ts").Redriven>;
/**
 * Remove everything that waits
 *
 * But for the jobs of steps: their runs wait for them.
 */
export declare const drainQueue: <ThrowOnError extends boolean = false>(options: Options<DrainQueueData, ThrowOnError>) => Promise<import("./types.ts").Drained>;
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
 * One job, or several under `jobs`: all of them or none. When this is answered they are on disk.
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
 * Runs it at once, without a queue, and answers with its result. With `Accept:
 * text/event-stream` its frames come as server-sent events (`log`, `progress`, `partial`,
 * `heartbeat`), and last `result`, `error` or `cancelled`.
 */
export declare const execute: <ThrowOnError extends boolean = false>(options: Options<ExecuteData, ThrowOnError>) => Promise<import("./types.ts").Executed>;
/**
 * List runs
 */
export declare const listRuns: <ThrowOnError extends boolean = false>(options: Options<ListRunsData, ThrowOnError>) => Promise<import("./types.ts").RunList>;
/**
 * Take a run in
 *
 * A line of `riverrun runs export`: `{run, events, awaits}`. The run keeps its id and its whole
 * past; one that has not ended goes on here, unless it waits for another run or another run for
 * it. What it waits for comes too, and its doors keep their addresses.
 */
export declare const importRun: <ThrowOnError extends boolean = false>(options: Options<ImportRunData, ThrowOnError>) => Promise<import("./types.ts").StartedRun>;
/**
 * Delete a run
 *
 * An ended one, with its stream.
 */
export declare const deleteRun: <ThrowOnError extends boolean = false>(options: Options<DeleteRunData, ThrowOnError>) => Promise<void>;
/**
 * Read a run
 */
export declare const getRun: <ThrowOnError extends boolean = false>(options: Options<GetRunData, ThrowOnError>) => Promise<import("./types.ts").Run>;
/**
 * Read what a run waits for
 *
 * As an import wants it: how the events that it waits for are found, and the doors that it has
 * made, open or closed. For people `why` says it.
 */
export declare const runAwaits: <ThrowOnError extends boolean = false>(options: Options<RunAwaitsData, ThrowOnError>) => Promise<import("./types.ts").RunAwaits>;
/**
 * Cancel a run
 *
 * For good: what runs is told to stop, what waits is removed, children follow.
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
 * A new run that shares the past of this one up to an event, and goes its own way from there.
 */
export declare const forkRun: <ThrowOnError extends boolean = false>(options: Options<ForkRunData, ThrowOnError>) => Promise<import("./types.ts").Run | import("./types.ts").StartedRun>;
/**
 * Read a run's history
 *
 * One entry for each attempt of a step that has ended, in the order in which they ended.
 */
export declare const runHistory: <ThrowOnError extends boolean = false>(options: Options<RunHistoryData, ThrowOnError>) => Promise<import("./types.ts").HistoryList>;
/**
 * List a run's jobs
 */
export declare const runJobs: <ThrowOnError extends boolean = false>(options: Options<RunJobsData, ThrowOnError>) => Promise<import("./types.ts").JobList>;
/**
 * Pause a run
 *
 * It begins no more steps until it is resumed; attempts that run are let finish.
 */
export declare const pauseRun: <ThrowOnError extends boolean = false>(options: Options<PauseRunData, ThrowOnError>) => Promise<import("./types.ts").Run>;
/**
 * Start the same again
 *
 * A new run of the same flow with the same input, or another one. With `?wait=` the answer is the
 * whole run, as where a run is started.
 */
export declare const rerunRun: <ThrowOnError extends boolean = false>(options: Options<RerunRunData, ThrowOnError>) => Promise<import("./types.ts").Run | import("./types.ts").StartedRun>;
/**
 * Resume a paused run
 */
export declare const resumeRun: <ThrowOnError extends boolean = false>(options: Options<ResumeRunData, ThrowOnError>) => Promise<import("./types.ts").Run>;
/**
 * Read a run's state
 *
 * As it is, or as it was at any event or time.
 */
export declare const runState: <ThrowOnError extends boolean = false>(options: Options<RunStateData, ThrowOnError>) => Promise<import("./types.ts").StateAt>;
/**
 * Follow a run
 *
 * Server-sent events: `id` is the event's id, `event` its type, `data` the event.
 */
export declare const followRun: <ThrowOnError extends boolean = false>(options: Options<FollowRunData, ThrowOnError, FollowRunResponse>) => Promise<Response>;
/**
 * Ask why a run waits
 *
 * The exact reasons for which it does not move, with ids and times: one for each active visit,
 * the most telling first. The id may be a job's.
 */
export declare const runWhy: <ThrowOnError extends boolean = false>(options: Options<RunWhyData, ThrowOnError>) => Promise<import("./types.ts").Why>;
/**
 * List schedules
 *
 * The triggers of type `schedule`, with their next due times.
 */
export declare const listSchedules: <ThrowOnError extends boolean = false>(options: Options<ListSchedulesData, ThrowOnError>) => Promise<import("./types.ts").TriggerList>;
/**
 * Start the runs of a range of due times
 *
 * One for each due time from `from` up to, not including, `to` for which there is none. At most
 * 1,000 at a time; `nextFrom` says where to go on. A due time whose run cannot be started says so
 * in `error`, and holds up no other. Whether a due time before the shortest retention of ended runs
 * had its run is not known: such are refused without `forgotten`.
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
 * Everything that has one correlation id, in the order of time: the run, job or call of that id;
 * runs and jobs that were given it; their sub-flows; and events of other streams that carry it,
 * such as those of triggers. Each event names its `stream`, and what brought it about where that
 * is known (`causationId`).
 */
export declare const getStory: <ThrowOnError extends boolean = false>(options: Options<GetStoryData, ThrowOnError>) => Promise<import("./types.ts").EventList>;
/**
 * List triggers
 *
 * By id.
 */
export declare const listTriggers: <ThrowOnError extends boolean = false>(options: Options<ListTriggersData, ThrowOnError>) => Promise<import("./types.ts").TriggerList>;
/**
 * Make a trigger
 *
 * From now on it starts runs of its flow, unless it is disabled.
 */
export declare const createTrigger: <ThrowOnError extends boolean = false>(options: Options<CreateTriggerData, ThrowOnError>) => Promise<import("./types.ts").Trigger>;
/**
 * Remove a trigger
 *
 * The runs that it started go on.
 */
export declare const removeTrigger: <ThrowOnError extends boolean = false>(options: Options<RemoveTriggerData, ThrowOnError>) => Promise<import("./types.ts").RemovedTrigger>;
/**
 * Read a trigger
 */
export declare const getTrigger: <ThrowOnError extends boolean = false>(options: Options<GetTriggerData, ThrowOnError>) => Promise<import("./types.ts").Trigger>;
/**
 * Change a trigger
 *
 * Members that are given replace those that are there, those of `config` one by one; null takes
 * away. Every change is a new version. With `version` the change is refused unless the trigger is
 * in that version.
 */
export declare const changeTrigger: <ThrowOnError extends boolean = false>(options: Options<ChangeTriggerData, ThrowOnError>) => Promise<import("./types.ts").Trigger>;
/**
 * Let a step go on
 *
 * Opens the door that a step waits at (`ctx.await.trigger`, or `await: {type: trigger}` in its
 * config): the body is what the step is given. A door is opened once, unless it was made for many.
 * Where no step waits for the id and a trigger has it, that trigger is fired, as at
 * `/api/triggers/{id}/fire`, with its body and its answers.
 */
export declare const openDoor: <ThrowOnError extends boolean = false>(options: Options<OpenDoorData, ThrowOnError>) => Promise<import("./types.ts").Opened | import("./types.ts").StartedRun>;
/**
 * Disable a trigger
 *
 * It starts nothing until it is enabled.
 */
export declare const disableTrigger: <ThrowOnError extends boolean = false>(options: Options<DisableTriggerData, ThrowOnError>) => Promise<import("./types.ts").Trigger>;
/**
 * Enable a trigger
 *
 * A schedule goes on with its next due time; what would have been due meanwhile was not missed.
 */
export declare const enableTrigger: <ThrowOnError extends boolean = false>(options: Options<EnableTriggerData, ThrowOnError>) => Promise<import("./types.ts").Trigger>;
/**
 * Fire a trigger by hand
 *
 * Starts a run with the input that is given, whatever the trigger's type is. With `?wait=` the
 * answer is the whole run, as where a run is started.
 */
export declare const fireTrigger: <ThrowOnError extends boolean = false>(options: Options<FireTriggerData, ThrowOnError>) => Promise<import("./types.ts").Run | import("./types.ts").StartedRun>;
/**
 * List what became of a trigger
 *
 * Its last thousand events, the latest first: registered, fired, failed, missed, removed.
 */
export declare const triggerHistory: <ThrowOnError extends boolean = false>(options: Options<TriggerHistoryData, ThrowOnError>) => Promise<import("./types.ts").EventList>;
/**
 * Count what became of a trigger
 */
export declare const triggerStats: <ThrowOnError extends boolean = false>(options: Options<TriggerStatsData, ThrowOnError>) => Promise<import("./types.ts").TriggerStats>;
/**
 * Which riverrun?
 */
export declare const version: <ThrowOnError extends boolean = false>(options: Options<VersionData, ThrowOnError>) => Promise<import("./types.ts").Version>;
/**
 * List workers
 *
 * The remote workers that are connected, or may come back.
 */
export declare const listWorkers: <ThrowOnError extends boolean = false>(options: Options<ListWorkersData, ThrowOnError>) => Promise<import("./types.ts").WorkerList>;
/**
 * Drain a worker
 *
 * It gets no more work from now on. When it has ended what it runs, or its time is over, its
 * connection ends; what did not end is tried again elsewhere.
 */
export declare const drainWorker: <ThrowOnError extends boolean = false>(options: Options<DrainWorkerData, ThrowOnError>) => Promise<import("./types.ts").ShownWorker>;
