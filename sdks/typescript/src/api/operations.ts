// Generated from crates/api/openapi.json. Do not edit: run `make clients`.

import type { Client, Options as Options2, TDataShape } from '../client/http.ts';
import type { AddJobsData, AddJobsErrors, AddJobsResponses, AppendEventsData, AppendEventsErrors, AppendEventsResponses, BackfillScheduleData, BackfillScheduleErrors, BackfillScheduleResponses, CancelFlowRunData, CancelFlowRunErrors, CancelFlowRunResponses, CancelJobData, CancelJobErrors, CancelJobResponses, CancelRunData, CancelRunErrors, CancelRunResponses, ChangeJobData, ChangeJobErrors, ChangeJobResponses, ChangeTriggerData, ChangeTriggerErrors, ChangeTriggerResponses, CleanQueueData, CleanQueueErrors, CleanQueueResponses, CreateTriggerData, CreateTriggerErrors, CreateTriggerResponses, DeadLettersData, DeadLettersErrors, DeadLettersResponses, DeleteRunData, DeleteRunErrors, DeleteRunResponses, DisableTriggerData, DisableTriggerErrors, DisableTriggerResponses, DrainQueueData, DrainQueueErrors, DrainQueueResponses, DrainWorkerData, DrainWorkerErrors, DrainWorkerResponses, EmitEventData, EmitEventErrors, EmitEventResponses, EnableTriggerData, EnableTriggerErrors, EnableTriggerResponses, EventsOfKindData, EventsOfKindErrors, EventsOfKindResponses, ExecuteData, ExecuteErrors, ExecuteResponses, ExecutionEventsData, ExecutionEventsErrors, ExecutionEventsResponses, ExecutionJobsData, ExecutionJobsErrors, ExecutionJobsResponses, FireTriggerData, FireTriggerErrors, FireTriggerResponses, FlowDiagramData, FlowDiagramErrors, FlowDiagramResponses, FlowRunsData, FlowRunsErrors, FlowRunsResponses, FlowVersionsData, FlowVersionsErrors, FlowVersionsResponses, FollowNamedData, FollowNamedErrors, FollowNamedResponse, FollowNamedResponses, FollowRunData, FollowRunErrors, FollowRunResponse, FollowRunResponses, FollowStreamData, FollowStreamErrors, FollowStreamResponse, FollowStreamResponses, ForkRunData, ForkRunErrors, ForkRunResponses, GetAwaitStatsData, GetAwaitStatsErrors, GetAwaitStatsResponses, GetExecutionData, GetExecutionErrors, GetExecutionResponses, GetFlowData, GetFlowErrors, GetFlowResponses, GetFlowRunData, GetFlowRunErrors, GetFlowRunResponses, GetFlowSchemaData, GetFlowSchemaErrors, GetFlowSchemaResponses, GetHandlerData, GetHandlerErrors, GetHandlerResponses, GetJobData, GetJobErrors, GetJobResponses, GetQueueData, GetQueueErrors, GetQueueResponses, GetRunData, GetRunErrors, GetRunResponses, GetStoryData, GetStoryErrors, GetStoryResponses, GetStreamData, GetStreamErrors, GetStreamResponses, GetTriggerData, GetTriggerErrors, GetTriggerResponses, GetUnheardData, GetUnheardErrors, GetUnheardResponses, ImportRunData, ImportRunErrors, ImportRunResponses, ListExecutionsData, ListExecutionsErrors, ListExecutionsResponses, ListFlowsData, ListFlowsErrors, ListFlowsResponses, ListHandlersData, ListHandlersErrors, ListHandlersResponses, ListJobsData, ListJobsErrors, ListJobsResponses, ListProcessesData, ListProcessesErrors, ListProcessesResponses, ListQueuesData, ListQueuesErrors, ListQueuesResponses, ListRunsData, ListRunsErrors, ListRunsResponses, ListSchedulesData, ListSchedulesErrors, ListSchedulesResponses, ListStreamsData, ListStreamsErrors, ListStreamsResponses, ListTriggersData, ListTriggersErrors, ListTriggersResponses, ListWorkersData, ListWorkersErrors, ListWorkersResponses, OpenapiJsonData, OpenapiJsonErrors, OpenapiJsonResponses, OpenDoorData, OpenDoorErrors, OpenDoorOfFlowData, OpenDoorOfFlowErrors, OpenDoorOfFlowResponses, OpenDoorResponses, PauseQueueData, PauseQueueErrors, PauseQueueResponses, PauseRunData, PauseRunErrors, PauseRunResponses, PromoteJobData, PromoteJobErrors, PromoteJobResponses, PurgeData, PurgeErrors, PurgeResponses, QueueJobsData, QueueJobsErrors, QueueJobsResponses, RedriveData, RedriveErrors, RedriveResponses, RegisterFlowData, RegisterFlowErrors, RegisterFlowResponses, RemoveJobData, RemoveJobErrors, RemoveJobResponses, RemoveTriggerData, RemoveTriggerErrors, RemoveTriggerResponses, RerunRunData, RerunRunErrors, RerunRunResponses, ResumeQueueData, ResumeQueueErrors, ResumeQueueResponses, ResumeRunData, ResumeRunErrors, ResumeRunResponses, RetryJobData, RetryJobErrors, RetryJobResponses, RunAwaitsData, RunAwaitsErrors, RunAwaitsResponses, RunChildrenData, RunChildrenErrors, RunChildrenResponses, RunEventsData, RunEventsErrors, RunEventsResponses, RunHistoryData, RunHistoryErrors, RunHistoryResponses, RunJobsData, RunJobsErrors, RunJobsResponses, RunStateData, RunStateErrors, RunStateResponses, RunWhyData, RunWhyErrors, RunWhyResponses, StartRunData, StartRunErrors, StartRunResponses, StreamEventsData, StreamEventsErrors, StreamEventsResponses, TriggerHistoryData, TriggerHistoryErrors, TriggerHistoryResponses, TriggerStatsData, TriggerStatsErrors, TriggerStatsResponses, ValidateFlowData, ValidateFlowErrors, ValidateFlowResponses, VersionData, VersionErrors, VersionResponses } from './types.ts';

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
export const getAwaitStats = <ThrowOnError extends boolean = false>(options: Options<GetAwaitStatsData, ThrowOnError>) => options.client.get<GetAwaitStatsResponses, GetAwaitStatsErrors, ThrowOnError>({ url: '/api/awaits', ...options });

/**
 * Read or follow events of a kind
 *
 * All events of these kinds, of whatever run or stream, in the order in which they were stored.
 * Each also names its `stream` and its `cursor`. With `Accept: text/event-stream` they are followed live: `id` is
 * the cursor to go on after, `event` the type, `data` the event.
 */
export const eventsOfKind = <ThrowOnError extends boolean = false>(options: Options<EventsOfKindData, ThrowOnError>) => options.client.get<EventsOfKindResponses, EventsOfKindErrors, ThrowOnError>({ url: '/api/events', ...options });

/**
 * Emit an event
 *
 * To a run, to a stream, or to `nq:global`. With an idempotency key it is stored once, however
 * often it is sent: the same key again, for the same stream, answers with the first. Keys are
 * remembered as long as emitted events are: 7 days, unless `retention.emitted` says otherwise.
 */
export const emitEvent = <ThrowOnError extends boolean = false>(options: Options<EmitEventData, ThrowOnError>) => options.client.post<EmitEventResponses, EmitEventErrors, ThrowOnError>({
    url: '/api/events',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Count events that nobody reacted to
 *
 * An event that was emitted while no step, await or trigger was there for it is stored and can be
 * read like any other (`GET /api/events?kind=`); here it is counted. Kinds that did not come for a
 * day are only part of `total`.
 */
export const getUnheard = <ThrowOnError extends boolean = false>(options: Options<GetUnheardData, ThrowOnError>) => options.client.get<GetUnheardResponses, GetUnheardErrors, ThrowOnError>({ url: '/api/events/unheard', ...options });

/**
 * Read a stream
 */
export const streamEvents = <ThrowOnError extends boolean = false>(options: Options<StreamEventsData, ThrowOnError>) => options.client.get<StreamEventsResponses, StreamEventsErrors, ThrowOnError>({ url: '/api/events/{stream}', ...options });

/**
 * Follow a stream by its full name
 *
 * Server-sent events: `id` is the event's id, `event` its type, `data` the event.
 */
export const followNamed = <ThrowOnError extends boolean = false>(options: Options<FollowNamedData, ThrowOnError, FollowNamedResponse>) => options.client.sse.get<FollowNamedResponses, FollowNamedErrors, ThrowOnError>({ url: '/api/events/{stream}/tail', ...options });

/**
 * List the streams of a type
 *
 * For `flow` the runs, each with its id as `id` too.
 */
export const listStreams = <ThrowOnError extends boolean = false>(options: Options<ListStreamsData, ThrowOnError>) => options.client.get<ListStreamsResponses, ListStreamsErrors, ThrowOnError>({ url: '/api/events/{type}/list', ...options });

/**
 * Read what a stream reduces to
 *
 * For `flow` the run; for other types what the stream begins and ends with, and a page of its
 * events; for `trigger` also the `state` that they reduce to. A job's stream holds its life (`job.added`, `job.active`, `job.completed` …) and what
 * its handler said, in order.
 */
export const getStream = <ThrowOnError extends boolean = false>(options: Options<GetStreamData, ThrowOnError>) => options.client.get<GetStreamResponses, GetStreamErrors, ThrowOnError>({ url: '/api/events/{type}/{id}', ...options });

/**
 * Append events
 *
 * One event or a list of them: all or none. What became of a run and its steps (`flow.*`,
 * `step.*`) only the engine may say.
 */
export const appendEvents = <ThrowOnError extends boolean = false>(options: Options<AppendEventsData, ThrowOnError>) => options.client.post<AppendEventsResponses, AppendEventsErrors, ThrowOnError>({
    url: '/api/events/{type}/{id}',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Follow a stream by type and id
 *
 * Server-sent events: `id` is the event's id, `event` its type, `data` the event. `job` shows the
 * job's life and what its handler says. `queue` is a live channel: what happens to the queue's
 * jobs from now on. Nothing of it is stored, so a reader that was away or too slow is told
 * (`stream.missed`).
 */
export const followStream = <ThrowOnError extends boolean = false>(options: Options<FollowStreamData, ThrowOnError, FollowStreamResponse>) => options.client.sse.get<FollowStreamResponses, FollowStreamErrors, ThrowOnError>({ url: '/api/events/{type}/{id}/stream', ...options });

/**
 * List executions
 *
 * Runs in FlowMonkey's shape. `/api/runs` is cheaper: it does not read every run's state.
 */
export const listExecutions = <ThrowOnError extends boolean = false>(options: Options<ListExecutionsData, ThrowOnError>) => options.client.get<ListExecutionsResponses, ListExecutionsErrors, ThrowOnError>({ url: '/api/executions', ...options });

/**
 * Read an execution
 */
export const getExecution = <ThrowOnError extends boolean = false>(options: Options<GetExecutionData, ThrowOnError>) => options.client.get<GetExecutionResponses, GetExecutionErrors, ThrowOnError>({ url: '/api/executions/{id}', ...options });

/**
 * Read an execution's events
 */
export const executionEvents = <ThrowOnError extends boolean = false>(options: Options<ExecutionEventsData, ThrowOnError>) => options.client.get<ExecutionEventsResponses, ExecutionEventsErrors, ThrowOnError>({ url: '/api/executions/{id}/events', ...options });

/**
 * List an execution's jobs
 *
 * The run's own, and one for each visit of a step that a process runs.
 */
export const executionJobs = <ThrowOnError extends boolean = false>(options: Options<ExecutionJobsData, ThrowOnError>) => options.client.get<ExecutionJobsResponses, ExecutionJobsErrors, ThrowOnError>({ url: '/api/executions/{id}/jobs', ...options });

/**
 * List flows
 *
 * The newest version of every flow.
 */
export const listFlows = <ThrowOnError extends boolean = false>(options: Options<ListFlowsData, ThrowOnError>) => options.client.get<ListFlowsResponses, ListFlowsErrors, ThrowOnError>({ url: '/api/flows', ...options });

/**
 * Register a flow
 *
 * A definition is kept for ever under its id and version. The same definition again changes
 * nothing; another one under the same version is refused.
 */
export const registerFlow = <ThrowOnError extends boolean = false>(options: Options<RegisterFlowData, ThrowOnError>) => options.client.post<RegisterFlowResponses, RegisterFlowErrors, ThrowOnError>({
    url: '/api/flows',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Let a step go on, under the name that the specification has
 */
export const openDoorOfFlow = <ThrowOnError extends boolean = false>(options: Options<OpenDoorOfFlowData, ThrowOnError>) => options.client.post<OpenDoorOfFlowResponses, OpenDoorOfFlowErrors, ThrowOnError>({
    url: '/api/flows/triggers/{id}',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Validate a definition
 *
 * Every issue at once, with its path and rule. Nothing is registered.
 */
export const validateFlow = <ThrowOnError extends boolean = false>(options: Options<ValidateFlowData, ThrowOnError>) => options.client.post<ValidateFlowResponses, ValidateFlowErrors, ThrowOnError>({
    url: '/api/flows/validate',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Read a flow
 */
export const getFlow = <ThrowOnError extends boolean = false>(options: Options<GetFlowData, ThrowOnError>) => options.client.get<GetFlowResponses, GetFlowErrors, ThrowOnError>({ url: '/api/flows/{id}', ...options });

/**
 * Draw a flow
 */
export const flowDiagram = <ThrowOnError extends boolean = false>(options: Options<FlowDiagramData, ThrowOnError>) => options.client.get<FlowDiagramResponses, FlowDiagramErrors, ThrowOnError>({ url: '/api/flows/{id}/diagram', ...options });

/**
 * List the runs of a flow
 *
 * The same as `/api/runs?flow=`.
 */
export const flowRuns = <ThrowOnError extends boolean = false>(options: Options<FlowRunsData, ThrowOnError>) => options.client.get<FlowRunsResponses, FlowRunsErrors, ThrowOnError>({ url: '/api/flows/{id}/runs', ...options });

/**
 * Read a run of a flow
 *
 * The same as `/api/runs/{id}`, for a run of this flow.
 */
export const getFlowRun = <ThrowOnError extends boolean = false>(options: Options<GetFlowRunData, ThrowOnError>) => options.client.get<GetFlowRunResponses, GetFlowRunErrors, ThrowOnError>({ url: '/api/flows/{id}/runs/{run}', ...options });

/**
 * Cancel a run of a flow
 *
 * The same as `/api/runs/{id}/cancel`, for a run of this flow.
 */
export const cancelFlowRun = <ThrowOnError extends boolean = false>(options: Options<CancelFlowRunData, ThrowOnError>) => options.client.post<CancelFlowRunResponses, CancelFlowRunErrors, ThrowOnError>({
    url: '/api/flows/{id}/runs/{run}/cancel',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Start a run
 *
 * When this is answered the run is on disk. With `?wait=` the answer is the whole run: 200 if it
 * has ended, 202 as it stands if the time was over first.
 */
export const startRun = <ThrowOnError extends boolean = false>(options: Options<StartRunData, ThrowOnError>) => options.client.post<StartRunResponses, StartRunErrors, ThrowOnError>({
    url: '/api/flows/{id}/start',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * List the versions of a flow
 */
export const flowVersions = <ThrowOnError extends boolean = false>(options: Options<FlowVersionsData, ThrowOnError>) => options.client.get<FlowVersionsResponses, FlowVersionsErrors, ThrowOnError>({ url: '/api/flows/{id}/versions', ...options });

/**
 * List handlers
 */
export const listHandlers = <ThrowOnError extends boolean = false>(options: Options<ListHandlersData, ThrowOnError>) => options.client.get<ListHandlersResponses, ListHandlersErrors, ThrowOnError>({ url: '/api/handlers', ...options });

/**
 * Read a handler
 */
export const getHandler = <ThrowOnError extends boolean = false>(options: Options<GetHandlerData, ThrowOnError>) => options.client.get<GetHandlerResponses, GetHandlerErrors, ThrowOnError>({ url: '/api/handlers/{kind}', ...options });

/**
 * List jobs
 *
 * Those of queues; with `status`, `stalled` or `flow` those of runs. A page of some jobs of queues
 * only may hold fewer than `limit`, even none, although more follow: `nextCursor` says so.
 */
export const listJobs = <ThrowOnError extends boolean = false>(options: Options<ListJobsData, ThrowOnError>) => options.client.get<ListJobsResponses, ListJobsErrors, ThrowOnError>({ url: '/api/jobs', ...options });

/**
 * Remove a job
 *
 * One that runs has to be cancelled first.
 */
export const removeJob = <ThrowOnError extends boolean = false>(options: Options<RemoveJobData, ThrowOnError>) => options.client.delete<RemoveJobResponses, RemoveJobErrors, ThrowOnError>({ url: '/api/jobs/{id}', ...options });

/**
 * Read a job
 *
 * A job of a queue, or the one that drives a run, whose id is the run's.
 */
export const getJob = <ThrowOnError extends boolean = false>(options: Options<GetJobData, ThrowOnError>) => options.client.get<GetJobResponses, GetJobErrors, ThrowOnError>({ url: '/api/jobs/{id}', ...options });

/**
 * Change a job that has not begun
 */
export const changeJob = <ThrowOnError extends boolean = false>(options: Options<ChangeJobData, ThrowOnError>) => options.client.patch<ChangeJobResponses, ChangeJobErrors, ThrowOnError>({
    url: '/api/jobs/{id}',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Cancel a job
 *
 * One that waits ends at once; one that runs is told to stop, and stopped. That of a step ends with
 * its run.
 */
export const cancelJob = <ThrowOnError extends boolean = false>(options: Options<CancelJobData, ThrowOnError>) => options.client.post<CancelJobResponses, CancelJobErrors, ThrowOnError>({
    url: '/api/jobs/{id}/cancel',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Let a delayed job begin
 */
export const promoteJob = <ThrowOnError extends boolean = false>(options: Options<PromoteJobData, ThrowOnError>) => options.client.post<PromoteJobResponses, PromoteJobErrors, ThrowOnError>({ url: '/api/jobs/{id}/promote', ...options });

/**
 * Try a job again
 *
 * One that has ended waits again, from its first attempt on.
 */
export const retryJob = <ThrowOnError extends boolean = false>(options: Options<RetryJobData, ThrowOnError>) => options.client.post<RetryJobResponses, RetryJobErrors, ThrowOnError>({ url: '/api/jobs/{id}/retry', ...options });

/**
 * The OpenAPI document
 */
export const openapiJson = <ThrowOnError extends boolean = false>(options: Options<OpenapiJsonData, ThrowOnError>) => options.client.get<OpenapiJsonResponses, OpenapiJsonErrors, ThrowOnError>({ url: '/api/openapi.json', ...options });

/**
 * List processes
 *
 * What this server can run: queue workers and callables, with their configs. What it cannot run,
 * because its file does not load, has an error; an earlier version of it may go on.
 */
export const listProcesses = <ThrowOnError extends boolean = false>(options: Options<ListProcessesData, ThrowOnError>) => options.client.get<ListProcessesResponses, ListProcessesErrors, ThrowOnError>({ url: '/api/processes', ...options });

/**
 * List queues
 *
 * Every queue that has had a job or has a process, with its counts, rates and latencies.
 */
export const listQueues = <ThrowOnError extends boolean = false>(options: Options<ListQueuesData, ThrowOnError>) => options.client.get<ListQueuesResponses, ListQueuesErrors, ThrowOnError>({ url: '/api/queue', ...options });

/**
 * Read a queue
 */
export const getQueue = <ThrowOnError extends boolean = false>(options: Options<GetQueueData, ThrowOnError>) => options.client.get<GetQueueResponses, GetQueueErrors, ThrowOnError>({ url: '/api/queue/{name}', ...options });

/**
 * Remove ended jobs
 */
export const cleanQueue = <ThrowOnError extends boolean = false>(options: Options<CleanQueueData, ThrowOnError>) => options.client.post<CleanQueueResponses, CleanQueueErrors, ThrowOnError>({
    url: '/api/queue/{name}/clean',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * List the dead letters of a queue
 *
 * Jobs that have failed for good, newest first. A page of some of them only may hold fewer than
 * `limit`, even none, although more follow: `nextCursor` says so.
 */
export const deadLetters = <ThrowOnError extends boolean = false>(options: Options<DeadLettersData, ThrowOnError>) => options.client.get<DeadLettersResponses, DeadLettersErrors, ThrowOnError>({ url: '/api/queue/{name}/dlq', ...options });

/**
 * Remove dead letters
 */
export const purge = <ThrowOnError extends boolean = false>(options: Options<PurgeData, ThrowOnError>) => options.client.post<PurgeResponses, PurgeErrors, ThrowOnError>({
    url: '/api/queue/{name}/dlq/purge',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Let dead letters wait again
 *
 * From their first attempt on: those that had failed when this was asked for, each once. Of very
 * many the first are counted in the answer, and the others follow in the background.
 */
export const redrive = <ThrowOnError extends boolean = false>(options: Options<RedriveData, ThrowOnError>) => options.client.post<RedriveResponses, RedriveErrors, ThrowOnError>({
    url: '/api/queue/{name}/dlq/redrive',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Remove everything that waits
 *
 * But for the jobs of steps: their runs wait for them.
 */
export const drainQueue = <ThrowOnError extends boolean = false>(options: Options<DrainQueueData, ThrowOnError>) => options.client.post<DrainQueueResponses, DrainQueueErrors, ThrowOnError>({
    url: '/api/queue/{name}/drain',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * List the jobs of a queue
 *
 * One state after the other: waiting and delayed ones in the order in which they will begin,
 * ended ones newest first.
 */
export const queueJobs = <ThrowOnError extends boolean = false>(options: Options<QueueJobsData, ThrowOnError>) => options.client.get<QueueJobsResponses, QueueJobsErrors, ThrowOnError>({ url: '/api/queue/{name}/jobs', ...options });

/**
 * Add jobs to a queue
 *
 * One job, or several under `jobs`: all of them or none. When this is answered they are on disk.
 */
export const addJobs = <ThrowOnError extends boolean = false>(options: Options<AddJobsData, ThrowOnError>) => options.client.post<AddJobsResponses, AddJobsErrors, ThrowOnError>({
    url: '/api/queue/{name}/jobs',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Pause a queue
 *
 * No job of it begins until it is resumed; those that run are let finish.
 */
export const pauseQueue = <ThrowOnError extends boolean = false>(options: Options<PauseQueueData, ThrowOnError>) => options.client.post<PauseQueueResponses, PauseQueueErrors, ThrowOnError>({ url: '/api/queue/{name}/pause', ...options });

/**
 * Resume a queue
 */
export const resumeQueue = <ThrowOnError extends boolean = false>(options: Options<ResumeQueueData, ThrowOnError>) => options.client.post<ResumeQueueResponses, ResumeQueueErrors, ThrowOnError>({ url: '/api/queue/{name}/resume', ...options });

/**
 * Call a process
 *
 * Runs it at once, without a queue, and answers with its result. With `Accept:
 * text/event-stream` its frames come as server-sent events (`log`, `progress`, `partial`,
 * `heartbeat`), and last `result`, `error` or `cancelled`.
 */
export const execute = <ThrowOnError extends boolean = false>(options: Options<ExecuteData, ThrowOnError>) => options.client.post<ExecuteResponses, ExecuteErrors, ThrowOnError>({
    url: '/api/runner/execute',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * List runs
 */
export const listRuns = <ThrowOnError extends boolean = false>(options: Options<ListRunsData, ThrowOnError>) => options.client.get<ListRunsResponses, ListRunsErrors, ThrowOnError>({ url: '/api/runs', ...options });

/**
 * Take a run in
 *
 * A line of `riverrun runs export`: `{run, events, awaits}`. The run keeps its id and its whole
 * past; one that has not ended goes on here, unless it waits for another run or another run for
 * it. What it waits for comes too, and its doors keep their addresses.
 */
export const importRun = <ThrowOnError extends boolean = false>(options: Options<ImportRunData, ThrowOnError>) => options.client.post<ImportRunResponses, ImportRunErrors, ThrowOnError>({
    url: '/api/runs/import',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Delete a run
 *
 * An ended one, with its stream.
 */
export const deleteRun = <ThrowOnError extends boolean = false>(options: Options<DeleteRunData, ThrowOnError>) => options.client.delete<DeleteRunResponses, DeleteRunErrors, ThrowOnError>({ url: '/api/runs/{id}', ...options });

/**
 * Read a run
 */
export const getRun = <ThrowOnError extends boolean = false>(options: Options<GetRunData, ThrowOnError>) => options.client.get<GetRunResponses, GetRunErrors, ThrowOnError>({ url: '/api/runs/{id}', ...options });

/**
 * Read what a run waits for
 *
 * As an import wants it: how the events that it waits for are found, and the doors that it has
 * made, open or closed. For people `why` says it.
 */
export const runAwaits = <ThrowOnError extends boolean = false>(options: Options<RunAwaitsData, ThrowOnError>) => options.client.get<RunAwaitsResponses, RunAwaitsErrors, ThrowOnError>({ url: '/api/runs/{id}/awaits', ...options });

/**
 * Cancel a run
 *
 * For good: what runs is told to stop, what waits is removed, children follow.
 */
export const cancelRun = <ThrowOnError extends boolean = false>(options: Options<CancelRunData, ThrowOnError>) => options.client.post<CancelRunResponses, CancelRunErrors, ThrowOnError>({
    url: '/api/runs/{id}/cancel',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * List a run's children
 *
 * The runs that its steps started. The same as `/api/runs?parent=`.
 */
export const runChildren = <ThrowOnError extends boolean = false>(options: Options<RunChildrenData, ThrowOnError>) => options.client.get<RunChildrenResponses, RunChildrenErrors, ThrowOnError>({ url: '/api/runs/{id}/children', ...options });

/**
 * Read a run's events
 */
export const runEvents = <ThrowOnError extends boolean = false>(options: Options<RunEventsData, ThrowOnError>) => options.client.get<RunEventsResponses, RunEventsErrors, ThrowOnError>({ url: '/api/runs/{id}/events', ...options });

/**
 * Fork a run
 *
 * A new run that shares the past of this one up to an event, and goes its own way from there.
 */
export const forkRun = <ThrowOnError extends boolean = false>(options: Options<ForkRunData, ThrowOnError>) => options.client.post<ForkRunResponses, ForkRunErrors, ThrowOnError>({
    url: '/api/runs/{id}/fork',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Read a run's history
 *
 * One entry for each attempt of a step that has ended, in the order in which they ended.
 */
export const runHistory = <ThrowOnError extends boolean = false>(options: Options<RunHistoryData, ThrowOnError>) => options.client.get<RunHistoryResponses, RunHistoryErrors, ThrowOnError>({ url: '/api/runs/{id}/history', ...options });

/**
 * List a run's jobs
 */
export const runJobs = <ThrowOnError extends boolean = false>(options: Options<RunJobsData, ThrowOnError>) => options.client.get<RunJobsResponses, RunJobsErrors, ThrowOnError>({ url: '/api/runs/{id}/jobs', ...options });

/**
 * Pause a run
 *
 * It begins no more steps until it is resumed; attempts that run are let finish.
 */
export const pauseRun = <ThrowOnError extends boolean = false>(options: Options<PauseRunData, ThrowOnError>) => options.client.post<PauseRunResponses, PauseRunErrors, ThrowOnError>({
    url: '/api/runs/{id}/pause',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Start the same again
 *
 * A new run of the same flow with the same input, or another one. With `?wait=` the answer is the
 * whole run, as where a run is started.
 */
export const rerunRun = <ThrowOnError extends boolean = false>(options: Options<RerunRunData, ThrowOnError>) => options.client.post<RerunRunResponses, RerunRunErrors, ThrowOnError>({
    url: '/api/runs/{id}/rerun',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Resume a paused run
 */
export const resumeRun = <ThrowOnError extends boolean = false>(options: Options<ResumeRunData, ThrowOnError>) => options.client.post<ResumeRunResponses, ResumeRunErrors, ThrowOnError>({
    url: '/api/runs/{id}/resume',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Read a run's state
 *
 * As it is, or as it was at any event or time.
 */
export const runState = <ThrowOnError extends boolean = false>(options: Options<RunStateData, ThrowOnError>) => options.client.get<RunStateResponses, RunStateErrors, ThrowOnError>({ url: '/api/runs/{id}/state', ...options });

/**
 * Follow a run
 *
 * Server-sent events: `id` is the event's id, `event` its type, `data` the event.
 */
export const followRun = <ThrowOnError extends boolean = false>(options: Options<FollowRunData, ThrowOnError, FollowRunResponse>) => options.client.sse.get<FollowRunResponses, FollowRunErrors, ThrowOnError>({ url: '/api/runs/{id}/stream', ...options });

/**
 * Ask why a run waits
 *
 * The exact reasons for which it does not move, with ids and times: one for each active visit,
 * the most telling first. The id may be a job's.
 */
export const runWhy = <ThrowOnError extends boolean = false>(options: Options<RunWhyData, ThrowOnError>) => options.client.get<RunWhyResponses, RunWhyErrors, ThrowOnError>({ url: '/api/runs/{id}/why', ...options });

/**
 * List schedules
 *
 * The triggers of type `schedule`, with their next due times.
 */
export const listSchedules = <ThrowOnError extends boolean = false>(options: Options<ListSchedulesData, ThrowOnError>) => options.client.get<ListSchedulesResponses, ListSchedulesErrors, ThrowOnError>({ url: '/api/schedules', ...options });

/**
 * Start the runs of a range of due times
 *
 * One for each due time from `from` up to, not including, `to` for which there is none. At most
 * 1,000 at a time; `nextFrom` says where to go on. A due time whose run cannot be started says so
 * in `error`, and holds up no other. Whether a due time before the shortest retention of ended runs
 * had its run is not known: such are refused without `forgotten`.
 */
export const backfillSchedule = <ThrowOnError extends boolean = false>(options: Options<BackfillScheduleData, ThrowOnError>) => options.client.post<BackfillScheduleResponses, BackfillScheduleErrors, ThrowOnError>({
    url: '/api/schedules/{id}/backfill',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Read the schema of definitions
 *
 * JSON Schema of a flow, for editors.
 */
export const getFlowSchema = <ThrowOnError extends boolean = false>(options: Options<GetFlowSchemaData, ThrowOnError>) => options.client.get<GetFlowSchemaResponses, GetFlowSchemaErrors, ThrowOnError>({ url: '/api/schemas/flow', ...options });

/**
 * Read a story
 *
 * Everything that has one correlation id, in the order of time: the run, job or call of that id;
 * runs and jobs that were given it; their sub-flows; and events of other streams that carry it,
 * such as those of triggers. Each event names its `stream`, and what brought it about where that
 * is known (`causationId`).
 */
export const getStory = <ThrowOnError extends boolean = false>(options: Options<GetStoryData, ThrowOnError>) => options.client.get<GetStoryResponses, GetStoryErrors, ThrowOnError>({ url: '/api/stories/{correlationId}', ...options });

/**
 * List triggers
 *
 * By id.
 */
export const listTriggers = <ThrowOnError extends boolean = false>(options: Options<ListTriggersData, ThrowOnError>) => options.client.get<ListTriggersResponses, ListTriggersErrors, ThrowOnError>({ url: '/api/triggers', ...options });

/**
 * Make a trigger
 *
 * From now on it starts runs of its flow, unless it is disabled.
 */
export const createTrigger = <ThrowOnError extends boolean = false>(options: Options<CreateTriggerData, ThrowOnError>) => options.client.post<CreateTriggerResponses, CreateTriggerErrors, ThrowOnError>({
    url: '/api/triggers',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Remove a trigger
 *
 * The runs that it started go on.
 */
export const removeTrigger = <ThrowOnError extends boolean = false>(options: Options<RemoveTriggerData, ThrowOnError>) => options.client.delete<RemoveTriggerResponses, RemoveTriggerErrors, ThrowOnError>({ url: '/api/triggers/{id}', ...options });

/**
 * Read a trigger
 */
export const getTrigger = <ThrowOnError extends boolean = false>(options: Options<GetTriggerData, ThrowOnError>) => options.client.get<GetTriggerResponses, GetTriggerErrors, ThrowOnError>({ url: '/api/triggers/{id}', ...options });

/**
 * Change a trigger
 *
 * Members that are given replace those that are there, those of `config` one by one; null takes
 * away. Every change is a new version. With `version` the change is refused unless the trigger is
 * in that version.
 */
export const changeTrigger = <ThrowOnError extends boolean = false>(options: Options<ChangeTriggerData, ThrowOnError>) => options.client.patch<ChangeTriggerResponses, ChangeTriggerErrors, ThrowOnError>({
    url: '/api/triggers/{id}',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Let a step go on
 *
 * Opens the door that a step waits at (`ctx.await.trigger`, or `await: {type: trigger}` in its
 * config): the body is what the step is given. A door is opened once, unless it was made for many.
 * Where no step waits for the id and a trigger has it, that trigger is fired, as at
 * `/api/triggers/{id}/fire`, with its body and its answers.
 */
export const openDoor = <ThrowOnError extends boolean = false>(options: Options<OpenDoorData, ThrowOnError>) => options.client.post<OpenDoorResponses, OpenDoorErrors, ThrowOnError>({
    url: '/api/triggers/{id}',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Disable a trigger
 *
 * It starts nothing until it is enabled.
 */
export const disableTrigger = <ThrowOnError extends boolean = false>(options: Options<DisableTriggerData, ThrowOnError>) => options.client.post<DisableTriggerResponses, DisableTriggerErrors, ThrowOnError>({ url: '/api/triggers/{id}/disable', ...options });

/**
 * Enable a trigger
 *
 * A schedule goes on with its next due time; what would have been due meanwhile was not missed.
 */
export const enableTrigger = <ThrowOnError extends boolean = false>(options: Options<EnableTriggerData, ThrowOnError>) => options.client.post<EnableTriggerResponses, EnableTriggerErrors, ThrowOnError>({ url: '/api/triggers/{id}/enable', ...options });

/**
 * Fire a trigger by hand
 *
 * Starts a run with the input that is given, whatever the trigger's type is. With `?wait=` the
 * answer is the whole run, as where a run is started.
 */
export const fireTrigger = <ThrowOnError extends boolean = false>(options: Options<FireTriggerData, ThrowOnError>) => options.client.post<FireTriggerResponses, FireTriggerErrors, ThrowOnError>({
    url: '/api/triggers/{id}/fire',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * List what became of a trigger
 *
 * Its last thousand events, the latest first: registered, fired, failed, missed, removed.
 */
export const triggerHistory = <ThrowOnError extends boolean = false>(options: Options<TriggerHistoryData, ThrowOnError>) => options.client.get<TriggerHistoryResponses, TriggerHistoryErrors, ThrowOnError>({ url: '/api/triggers/{id}/history', ...options });

/**
 * Count what became of a trigger
 */
export const triggerStats = <ThrowOnError extends boolean = false>(options: Options<TriggerStatsData, ThrowOnError>) => options.client.get<TriggerStatsResponses, TriggerStatsErrors, ThrowOnError>({ url: '/api/triggers/{id}/stats', ...options });

/**
 * Which riverrun?
 */
export const version = <ThrowOnError extends boolean = false>(options: Options<VersionData, ThrowOnError>) => options.client.get<VersionResponses, VersionErrors, ThrowOnError>({ url: '/api/version', ...options });

/**
 * List workers
 *
 * The remote workers that are connected, or may come back.
 */
export const listWorkers = <ThrowOnError extends boolean = false>(options: Options<ListWorkersData, ThrowOnError>) => options.client.get<ListWorkersResponses, ListWorkersErrors, ThrowOnError>({ url: '/api/workers', ...options });

/**
 * Drain a worker
 *
 * It gets no more work from now on. When it has ended what it runs, or its time is over, its
 * connection ends; what did not end is tried again elsewhere.
 */
export const drainWorker = <ThrowOnError extends boolean = false>(options: Options<DrainWorkerData, ThrowOnError>) => options.client.post<DrainWorkerResponses, DrainWorkerErrors, ThrowOnError>({
    url: '/api/workers/{id}/drain',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});
