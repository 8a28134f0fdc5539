// Generated from crates/api/openapi.json. Do not edit: run `make clients`.

/**
 * One of several jobs.
 */
export type AddJob = {
    /**
     * The input of the handler.
     */
    data?: unknown;
    /**
     * Default: the name of the queue.
     */
    name?: string | null;
    options?: AddOptions;
};

/**
 * One job, or several under `jobs`.
 */
export type AddJobs = {
    /**
     * The input of the handler.
     */
    data?: unknown;
    /**
     * Several jobs; no other member is allowed beside them.
     */
    jobs?: Array<AddJob> | null;
    /**
     * Default: the name of the queue.
     */
    name?: string | null;
    options?: AddOptions | null;
};

/**
 * Options of a job, which override those of its process.
 */
export type AddOptions = {
    /**
     * The number of attempts, including the first. Default: as the process says.
     */
    attempts?: number | null;
    backoff?: Backoff | null;
    causationId?: string | null;
    correlationId?: string | null;
    debounce?: Debounce | null;
    dedupe?: KeyWindow | null;
    /**
     * Not with `runAt`.
     */
    delayMs?: number | null;
    idempotency?: KeyWindow | null;
    /**
     * One job for this key, while the job exists or for a time; `auto` derives the key from the data.
     */
    idempotencyKey?: string | null;
    idempotencyWindowMs?: number | null;
    /**
     * A second job with the same id returns the first one.
     */
    jobId?: string | null;
    /**
     * Keys take turns, and the jobs of a key share its concurrency.
     */
    key?: string | null;
    metadata?: unknown;
    /**
     * `dlq`, `retry` or `drop`.
     */
    onFail?: 'dlq' | 'retry' | 'drop' | null;
    /**
     * Higher starts first.
     */
    priority?: number;
    retriableErrors?: Array<string> | null;
    /**
     * ISO 8601 or milliseconds, ten years from now at most.
     */
    runAt?: string | number | null;
    tags?: Array<string>;
    tenantId?: string | null;
    throttle?: Throttle | null;
    timeoutMs?: number | null;
};

/**
 * The added jobs, in order.
 */
export type AddedJobs = {
    /**
     * Each `{jobId, created}`.
     */
    jobs: Array<unknown>;
};

/**
 * The jobs of runs, or of queues where the request asks for those.
 */
export type AnyJobList = JobList | QueueJobList;

/**
 * Where the events that were appended stand.
 */
export type Appended = {
    ids: Array<string>;
    /**
     * The full name.
     */
    stream: string;
};

/**
 * How many awaits wait for events of a type.
 */
export type AwaitKind = {
    /**
     * Awaits among them that have an expression (`where`).
     */
    filters: number;
    /**
     * Events of this type that wait for an expression to be evaluated.
     */
    judging: number;
    open: number;
    type: string;
};

/**
 * Open awaits of all runs.
 */
export type AwaitStats = {
    /**
     * Open callbacks: webhooks, answers of people.
     */
    doors: number;
    /**
     * Open awaits of events.
     */
    events: number;
    /**
     * Emitted events for which a `where` expression or an event trigger has yet to be evaluated.
     * Counted up to 10,000.
     */
    judging: number;
    /**
     * When the first of them arrived. ISO 8601.
     */
    judgingSince?: string | null;
    /**
     * The event types that most awaits wait for, up to 1,000, and those of events that wait for an
     * expression.
     */
    types: Array<AwaitKind>;
};

export type BackfillBody = {
    /**
     * Also start due times that are older than the shortest retention of ended runs. Their runs may
     * have been deleted, so they may run a second time.
     */
    forgotten?: boolean | null;
    /**
     * The start of the range, inclusive: ISO 8601 or milliseconds.
     */
    from: string | number;
    /**
     * The most due times, the earliest first: up to 1,000, default 100.
     */
    limit?: number | null;
    /**
     * The end of the range, exclusive.
     */
    to: string | number;
};

export type Backfilled = {
    /**
     * The number of started runs.
     */
    created: number;
    /**
     * The number of runs that could not be started.
     */
    failed: number;
    /**
     * `{code, message}` of the first of these.
     */
    firstError?: unknown;
    items: Array<BackfilledTime>;
    /**
     * The `from` of the next request; absent if nothing is left.
     */
    nextFrom?: string | null;
};

export type BackfilledTime = {
    /**
     * False if a run for this time existed before.
     */
    created: boolean;
    dueAt: string;
    /**
     * `{code, message}`: why there is no run.
     */
    error?: unknown;
    /**
     * Absent if the run could not be started.
     */
    runId?: string | null;
};

/**
 * The delay before another attempt.
 */
export type Backoff = {
    delayMs: number;
    /**
     * The share of the delay, 0 to 1, that is random.
     */
    jitter?: number | null;
    maxDelayMs?: number | null;
    /**
     * `fixed` or `exponential`.
     */
    type?: 'fixed' | 'exponential';
};

export type ChangeJobBody = {
    /**
     * Begin not before this long from now.
     */
    delayMs?: number | null;
    /**
     * Higher starts first.
     */
    priority?: number | null;
};

/**
 * Changes of a trigger; null removes a member.
 */
export type ChangedTrigger = {
    config?: {
        [key: string]: unknown;
    } | null;
    contextKey?: string | null;
    description?: string | null;
    enabled?: boolean | null;
    flow?: string;
    flowVersion?: string | null;
    /**
     * Must equal the id in the path: the id of a trigger never changes.
     */
    id?: string;
    idempotencyKey?: string | null;
    input?: unknown;
    inputMap?: string | null;
    metadata?: {
        [key: string]: unknown;
    } | null;
    tags?: Array<string> | null;
    tenantId?: string | null;
    /**
     * `http`, `schedule`, `event` or `manual`.
     */
    type?: 'http' | 'schedule' | 'event' | 'manual';
    /**
     * The expected version; the change is rejected in any other version.
     */
    version?: number | null;
};

export type CleanBody = {
    filter?: DeadLetterFilter | null;
    /**
     * The most jobs to remove.
     */
    limit?: number | null;
    /**
     * Only jobs that ended at least this long ago.
     */
    olderThanMs?: number;
    /**
     * `completed` (the default), `failed` or `cancelled`.
     */
    status?: 'completed' | 'failed' | 'cancelled';
};

export type ClearBody = {
    /**
     * Also removes jobs that wait for their time.
     */
    delayed?: boolean;
};

/**
 * A filter for jobs. A job must match all members.
 */
export type DeadLetterFilter = {
    /**
     * Ended at or after this time.
     */
    after?: string | number | null;
    /**
     * Ended at or before this time, as ISO 8601 or milliseconds.
     */
    before?: string | number | null;
    /**
     * The code of the error of the job.
     */
    code?: string | null;
    key?: string | null;
    name?: string | null;
    tag?: string | null;
};

export type Debounce = {
    delayMs: number;
    key?: string | null;
};

export type DrainWorkerBody = {
    /**
     * How long its current work may take, in milliseconds; at most a day. Default 30,000.
     */
    graceMs?: number | null;
};

export type Drained = {
    /**
     * How many jobs still wait: jobs of steps, and jobs added in the meantime.
     */
    left: number;
    removed: number;
};

/**
 * An event and where it goes: to a run, to a stream, or to `nq:global`. Older forms are accepted as
 * well.
 */
export type EmittedEvent = {
    attempt?: number | null;
    causationId?: string | null;
    correlationId?: string | null;
    data?: unknown;
    /**
     * The same key again, for the same stream, stores nothing and answers with the first event.
     */
    idempotencyKey?: string | null;
    runId?: string | null;
    stepName?: string | null;
    /**
     * A full name, such as `nq:webhook:github`.
     */
    stream?: string | null;
    /**
     * The tenant of the event. Only awaits and triggers of this tenant, or of none, receive it. An
     * event of a run has the tenant of the run; another one is rejected.
     */
    tenantId?: string | null;
    type: string;
};

/**
 * One fact of a stream.
 */
export type Event = {
    attempt?: number | null;
    causationId?: string | null;
    correlationId?: string | null;
    data?: unknown;
    flowName: string;
    /**
     * `<milliseconds>-<n>`: grows along the stream, and is the cursor of every reader.
     */
    id: string;
    runId: string;
    stepId?: string | null;
    stepName?: string | null;
    tenantId?: string | null;
    /**
     * ISO 8601.
     */
    ts: string;
    type: string;
};

export type EventList = {
    items: Array<Event>;
    /**
     * The `cursor` of the next page; absent on the last page.
     */
    nextCursor?: string | null;
};

/**
 * Events of many streams.
 */
export type EventsOfKind = {
    /**
     * The `from` of a later request.
     */
    cursor: string;
    /**
     * Each also has `stream`, the full name of the stream that it is from, and `cursor`.
     */
    items: Array<Event>;
    /**
     * The `cursor` of the next page; absent if there are no more events yet.
     */
    nextCursor?: string | null;
};

export type ExecuteBody = {
    /**
     * The id of the call. Default: a new one.
     */
    callId?: string | null;
    /**
     * Whether it is cancelled when the caller disconnects. Default true.
     */
    cancelOnDisconnect?: boolean | null;
    correlationId?: string | null;
    /**
     * The input of the handler. Default null.
     */
    input?: unknown;
    /**
     * Whether its frames are recorded in the stream of the call. Default true.
     */
    persistFrames?: boolean | null;
    /**
     * The process's id.
     */
    process: string;
    /**
     * How long it may take, in milliseconds. Default: the timeout of the process.
     */
    timeoutMs?: number | null;
};

/**
 * The result of a call.
 */
export type Executed = {
    callId: string;
    value: unknown;
};

/**
 * A run in the format of FlowMonkey. Times are milliseconds since 1970.
 */
export type Execution = {
    cancellation?: ExecutionCancellation | null;
    context: unknown;
    createdAt: number;
    /**
     * The active step, or the last one.
     */
    currentStepId?: string | null;
    error?: ExecutionError | null;
    flowId: string;
    flowVersion: string;
    /**
     * The ended attempts, with `?history=true`.
     */
    history?: Array<ExecutionHistory> | null;
    id: string;
    idempotencyKey?: string | null;
    metadata?: unknown;
    parentExecutionId?: string | null;
    /**
     * `pending`, `running`, `waiting`, `completed`, `failed` or `cancelled`. A paused run waits,
     * with the reason `paused`.
     */
    status: string;
    stepCount: number;
    tenantId?: string | null;
    updatedAt: number;
    waitReason?: string | null;
    wakeAt?: number | null;
};

export type ExecutionCancellation = {
    cancelledAt: number;
    reason?: string | null;
    /**
     * `user`, `timeout`, `system` or `parent`.
     */
    source: string;
};

export type ExecutionError = {
    code: string;
    details?: unknown;
    message: string;
    stepId?: string | null;
    timestamp: number;
};

/**
 * An attempt of a step that has ended.
 */
export type ExecutionHistory = {
    completedAt: number;
    durationMs: number;
    error?: ExecutionError | null;
    handlerType?: string | null;
    /**
     * `success`, `failure`, `wait` or `cancelled`.
     */
    outcome: string;
    startedAt: number;
    stepId: string;
};

export type ExecutionList = {
    items: Array<Execution>;
    nextCursor?: string | null;
};

/**
 * The child processes that evaluate expressions, counted since the server started.
 */
export type Expressions = {
    /**
     * Processes that ended by themselves.
     */
    crashed: number;
    /**
     * Processes that were killed because an expression exceeded its time.
     */
    killed: number;
    /**
     * Running processes.
     */
    processes: number;
    /**
     * Started processes.
     */
    started: number;
    /**
     * Evaluations that were rejected because no process was free in time.
     */
    unavailable: number;
};

/**
 * Every failure has this shape.
 */
export type Failure = {
    error: FailureBody;
};

export type FailureBody = {
    /**
     * Stable: what programs should look at.
     */
    code: string;
    /**
     * What belongs to the code: issues, a field, a limit.
     */
    details?: unknown;
    /**
     * A page about the code.
     */
    docs?: string | null;
    /**
     * For people; may change.
     */
    message: string;
};

export type FireBody = {
    idempotencyKey?: string | null;
    input?: unknown;
    /**
     * The source that is stored in the metadata of the run. Default `manual`.
     */
    source?: string | null;
};

/**
 * What a step waits for.
 */
export type FlowAwait = {
    /**
     * What must hold of the event.
     */
    condition?: string | null;
    /**
     * How long, as the definition says it.
     */
    delay?: unknown;
    eventKind?: string | null;
    /**
     * How long it may take, in milliseconds.
     */
    timeout?: number | null;
    /**
     * `webhook`, `user` or `api`.
     */
    triggerType?: string | null;
    /**
     * `time`, `event` or `trigger`.
     */
    type: string;
    /**
     * Until when, as the definition says it.
     */
    until?: unknown;
};

/**
 * What undoes a step.
 */
export type FlowCompensation = {
    /**
     * Kinds of events that call for it; the run's failure always does.
     */
    on?: Array<string> | null;
    step: string;
};

/**
 * A registered version.
 */
export type FlowDetail = {
    /**
     * ISO 8601.
     */
    createdAt: string;
    /**
     * The registered definition; `/api/schemas/flow` is its schema.
     */
    definition: unknown;
    id: string;
    version: string;
};

/**
 * What leads where in a flow.
 */
export type FlowDiagram = {
    edges: Array<FlowEdge>;
    /**
     * How many edges there are beside those that are listed, which are 20,000 at most.
     */
    edgesLeftOut?: number | null;
    /**
     * `id@version`.
     */
    flow: string;
    name?: string | null;
    nodes: Array<FlowNode>;
    /**
     * What has to come from outside: events that no step says it emits, and callbacks.
     */
    outside?: Array<FlowOutside> | null;
};

export type FlowEdge = {
    /**
     * What must hold, in full.
     */
    condition?: string | null;
    from: string;
    /**
     * When the run goes there, in a few words.
     */
    label: string;
    /**
     * Of a wait: how long it may take, in milliseconds.
     */
    timeout?: number | null;
    to: string;
    /**
     * `then`, `emit` (an event that enters the step there), `await` (when the wait is over; from
     * a step to itself, the wait), `timeout`, `choice`, `inside` (before the step ends),
     * `failure` or `compensation`.
     */
    type: string;
};

export type FlowList = {
    items: Array<FlowSummary>;
};

export type FlowNode = {
    await?: FlowAwait | null;
    compensation?: FlowCompensation | null;
    /**
     * The kinds of events that its handler emits.
     */
    emits?: Array<string> | null;
    /**
     * The type of its handler.
     */
    handler: string;
    /**
     * The step's name in the definition.
     */
    id: string;
    /**
     * Whether runs begin here.
     */
    initial?: boolean | null;
    /**
     * `all` where one event of each kind enters it together.
     */
    join?: string | null;
    name?: string | null;
    /**
     * The kinds of events that enter it.
     */
    subscriptions?: Array<FlowSubscription> | null;
    /**
     * `step`, or `await-step` where it waits.
     */
    type: string;
};

/**
 * What comes from outside the flow.
 */
export type FlowOutside = {
    condition?: string | null;
    /**
     * The kind of the event, or who resumes the callback: `webhook`, `user` or `api`.
     */
    label: string;
    to: string;
    /**
     * `enters` (an event that enters the step), `resumes` (one that it waits for) or `opens` (a
     * callback that it waits for).
     */
    type: string;
};

export type FlowSubscription = {
    eventKind: string;
    when?: string | null;
};

/**
 * A flow in a list.
 */
export type FlowSummary = {
    /**
     * ISO 8601.
     */
    createdAt: string;
    description?: string | null;
    id: string;
    name?: string | null;
    /**
     * The number of its steps.
     */
    steps: number;
    tags?: Array<string> | null;
    version: string;
};

export type ForkBody = {
    /**
     * The id of the last event that both runs share. Default: the latest event.
     */
    at?: string | null;
};

/**
 * A step type.
 */
export type HandlerInfo = {
    about: string;
    /**
     * `none`: its output depends on its input alone. `some`: it has side effects.
     */
    effects: string;
    /**
     * JSON Schema of a step's `config`.
     */
    schema?: unknown;
    /**
     * The `type` of the step.
     */
    type: string;
};

export type HandlerList = {
    items: Array<HandlerInfo>;
};

export type Health = {
    /**
     * `ok`.
     */
    status: string;
};

/**
 * An attempt that has ended.
 */
export type HistoryEntry = {
    attempt: number;
    completedAt: string;
    durationMs: number;
    error?: unknown;
    handlerType?: string | null;
    /**
     * `success`, `failure`, `wait` or `cancelled`.
     */
    outcome: string;
    /**
     * Failed tries of operations of its code that were retried, the latest 20:
     * `{op, name, nth?, attempt, at, nextRetryAt, error}`.
     */
    retries?: Array<unknown> | null;
    startedAt: string;
    stepId: string;
    visit: number;
};

export type HistoryList = {
    items: Array<HistoryEntry>;
    /**
     * The `cursor` of the next page; absent on the last page.
     */
    nextCursor?: string | null;
};

/**
 * An issue of a definition.
 */
export type Issue = {
    message: string;
    /**
     * A dot path into the definition.
     */
    path: string;
    rule: string;
    /**
     * `error` or `warning`.
     */
    severity: string;
};

/**
 * The work of a run: the run's own, whose id is the run's, and in the list of one run also one for
 * each visit of a step that a process runs.
 */
export type Job = {
    /**
     * Of a visit: attempts so far, including the first.
     */
    attempt?: number | null;
    createdAt: string;
    /**
     * When it continues by itself.
     */
    dueAt?: string | null;
    endedAt?: string | null;
    flow: string;
    id: string;
    /**
     * Of a visit: the process that runs it.
     */
    process?: string | null;
    runId: string;
    /**
     * Whether it was due longer than a lease ago and has not started.
     */
    stalled: boolean;
    /**
     * The status of its run, or of the visit: one that waits for its next attempt is `waiting`.
     */
    status: string;
    /**
     * Of a visit: its step.
     */
    stepId?: string | null;
    tenantId?: string | null;
    updatedAt: string;
    version: string;
    /**
     * Of a visit: the n-th time that the run entered the step.
     */
    visit?: number | null;
};

export type JobList = {
    items: Array<Job>;
    nextCursor?: string | null;
};

/**
 * A key and how long it is used.
 */
export type KeyWindow = {
    key: string;
    windowMs?: number | null;
};

/**
 * An event from a client. Older forms are accepted as well.
 */
export type NewEvent = {
    attempt?: number | null;
    causationId?: string | null;
    correlationId?: string | null;
    data?: unknown;
    stepName?: string | null;
    /**
     * The tenant of the event. Only awaits and triggers of this tenant, or of none, receive it. An
     * event of a run has the tenant of the run; another one is rejected.
     */
    tenantId?: string | null;
    type: string;
};

/**
 * An event, or a list of events.
 */
export type NewEvents = NewEvent | Array<NewEvent>;

/**
 * The definition of a trigger.
 */
export type NewTrigger = {
    /**
     * The settings of its type; see the documentation of triggers.
     */
    config?: {
        [key: string]: unknown;
    };
    /**
     * The place of the payload in the input: a dot path.
     */
    contextKey?: string | null;
    description?: string | null;
    /**
     * Default true.
     */
    enabled?: boolean | null;
    /**
     * The flow that it starts, or `id@version`.
     */
    flow: string;
    /**
     * Default: the newest.
     */
    flowVersion?: string | null;
    id: string;
    /**
     * An expression that computes the idempotency key of the run.
     */
    idempotencyKey?: string | null;
    /**
     * The default input of its runs.
     */
    input?: unknown;
    /**
     * An expression that computes the input from the request or event.
     */
    inputMap?: string | null;
    metadata?: {
        [key: string]: unknown;
    } | null;
    tags?: Array<string>;
    tenantId?: string | null;
    /**
     * `http`, `schedule`, `event` or `manual`.
     */
    type: 'http' | 'schedule' | 'event' | 'manual';
};

/**
 * The answer to a request that resumed a callback.
 */
export type Opened = {
    runId: string;
    success: boolean;
    triggerId: string;
};

export type ProcessList = {
    items: Array<ShownProcess>;
};

/**
 * A queue with its counts, rates and latencies.
 */
export type Queue = {
    /**
     * By status.
     */
    counts: unknown;
    name: string;
    /**
     * How long the oldest waiting job has waited.
     */
    oldestMs?: number | null;
    paused: boolean;
    /**
     * The process that takes its jobs on this server.
     */
    process?: string | null;
    /**
     * Rates and latencies since this server started.
     */
    stats: unknown;
};

/**
 * A job of a queue.
 */
export type QueueJob = {
    /**
     * Started attempts.
     */
    attempt: number;
    checkpoint?: unknown;
    createdAt: string;
    data: unknown;
    endedAt?: string | null;
    error?: unknown;
    id: string;
    key?: string | null;
    name: string;
    /**
     * Of a parked job, since when it is. ISO 8601.
     */
    parkedAt?: string | null;
    priority: number;
    progress?: unknown;
    queue: string;
    result?: unknown;
    runAt?: string | null;
    startedAt?: string | null;
    /**
     * `waiting`, `delayed`, `active`, `parked`, `completed`, `failed` or `cancelled`.
     */
    state: string;
};

export type QueueJobList = {
    items: Array<QueueJob>;
    nextCursor?: string | null;
};

export type QueueList = {
    items: Array<Queue>;
};

export type Ready = {
    expressions: Expressions;
    /**
     * `ok`.
     */
    status: string;
};

/**
 * The reason of a request, which is stored.
 */
export type ReasonBody = {
    reason?: string | null;
};

export type RedriveBody = {
    filter?: DeadLetterFilter | null;
    /**
     * The most jobs to queue, the newest first. Default: all.
     */
    limit?: number | null;
    /**
     * The most jobs to start per second.
     */
    perSecond?: number | null;
};

export type Redriven = {
    /**
     * Whether more jobs follow in the background.
     */
    goesOn: boolean;
    redriven: number;
};

/**
 * The result of a registration.
 */
export type RegisteredFlow = {
    /**
     * False if the same definition was registered before.
     */
    created: boolean;
    id: string;
    /**
     * Warnings.
     */
    issues: Array<Issue>;
    version: string;
};

export type Removed = {
    removed: number;
};

export type RemovedTrigger = {
    id: string;
    removed: boolean;
};

export type RerunBody = {
    /**
     * Instead of the input of the first run.
     */
    input?: unknown;
    /**
     * Use the newest version of the flow instead of the version of the run.
     */
    latest?: boolean;
};

/**
 * A run with its state.
 */
export type Run = {
    /**
     * Its correlation id, if it is not its own id.
     */
    correlationId?: string | null;
    /**
     * ISO 8601, like all times.
     */
    createdAt: string;
    durationMs?: number | null;
    endedAt?: string | null;
    error?: unknown;
    /**
     * The number of events of its stream.
     */
    events: number;
    flow: string;
    /**
     * The run it was forked or rerun from: `{runId, eventId}`.
     */
    forkedFrom?: unknown;
    idempotencyKey?: string | null;
    /**
     * `flow`.
     */
    kind: string;
    metadata?: unknown;
    /**
     * The run and the step that started it: `{runId, step, visit}`.
     */
    parent?: unknown;
    runId: string;
    /**
     * `pending`, `running`, `waiting`, `paused`, `completed`, `failed` or `cancelled`.
     */
    status: string;
    tags?: Array<string> | null;
    tenantId?: string | null;
    updatedAt: string;
    version: string;
    /**
     * When it continues by itself.
     */
    wakeAt?: string | null;
} & {
    /**
     * `{source, reason?}`.
     */
    cancellation?: unknown;
    input: unknown;
    /**
     * Once it has ended.
     */
    result?: unknown;
    state: unknown;
    /**
     * Visits begun so far.
     */
    stepCount: number;
    /**
     * The latest visit of each step: `{status, visits, attempt, startedAt?, completedAt?, error?}`.
     */
    steps: unknown;
};

/**
 * What a visit waits for, or a callback that a step has created: `event` or `trigger`.
 */
export type RunAwait = {
    /**
     * Of a callback: it is closed; later requests get an error that says so.
     */
    closed?: boolean | null;
    /**
     * ISO 8601.
     */
    createdAt: string;
    /**
     * `{kind, match?: [[path, value]], filter?, lookbackMs?}`
     */
    event?: {
        [key: string]: unknown;
    } | null;
    expiresAt?: string | null;
    /**
     * When it was fired last.
     */
    firedAt?: string | null;
    /**
     * The id of a callback is all that a request needs to resume it.
     */
    id: string;
    /**
     * Of a callback: it may be resumed repeatedly.
     */
    many?: boolean | null;
    /**
     * Of a callback: it accepts only signed requests.
     */
    signed?: boolean | null;
    step: string;
    /**
     * `{type, payload?, secret?, secretEnv?, count?}`
     */
    trigger?: {
        [key: string]: unknown;
    } | null;
    /**
     * What it was fired with.
     */
    values?: Array<unknown> | null;
    visit: number;
};

export type RunAwaits = {
    items: Array<RunAwait>;
};

export type RunList = {
    items: Array<RunSummary>;
    /**
     * The `cursor` of the next page; absent on the last page.
     */
    nextCursor?: string | null;
};

/**
 * A run in a list.
 */
export type RunSummary = {
    /**
     * Its correlation id, if it is not its own id.
     */
    correlationId?: string | null;
    /**
     * ISO 8601, like all times.
     */
    createdAt: string;
    durationMs?: number | null;
    endedAt?: string | null;
    error?: unknown;
    /**
     * The number of events of its stream.
     */
    events: number;
    flow: string;
    /**
     * The run it was forked or rerun from: `{runId, eventId}`.
     */
    forkedFrom?: unknown;
    idempotencyKey?: string | null;
    /**
     * `flow`.
     */
    kind: string;
    metadata?: unknown;
    /**
     * The run and the step that started it: `{runId, step, visit}`.
     */
    parent?: unknown;
    runId: string;
    /**
     * `pending`, `running`, `waiting`, `paused`, `completed`, `failed` or `cancelled`.
     */
    status: string;
    tags?: Array<string> | null;
    tenantId?: string | null;
    updatedAt: string;
    version: string;
    /**
     * When it continues by itself.
     */
    wakeAt?: string | null;
};

export type ShownProcess = {
    config?: unknown;
    /**
     * Why its file does not load, with a code and a message.
     */
    error?: unknown;
    file?: string | null;
    id: string;
    language?: string | null;
    queue?: string | null;
    /**
     * `queue`, `flow` or `call`; not known of one that never loaded.
     */
    runMode?: string | null;
};

/**
 * A remote worker.
 */
export type ShownWorker = {
    /**
     * Why a flow of its processes was not registered: `{code, message}`.
     */
    faults?: Array<{
        [key: string]: unknown;
    }> | null;
    /**
     * The flows made of its processes, as `<id>@<version>`.
     */
    flows?: Array<string> | null;
    /**
     * Distinguishes workers of the same name.
     */
    id: number;
    name: string;
    /**
     * The ids of its processes.
     */
    processes: Array<string>;
    running: number;
    /**
     * The language and version of its SDK.
     */
    sdk: string;
    /**
     * Processes among them that the server has too; the server runs these itself.
     */
    shadowed?: Array<string> | null;
    /**
     * When it connected last.
     */
    since: string;
    /**
     * `connected`, `draining` or `away`.
     */
    state: string;
    tags: Array<string>;
    /**
     * The most concurrent invocations.
     */
    window: number;
};

/**
 * How to start a run. Everything may be absent, and so may the body.
 */
export type StartBody = {
    /**
     * Its cause: the id of a run, a job or an event.
     */
    causationId?: string | null;
    /**
     * Default: the id of the run.
     */
    correlationId?: string | null;
    /**
     * Start the first step after this delay.
     */
    delayMs?: number | null;
    /**
     * A second request with the same key for the same flow and tenant returns the first run. The
     * header `Idempotency-Key` does the same.
     */
    idempotencyKey?: string | null;
    /**
     * The input, which is the initial state of the run. Default: an empty object.
     */
    input?: unknown;
    /**
     * Stored with the run.
     */
    metadata?: unknown;
    /**
     * Default: a new id.
     */
    runId?: string | null;
    tags?: Array<string>;
    tenantId?: string | null;
    /**
     * Default: the newest version.
     */
    version?: string | null;
};

/**
 * A run that was started, now or by an earlier request with the same key.
 */
export type StartedRun = {
    created: boolean;
    runId: string;
    /**
     * Its status when it was stored.
     */
    status: string;
};

/**
 * The state at a point in time.
 */
export type StateAt = {
    /**
     * The time of the last included event; absent before the first.
     */
    at?: string | null;
    /**
     * The number of included events.
     */
    events: number;
    runId: string;
    state: unknown;
    status: string;
};

/**
 * A stream that is no run's, as lists show it.
 */
export type StreamSummary = {
    createdAt: string;
    /**
     * How many events it has.
     */
    events: number;
    id: string;
    /**
     * The full name, as `/api/events/{stream}` takes it.
     */
    stream: string;
    type: string;
    updatedAt: string;
};

/**
 * A stream that is no run's: what it begins and ends with.
 */
export type StreamView = {
    /**
     * How many events it has.
     */
    events: number;
    first: Event;
    id: string;
    /**
     * A page of its events.
     */
    items: Array<Event>;
    last: Event;
    nextCursor?: string | null;
    /**
     * Of a trigger: what its events reduce to, with `status` `registered`, `fired`, `timeout` or
     * `cancelled`.
     */
    state?: unknown;
    /**
     * The full name.
     */
    stream: string;
    type: string;
};

export type Throttle = {
    key?: string | null;
    windowMs: number;
};

export type Trigger = {
    /**
     * `{code, message}`: why it cannot be used. It starts no runs until it is corrected.
     */
    broken?: unknown;
    config: unknown;
    contextKey?: string | null;
    createdAt: string;
    description?: string | null;
    enabled: boolean;
    flow: string;
    flowVersion?: string | null;
    id: string;
    idempotencyKey?: string | null;
    input?: unknown;
    inputMap?: string | null;
    metadata?: unknown;
    nextDueAt?: string | null;
    /**
     * `api`, or `project` if it comes from a file.
     */
    origin: string;
    /**
     * The URL that fires it.
     */
    path?: string | null;
    stats: TriggerStats;
    tags?: Array<string> | null;
    tenantId?: string | null;
    type: string;
    /**
     * The next due times.
     */
    upcoming?: Array<string> | null;
    updatedAt: string;
    /**
     * Grows with each change.
     */
    version: number;
};

export type TriggerList = {
    items: Array<Trigger>;
    /**
     * The `cursor` of the next page; absent on the last page.
     */
    nextCursor?: string | null;
};

export type TriggerStats = {
    failed: number;
    fired: number;
    lastError?: unknown;
    lastFailedAt?: string | null;
    lastFiredAt?: string | null;
    lastRunId?: string | null;
    /**
     * Due times that passed without a run.
     */
    missed: number;
    nextDueAt?: string | null;
};

/**
 * Emitted events without a receiver.
 */
export type Unheard = {
    /**
     * Of all types, since the store was created.
     */
    total: number;
    types: Array<UnheardKind>;
};

/**
 * How many events of a type had no receiver.
 */
export type UnheardKind = {
    count: number;
    lastAt: string;
    type: string;
};

export type Validation = {
    issues: Array<Issue>;
    valid: boolean;
};

export type Version = {
    name: string;
    /**
     * Facts about the store, for people.
     */
    store: unknown;
    version: string;
};

/**
 * Why a run, or a job, is where it is.
 */
export type Why = {
    /**
     * The run has failed and undoes what it did.
     */
    compensating?: boolean | null;
    /**
     * When the run fails with TIMEOUT unless it has ended. ISO 8601.
     */
    deadlineAt?: string | null;
    /**
     * The code of the failure with which the run ends once what is active has ended.
     */
    failing?: string | null;
    /**
     * The id of a run's flow.
     */
    flow?: string | null;
    /**
     * `flow`, `job` or `call`.
     */
    kind: string;
    /**
     * Active visits that were not looked at, because there are so many.
     */
    more?: number | null;
    /**
     * Whether something is under way or about to begin.
     */
    moving: boolean;
    /**
     * One for each active visit, the most telling first; those of the whole run before them.
     */
    reasons: Array<WhyReason>;
    runId: string;
    /**
     * The run's status, the job's state, or whether the call runs or how it has ended.
     */
    status: string;
    /**
     * The first reason in a line, and how many others there are.
     */
    summary: string;
};

/**
 * The job that a reason is about.
 */
export type WhyJob = {
    /**
     * Of a waiting one: how many of the same key, or without one, begin before it. Counted up to
     * 1,000.
     */
    ahead?: number | null;
    /**
     * Somebody wants it stopped.
     */
    cancelling?: boolean | null;
    id: string;
    leaseUntil?: string | null;
    /**
     * Of an active one: who runs it, and how long that is believed (ISO 8601).
     */
    owner?: string | null;
    queue: string;
    /**
     * Of one that has its time: its queue is paused too, so that is not when it begins.
     */
    queuePaused?: boolean | null;
    state: string;
    /**
     * The remote worker that has it: `{id, name}`.
     */
    worker?: unknown;
};

/**
 * Which members there are depends on the kind.
 */
export type WhyReason = {
    /**
     * Of `concurrency`: those that run. Of `branches`: those that are active, as
     * `{index, step, visit, status}`.
     */
    active?: unknown;
    attempt?: number | null;
    awaitId?: string | null;
    /**
     * The server drives as many runs as it may.
     */
    busy?: boolean | null;
    /**
     * Why that run is where it is: a `Why`, at most five deep.
     */
    child?: unknown;
    childFlow?: string | null;
    /**
     * The run that is waited for.
     */
    childId?: string | null;
    /**
     * Of what is parked: why, and the command that releases it.
     */
    code?: string | null;
    /**
     * What the event must be like: `{match?, where?}`.
     */
    condition?: unknown;
    /**
     * Jobs that make a batch, and how many wait.
     */
    count?: number | null;
    details?: unknown;
    ended?: number | null;
    /**
     * Of the last attempt, or why the process does not load.
     */
    error?: unknown;
    eventKind?: string | null;
    failed?: number | null;
    /**
     * When the awaited event or request arrived; the run is about to continue. ISO 8601.
     */
    firedAt?: string | null;
    /**
     * The run is paused, and it begins when that is over.
     */
    held?: boolean | null;
    job?: WhyJob | null;
    /**
     * Events of the kind that its `where` has yet to judge, counted up to 100.
     */
    judging?: number | null;
    /**
     * Of `concurrency`: the key, if it is the limit of each key.
     */
    key?: string | null;
    /**
     * `ended`, `paused`, `parked`, `not-before`, `await-time`, `await-event`, `await-trigger`, `backoff`,
     * `queue-paused`, `no-worker`, `process-broken`, `no-room`, `concurrency`, `rate-limit`,
     * `gathering`, `delayed`, `queued`, `lease-expired`, `worker-away`, `running`, `child`,
     * `branches` or `ready`.
     */
    kind: string;
    /**
     * Jobs of the queue, or of the key, that may run at once.
     */
    limit?: number | null;
    /**
     * Jobs of the queue that may begin within a window.
     */
    max?: number | null;
    message?: string | null;
    /**
     * How often a callback was resumed that waits for more, and how often it is to be, if that was
     * said.
     */
    opened?: number | null;
    /**
     * Of `backoff`: the operation of the step's code whose try failed, `{op, name, nth?, try}`.
     */
    operation?: unknown;
    /**
     * The process that is unknown to this server, or that does not load.
     */
    process?: string | null;
    /**
     * Of a pause, or of a time that is waited for.
     */
    reason?: string | null;
    release?: string | null;
    /**
     * ISO 8601.
     */
    since?: string | null;
    /**
     * Of the visit.
     */
    status?: string | null;
    /**
     * The visit that it is about; reasons of the whole run have none.
     */
    step?: string | null;
    /**
     * In a line.
     */
    summary: string;
    /**
     * Branches in all, ended, and failed of those.
     */
    total?: number | null;
    /**
     * `webhook`, `user` or `api`.
     */
    triggerType?: string | null;
    /**
     * Why its `where` could not be judged: `{at, code, message}`. Such events are passed over.
     */
    trouble?: unknown;
    /**
     * The finished visit that this one undoes.
     */
    undoes?: string | null;
    /**
     * When the reason ends by itself, if that is known. ISO 8601.
     */
    until?: string | null;
    /**
     * Where the trigger is fired.
     */
    url?: string | null;
    visit?: number | null;
    waiting?: number | null;
    wanted?: number | null;
    windowMs?: number | null;
};

export type WorkerList = {
    items: Array<ShownWorker>;
};

/**
 * Streams, newest first: those of flows as their runs.
 */
export type StreamList = {
    items: Array<StreamSummary | RunSummary>;
    nextCursor?: string;
};

export type GetAwaitStatsData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/api/awaits';
};

export type GetAwaitStatsErrors = {
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type GetAwaitStatsError = GetAwaitStatsErrors[keyof GetAwaitStatsErrors];

export type GetAwaitStatsResponses = {
    /**
     * The counts, and the counts of each event type
     */
    200: AwaitStats;
};

export type GetAwaitStatsResponse = GetAwaitStatsResponses[keyof GetAwaitStatsResponses];

export type EventsOfKindData = {
    body?: never;
    path?: never;
    query: {
        /**
         * Event types, separated by commas: `order.paid`, or a family: `order` includes every
         * `order.*`.
         */
        type: string;
        /**
         * Start after this cursor, or at `start` or `end`. Default: `start` for a page, `end` for a live
         * stream. The header `Last-Event-ID` takes precedence.
         */
        from?: string;
        /**
         * `nextCursor` of the previous page.
         */
        cursor?: string;
        /**
         * Rows a page, 1 to 1,000. Default 50.
         */
        limit?: number;
    };
    url: '/api/events';
};

export type EventsOfKindErrors = {
    /**
     * BAD_KIND or BAD_CURSOR
     */
    400: Failure;
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type EventsOfKindError = EventsOfKindErrors[keyof EventsOfKindErrors];

export type EventsOfKindResponses = {
    /**
     * A page of events, or the events as they happen
     */
    200: EventsOfKind;
};

export type EventsOfKindResponse = EventsOfKindResponses[keyof EventsOfKindResponses];

export type EmitEventData = {
    body: EmittedEvent;
    headers?: {
        /**
         * The same as idempotencyKey in the body
         */
        'idempotency-key'?: string;
    };
    path?: never;
    query?: never;
    url: '/api/events';
};

export type EmitEventErrors = {
    /**
     * RESERVED_TYPE
     */
    403: Failure;
    /**
     * RUN_NOT_FOUND
     */
    404: Failure;
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type EmitEventError = EmitEventErrors[keyof EmitEventErrors];

export type EmitEventResponses = {
    /**
     * The event that was stored before under this key
     */
    200: Appended;
    /**
     * Stored
     */
    201: Appended;
};

export type EmitEventResponse = EmitEventResponses[keyof EmitEventResponses];

export type GetUnheardData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/api/events/unheard';
};

export type GetUnheardErrors = {
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type GetUnheardError = GetUnheardErrors[keyof GetUnheardErrors];

export type GetUnheardResponses = {
    /**
     * How many there were of each type, the latest first
     */
    200: Unheard;
};

export type GetUnheardResponse = GetUnheardResponses[keyof GetUnheardResponses];

export type StreamEventsData = {
    body?: never;
    path: {
        /**
         * The full name, such as `nq:flow:<runId>` or `nq:global`
         */
        stream: string;
    };
    query?: {
        /**
         * Rows a page, 1 to 1,000. Default 50.
         */
        limit?: number;
        /**
         * Continue after this event: `nextCursor` of the previous page.
         */
        cursor?: string;
        /**
         * The same as `cursor`.
         */
        from?: string;
        /**
         * `asc` (oldest first, the default) or `desc`.
         */
        order?: 'asc' | 'desc';
        /**
         * Event types, separated by commas; `log` includes every `log.*`.
         */
        type?: string;
        /**
         * Only events of this step.
         */
        step?: string;
        /**
         * At or after: ISO 8601 or milliseconds.
         */
        since?: string;
        /**
         * Before: ISO 8601 or milliseconds.
         */
        until?: string;
    };
    url: '/api/events/{stream}';
};

export type StreamEventsErrors = {
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type StreamEventsError = StreamEventsErrors[keyof StreamEventsErrors];

export type StreamEventsResponses = {
    /**
     * A page of events
     */
    200: EventList;
};

export type StreamEventsResponse = StreamEventsResponses[keyof StreamEventsResponses];

export type FollowNamedData = {
    body?: never;
    path: {
        /**
         * The full name, such as `nq:flow:<runId>` or `nq:global`
         */
        stream: string;
    };
    query?: {
        /**
         * Start after this event. `end` sends only new events. Default: all events. The header
         * `Last-Event-ID` takes precedence.
         */
        from?: string;
        /**
         * The same as `from`.
         */
        lastEventId?: string;
        /**
         * Event types, separated by commas; `log` includes every `log.*`.
         */
        type?: string;
        /**
         * `until-end` closes the stream after the event that ends the run or the job. Default: `forever`.
         */
        follow?: 'until-end' | 'forever';
    };
    url: '/api/events/{stream}/tail';
};

export type FollowNamedErrors = {
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type FollowNamedError = FollowNamedErrors[keyof FollowNamedErrors];

export type FollowNamedResponses = {
    /**
     * The events as they happen
     */
    200: Event;
};

export type FollowNamedResponse = FollowNamedResponses[keyof FollowNamedResponses];

export type ListStreamsData = {
    body?: never;
    path: {
        /**
         * `flow`, `trigger`, `webhook` …
         */
        type: string;
    };
    query?: {
        /**
         * For `flow`: the id of a flow.
         */
        name?: string;
        /**
         * Rows a page, 1 to 1,000. Default 50.
         */
        limit?: number;
        /**
         * `nextCursor` of the previous page.
         */
        cursor?: string;
    };
    url: '/api/events/{type}/list';
};

export type ListStreamsErrors = {
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type ListStreamsError = ListStreamsErrors[keyof ListStreamsErrors];

export type ListStreamsResponses = {
    /**
     * A page of streams, newest first
     */
    200: StreamList;
};

export type ListStreamsResponse = ListStreamsResponses[keyof ListStreamsResponses];

export type GetStreamData = {
    body?: never;
    path: {
        /**
         * `flow`, `trigger`, `webhook` …
         */
        type: string;
        /**
         * The stream's id; a run's for `flow`, a job's for `job`
         */
        id: string;
    };
    query?: {
        /**
         * Events a page, 1 to 1,000. Default 50.
         */
        limit?: number;
        /**
         * Continue after this event: `nextCursor` of the previous page.
         */
        cursor?: string;
    };
    url: '/api/events/{type}/{id}';
};

export type GetStreamErrors = {
    /**
     * RUN_NOT_FOUND, JOB_NOT_FOUND or STREAM_NOT_FOUND
     */
    404: Failure;
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type GetStreamError = GetStreamErrors[keyof GetStreamErrors];

export type GetStreamResponses = {
    /**
     * The run, or the stream
     */
    200: StreamView | Run;
};

export type GetStreamResponse = GetStreamResponses[keyof GetStreamResponses];

export type AppendEventsData = {
    /**
     * An event, or a list of events
     */
    body: NewEvents;
    headers?: {
        /**
         * A second request with the same key for the same stream stores nothing and returns the first events
         */
        'idempotency-key'?: string;
    };
    path: {
        /**
         * `flow`, `trigger`, `webhook` …
         */
        type: string;
        /**
         * The stream's id; a run's for `flow`
         */
        id: string;
    };
    query?: never;
    url: '/api/events/{type}/{id}';
};

export type AppendEventsErrors = {
    /**
     * RESERVED_TYPE
     */
    403: Failure;
    /**
     * RUN_NOT_FOUND
     */
    404: Failure;
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type AppendEventsError = AppendEventsErrors[keyof AppendEventsErrors];

export type AppendEventsResponses = {
    /**
     * The events that were stored before under this key
     */
    200: Appended;
    /**
     * Stored
     */
    201: Appended;
};

export type AppendEventsResponse = AppendEventsResponses[keyof AppendEventsResponses];

export type FollowStreamData = {
    body?: never;
    path: {
        /**
         * `flow`, `job`, `queue`, `trigger`, `webhook` …
         */
        type: string;
        /**
         * The stream's id: a run's for `flow`, a job's for `job`, a queue's name for `queue`
         */
        id: string;
    };
    query?: {
        /**
         * Start after this event. `end` sends only new events. Default: all events. The header
         * `Last-Event-ID` takes precedence.
         */
        from?: string;
        /**
         * The same as `from`.
         */
        lastEventId?: string;
        /**
         * Event types, separated by commas; `log` includes every `log.*`.
         */
        type?: string;
        /**
         * `until-end` closes the stream after the event that ends the run or the job. Default: `forever`.
         */
        follow?: 'until-end' | 'forever';
    };
    url: '/api/events/{type}/{id}/stream';
};

export type FollowStreamErrors = {
    /**
     * RUN_NOT_FOUND, JOB_NOT_FOUND or QUEUE_NOT_FOUND
     */
    404: Failure;
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type FollowStreamError = FollowStreamErrors[keyof FollowStreamErrors];

export type FollowStreamResponses = {
    /**
     * The events as they happen
     */
    200: Event;
};

export type FollowStreamResponse = FollowStreamResponses[keyof FollowStreamResponses];

export type ListExecutionsData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * Statuses, separated by commas.
         */
        status?: string;
        /**
         * The id of a flow.
         */
        flow?: string;
        /**
         * A version of the flow.
         */
        version?: string;
        /**
         * Only runs with this tag.
         */
        tag?: string;
        /**
         * Only runs with all of these tags, separated by commas; at most 20.
         */
        tags?: string;
        tenant?: string;
        /**
         * The id of the parent run.
         */
        parent?: string;
        /**
         * The start of the run id.
         */
        prefix?: string;
        /**
         * Created at or after: ISO 8601 or milliseconds.
         */
        since?: string;
        /**
         * Created before: ISO 8601 or milliseconds.
         */
        until?: string;
        /**
         * `desc` (newest first, the default) or `asc`.
         */
        order?: 'asc' | 'desc';
        /**
         * Rows a page, 1 to 1,000. Default 50.
         */
        limit?: number;
        /**
         * `nextCursor` of the previous page.
         */
        cursor?: string;
    };
    url: '/api/executions';
};

export type ListExecutionsErrors = {
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type ListExecutionsError = ListExecutionsErrors[keyof ListExecutionsErrors];

export type ListExecutionsResponses = {
    /**
     * A page of executions
     */
    200: ExecutionList;
};

export type ListExecutionsResponse = ListExecutionsResponses[keyof ListExecutionsResponses];

export type GetExecutionData = {
    body?: never;
    path: {
        /**
         * The run's id, or `latest`
         */
        id: string;
    };
    query?: {
        /**
         * Adds `history`: the first 1,000 ended attempts. `/api/runs/{id}/history` has all of them in pages.
         */
        history?: boolean;
    };
    url: '/api/executions/{id}';
};

export type GetExecutionErrors = {
    /**
     * RUN_NOT_FOUND
     */
    404: Failure;
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type GetExecutionError = GetExecutionErrors[keyof GetExecutionErrors];

export type GetExecutionResponses = {
    /**
     * The execution
     */
    200: Execution;
};

export type GetExecutionResponse = GetExecutionResponses[keyof GetExecutionResponses];

export type ExecutionEventsData = {
    body?: never;
    path: {
        /**
         * The run's id, or `latest`
         */
        id: string;
    };
    query?: {
        /**
         * Rows a page, 1 to 1,000. Default 50.
         */
        limit?: number;
        /**
         * Continue after this event: `nextCursor` of the previous page.
         */
        cursor?: string;
        /**
         * The same as `cursor`.
         */
        from?: string;
        /**
         * `asc` (oldest first, the default) or `desc`.
         */
        order?: 'asc' | 'desc';
        /**
         * Event types, separated by commas; `log` includes every `log.*`.
         */
        type?: string;
        /**
         * Only events of this step.
         */
        step?: string;
        /**
         * At or after: ISO 8601 or milliseconds.
         */
        since?: string;
        /**
         * Before: ISO 8601 or milliseconds.
         */
        until?: string;
    };
    url: '/api/executions/{id}/events';
};

export type ExecutionEventsErrors = {
    /**
     * RUN_NOT_FOUND
     */
    404: Failure;
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type ExecutionEventsError = ExecutionEventsErrors[keyof ExecutionEventsErrors];

export type ExecutionEventsResponses = {
    /**
     * A page of events
     */
    200: EventList;
};

export type ExecutionEventsResponse = ExecutionEventsResponses[keyof ExecutionEventsResponses];

export type ExecutionJobsData = {
    body?: never;
    path: {
        /**
         * The run's id, or `latest`
         */
        id: string;
    };
    query?: never;
    url: '/api/executions/{id}/jobs';
};

export type ExecutionJobsErrors = {
    /**
     * RUN_NOT_FOUND
     */
    404: Failure;
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type ExecutionJobsError = ExecutionJobsErrors[keyof ExecutionJobsErrors];

export type ExecutionJobsResponses = {
    /**
     * Its jobs
     */
    200: JobList;
};

export type ExecutionJobsResponse = ExecutionJobsResponses[keyof ExecutionJobsResponses];

export type ListFlowsData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/api/flows';
};

export type ListFlowsErrors = {
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type ListFlowsError = ListFlowsErrors[keyof ListFlowsErrors];

export type ListFlowsResponses = {
    /**
     * The flows, by id
     */
    200: FlowList;
};

export type ListFlowsResponse = ListFlowsResponses[keyof ListFlowsResponses];

export type RegisterFlowData = {
    /**
     * The definition, in JSON or YAML
     */
    body: unknown;
    path?: never;
    query?: never;
    url: '/api/flows';
};

export type RegisterFlowErrors = {
    /**
     * FLOW_EXISTS: another definition has this version
     */
    409: Failure;
    /**
     * FLOW_INVALID: details.issues lists every issue
     */
    422: Failure;
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type RegisterFlowError = RegisterFlowErrors[keyof RegisterFlowErrors];

export type RegisterFlowResponses = {
    /**
     * The same definition was registered before
     */
    200: RegisteredFlow;
    /**
     * Registered
     */
    201: RegisteredFlow;
};

export type RegisterFlowResponse = RegisterFlowResponses[keyof RegisterFlowResponses];

export type ResumeCallbackOfFlowData = {
    /**
     * Any JSON, or nothing
     */
    body?: unknown;
    path: {
        /**
         * The id of the callback, which cannot be guessed
         */
        id: string;
    };
    query?: never;
    url: '/api/flows/triggers/{id}';
};

export type ResumeCallbackOfFlowErrors = {
    /**
     * SIGNATURE_INVALID
     */
    401: Failure;
    /**
     * AWAIT_NOT_FOUND: no callback and no trigger has this id
     */
    404: Failure;
    /**
     * AWAIT_USED
     */
    409: Failure;
    /**
     * AWAIT_EXPIRED, or AWAIT_CLOSED: no step waits for it any more
     */
    410: Failure;
    /**
     * TOO_LARGE: a body may have 1 MiB
     */
    413: Failure;
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type ResumeCallbackOfFlowError = ResumeCallbackOfFlowErrors[keyof ResumeCallbackOfFlowErrors];

export type ResumeCallbackOfFlowResponses = {
    /**
     * Stored: the step resumes
     */
    200: Opened;
    /**
     * A trigger has this id: a run was started
     */
    201: StartedRun;
};

export type ResumeCallbackOfFlowResponse = ResumeCallbackOfFlowResponses[keyof ResumeCallbackOfFlowResponses];

export type ValidateFlowData = {
    /**
     * The definition, in JSON or YAML
     */
    body: unknown;
    path?: never;
    query?: never;
    url: '/api/flows/validate';
};

export type ValidateFlowErrors = {
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type ValidateFlowError = ValidateFlowErrors[keyof ValidateFlowErrors];

export type ValidateFlowResponses = {
    /**
     * Whether it is valid, and its issues
     */
    200: Validation;
};

export type ValidateFlowResponse = ValidateFlowResponses[keyof ValidateFlowResponses];

export type GetFlowData = {
    body?: never;
    path: {
        /**
         * The flow's id, or `id@version`
         */
        id: string;
    };
    query?: {
        /**
         * Default: the newest. The path may name it too: `id@version`.
         */
        version?: string;
    };
    url: '/api/flows/{id}';
};

export type GetFlowErrors = {
    /**
     * FLOW_NOT_FOUND
     */
    404: Failure;
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type GetFlowError = GetFlowErrors[keyof GetFlowErrors];

export type GetFlowResponses = {
    /**
     * The version
     */
    200: FlowDetail;
};

export type GetFlowResponse = GetFlowResponses[keyof GetFlowResponses];

export type FlowDiagramData = {
    body?: never;
    path: {
        /**
         * The flow's id, or `id@version`
         */
        id: string;
    };
    query?: {
        /**
         * Default: the newest.
         */
        version?: string;
        /**
         * `json` (the default), `mermaid` or `text`.
         */
        format?: 'json' | 'mermaid' | 'text';
    };
    url: '/api/flows/{id}/diagram';
};

export type FlowDiagramErrors = {
    /**
     * FLOW_NOT_FOUND
     */
    404: Failure;
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type FlowDiagramError = FlowDiagramErrors[keyof FlowDiagramErrors];

export type FlowDiagramResponses = {
    /**
     * Nodes and edges
     */
    200: FlowDiagram;
};

export type FlowDiagramResponse = FlowDiagramResponses[keyof FlowDiagramResponses];

export type FlowRunsData = {
    body?: never;
    path: {
        /**
         * The flow's id, or `id@version`
         */
        id: string;
    };
    query?: {
        /**
         * Statuses, separated by commas.
         */
        status?: string;
        /**
         * A version of the flow.
         */
        version?: string;
        /**
         * Only runs with this tag.
         */
        tag?: string;
        /**
         * Only runs with all of these tags, separated by commas; at most 20.
         */
        tags?: string;
        tenant?: string;
        /**
         * The id of the parent run.
         */
        parent?: string;
        /**
         * The start of the run id.
         */
        prefix?: string;
        /**
         * Created at or after: ISO 8601 or milliseconds.
         */
        since?: string;
        /**
         * Created before: ISO 8601 or milliseconds.
         */
        until?: string;
        /**
         * `desc` (newest first, the default) or `asc`.
         */
        order?: 'asc' | 'desc';
        /**
         * Rows a page, 1 to 1,000. Default 50.
         */
        limit?: number;
        /**
         * `nextCursor` of the previous page.
         */
        cursor?: string;
    };
    url: '/api/flows/{id}/runs';
};

export type FlowRunsErrors = {
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type FlowRunsError = FlowRunsErrors[keyof FlowRunsErrors];

export type FlowRunsResponses = {
    /**
     * A page of runs
     */
    200: RunList;
};

export type FlowRunsResponse = FlowRunsResponses[keyof FlowRunsResponses];

export type GetFlowRunData = {
    body?: never;
    path: {
        /**
         * The flow's id, or `id@version`
         */
        id: string;
        /**
         * The run's id, or `latest`
         */
        run: string;
    };
    query?: never;
    url: '/api/flows/{id}/runs/{run}';
};

export type GetFlowRunErrors = {
    /**
     * RUN_NOT_FOUND
     */
    404: Failure;
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type GetFlowRunError = GetFlowRunErrors[keyof GetFlowRunErrors];

export type GetFlowRunResponses = {
    /**
     * The run with its state
     */
    200: Run;
};

export type GetFlowRunResponse = GetFlowRunResponses[keyof GetFlowRunResponses];

export type CancelFlowRunData = {
    body?: ReasonBody;
    path: {
        /**
         * The flow's id, or `id@version`
         */
        id: string;
        /**
         * The run's id, or `latest`
         */
        run: string;
    };
    query?: never;
    url: '/api/flows/{id}/runs/{run}/cancel';
};

export type CancelFlowRunErrors = {
    /**
     * RUN_NOT_FOUND
     */
    404: Failure;
    /**
     * RUN_ENDED
     */
    409: Failure;
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type CancelFlowRunError = CancelFlowRunErrors[keyof CancelFlowRunErrors];

export type CancelFlowRunResponses = {
    /**
     * The run
     */
    200: Run;
};

export type CancelFlowRunResponse = CancelFlowRunResponses[keyof CancelFlowRunResponses];

export type StartRunData = {
    body?: StartBody;
    headers?: {
        /**
         * The same as idempotencyKey in the body
         */
        'idempotency-key'?: string;
    };
    path: {
        /**
         * The flow's id, or `id@version`
         */
        id: string;
    };
    query?: {
        /**
         * Wait up to this many milliseconds for the end of the run, and return the run. At most
         * `limits.max_wait`, 300,000 by default.
         */
        wait?: number;
    };
    url: '/api/flows/{id}/start';
};

export type StartRunErrors = {
    /**
     * FLOW_NOT_FOUND
     */
    404: Failure;
    /**
     * RUN_EXISTS
     */
    409: Failure;
    /**
     * INPUT_INVALID: details.issues lists every issue
     */
    422: Failure;
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type StartRunError = StartRunErrors[keyof StartRunErrors];

export type StartRunResponses = {
    /**
     * An earlier request with the same key had started it; or, with `?wait=`, the run has ended (the answer is then the run)
     */
    200: StartedRun | Run;
    /**
     * Started
     */
    201: StartedRun;
    /**
     * With `?wait=`: the run, which has not ended yet
     */
    202: Run;
};

export type StartRunResponse = StartRunResponses[keyof StartRunResponses];

export type FlowVersionsData = {
    body?: never;
    path: {
        /**
         * The flow's id
         */
        id: string;
    };
    query?: never;
    url: '/api/flows/{id}/versions';
};

export type FlowVersionsErrors = {
    /**
     * FLOW_NOT_FOUND
     */
    404: Failure;
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type FlowVersionsError = FlowVersionsErrors[keyof FlowVersionsErrors];

export type FlowVersionsResponses = {
    /**
     * The versions, newest first
     */
    200: FlowList;
};

export type FlowVersionsResponse = FlowVersionsResponses[keyof FlowVersionsResponses];

export type ListHandlersData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/api/handlers';
};

export type ListHandlersErrors = {
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type ListHandlersError = ListHandlersErrors[keyof ListHandlersErrors];

export type ListHandlersResponses = {
    /**
     * The handlers, without their schemas
     */
    200: HandlerList;
};

export type ListHandlersResponse = ListHandlersResponses[keyof ListHandlersResponses];

export type GetHandlerData = {
    body?: never;
    path: {
        /**
         * The `type` of the step
         */
        kind: string;
    };
    query?: never;
    url: '/api/handlers/{kind}';
};

export type GetHandlerErrors = {
    /**
     * HANDLER_NOT_FOUND
     */
    404: Failure;
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type GetHandlerError = GetHandlerErrors[keyof GetHandlerErrors];

export type GetHandlerResponses = {
    /**
     * The handler
     */
    200: HandlerInfo;
};

export type GetHandlerResponse = GetHandlerResponses[keyof GetHandlerResponses];

export type RemoveJobByIdData = {
    body?: never;
    path?: never;
    query: {
        /**
         * The job's id, or `latest`.
         */
        id: string;
    };
    url: '/api/jobs';
};

export type RemoveJobByIdErrors = {
    /**
     * JOB_NOT_FOUND
     */
    404: Failure;
    /**
     * JOB_STATE, or JOB_OF_RUN: cancel the run
     */
    409: Failure;
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type RemoveJobByIdError = RemoveJobByIdErrors[keyof RemoveJobByIdErrors];

export type RemoveJobByIdResponses = {
    /**
     * Removed
     */
    204: void;
};

export type RemoveJobByIdResponse = RemoveJobByIdResponses[keyof RemoveJobByIdResponses];

export type ListJobsData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * Statuses, separated by commas: of queue jobs (`waiting`, `delayed`, `active`, `parked`,
         * `completed`, `failed`, `cancelled`) with `queue`, `tag`, `tags`, `name` or `key`, otherwise of
         * runs (`pending`, `running`, `waiting`, `completed`, `failed`, `cancelled`, `paused`).
         */
        status?: unknown | unknown;
        /**
         * Lists the jobs of runs that have not ended; `true` lists only those that were due longer than
         * a lease ago. A page may then have fewer than `limit` jobs although more follow.
         */
        stalled?: boolean;
        /**
         * Lists the jobs of the runs of this flow that have not ended, or that have a `status`.
         */
        flow?: string;
        /**
         * Only jobs of this queue. `*`, or no queue, lists the jobs of all queues, one queue after the
         * other.
         */
        queue?: string;
        /**
         * Only queue jobs with this tag.
         */
        tag?: string;
        /**
         * Only queue jobs with all of these tags, separated by commas; at most 20.
         */
        tags?: string;
        /**
         * Only queue jobs with this name.
         */
        name?: string;
        /**
         * Only queue jobs with this key.
         */
        key?: string;
        /**
         * Rows a page, 1 to 1,000. Default 50.
         */
        limit?: number;
        /**
         * `nextCursor` of the previous page.
         */
        cursor?: string;
    };
    url: '/api/jobs';
};

export type ListJobsErrors = {
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type ListJobsError = ListJobsErrors[keyof ListJobsErrors];

export type ListJobsResponses = {
    /**
     * A page of jobs
     */
    200: AnyJobList;
};

export type ListJobsResponse = ListJobsResponses[keyof ListJobsResponses];

export type RemoveJobData = {
    body?: never;
    path: {
        /**
         * The job's id, or `latest`
         */
        id: string;
    };
    query?: never;
    url: '/api/jobs/{id}';
};

export type RemoveJobErrors = {
    /**
     * JOB_NOT_FOUND
     */
    404: Failure;
    /**
     * JOB_STATE, or JOB_OF_RUN: cancel the run
     */
    409: Failure;
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type RemoveJobError = RemoveJobErrors[keyof RemoveJobErrors];

export type RemoveJobResponses = {
    /**
     * Removed
     */
    204: void;
};

export type RemoveJobResponse = RemoveJobResponses[keyof RemoveJobResponses];

export type GetJobData = {
    body?: never;
    path: {
        /**
         * The job's id, or `latest`
         */
        id: string;
    };
    query?: never;
    url: '/api/jobs/{id}';
};

export type GetJobErrors = {
    /**
     * JOB_NOT_FOUND
     */
    404: Failure;
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type GetJobError = GetJobErrors[keyof GetJobErrors];

export type GetJobResponses = {
    /**
     * The job
     */
    200: Job | QueueJob;
};

export type GetJobResponse = GetJobResponses[keyof GetJobResponses];

export type ChangeJobData = {
    body: ChangeJobBody;
    path: {
        /**
         * The job's id, or `latest`
         */
        id: string;
    };
    query?: never;
    url: '/api/jobs/{id}';
};

export type ChangeJobErrors = {
    /**
     * JOB_NOT_FOUND
     */
    404: Failure;
    /**
     * JOB_STATE
     */
    409: Failure;
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type ChangeJobError = ChangeJobErrors[keyof ChangeJobErrors];

export type ChangeJobResponses = {
    /**
     * The job
     */
    200: QueueJob;
};

export type ChangeJobResponse = ChangeJobResponses[keyof ChangeJobResponses];

export type CancelJobData = {
    body?: ReasonBody;
    path: {
        /**
         * The job's id, or `latest`
         */
        id: string;
    };
    query?: never;
    url: '/api/jobs/{id}/cancel';
};

export type CancelJobErrors = {
    /**
     * JOB_NOT_FOUND
     */
    404: Failure;
    /**
     * JOB_STATE, or JOB_OF_RUN: cancel the run
     */
    409: Failure;
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type CancelJobError = CancelJobErrors[keyof CancelJobErrors];

export type CancelJobResponses = {
    /**
     * The job
     */
    200: QueueJob;
};

export type CancelJobResponse = CancelJobResponses[keyof CancelJobResponses];

export type PromoteJobData = {
    body?: never;
    path: {
        /**
         * The job's id, or `latest`
         */
        id: string;
    };
    query?: never;
    url: '/api/jobs/{id}/promote';
};

export type PromoteJobErrors = {
    /**
     * JOB_NOT_FOUND
     */
    404: Failure;
    /**
     * JOB_STATE
     */
    409: Failure;
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type PromoteJobError = PromoteJobErrors[keyof PromoteJobErrors];

export type PromoteJobResponses = {
    /**
     * The job
     */
    200: QueueJob;
};

export type PromoteJobResponse = PromoteJobResponses[keyof PromoteJobResponses];

export type RetryJobData = {
    body?: never;
    path: {
        /**
         * The job's id, or `latest`
         */
        id: string;
    };
    query?: never;
    url: '/api/jobs/{id}/retry';
};

export type RetryJobErrors = {
    /**
     * JOB_NOT_FOUND
     */
    404: Failure;
    /**
     * JOB_STATE
     */
    409: Failure;
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type RetryJobError = RetryJobErrors[keyof RetryJobErrors];

export type RetryJobResponses = {
    /**
     * The job
     */
    200: QueueJob;
};

export type RetryJobResponse = RetryJobResponses[keyof RetryJobResponses];

export type OpenapiJsonData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/api/openapi.json';
};

export type OpenapiJsonErrors = {
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type OpenapiJsonError = OpenapiJsonErrors[keyof OpenapiJsonErrors];

export type OpenapiJsonResponses = {
    /**
     * OpenAPI 3.1
     */
    200: unknown;
};

export type ListProcessesData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/api/processes';
};

export type ListProcessesErrors = {
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type ListProcessesError = ListProcessesErrors[keyof ListProcessesErrors];

export type ListProcessesResponses = {
    /**
     * The processes, by id
     */
    200: ProcessList;
};

export type ListProcessesResponse = ListProcessesResponses[keyof ListProcessesResponses];

export type ListQueuesData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/api/queues';
};

export type ListQueuesErrors = {
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type ListQueuesError = ListQueuesErrors[keyof ListQueuesErrors];

export type ListQueuesResponses = {
    /**
     * The queues, by name
     */
    200: QueueList;
};

export type ListQueuesResponse = ListQueuesResponses[keyof ListQueuesResponses];

export type GetQueueData = {
    body?: never;
    path: {
        /**
         * The queue's name
         */
        name: string;
    };
    query?: never;
    url: '/api/queues/{name}';
};

export type GetQueueErrors = {
    /**
     * QUEUE_NOT_FOUND
     */
    404: Failure;
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type GetQueueError = GetQueueErrors[keyof GetQueueErrors];

export type GetQueueResponses = {
    /**
     * The queue
     */
    200: Queue;
};

export type GetQueueResponse = GetQueueResponses[keyof GetQueueResponses];

export type CleanQueueData = {
    body?: CleanBody;
    path: {
        /**
         * The queue's name
         */
        name: string;
    };
    query?: never;
    url: '/api/queues/{name}/clean';
};

export type CleanQueueErrors = {
    /**
     * QUEUE_NOT_FOUND
     */
    404: Failure;
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type CleanQueueError = CleanQueueErrors[keyof CleanQueueErrors];

export type CleanQueueResponses = {
    /**
     * How many were removed
     */
    200: Removed;
};

export type CleanQueueResponse = CleanQueueResponses[keyof CleanQueueResponses];

export type ClearQueueData = {
    body?: ClearBody;
    path: {
        /**
         * The queue's name
         */
        name: string;
    };
    query?: never;
    url: '/api/queues/{name}/clear';
};

export type ClearQueueErrors = {
    /**
     * QUEUE_NOT_FOUND
     */
    404: Failure;
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type ClearQueueError = ClearQueueErrors[keyof ClearQueueErrors];

export type ClearQueueResponses = {
    /**
     * How many were removed, and how many still wait
     */
    200: Drained;
};

export type ClearQueueResponse = ClearQueueResponses[keyof ClearQueueResponses];

export type DeadLettersData = {
    body?: never;
    path: {
        /**
         * The queue's name
         */
        name: string;
    };
    query?: {
        /**
         * Only jobs whose error has this code.
         */
        code?: string;
        /**
         * Only jobs with this name.
         */
        name?: string;
        /**
         * Only jobs with this key.
         */
        key?: string;
        /**
         * Only jobs with this tag.
         */
        tag?: string;
        /**
         * Only jobs that failed at or before this time, as ISO 8601 or milliseconds.
         */
        before?: string;
        /**
         * Only jobs that failed at or after this time.
         */
        after?: string;
        /**
         * Rows a page, 1 to 1,000. Default 50.
         */
        limit?: number;
        /**
         * `nextCursor` of the previous page.
         */
        cursor?: string;
    };
    url: '/api/queues/{name}/dlq';
};

export type DeadLettersErrors = {
    /**
     * QUEUE_NOT_FOUND
     */
    404: Failure;
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type DeadLettersError = DeadLettersErrors[keyof DeadLettersErrors];

export type DeadLettersResponses = {
    /**
     * A page of jobs
     */
    200: QueueJobList;
};

export type DeadLettersResponse = DeadLettersResponses[keyof DeadLettersResponses];

export type PurgeData = {
    body?: CleanBody;
    path: {
        /**
         * The queue's name
         */
        name: string;
    };
    query?: never;
    url: '/api/queues/{name}/dlq/purge';
};

export type PurgeErrors = {
    /**
     * QUEUE_NOT_FOUND
     */
    404: Failure;
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type PurgeError = PurgeErrors[keyof PurgeErrors];

export type PurgeResponses = {
    /**
     * How many were removed
     */
    200: Removed;
};

export type PurgeResponse = PurgeResponses[keyof PurgeResponses];

export type RedriveData = {
    body?: RedriveBody;
    path: {
        /**
         * The queue's name
         */
        name: string;
    };
    query?: never;
    url: '/api/queues/{name}/dlq/redrive';
};

export type RedriveErrors = {
    /**
     * QUEUE_NOT_FOUND
     */
    404: Failure;
    /**
     * REDRIVE_ACTIVE
     */
    409: Failure;
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type RedriveError = RedriveErrors[keyof RedriveErrors];

export type RedriveResponses = {
    /**
     * How many were queued
     */
    200: Redriven;
    /**
     * How many were queued already; the others follow
     */
    202: Redriven;
};

export type RedriveResponse = RedriveResponses[keyof RedriveResponses];

export type QueueJobsData = {
    body?: never;
    path: {
        /**
         * The queue's name
         */
        name: string;
    };
    query?: {
        /**
         * Statuses, separated by commas. Default: all.
         */
        status?: string;
        /**
         * Only jobs with this tag. A page of some jobs only may hold fewer than `limit`, even none,
         * although more follow: `nextCursor` says so.
         */
        tag?: string;
        /**
         * Only jobs with all of these tags, separated by commas; at most 20.
         */
        tags?: string;
        /**
         * Only jobs with this name.
         */
        name?: string;
        /**
         * Only jobs with this key.
         */
        key?: string;
        /**
         * Rows a page, 1 to 1,000. Default 50.
         */
        limit?: number;
        /**
         * `nextCursor` of the previous page.
         */
        cursor?: string;
    };
    url: '/api/queues/{name}/jobs';
};

export type QueueJobsErrors = {
    /**
     * QUEUE_NOT_FOUND
     */
    404: Failure;
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type QueueJobsError = QueueJobsErrors[keyof QueueJobsErrors];

export type QueueJobsResponses = {
    /**
     * A page of jobs
     */
    200: QueueJobList;
};

export type QueueJobsResponse = QueueJobsResponses[keyof QueueJobsResponses];

export type AddJobsData = {
    body: AddJobs;
    path: {
        /**
         * The queue's name
         */
        name: string;
    };
    query?: {
        /**
         * Create the queue if no process takes its jobs yet.
         */
        create?: boolean;
    };
    url: '/api/queues/{name}/jobs';
};

export type AddJobsErrors = {
    /**
     * QUEUE_NOT_FOUND: no process takes its jobs and it never had one; `?create=true` creates it
     */
    404: Failure;
    /**
     * JOB_ID_TAKEN: a job of another queue has the id
     */
    409: Failure;
    /**
     * INPUT_INVALID: details.issues lists every issue
     */
    422: Failure;
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type AddJobsError = AddJobsErrors[keyof AddJobsErrors];

export type AddJobsResponses = {
    /**
     * All of them existed before
     */
    200: AddedJobs;
    /**
     * Added; or `created: false` for a job that existed before
     */
    201: AddedJobs;
};

export type AddJobsResponse = AddJobsResponses[keyof AddJobsResponses];

export type PauseQueueData = {
    body?: never;
    path: {
        /**
         * The queue's name
         */
        name: string;
    };
    query?: never;
    url: '/api/queues/{name}/pause';
};

export type PauseQueueErrors = {
    /**
     * QUEUE_NOT_FOUND
     */
    404: Failure;
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type PauseQueueError = PauseQueueErrors[keyof PauseQueueErrors];

export type PauseQueueResponses = {
    /**
     * The queue
     */
    200: Queue;
};

export type PauseQueueResponse = PauseQueueResponses[keyof PauseQueueResponses];

export type ResumeQueueData = {
    body?: never;
    path: {
        /**
         * The queue's name
         */
        name: string;
    };
    query?: never;
    url: '/api/queues/{name}/resume';
};

export type ResumeQueueErrors = {
    /**
     * QUEUE_NOT_FOUND
     */
    404: Failure;
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type ResumeQueueError = ResumeQueueErrors[keyof ResumeQueueErrors];

export type ResumeQueueResponses = {
    /**
     * The queue
     */
    200: Queue;
};

export type ResumeQueueResponse = ResumeQueueResponses[keyof ResumeQueueResponses];

export type ExecuteData = {
    body: ExecuteBody;
    path?: never;
    query?: never;
    url: '/api/runner/execute';
};

export type ExecuteErrors = {
    /**
     * PROCESS_NOT_FOUND
     */
    404: Failure;
    /**
     * INPUT_INVALID
     */
    422: Failure;
    /**
     * CALL_FAILED: details has the error of the handler
     */
    500: Failure;
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type ExecuteError = ExecuteErrors[keyof ExecuteErrors];

export type ExecuteResponses = {
    /**
     * Its result
     */
    200: Executed;
};

export type ExecuteResponse = ExecuteResponses[keyof ExecuteResponses];

export type ListRunsData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * Statuses, separated by commas.
         */
        status?: string;
        /**
         * The id of a flow.
         */
        flow?: string;
        /**
         * A version of the flow.
         */
        version?: string;
        /**
         * Only runs with this tag.
         */
        tag?: string;
        /**
         * Only runs with all of these tags, separated by commas; at most 20.
         */
        tags?: string;
        tenant?: string;
        /**
         * The id of the parent run.
         */
        parent?: string;
        /**
         * The start of the run id.
         */
        prefix?: string;
        /**
         * Created at or after: ISO 8601 or milliseconds.
         */
        since?: string;
        /**
         * Created before: ISO 8601 or milliseconds.
         */
        until?: string;
        /**
         * `desc` (newest first, the default) or `asc`.
         */
        order?: 'asc' | 'desc';
        /**
         * Rows a page, 1 to 1,000. Default 50.
         */
        limit?: number;
        /**
         * `nextCursor` of the previous page.
         */
        cursor?: string;
    };
    url: '/api/runs';
};

export type ListRunsErrors = {
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type ListRunsError = ListRunsErrors[keyof ListRunsErrors];

export type ListRunsResponses = {
    /**
     * A page of runs
     */
    200: RunList;
};

export type ListRunsResponse = ListRunsResponses[keyof ListRunsResponses];

export type ImportRunData = {
    /**
     * `{run, events, awaits}`, as exported
     */
    body: {
        [key: string]: unknown;
    };
    path?: never;
    query?: never;
    url: '/api/runs/import';
};

export type ImportRunErrors = {
    /**
     * BAD_EVENT
     */
    400: Failure;
    /**
     * RUN_EXISTS, DUPLICATE, AWAIT_EXISTS, RUN_TIED or SECRET_MISSING
     */
    409: Failure;
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type ImportRunError = ImportRunErrors[keyof ImportRunErrors];

export type ImportRunResponses = {
    /**
     * The run
     */
    201: StartedRun;
};

export type ImportRunResponse = ImportRunResponses[keyof ImportRunResponses];

export type DeleteRunData = {
    body?: never;
    path: {
        /**
         * The run's id, or `latest`
         */
        id: string;
    };
    query?: never;
    url: '/api/runs/{id}';
};

export type DeleteRunErrors = {
    /**
     * RUN_NOT_FOUND
     */
    404: Failure;
    /**
     * RUN_NOT_ENDED
     */
    409: Failure;
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type DeleteRunError = DeleteRunErrors[keyof DeleteRunErrors];

export type DeleteRunResponses = {
    /**
     * Deleted
     */
    204: void;
};

export type DeleteRunResponse = DeleteRunResponses[keyof DeleteRunResponses];

export type GetRunData = {
    body?: never;
    path: {
        /**
         * The run's id, or `latest`
         */
        id: string;
    };
    query?: never;
    url: '/api/runs/{id}';
};

export type GetRunErrors = {
    /**
     * RUN_NOT_FOUND
     */
    404: Failure;
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type GetRunError = GetRunErrors[keyof GetRunErrors];

export type GetRunResponses = {
    /**
     * The run with its state
     */
    200: Run;
};

export type GetRunResponse = GetRunResponses[keyof GetRunResponses];

export type RunAwaitsData = {
    body?: never;
    path: {
        /**
         * The run's id, or `latest`
         */
        id: string;
    };
    query?: {
        /**
         * Include the secrets of signed callbacks. Default `false`.
         */
        secrets?: boolean;
    };
    url: '/api/runs/{id}/awaits';
};

export type RunAwaitsErrors = {
    /**
     * RUN_NOT_FOUND
     */
    404: Failure;
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type RunAwaitsError = RunAwaitsErrors[keyof RunAwaitsErrors];

export type RunAwaitsResponses = {
    /**
     * Open awaits, fired awaits that the run has not processed yet, and closed callbacks
     */
    200: RunAwaits;
};

export type RunAwaitsResponse = RunAwaitsResponses[keyof RunAwaitsResponses];

export type CancelRunData = {
    body?: ReasonBody;
    path: {
        /**
         * The run's id, or `latest`
         */
        id: string;
    };
    query?: never;
    url: '/api/runs/{id}/cancel';
};

export type CancelRunErrors = {
    /**
     * RUN_NOT_FOUND
     */
    404: Failure;
    /**
     * RUN_ENDED
     */
    409: Failure;
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type CancelRunError = CancelRunErrors[keyof CancelRunErrors];

export type CancelRunResponses = {
    /**
     * The run
     */
    200: Run;
};

export type CancelRunResponse = CancelRunResponses[keyof CancelRunResponses];

export type RunChildrenData = {
    body?: never;
    path: {
        /**
         * The run's id, or `latest`
         */
        id: string;
    };
    query?: {
        /**
         * Statuses, separated by commas.
         */
        status?: string;
        /**
         * The id of a flow.
         */
        flow?: string;
        /**
         * A version of the flow.
         */
        version?: string;
        /**
         * Only runs with this tag.
         */
        tag?: string;
        /**
         * Only runs with all of these tags, separated by commas; at most 20.
         */
        tags?: string;
        tenant?: string;
        /**
         * The start of the run id.
         */
        prefix?: string;
        /**
         * Created at or after: ISO 8601 or milliseconds.
         */
        since?: string;
        /**
         * Created before: ISO 8601 or milliseconds.
         */
        until?: string;
        /**
         * `desc` (newest first, the default) or `asc`.
         */
        order?: 'asc' | 'desc';
        /**
         * Rows a page, 1 to 1,000. Default 50.
         */
        limit?: number;
        /**
         * `nextCursor` of the previous page.
         */
        cursor?: string;
    };
    url: '/api/runs/{id}/children';
};

export type RunChildrenErrors = {
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type RunChildrenError = RunChildrenErrors[keyof RunChildrenErrors];

export type RunChildrenResponses = {
    /**
     * A page of runs
     */
    200: RunList;
};

export type RunChildrenResponse = RunChildrenResponses[keyof RunChildrenResponses];

export type RunEventsData = {
    body?: never;
    path: {
        /**
         * The run's id, or `latest`
         */
        id: string;
    };
    query?: {
        /**
         * Rows a page, 1 to 1,000. Default 50.
         */
        limit?: number;
        /**
         * Continue after this event: `nextCursor` of the previous page.
         */
        cursor?: string;
        /**
         * The same as `cursor`.
         */
        from?: string;
        /**
         * `asc` (oldest first, the default) or `desc`.
         */
        order?: 'asc' | 'desc';
        /**
         * Event types, separated by commas; `log` includes every `log.*`.
         */
        type?: string;
        /**
         * Only events of this step.
         */
        step?: string;
        /**
         * At or after: ISO 8601 or milliseconds.
         */
        since?: string;
        /**
         * Before: ISO 8601 or milliseconds.
         */
        until?: string;
    };
    url: '/api/runs/{id}/events';
};

export type RunEventsErrors = {
    /**
     * RUN_NOT_FOUND
     */
    404: Failure;
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type RunEventsError = RunEventsErrors[keyof RunEventsErrors];

export type RunEventsResponses = {
    /**
     * A page of events
     */
    200: EventList;
};

export type RunEventsResponse = RunEventsResponses[keyof RunEventsResponses];

export type ForkRunData = {
    body?: ForkBody;
    path: {
        /**
         * The run's id, or `latest`
         */
        id: string;
    };
    query?: {
        /**
         * Wait up to this many milliseconds for the end of the run, and return the run. At most
         * `limits.max_wait`, 300,000 by default.
         */
        wait?: number;
    };
    url: '/api/runs/{id}/fork';
};

export type ForkRunErrors = {
    /**
     * RUN_NOT_FOUND
     */
    404: Failure;
    /**
     * FORK_AT_END
     */
    409: Failure;
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type ForkRunError = ForkRunErrors[keyof ForkRunErrors];

export type ForkRunResponses = {
    /**
     * With `?wait=`: the new run, which has ended
     */
    200: Run;
    /**
     * The new run
     */
    201: StartedRun;
    /**
     * With `?wait=`: the new run, which has not ended yet
     */
    202: Run;
};

export type ForkRunResponse = ForkRunResponses[keyof ForkRunResponses];

export type RunHistoryData = {
    body?: never;
    path: {
        /**
         * The run's id, or `latest`
         */
        id: string;
    };
    query?: {
        /**
         * Rows a page, 1 to 1,000. Default 50.
         */
        limit?: number;
        /**
         * `nextCursor` of the previous page.
         */
        cursor?: string;
    };
    url: '/api/runs/{id}/history';
};

export type RunHistoryErrors = {
    /**
     * RUN_NOT_FOUND
     */
    404: Failure;
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type RunHistoryError = RunHistoryErrors[keyof RunHistoryErrors];

export type RunHistoryResponses = {
    /**
     * A page of attempts
     */
    200: HistoryList;
};

export type RunHistoryResponse = RunHistoryResponses[keyof RunHistoryResponses];

export type RunJobsData = {
    body?: never;
    path: {
        /**
         * The run's id, or `latest`
         */
        id: string;
    };
    query?: never;
    url: '/api/runs/{id}/jobs';
};

export type RunJobsErrors = {
    /**
     * RUN_NOT_FOUND
     */
    404: Failure;
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type RunJobsError = RunJobsErrors[keyof RunJobsErrors];

export type RunJobsResponses = {
    /**
     * Its jobs
     */
    200: JobList;
};

export type RunJobsResponse = RunJobsResponses[keyof RunJobsResponses];

export type PauseRunData = {
    body?: ReasonBody;
    path: {
        /**
         * The run's id, or `latest`
         */
        id: string;
    };
    query?: never;
    url: '/api/runs/{id}/pause';
};

export type PauseRunErrors = {
    /**
     * RUN_NOT_FOUND
     */
    404: Failure;
    /**
     * RUN_ENDED
     */
    409: Failure;
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type PauseRunError = PauseRunErrors[keyof PauseRunErrors];

export type PauseRunResponses = {
    /**
     * The run
     */
    200: Run;
};

export type PauseRunResponse = PauseRunResponses[keyof PauseRunResponses];

export type RerunRunData = {
    body?: RerunBody;
    path: {
        /**
         * The run's id, or `latest`
         */
        id: string;
    };
    query?: {
        /**
         * Wait up to this many milliseconds for the end of the run, and return the run. At most
         * `limits.max_wait`, 300,000 by default.
         */
        wait?: number;
    };
    url: '/api/runs/{id}/rerun';
};

export type RerunRunErrors = {
    /**
     * RUN_NOT_FOUND
     */
    404: Failure;
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type RerunRunError = RerunRunErrors[keyof RerunRunErrors];

export type RerunRunResponses = {
    /**
     * With `?wait=`: the new run, which has ended
     */
    200: Run;
    /**
     * The new run
     */
    201: StartedRun;
    /**
     * With `?wait=`: the new run, which has not ended yet
     */
    202: Run;
};

export type RerunRunResponse = RerunRunResponses[keyof RerunRunResponses];

export type ResumeRunData = {
    body?: ReasonBody;
    path: {
        /**
         * The run's id, or `latest`
         */
        id: string;
    };
    query?: never;
    url: '/api/runs/{id}/resume';
};

export type ResumeRunErrors = {
    /**
     * RUN_NOT_FOUND
     */
    404: Failure;
    /**
     * RUN_NOT_PAUSED or RUN_ENDED
     */
    409: Failure;
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type ResumeRunError = ResumeRunErrors[keyof ResumeRunErrors];

export type ResumeRunResponses = {
    /**
     * The run
     */
    200: Run;
};

export type ResumeRunResponse = ResumeRunResponses[keyof ResumeRunResponses];

export type RunStateData = {
    body?: never;
    path: {
        /**
         * The run's id, or `latest`
         */
        id: string;
    };
    query?: {
        /**
         * The id of the last event to include, or a time (ISO 8601 or milliseconds). Default: now.
         */
        at?: unknown | unknown;
    };
    url: '/api/runs/{id}/state';
};

export type RunStateErrors = {
    /**
     * RUN_NOT_FOUND
     */
    404: Failure;
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type RunStateError = RunStateErrors[keyof RunStateErrors];

export type RunStateResponses = {
    /**
     * The state
     */
    200: StateAt;
};

export type RunStateResponse = RunStateResponses[keyof RunStateResponses];

export type FollowRunData = {
    body?: never;
    path: {
        /**
         * The run's id, or `latest`
         */
        id: string;
    };
    query?: {
        /**
         * Start after this event. `end` sends only new events. Default: all events. The header
         * `Last-Event-ID` takes precedence.
         */
        from?: string;
        /**
         * The same as `from`.
         */
        lastEventId?: string;
        /**
         * Event types, separated by commas; `log` includes every `log.*`.
         */
        type?: string;
        /**
         * `until-end` closes the stream after the event that ends the run or the job. Default: `forever`.
         */
        follow?: 'until-end' | 'forever';
    };
    url: '/api/runs/{id}/stream';
};

export type FollowRunErrors = {
    /**
     * RUN_NOT_FOUND
     */
    404: Failure;
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type FollowRunError = FollowRunErrors[keyof FollowRunErrors];

export type FollowRunResponses = {
    /**
     * The events as they happen
     */
    200: Event;
};

export type FollowRunResponse = FollowRunResponses[keyof FollowRunResponses];

export type RunWhyData = {
    body?: never;
    path: {
        /**
         * The run's or the job's id, or `latest`
         */
        id: string;
    };
    query?: never;
    url: '/api/runs/{id}/why';
};

export type RunWhyErrors = {
    /**
     * RUN_NOT_FOUND
     */
    404: Failure;
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type RunWhyError = RunWhyErrors[keyof RunWhyErrors];

export type RunWhyResponses = {
    /**
     * The reasons
     */
    200: Why;
};

export type RunWhyResponse = RunWhyResponses[keyof RunWhyResponses];

export type ListSchedulesData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * Rows a page, 1 to 1,000. Default 50.
         */
        limit?: number;
        /**
         * `nextCursor` of the previous page.
         */
        cursor?: string;
    };
    url: '/api/schedules';
};

export type ListSchedulesErrors = {
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type ListSchedulesError = ListSchedulesErrors[keyof ListSchedulesErrors];

export type ListSchedulesResponses = {
    /**
     * A page of schedules
     */
    200: TriggerList;
};

export type ListSchedulesResponse = ListSchedulesResponses[keyof ListSchedulesResponses];

export type BackfillScheduleData = {
    body: BackfillBody;
    path: {
        /**
         * The trigger's id
         */
        id: string;
    };
    query?: never;
    url: '/api/schedules/{id}/backfill';
};

export type BackfillScheduleErrors = {
    /**
     * TRIGGER_NOT_FOUND
     */
    404: Failure;
    /**
     * TRIGGER_NO_SCHEDULE, TRIGGER_DISABLED or DUE_TIME_FORGOTTEN
     */
    409: Failure;
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type BackfillScheduleError = BackfillScheduleErrors[keyof BackfillScheduleErrors];

export type BackfillScheduleResponses = {
    /**
     * The due times and their runs
     */
    200: Backfilled;
};

export type BackfillScheduleResponse = BackfillScheduleResponses[keyof BackfillScheduleResponses];

export type GetFlowSchemaData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/api/schemas/flow';
};

export type GetFlowSchemaErrors = {
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type GetFlowSchemaError = GetFlowSchemaErrors[keyof GetFlowSchemaErrors];

export type GetFlowSchemaResponses = {
    /**
     * The schema
     */
    200: unknown;
};

export type GetStoryData = {
    body?: never;
    path: {
        /**
         * A correlation id: a run's, a job's or any other
         */
        correlationId: string;
    };
    query?: {
        /**
         * Rows a page, 1 to 1,000. Default 50.
         */
        limit?: number;
        /**
         * `nextCursor` of the previous page.
         */
        cursor?: string;
    };
    url: '/api/stories/{correlationId}';
};

export type GetStoryErrors = {
    /**
     * STORY_NOT_FOUND
     */
    404: Failure;
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type GetStoryError = GetStoryErrors[keyof GetStoryErrors];

export type GetStoryResponses = {
    /**
     * A page of events
     */
    200: EventList;
};

export type GetStoryResponse = GetStoryResponses[keyof GetStoryResponses];

export type ListTriggersData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * `http`, `schedule`, `event` or `manual`.
         */
        type?: 'http' | 'schedule' | 'event' | 'manual';
        /**
         * Rows a page: 1 to 1,000, default 50.
         */
        limit?: number;
        cursor?: string;
    };
    url: '/api/triggers';
};

export type ListTriggersErrors = {
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type ListTriggersError = ListTriggersErrors[keyof ListTriggersErrors];

export type ListTriggersResponses = {
    /**
     * A page of triggers
     */
    200: TriggerList;
};

export type ListTriggersResponse = ListTriggersResponses[keyof ListTriggersResponses];

export type CreateTriggerData = {
    /**
     * The trigger, in JSON or YAML
     */
    body: NewTrigger;
    path?: never;
    query?: never;
    url: '/api/triggers';
};

export type CreateTriggerErrors = {
    /**
     * FLOW_NOT_FOUND
     */
    404: Failure;
    /**
     * TRIGGER_EXISTS or TRIGGER_ROUTE_TAKEN
     */
    409: Failure;
    /**
     * TRIGGER_INVALID, CRON_INVALID or TIME_ZONE_UNKNOWN
     */
    422: Failure;
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type CreateTriggerError = CreateTriggerErrors[keyof CreateTriggerErrors];

export type CreateTriggerResponses = {
    /**
     * Created
     */
    201: Trigger;
};

export type CreateTriggerResponse = CreateTriggerResponses[keyof CreateTriggerResponses];

export type RemoveTriggerData = {
    body?: never;
    path: {
        /**
         * The trigger's id
         */
        id: string;
    };
    query?: never;
    url: '/api/triggers/{id}';
};

export type RemoveTriggerErrors = {
    /**
     * TRIGGER_NOT_FOUND
     */
    404: Failure;
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type RemoveTriggerError = RemoveTriggerErrors[keyof RemoveTriggerErrors];

export type RemoveTriggerResponses = {
    /**
     * Removed
     */
    200: RemovedTrigger;
};

export type RemoveTriggerResponse = RemoveTriggerResponses[keyof RemoveTriggerResponses];

export type GetTriggerData = {
    body?: never;
    path: {
        /**
         * The trigger's id
         */
        id: string;
    };
    query?: never;
    url: '/api/triggers/{id}';
};

export type GetTriggerErrors = {
    /**
     * TRIGGER_NOT_FOUND
     */
    404: Failure;
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type GetTriggerError = GetTriggerErrors[keyof GetTriggerErrors];

export type GetTriggerResponses = {
    /**
     * The trigger, its next due times and its counts
     */
    200: Trigger;
};

export type GetTriggerResponse = GetTriggerResponses[keyof GetTriggerResponses];

export type ChangeTriggerData = {
    body: ChangedTrigger;
    path: {
        /**
         * The trigger's id
         */
        id: string;
    };
    query?: never;
    url: '/api/triggers/{id}';
};

export type ChangeTriggerErrors = {
    /**
     * TRIGGER_NOT_FOUND
     */
    404: Failure;
    /**
     * TRIGGER_MOVED or TRIGGER_ROUTE_TAKEN
     */
    409: Failure;
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type ChangeTriggerError = ChangeTriggerErrors[keyof ChangeTriggerErrors];

export type ChangeTriggerResponses = {
    /**
     * The changed trigger
     */
    200: Trigger;
};

export type ChangeTriggerResponse = ChangeTriggerResponses[keyof ChangeTriggerResponses];

export type ResumeCallbackData = {
    /**
     * Any JSON, or nothing
     */
    body?: unknown;
    path: {
        /**
         * The id of the callback, which cannot be guessed
         */
        id: string;
    };
    query?: never;
    url: '/api/triggers/{id}';
};

export type ResumeCallbackErrors = {
    /**
     * SIGNATURE_INVALID
     */
    401: Failure;
    /**
     * AWAIT_NOT_FOUND: no callback and no trigger has this id
     */
    404: Failure;
    /**
     * AWAIT_USED
     */
    409: Failure;
    /**
     * AWAIT_EXPIRED, or AWAIT_CLOSED: no step waits for it any more
     */
    410: Failure;
    /**
     * TOO_LARGE: a body may have 1 MiB
     */
    413: Failure;
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type ResumeCallbackError = ResumeCallbackErrors[keyof ResumeCallbackErrors];

export type ResumeCallbackResponses = {
    /**
     * Stored: the step resumes
     */
    200: Opened;
    /**
     * A trigger has this id: a run was started
     */
    201: StartedRun;
};

export type ResumeCallbackResponse = ResumeCallbackResponses[keyof ResumeCallbackResponses];

export type DisableTriggerData = {
    body?: never;
    path: {
        /**
         * The trigger's id
         */
        id: string;
    };
    query?: never;
    url: '/api/triggers/{id}/disable';
};

export type DisableTriggerErrors = {
    /**
     * TRIGGER_NOT_FOUND
     */
    404: Failure;
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type DisableTriggerError = DisableTriggerErrors[keyof DisableTriggerErrors];

export type DisableTriggerResponses = {
    /**
     * The changed trigger
     */
    200: Trigger;
};

export type DisableTriggerResponse = DisableTriggerResponses[keyof DisableTriggerResponses];

export type EnableTriggerData = {
    body?: never;
    path: {
        /**
         * The trigger's id
         */
        id: string;
    };
    query?: never;
    url: '/api/triggers/{id}/enable';
};

export type EnableTriggerErrors = {
    /**
     * TRIGGER_NOT_FOUND
     */
    404: Failure;
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type EnableTriggerError = EnableTriggerErrors[keyof EnableTriggerErrors];

export type EnableTriggerResponses = {
    /**
     * The changed trigger
     */
    200: Trigger;
};

export type EnableTriggerResponse = EnableTriggerResponses[keyof EnableTriggerResponses];

export type FireTriggerData = {
    body?: FireBody;
    path: {
        /**
         * The trigger's id
         */
        id: string;
    };
    query?: {
        /**
         * Wait up to this many milliseconds for the end of the run, and return the run. At most
         * `limits.max_wait`, 300,000 by default.
         */
        wait?: number;
    };
    url: '/api/triggers/{id}/fire';
};

export type FireTriggerErrors = {
    /**
     * TRIGGER_NOT_FOUND
     */
    404: Failure;
    /**
     * TRIGGER_DISABLED
     */
    409: Failure;
    /**
     * TRIGGER_BROKEN
     */
    500: Failure;
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type FireTriggerError = FireTriggerErrors[keyof FireTriggerErrors];

export type FireTriggerResponses = {
    /**
     * An earlier request with the same key had started it; or, with `?wait=`, the run has ended (the answer is then the run)
     */
    200: StartedRun | Run;
    /**
     * Started
     */
    201: StartedRun;
    /**
     * With `?wait=`: the run, which has not ended yet
     */
    202: Run;
};

export type FireTriggerResponse = FireTriggerResponses[keyof FireTriggerResponses];

export type TriggerHistoryData = {
    body?: never;
    path: {
        /**
         * The trigger's id
         */
        id: string;
    };
    query?: {
        /**
         * Rows a page, 1 to 1,000. Default 50.
         */
        limit?: number;
        /**
         * `nextCursor` of the previous page.
         */
        cursor?: string;
    };
    url: '/api/triggers/{id}/history';
};

export type TriggerHistoryErrors = {
    /**
     * TRIGGER_NOT_FOUND
     */
    404: Failure;
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type TriggerHistoryError = TriggerHistoryErrors[keyof TriggerHistoryErrors];

export type TriggerHistoryResponses = {
    /**
     * A page of events
     */
    200: EventList;
};

export type TriggerHistoryResponse = TriggerHistoryResponses[keyof TriggerHistoryResponses];

export type TriggerStatsData = {
    body?: never;
    path: {
        /**
         * The trigger's id
         */
        id: string;
    };
    query?: never;
    url: '/api/triggers/{id}/stats';
};

export type TriggerStatsErrors = {
    /**
     * TRIGGER_NOT_FOUND
     */
    404: Failure;
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type TriggerStatsError = TriggerStatsErrors[keyof TriggerStatsErrors];

export type TriggerStatsResponses = {
    /**
     * Counts over all its versions, and the next due time
     */
    200: TriggerStats;
};

export type TriggerStatsResponse = TriggerStatsResponses[keyof TriggerStatsResponses];

export type VersionData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/api/version';
};

export type VersionErrors = {
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type VersionError = VersionErrors[keyof VersionErrors];

export type VersionResponses = {
    /**
     * Name, version and store
     */
    200: Version;
};

export type VersionResponse = VersionResponses[keyof VersionResponses];

export type ListWorkersData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/api/workers';
};

export type ListWorkersErrors = {
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type ListWorkersError = ListWorkersErrors[keyof ListWorkersErrors];

export type ListWorkersResponses = {
    /**
     * The workers, in the order in which they connected
     */
    200: WorkerList;
};

export type ListWorkersResponse = ListWorkersResponses[keyof ListWorkersResponses];

export type DrainWorkerData = {
    body?: DrainWorkerBody;
    path: {
        /**
         * The worker's id
         */
        id: number;
    };
    query?: never;
    url: '/api/workers/{id}/drain';
};

export type DrainWorkerErrors = {
    /**
     * WORKER_NOT_FOUND
     */
    404: Failure;
    /**
     * Any failure, in the one shape
     */
    default: Failure;
};

export type DrainWorkerError = DrainWorkerErrors[keyof DrainWorkerErrors];

export type DrainWorkerResponses = {
    /**
     * The worker
     */
    202: ShownWorker;
};

export type DrainWorkerResponse = DrainWorkerResponses[keyof DrainWorkerResponses];
