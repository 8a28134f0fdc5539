// Generated from crates/api/openapi.json. Do not edit: run `make clients`.

import type { Client, Options as Options2, TDataShape } from '../client/http.ts';
import type { AddJobsData, AddJobsErrors, AddJobsResponses, AppendEventsData, AppendEventsErrors, AppendEventsResponses, BackfillScheduleData, BackfillScheduleErrors, BackfillScheduleResponses, CancelFlowRunData, CancelFlowRunErrors, CancelFlowRunResponses, CancelJobData, CancelJobErrors, CancelJobResponses, CancelRunData, CancelRunErrors, CancelRunResponses, ChangeJobData, ChangeJobErrors, ChangeJobResponses, ChangeTriggerData, ChangeTriggerErrors, ChangeTriggerResponses, CleanQueueData, CleanQueueErrors, CleanQueueResponses, ClearQueueData, ClearQueueErrors, ClearQueueResponses, CreateTriggerData, CreateTriggerErrors, CreateTriggerResponses, DeadLettersData, DeadLettersErrors, DeadLettersResponses, DeleteRunData, DeleteRunErrors, DeleteRunResponses, DisableTriggerData, DisableTriggerErrors, DisableTriggerResponses, DrainWorkerData, DrainWorkerErrors, DrainWorkerResponses, EmitEventData, EmitEventErrors, EmitEventResponses, EnableTriggerData, EnableTriggerErrors, EnableTriggerResponses, EventsOfKindData, EventsOfKindErrors, EventsOfKindResponses, ExecuteData, ExecuteErrors, ExecuteResponses, ExecutionEventsData, ExecutionEventsErrors, ExecutionEventsResponses, ExecutionJobsData, ExecutionJobsErrors, ExecutionJobsResponses, FireTriggerData, FireTriggerErrors, FireTriggerResponses, FlowDiagramData, FlowDiagramErrors, FlowDiagramResponses, FlowRunsData, FlowRunsErrors, FlowRunsResponses, FlowVersionsData, FlowVersionsErrors, FlowVersionsResponses, FollowNamedData, FollowNamedErrors, FollowNamedResponse, FollowNamedResponses, FollowRunData, FollowRunErrors, FollowRunResponse, FollowRunResponses, FollowStreamData, FollowStreamErrors, FollowStreamResponse, FollowStreamResponses, ForkRunData, ForkRunErrors, ForkRunResponses, GetAwaitStatsData, GetAwaitStatsErrors, GetAwaitStatsResponses, GetExecutionData, GetExecutionErrors, GetExecutionResponses, GetFlowData, GetFlowErrors, GetFlowResponses, GetFlowRunData, GetFlowRunErrors, GetFlowRunResponses, GetFlowSchemaData, GetFlowSchemaErrors, GetFlowSchemaResponses, GetHandlerData, GetHandlerErrors, GetHandlerResponses, GetJobData, GetJobErrors, GetJobResponses, GetQueueData, GetQueueErrors, GetQueueResponses, GetRunData, GetRunErrors, GetRunResponses, GetStoryData, GetStoryErrors, GetStoryResponses, GetStreamData, GetStreamErrors, GetStreamResponses, GetTriggerData, GetTriggerErrors, GetTriggerResponses, GetUnheardData, GetUnheardErrors, GetUnheardResponses, ImportRunData, ImportRunErrors, ImportRunResponses, ListExecutionsData, ListExecutionsErrors, ListExecutionsResponses, ListFlowsData, ListFlowsErrors, ListFlowsResponses, ListHandlersData, ListHandlersErrors, ListHandlersResponses, ListJobsData, ListJobsErrors, ListJobsResponses, ListProcessesData, ListProcessesErrors, ListProcessesResponses, ListQueuesData, ListQueuesErrors, ListQueuesResponses, ListRunsData, ListRunsErrors, ListRunsResponses, ListSchedulesData, ListSchedulesErrors, ListSchedulesResponses, ListStreamsData, ListStreamsErrors, ListStreamsResponses, ListTriggersData, ListTriggersErrors, ListTriggersResponses, ListWorkersData, ListWorkersErrors, ListWorkersResponses, OpenapiJsonData, OpenapiJsonErrors, OpenapiJsonResponses, PauseQueueData, PauseQueueErrors, PauseQueueResponses, PauseRunData, PauseRunErrors, PauseRunResponses, PromoteJobData, PromoteJobErrors, PromoteJobResponses, PurgeData, PurgeErrors, PurgeResponses, QueueJobsData, QueueJobsErrors, QueueJobsResponses, RedriveData, RedriveErrors, RedriveResponses, RegisterFlowData, RegisterFlowErrors, RegisterFlowResponses, RemoveJobByIdData, RemoveJobByIdErrors, RemoveJobByIdResponses, RemoveJobData, RemoveJobErrors, RemoveJobResponses, RemoveTriggerData, RemoveTriggerErrors, RemoveTriggerResponses, RerunRunData, RerunRunErrors, RerunRunResponses, ResumeCallbackData, ResumeCallbackErrors, ResumeCallbackOfFlowData, ResumeCallbackOfFlowErrors, ResumeCallbackOfFlowResponses, ResumeCallbackResponses, ResumeQueueData, ResumeQueueErrors, ResumeQueueResponses, ResumeRunData, ResumeRunErrors, ResumeRunResponses, RetryJobData, RetryJobErrors, RetryJobResponses, RunAwaitsData, RunAwaitsErrors, RunAwaitsResponses, RunChildrenData, RunChildrenErrors, RunChildrenResponses, RunEventsData, RunEventsErrors, RunEventsResponses, RunHistoryData, RunHistoryErrors, RunHistoryResponses, RunJobsData, RunJobsErrors, RunJobsResponses, RunStateData, RunStateErrors, RunStateResponses, RunWhyData, RunWhyErrors, RunWhyResponses, StartRunData, StartRunErrors, StartRunResponses, StreamEventsData, StreamEventsErrors, StreamEventsResponses, TriggerHistoryData, TriggerHistoryErrors, TriggerHistoryResponses, TriggerStatsData, TriggerStatsErrors, TriggerStatsResponses, ValidateFlowData, ValidateFlowErrors, ValidateFlowResponses, VersionData, VersionErrors, VersionResponses } from './types.ts';

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
export const getAwaitStats = <ThrowOnError extends boolean = false>(options: Options<GetAwaitStatsData, ThrowOnError>) => options.client.get<GetAwaitStatsResponses, GetAwaitStatsErrors, ThrowOnError>({ url: '/api/awaits', ...options });

/**
 * Read or follow events by type
 *
 * All events of these types, across runs and streams, in the order in which they were stored. Each
 * event has its `stream` and its `cursor`. With `Accept: text/event-stream` they are sent live: `id`
 * is the cursor, `event` the type, `data` the event.
 */
export const eventsOfKind = <ThrowOnError extends boolean = false>(options: Options<EventsOfKindData, ThrowOnError>) => options.client.get<EventsOfKindResponses, EventsOfKindErrors, ThrowOnError>({ url: '/api/events', ...options });

/**
 * Emit an event
 *
 * Into a run, a stream, or `nq:global`. With an idempotency key the event is stored once: a second
 * request with the same key for the same stream returns the first event. Keys are kept as long as
 * emitted events: 7 days, or `retention.emitted`.
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
 * Count events without a receiver
 *
 * An event that no step, await or trigger receives is stored and can be read like any other
 * (`GET /api/events?type=`); this route counts such events. Types that did not occur for 7 days are
 * only part of `total`.
 */
export const getUnheard = <ThrowOnError extends boolean = false>(options: Options<GetUnheardData, ThrowOnError>) => options.client.get<GetUnheardResponses, GetUnheardErrors, ThrowOnError>({ url: '/api/events/unheard', ...options });

/**
 * Read a stream
 */
export const streamEvents = <ThrowOnError extends boolean = false>(options: Options<StreamEventsData, ThrowOnError>) => options.client.get<StreamEventsResponses, StreamEventsErrors, ThrowOnError>({ url: '/api/events/{stream}', ...options });

/**
 * Follow a stream by its full name
 *
 * Server-sent events: `id` is the id of the event, `event` its type, `data` the event.
 */
export const followNamed = <ThrowOnError extends boolean = false>(options: Options<FollowNamedData, ThrowOnError, FollowNamedResponse>) => options.client.sse.get<FollowNamedResponses, FollowNamedErrors, ThrowOnError>({ url: '/api/events/{stream}/tail', ...options });

/**
 * List the streams of a type
 *
 * For `flow` the runs, each with its id as `id`.
 */
export const listStreams = <ThrowOnError extends boolean = false>(options: Options<ListStreamsData, ThrowOnError>) => options.client.get<ListStreamsResponses, ListStreamsErrors, ThrowOnError>({ url: '/api/events/{type}/list', ...options });

/**
 * Read a stream by type and id
 *
 * For `flow` the run; for other types the first and the last event and a page of events; for
 * `trigger` also the `state` that they reduce to. The stream of a job has its lifecycle (`job.added`,
 * `job.active`, `job.completed` …) and its logs, progress and partial results, in order.
 */
export const getStream = <ThrowOnError extends boolean = false>(options: Options<GetStreamData, ThrowOnError>) => options.client.get<GetStreamResponses, GetStreamErrors, ThrowOnError>({ url: '/api/events/{type}/{id}', ...options });

/**
 * Append events
 *
 * One event or a list of events: all or none. Types that only the server writes, such as `flow.*` and
 * `step.*`, are rejected.
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
 * Server-sent events: `id` is the id of the event, `event` its type, `data` the event. `job` is the
 * lifecycle of a job with its logs. `queue` is a live channel of the jobs of a queue; it is not
 * stored, so a reader that was disconnected or too slow receives `stream.missed`.
 */
export const followStream = <ThrowOnError extends boolean = false>(options: Options<FollowStreamData, ThrowOnError, FollowStreamResponse>) => options.client.sse.get<FollowStreamResponses, FollowStreamErrors, ThrowOnError>({ url: '/api/events/{type}/{id}/stream', ...options });

/**
 * List executions
 *
 * Runs in the format of FlowMonkey. `/api/runs` is cheaper, because it does not read the state of
 * every run.
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
 * The job of the run, and one for each visit of a process step.
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
 * A definition never changes under its id and version. Registering the same definition again has
 * no effect; another definition under the same version is rejected.
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
 * Answer a callback, at the path of the specifications
 */
export const resumeCallbackOfFlow = <ThrowOnError extends boolean = false>(options: Options<ResumeCallbackOfFlowData, ThrowOnError>) => options.client.post<ResumeCallbackOfFlowResponses, ResumeCallbackOfFlowErrors, ThrowOnError>({
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
 * Returns all issues, each with its path and rule. Nothing is registered.
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
 * The run is on disk before the answer is sent. With `?wait=` the answer is the whole run: 200 if it
 * has ended, 202 with its current state if the time was over first.
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
 * Remove a job whose id cannot be part of a path
 *
 * The same as DELETE /api/jobs/{id}, for jobs that an earlier version stored under the id `.` or `..`.
 */
export const removeJobById = <ThrowOnError extends boolean = false>(options: Options<RemoveJobByIdData, ThrowOnError>) => options.client.delete<RemoveJobByIdResponses, RemoveJobByIdErrors, ThrowOnError>({ url: '/api/jobs', ...options });

/**
 * List jobs
 *
 * Lists queue jobs; with `status` alone, `stalled` or `flow`, the jobs of runs. A filtered page of
 * queue jobs may have fewer than `limit` jobs, or none, although more follow; then it has a
 * `nextCursor`.
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
 * One that waits ends at once; one that runs is asked to stop, and stopped. That of a step ends
 * with its run.
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
 * The processes that this server can run, with their configurations. A process whose file does not
 * load has an `error`; an earlier version of it may still run.
 */
export const listProcesses = <ThrowOnError extends boolean = false>(options: Options<ListProcessesData, ThrowOnError>) => options.client.get<ListProcessesResponses, ListProcessesErrors, ThrowOnError>({ url: '/api/processes', ...options });

/**
 * List queues
 *
 * Every queue that has had a job or has a process, with its counts, rates and latencies.
 */
export const listQueues = <ThrowOnError extends boolean = false>(options: Options<ListQueuesData, ThrowOnError>) => options.client.get<ListQueuesResponses, ListQueuesErrors, ThrowOnError>({ url: '/api/queues', ...options });

/**
 * Read a queue
 */
export const getQueue = <ThrowOnError extends boolean = false>(options: Options<GetQueueData, ThrowOnError>) => options.client.get<GetQueueResponses, GetQueueErrors, ThrowOnError>({ url: '/api/queues/{name}', ...options });

/**
 * Remove ended jobs
 */
export const cleanQueue = <ThrowOnError extends boolean = false>(options: Options<CleanQueueData, ThrowOnError>) => options.client.post<CleanQueueResponses, CleanQueueErrors, ThrowOnError>({
    url: '/api/queues/{name}/clean',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Remove all waiting jobs
 *
 * Jobs of steps are kept, because their runs wait for them. The specifications' name `drain` is
 * accepted in the path as well.
 */
export const clearQueue = <ThrowOnError extends boolean = false>(options: Options<ClearQueueData, ThrowOnError>) => options.client.post<ClearQueueResponses, ClearQueueErrors, ThrowOnError>({
    url: '/api/queues/{name}/clear',
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
export const deadLetters = <ThrowOnError extends boolean = false>(options: Options<DeadLettersData, ThrowOnError>) => options.client.get<DeadLettersResponses, DeadLettersErrors, ThrowOnError>({ url: '/api/queues/{name}/dlq', ...options });

/**
 * Remove dead letters
 */
export const purge = <ThrowOnError extends boolean = false>(options: Options<PurgeData, ThrowOnError>) => options.client.post<PurgeResponses, PurgeErrors, ThrowOnError>({
    url: '/api/queues/{name}/dlq/purge',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});

/**
 * Redrive dead letters
 *
 * Queues the jobs that have failed by now again, each once, starting with their first attempt. If
 * there are many, the answer counts the first ones and the others follow in the background.
 */
export const redrive = <ThrowOnError extends boolean = false>(options: Options<RedriveData, ThrowOnError>) => options.client.post<RedriveResponses, RedriveErrors, ThrowOnError>({
    url: '/api/queues/{name}/dlq/redrive',
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
export const queueJobs = <ThrowOnError extends boolean = false>(options: Options<QueueJobsData, ThrowOnError>) => options.client.get<QueueJobsResponses, QueueJobsErrors, ThrowOnError>({ url: '/api/queues/{name}/jobs', ...options });

/**
 * Add jobs to a queue
 *
 * One job, or several under `jobs`: all of them or none. They are on disk before the answer is sent.
 */
export const addJobs = <ThrowOnError extends boolean = false>(options: Options<AddJobsData, ThrowOnError>) => options.client.post<AddJobsResponses, AddJobsErrors, ThrowOnError>({
    url: '/api/queues/{name}/jobs',
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
export const pauseQueue = <ThrowOnError extends boolean = false>(options: Options<PauseQueueData, ThrowOnError>) => options.client.post<PauseQueueResponses, PauseQueueErrors, ThrowOnError>({ url: '/api/queues/{name}/pause', ...options });

/**
 * Resume a queue
 */
export const resumeQueue = <ThrowOnError extends boolean = false>(options: Options<ResumeQueueData, ThrowOnError>) => options.client.post<ResumeQueueResponses, ResumeQueueErrors, ThrowOnError>({ url: '/api/queues/{name}/resume', ...options });

/**
 * Call a process
 *
 * Runs a process at once, without a queue, and returns its result. With `Accept: text/event-stream`
 * its frames arrive as server-sent events (`log`, `progress`, `partial`, `heartbeat`), followed by
 * `result`, `error` or `cancelled`.
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
 * Import a run
 *
 * The body is a line of `riverrun runs export`: `{run, events, awaits}`. The run keeps its id and its
 * events. A run that has not ended continues here, with its awaits and callback URLs; it is rejected
 * if it waits for another run, or another run waits for it.
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
 * Deletes an ended run with its stream.
 */
export const deleteRun = <ThrowOnError extends boolean = false>(options: Options<DeleteRunData, ThrowOnError>) => options.client.delete<DeleteRunResponses, DeleteRunErrors, ThrowOnError>({ url: '/api/runs/{id}', ...options });

/**
 * Read a run
 */
export const getRun = <ThrowOnError extends boolean = false>(options: Options<GetRunData, ThrowOnError>) => options.client.get<GetRunResponses, GetRunErrors, ThrowOnError>({ url: '/api/runs/{id}', ...options });

/**
 * Read what a run waits for
 *
 * The awaits of a run in the form that an import needs: the events that it waits for, and its open
 * and closed callbacks. `GET /api/runs/{id}/why` has the same for people.
 */
export const runAwaits = <ThrowOnError extends boolean = false>(options: Options<RunAwaitsData, ThrowOnError>) => options.client.get<RunAwaitsResponses, RunAwaitsErrors, ThrowOnError>({ url: '/api/runs/{id}/awaits', ...options });

/**
 * Cancel a run
 *
 * Running steps receive a stop signal, waiting ones are removed, child runs are cancelled too.
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
 * Starts a new run that shares the events of this run up to a given one.
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
 * One entry for each ended attempt of a step, in the order in which they ended.
 */
export const runHistory = <ThrowOnError extends boolean = false>(options: Options<RunHistoryData, ThrowOnError>) => options.client.get<RunHistoryResponses, RunHistoryErrors, ThrowOnError>({ url: '/api/runs/{id}/history', ...options });

/**
 * List a run's jobs
 */
export const runJobs = <ThrowOnError extends boolean = false>(options: Options<RunJobsData, ThrowOnError>) => options.client.get<RunJobsResponses, RunJobsErrors, ThrowOnError>({ url: '/api/runs/{id}/jobs', ...options });

/**
 * Pause a run
 *
 * No step starts until the run is resumed; running attempts finish.
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
 * Rerun a run
 *
 * Starts a new run of the same flow with the same or a different input. `?wait=` works as for
 * starting a run.
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
 * The current state, or the state at an earlier event or time.
 */
export const runState = <ThrowOnError extends boolean = false>(options: Options<RunStateData, ThrowOnError>) => options.client.get<RunStateResponses, RunStateErrors, ThrowOnError>({ url: '/api/runs/{id}/state', ...options });

/**
 * Follow a run
 *
 * Server-sent events: `id` is the id of the event, `event` its type, `data` the event.
 */
export const followRun = <ThrowOnError extends boolean = false>(options: Options<FollowRunData, ThrowOnError, FollowRunResponse>) => options.client.sse.get<FollowRunResponses, FollowRunErrors, ThrowOnError>({ url: '/api/runs/{id}/stream', ...options });

/**
 * Explain why a run waits
 *
 * The reasons why a run does not continue, with ids and times: one for each active visit, the most
 * important first. The id may be that of a job.
 */
export const runWhy = <ThrowOnError extends boolean = false>(options: Options<RunWhyData, ThrowOnError>) => options.client.get<RunWhyResponses, RunWhyErrors, ThrowOnError>({ url: '/api/runs/{id}/why', ...options });

/**
 * List schedules
 *
 * The triggers of type `schedule`, with their next due times.
 */
export const listSchedules = <ThrowOnError extends boolean = false>(options: Options<ListSchedulesData, ThrowOnError>) => options.client.get<ListSchedulesResponses, ListSchedulesErrors, ThrowOnError>({ url: '/api/schedules', ...options });

/**
 * Start the missing runs of a range of due times
 *
 * Starts a run for each due time without one, from `from` (inclusive) to `to` (exclusive). At most
 * 1,000 at a time; `nextFrom` is where to continue. A due time whose run cannot be started has an
 * `error`, and the others are started. Due times older than the shortest retention of ended runs are
 * rejected without `forgotten`, because their runs may have been deleted.
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
 * All events with one correlation id, ordered by time: those of the run, job or call with that id,
 * of runs and jobs that were given it, of their sub-flows, and of other streams such as triggers.
 * Each event has its `stream` and, if known, its cause (`causationId`).
 */
export const getStory = <ThrowOnError extends boolean = false>(options: Options<GetStoryData, ThrowOnError>) => options.client.get<GetStoryResponses, GetStoryErrors, ThrowOnError>({ url: '/api/stories/{correlationId}', ...options });

/**
 * List triggers
 *
 * By id.
 */
export const listTriggers = <ThrowOnError extends boolean = false>(options: Options<ListTriggersData, ThrowOnError>) => options.client.get<ListTriggersResponses, ListTriggersErrors, ThrowOnError>({ url: '/api/triggers', ...options });

/**
 * Create a trigger
 *
 * An enabled trigger starts runs of its flow at once.
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
 * Its runs continue.
 */
export const removeTrigger = <ThrowOnError extends boolean = false>(options: Options<RemoveTriggerData, ThrowOnError>) => options.client.delete<RemoveTriggerResponses, RemoveTriggerErrors, ThrowOnError>({ url: '/api/triggers/{id}', ...options });

/**
 * Read a trigger
 */
export const getTrigger = <ThrowOnError extends boolean = false>(options: Options<GetTriggerData, ThrowOnError>) => options.client.get<GetTriggerResponses, GetTriggerErrors, ThrowOnError>({ url: '/api/triggers/{id}', ...options });

/**
 * Change a trigger
 *
 * Given members replace the existing ones, those of `config` one by one; null removes a member.
 * Every change is a new version. With `version` the change is rejected unless the trigger has that
 * version.
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
 * Answer a callback
 *
 * Resumes the step that waits for the callback (`ctx.await.trigger`, or `await: {type: trigger}` in
 * its config); the step receives the body. A callback is answered once, unless it was created for
 * many. If no step waits for the id and a trigger has it, the trigger is fired, as by
 * `/api/triggers/{id}/fire`.
 */
export const resumeCallback = <ThrowOnError extends boolean = false>(options: Options<ResumeCallbackData, ThrowOnError>) => options.client.post<ResumeCallbackResponses, ResumeCallbackErrors, ThrowOnError>({
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
 * It starts no runs until it is enabled.
 */
export const disableTrigger = <ThrowOnError extends boolean = false>(options: Options<DisableTriggerData, ThrowOnError>) => options.client.post<DisableTriggerResponses, DisableTriggerErrors, ThrowOnError>({ url: '/api/triggers/{id}/disable', ...options });

/**
 * Enable a trigger
 *
 * A schedule continues with its next due time. Due times in the meantime do not count as missed.
 */
export const enableTrigger = <ThrowOnError extends boolean = false>(options: Options<EnableTriggerData, ThrowOnError>) => options.client.post<EnableTriggerResponses, EnableTriggerErrors, ThrowOnError>({ url: '/api/triggers/{id}/enable', ...options });

/**
 * Fire a trigger manually
 *
 * Starts a run with the given input, for triggers of every type. `?wait=` works as for starting a run.
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
 * List the events of a trigger
 *
 * The last 1,000 events, the latest first: registered, fired, failed, missed, removed.
 */
export const triggerHistory = <ThrowOnError extends boolean = false>(options: Options<TriggerHistoryData, ThrowOnError>) => options.client.get<TriggerHistoryResponses, TriggerHistoryErrors, ThrowOnError>({ url: '/api/triggers/{id}/history', ...options });

/**
 * Count the events of a trigger
 */
export const triggerStats = <ThrowOnError extends boolean = false>(options: Options<TriggerStatsData, ThrowOnError>) => options.client.get<TriggerStatsResponses, TriggerStatsErrors, ThrowOnError>({ url: '/api/triggers/{id}/stats', ...options });

/**
 * Read the version
 */
export const version = <ThrowOnError extends boolean = false>(options: Options<VersionData, ThrowOnError>) => options.client.get<VersionResponses, VersionErrors, ThrowOnError>({ url: '/api/version', ...options });

/**
 * List workers
 *
 * The remote workers that are connected or may reconnect.
 */
export const listWorkers = <ThrowOnError extends boolean = false>(options: Options<ListWorkersData, ThrowOnError>) => options.client.get<ListWorkersResponses, ListWorkersErrors, ThrowOnError>({ url: '/api/workers', ...options });

/**
 * Drain a worker
 *
 * The worker gets no more work. Its connection ends when its current work has ended or the time is
 * over; unfinished work runs again elsewhere.
 */
export const drainWorker = <ThrowOnError extends boolean = false>(options: Options<DrainWorkerData, ThrowOnError>) => options.client.post<DrainWorkerResponses, DrainWorkerErrors, ThrowOnError>({
    url: '/api/workers/{id}/drain',
    ...options,
    headers: {
        'Content-Type': 'application/json',
        ...options.headers
    }
});
