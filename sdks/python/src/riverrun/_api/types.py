# Generated from crates/api/openapi.json. Do not edit: run `make clients`.

"""The shapes of requests and answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict

if TYPE_CHECKING:
    from typing_extensions import NotRequired


class AddJob(TypedDict):
    """One of several jobs."""

    #: The input of the handler.
    data: NotRequired[Any]
    #: Default: the name of the queue.
    name: NotRequired[str | None]
    options: NotRequired[AddOptions]


class AddJobs(TypedDict):
    """One job, or several under `jobs`."""

    #: The input of the handler.
    data: NotRequired[Any]
    #: Several jobs; no other member is allowed beside them.
    jobs: NotRequired[list[AddJob] | None]
    #: Default: the name of the queue.
    name: NotRequired[str | None]
    options: NotRequired[AddOptions | None]


class AddOptions(TypedDict):
    """Options of a job, which override those of its process."""

    #: The number of attempts, including the first. Default: as the process says.
    attempts: NotRequired[int | None]
    backoff: NotRequired[Backoff | None]
    causationId: NotRequired[str | None]
    correlationId: NotRequired[str | None]
    debounce: NotRequired[Debounce | None]
    dedupe: NotRequired[KeyWindow | None]
    #: Not with `runAt`.
    delayMs: NotRequired[int | None]
    idempotency: NotRequired[KeyWindow | None]
    #: One job for this key, while the job exists or for a time; `auto` derives the key from the
    #: data.
    idempotencyKey: NotRequired[str | None]
    idempotencyWindowMs: NotRequired[int | None]
    #: A second job with the same id returns the first one.
    jobId: NotRequired[str | None]
    #: Keys take turns, and the jobs of a key share its concurrency.
    key: NotRequired[str | None]
    metadata: NotRequired[Any]
    #: `dlq`, `retry` or `drop`.
    onFail: NotRequired[Literal["dlq", "retry", "drop", None]]
    #: Higher starts first.
    priority: NotRequired[int]
    retriableErrors: NotRequired[list[str] | None]
    #: ISO 8601 or milliseconds, ten years from now at most.
    runAt: NotRequired[str | int | None]
    tags: NotRequired[list[str]]
    tenantId: NotRequired[str | None]
    throttle: NotRequired[Throttle | None]
    timeoutMs: NotRequired[int | None]


class AddedJobs(TypedDict):
    """The added jobs, in order."""

    #: Each `{jobId, created}`.
    jobs: list[Any]


#: The jobs of runs, or of queues where the request asks for those.
AnyJobList: TypeAlias = "JobList | QueueJobList"


class Appended(TypedDict):
    """Where the events that were appended stand."""

    ids: list[str]
    #: The full name.
    stream: str


class AwaitKind(TypedDict):
    """How many awaits wait for events of a type."""

    #: Awaits among them that have an expression (`where`).
    filters: int
    #: Events of this type that wait for an expression to be evaluated.
    judging: int
    open: int
    type: str


class AwaitStats(TypedDict):
    """Open awaits of all runs."""

    #: Open callbacks: webhooks, answers of people.
    doors: int
    #: Open awaits of events.
    events: int
    #: Emitted events for which a `where` expression or an event trigger has yet to be evaluated.
    #: Counted up to 10,000.
    judging: int
    #: When the first of them arrived. ISO 8601.
    judgingSince: NotRequired[str | None]
    #: The event types that most awaits wait for, up to 1,000, and those of events that wait for
    #: an expression.
    types: list[AwaitKind]


BackfillBody = TypedDict(
    "BackfillBody",
    {
        #: Also start due times that are older than the shortest retention of ended runs. Their
        #: runs may have been deleted, so they may run a second time.
        "forgotten": "NotRequired[bool | None]",
        #: The start of the range, inclusive: ISO 8601 or milliseconds.
        "from": "str | int",
        #: The most due times, the earliest first: up to 1,000, default 100.
        "limit": "NotRequired[int | None]",
        #: The end of the range, exclusive.
        "to": "str | int",
    },
)


class Backfilled(TypedDict):
    #: The number of started runs.
    created: int
    #: The number of runs that could not be started.
    failed: int
    #: `{code, message}` of the first of these.
    firstError: NotRequired[Any]
    items: list[BackfilledTime]
    #: The `from` of the next request; absent if nothing is left.
    nextFrom: NotRequired[str | None]


class BackfilledTime(TypedDict):
    #: False if a run for this time existed before.
    created: bool
    dueAt: str
    #: `{code, message}`: why there is no run.
    error: NotRequired[Any]
    #: Absent if the run could not be started.
    runId: NotRequired[str | None]


class Backoff(TypedDict):
    """The delay before another attempt."""

    delayMs: int
    #: The share of the delay, 0 to 1, that is random.
    jitter: NotRequired[float | None]
    maxDelayMs: NotRequired[int | None]
    #: `fixed` or `exponential`.
    type: NotRequired[Literal["fixed", "exponential"]]


class ChangeJobBody(TypedDict):
    #: Begin not before this long from now.
    delayMs: NotRequired[int | None]
    #: Higher starts first.
    priority: NotRequired[int | None]


class ChangedTrigger(TypedDict):
    """Changes of a trigger; null removes a member."""

    config: NotRequired[dict[str, Any] | None]
    contextKey: NotRequired[str | None]
    description: NotRequired[str | None]
    enabled: NotRequired[bool | None]
    flow: NotRequired[str]
    flowVersion: NotRequired[str | None]
    #: Must equal the id in the path: the id of a trigger never changes.
    id: NotRequired[str]
    idempotencyKey: NotRequired[str | None]
    input: NotRequired[Any]
    inputMap: NotRequired[str | None]
    metadata: NotRequired[dict[str, Any] | None]
    tags: NotRequired[list[str] | None]
    tenantId: NotRequired[str | None]
    #: `http`, `schedule`, `event` or `manual`.
    type: NotRequired[Literal["http", "schedule", "event", "manual"]]
    #: The expected version; the change is rejected in any other version.
    version: NotRequired[int | None]


class CleanBody(TypedDict):
    filter: NotRequired[DeadLetterFilter | None]
    #: The most jobs to remove.
    limit: NotRequired[int | None]
    #: Only jobs that ended at least this long ago.
    olderThanMs: NotRequired[int]
    #: `completed` (the default), `failed` or `cancelled`.
    status: NotRequired[Literal["completed", "failed", "cancelled"]]


class ClearBody(TypedDict):
    #: Also removes jobs that wait for their time.
    delayed: NotRequired[bool]


class DeadLetterFilter(TypedDict):
    """A filter for jobs. A job must match all members."""

    #: Ended at or after this time.
    after: NotRequired[str | int | None]
    #: Ended at or before this time, as ISO 8601 or milliseconds.
    before: NotRequired[str | int | None]
    #: The code of the error of the job.
    code: NotRequired[str | None]
    key: NotRequired[str | None]
    name: NotRequired[str | None]
    tag: NotRequired[str | None]


class Debounce(TypedDict):
    delayMs: int
    key: NotRequired[str | None]


class DrainWorkerBody(TypedDict):
    #: How long its current work may take, in milliseconds; at most a day. Default 30,000.
    graceMs: NotRequired[int | None]


class Drained(TypedDict):
    #: How many jobs still wait: jobs of steps, and jobs added in the meantime.
    left: int
    removed: int


class EmittedEvent(TypedDict):
    """An event and where it goes: to a run, to a stream, or to `nq:global`. Older forms are
    accepted as well.
    """

    attempt: NotRequired[int | None]
    causationId: NotRequired[str | None]
    correlationId: NotRequired[str | None]
    data: NotRequired[Any]
    #: The same key again, for the same stream, stores nothing and answers with the first event.
    idempotencyKey: NotRequired[str | None]
    runId: NotRequired[str | None]
    stepName: NotRequired[str | None]
    #: A full name, such as `nq:webhook:github`.
    stream: NotRequired[str | None]
    #: The tenant of the event. Only awaits and triggers of this tenant, or of none, receive it.
    #: An event of a run has the tenant of the run; another one is rejected.
    tenantId: NotRequired[str | None]
    type: str


class Event(TypedDict):
    """One fact of a stream."""

    attempt: NotRequired[int | None]
    causationId: NotRequired[str | None]
    correlationId: NotRequired[str | None]
    data: NotRequired[Any]
    flowName: str
    #: `<milliseconds>-<n>`: grows along the stream, and is the cursor of every reader.
    id: str
    runId: str
    stepId: NotRequired[str | None]
    stepName: NotRequired[str | None]
    tenantId: NotRequired[str | None]
    #: ISO 8601.
    ts: str
    type: str


class EventList(TypedDict):
    items: list[Event]
    #: The `cursor` of the next page; absent on the last page.
    nextCursor: NotRequired[str | None]


class EventsOfKind(TypedDict):
    """Events of many streams."""

    #: The `from` of a later request.
    cursor: str
    #: Each also has `stream`, the full name of the stream that it is from, and `cursor`.
    items: list[Event]
    #: The `cursor` of the next page; absent if there are no more events yet.
    nextCursor: NotRequired[str | None]


class ExecuteBody(TypedDict):
    #: The id of the call. Default: a new one.
    callId: NotRequired[str | None]
    #: Whether it is cancelled when the caller disconnects. Default true.
    cancelOnDisconnect: NotRequired[bool | None]
    correlationId: NotRequired[str | None]
    #: The input of the handler. Default null.
    input: NotRequired[Any]
    #: Whether its frames are recorded in the stream of the call. Default true.
    persistFrames: NotRequired[bool | None]
    #: The process's id.
    process: str
    #: How long it may take, in milliseconds. Default: the timeout of the process.
    timeoutMs: NotRequired[int | None]


class Executed(TypedDict):
    """The result of a call."""

    callId: str
    value: Any


class Execution(TypedDict):
    """A run in the format of FlowMonkey. Times are milliseconds since 1970."""

    cancellation: NotRequired[ExecutionCancellation | None]
    context: Any
    createdAt: int
    #: The active step, or the last one.
    currentStepId: NotRequired[str | None]
    error: NotRequired[ExecutionError | None]
    flowId: str
    flowVersion: str
    #: The ended attempts, with `?history=true`.
    history: NotRequired[list[ExecutionHistory] | None]
    id: str
    idempotencyKey: NotRequired[str | None]
    metadata: NotRequired[Any]
    parentExecutionId: NotRequired[str | None]
    #: `pending`, `running`, `waiting`, `completed`, `failed` or `cancelled`. A paused run waits,
    #: with the reason `paused`.
    status: str
    stepCount: int
    tenantId: NotRequired[str | None]
    updatedAt: int
    waitReason: NotRequired[str | None]
    wakeAt: NotRequired[int | None]


class ExecutionCancellation(TypedDict):
    cancelledAt: int
    reason: NotRequired[str | None]
    #: `user`, `timeout`, `system` or `parent`.
    source: str


class ExecutionError(TypedDict):
    code: str
    details: NotRequired[Any]
    message: str
    stepId: NotRequired[str | None]
    timestamp: int


class ExecutionHistory(TypedDict):
    """An attempt of a step that has ended."""

    completedAt: int
    durationMs: int
    error: NotRequired[ExecutionError | None]
    handlerType: NotRequired[str | None]
    #: `success`, `failure`, `wait` or `cancelled`.
    outcome: str
    startedAt: int
    stepId: str


class ExecutionList(TypedDict):
    items: list[Execution]
    nextCursor: NotRequired[str | None]


class FireBody(TypedDict):
    idempotencyKey: NotRequired[str | None]
    input: NotRequired[Any]
    #: The source that is stored in the metadata of the run. Default `manual`.
    source: NotRequired[str | None]


class FlowAwait(TypedDict):
    """What a step waits for."""

    #: What must hold of the event.
    condition: NotRequired[str | None]
    #: How long, as the definition says it.
    delay: NotRequired[Any]
    eventKind: NotRequired[str | None]
    #: How long it may take, in milliseconds.
    timeout: NotRequired[int | None]
    #: `webhook`, `user` or `api`.
    triggerType: NotRequired[str | None]
    #: `time`, `event` or `trigger`.
    type: str
    #: Until when, as the definition says it.
    until: NotRequired[Any]


class FlowCompensation(TypedDict):
    """What undoes a step."""

    #: Kinds of events that call for it; the run's failure always does.
    on: NotRequired[list[str] | None]
    step: str


class FlowDetail(TypedDict):
    """A registered version."""

    #: ISO 8601.
    createdAt: str
    #: The registered definition; `/api/schemas/flow` is its schema.
    definition: Any
    id: str
    version: str


class FlowDiagram(TypedDict):
    """What leads where in a flow."""

    edges: list[FlowEdge]
    #: How many edges there are beside those that are listed, which are 20,000 at most.
    edgesLeftOut: NotRequired[int | None]
    #: `id@version`.
    flow: str
    name: NotRequired[str | None]
    nodes: list[FlowNode]
    #: What has to come from outside: events that no step says it emits, and callbacks.
    outside: NotRequired[list[FlowOutside] | None]


FlowEdge = TypedDict(
    "FlowEdge",
    {
        #: What must hold, in full.
        "condition": "NotRequired[str | None]",
        "from": "str",
        #: When the run goes there, in a few words.
        "label": "str",
        #: Of a wait: how long it may take, in milliseconds.
        "timeout": "NotRequired[int | None]",
        "to": "str",
        #: `then`, `emit` (an event that enters the step there), `await` (when the wait is over;
        #: from a step to itself, the wait), `timeout`, `choice`, `inside` (before the step
        #: ends), `failure` or `compensation`.
        "type": "str",
    },
)


class FlowList(TypedDict):
    items: list[FlowSummary]


FlowNode = TypedDict(
    "FlowNode",
    {
        "await": "NotRequired[FlowAwait | None]",
        "compensation": "NotRequired[FlowCompensation | None]",
        #: The kinds of events that its handler emits.
        "emits": "NotRequired[list[str] | None]",
        #: The type of its handler.
        "handler": "str",
        #: The step's name in the definition.
        "id": "str",
        #: Whether runs begin here.
        "initial": "NotRequired[bool | None]",
        #: `all` where one event of each kind enters it together.
        "join": "NotRequired[str | None]",
        "name": "NotRequired[str | None]",
        #: The kinds of events that enter it.
        "subscriptions": "NotRequired[list[FlowSubscription] | None]",
        #: `step`, or `await-step` where it waits.
        "type": "str",
    },
)


class FlowOutside(TypedDict):
    """What comes from outside the flow."""

    condition: NotRequired[str | None]
    #: The kind of the event, or who resumes the callback: `webhook`, `user` or `api`.
    label: str
    to: str
    #: `enters` (an event that enters the step), `resumes` (one that it waits for) or `opens` (a
    #: callback that it waits for).
    type: str


class FlowSubscription(TypedDict):
    eventKind: str
    when: NotRequired[str | None]


class FlowSummary(TypedDict):
    """A flow in a list."""

    #: ISO 8601.
    createdAt: str
    description: NotRequired[str | None]
    id: str
    name: NotRequired[str | None]
    #: The number of its steps.
    steps: int
    tags: NotRequired[list[str] | None]
    version: str


class ForkBody(TypedDict):
    #: The id of the last event that both runs share. Default: the latest event.
    at: NotRequired[str | None]


class HandlerInfo(TypedDict):
    """A step type."""

    about: str
    #: `none`: its output depends on its input alone. `some`: it has side effects.
    effects: str
    #: JSON Schema of a step's `config`.
    schema: NotRequired[Any]
    #: The `type` of the step.
    type: str


class HandlerList(TypedDict):
    items: list[HandlerInfo]


class HistoryEntry(TypedDict):
    """An attempt that has ended."""

    attempt: int
    completedAt: str
    durationMs: int
    error: NotRequired[Any]
    handlerType: NotRequired[str | None]
    #: `success`, `failure`, `wait` or `cancelled`.
    outcome: str
    #: Failed tries of operations of its code that were retried, the latest 20: `{op, name, nth?,
    #: attempt, at, nextRetryAt, error}`.
    retries: NotRequired[list[Any] | None]
    startedAt: str
    stepId: str
    visit: int


class HistoryList(TypedDict):
    items: list[HistoryEntry]
    #: The `cursor` of the next page; absent on the last page.
    nextCursor: NotRequired[str | None]


class Issue(TypedDict):
    """An issue of a definition."""

    message: str
    #: A dot path into the definition.
    path: str
    rule: str
    #: `error` or `warning`.
    severity: str


class Job(TypedDict):
    """The work of a run: the run's own, whose id is the run's, and in the list of one run also one
    for each visit of a step that a process runs.
    """

    #: Of a visit: attempts so far, including the first.
    attempt: NotRequired[int | None]
    createdAt: str
    #: When it continues by itself.
    dueAt: NotRequired[str | None]
    endedAt: NotRequired[str | None]
    flow: str
    id: str
    #: Of a visit: the process that runs it.
    process: NotRequired[str | None]
    runId: str
    #: Whether it was due longer than a lease ago and has not started.
    stalled: bool
    #: The status of its run, or of the visit: one that waits for its next attempt is `waiting`.
    status: str
    #: Of a visit: its step.
    stepId: NotRequired[str | None]
    tenantId: NotRequired[str | None]
    updatedAt: str
    version: str
    #: Of a visit: the n-th time that the run entered the step.
    visit: NotRequired[int | None]


class JobList(TypedDict):
    items: list[Job]
    nextCursor: NotRequired[str | None]


class KeyWindow(TypedDict):
    """A key and how long it is used."""

    key: str
    windowMs: NotRequired[int | None]


class NewEvent(TypedDict):
    """An event from a client. Older forms are accepted as well."""

    attempt: NotRequired[int | None]
    causationId: NotRequired[str | None]
    correlationId: NotRequired[str | None]
    data: NotRequired[Any]
    stepName: NotRequired[str | None]
    #: The tenant of the event. Only awaits and triggers of this tenant, or of none, receive it.
    #: An event of a run has the tenant of the run; another one is rejected.
    tenantId: NotRequired[str | None]
    type: str


#: An event, or a list of events.
NewEvents: TypeAlias = "NewEvent | list[NewEvent]"


class NewTrigger(TypedDict):
    """The definition of a trigger."""

    #: The settings of its type; see the documentation of triggers.
    config: NotRequired[dict[str, Any]]
    #: The place of the payload in the input: a dot path.
    contextKey: NotRequired[str | None]
    description: NotRequired[str | None]
    #: Default true.
    enabled: NotRequired[bool | None]
    #: The flow that it starts, or `id@version`.
    flow: str
    #: Default: the newest.
    flowVersion: NotRequired[str | None]
    id: str
    #: An expression that computes the idempotency key of the run.
    idempotencyKey: NotRequired[str | None]
    #: The default input of its runs.
    input: NotRequired[Any]
    #: An expression that computes the input from the request or event.
    inputMap: NotRequired[str | None]
    metadata: NotRequired[dict[str, Any] | None]
    tags: NotRequired[list[str]]
    tenantId: NotRequired[str | None]
    #: `http`, `schedule`, `event` or `manual`.
    type: Literal["http", "schedule", "event", "manual"]


class Opened(TypedDict):
    """The answer to a request that resumed a callback."""

    runId: str
    success: bool
    triggerId: str


class ProcessList(TypedDict):
    items: list[ShownProcess]


class Queue(TypedDict):
    """A queue with its counts, rates and latencies."""

    #: By status.
    counts: Any
    name: str
    #: How long the oldest waiting job has waited.
    oldestMs: NotRequired[int | None]
    paused: bool
    #: The process that takes its jobs on this server.
    process: NotRequired[str | None]
    #: Rates and latencies since this server started.
    stats: Any


class QueueJob(TypedDict):
    """A job of a queue."""

    #: Started attempts.
    attempt: int
    checkpoint: NotRequired[Any]
    createdAt: str
    data: Any
    endedAt: NotRequired[str | None]
    error: NotRequired[Any]
    id: str
    key: NotRequired[str | None]
    name: str
    #: Of a parked job, since when it is. ISO 8601.
    parkedAt: NotRequired[str | None]
    priority: int
    progress: NotRequired[Any]
    queue: str
    result: NotRequired[Any]
    runAt: NotRequired[str | None]
    startedAt: NotRequired[str | None]
    #: `waiting`, `delayed`, `active`, `parked`, `completed`, `failed` or `cancelled`.
    state: str


class QueueJobList(TypedDict):
    items: list[QueueJob]
    nextCursor: NotRequired[str | None]


class QueueList(TypedDict):
    items: list[Queue]


class ReasonBody(TypedDict):
    """The reason of a request, which is stored."""

    reason: NotRequired[str | None]


class RedriveBody(TypedDict):
    filter: NotRequired[DeadLetterFilter | None]
    #: The most jobs to queue, the newest first. Default: all.
    limit: NotRequired[int | None]
    #: The most jobs to start per second.
    perSecond: NotRequired[int | None]


class Redriven(TypedDict):
    #: Whether more jobs follow in the background.
    goesOn: bool
    redriven: int


class RegisteredFlow(TypedDict):
    """The result of a registration."""

    #: False if the same definition was registered before.
    created: bool
    id: str
    #: Warnings.
    issues: list[Issue]
    version: str


class Removed(TypedDict):
    removed: int


class RemovedTrigger(TypedDict):
    id: str
    removed: bool


class RerunBody(TypedDict):
    #: Instead of the input of the first run.
    input: NotRequired[Any]
    #: Use the newest version of the flow instead of the version of the run.
    latest: NotRequired[bool]


class Run(TypedDict):
    """A run with its state."""

    #: Its correlation id, if it is not its own id.
    correlationId: NotRequired[str | None]
    #: ISO 8601, like all times.
    createdAt: str
    durationMs: NotRequired[int | None]
    endedAt: NotRequired[str | None]
    error: NotRequired[Any]
    #: The number of events of its stream.
    events: int
    flow: str
    #: The run it was forked or rerun from: `{runId, eventId}`.
    forkedFrom: NotRequired[Any]
    idempotencyKey: NotRequired[str | None]
    #: `flow`.
    kind: str
    metadata: NotRequired[Any]
    #: The run and the step that started it: `{runId, step, visit}`.
    parent: NotRequired[Any]
    runId: str
    #: `pending`, `running`, `waiting`, `paused`, `completed`, `failed` or `cancelled`.
    status: str
    tags: NotRequired[list[str] | None]
    tenantId: NotRequired[str | None]
    updatedAt: str
    version: str
    #: When it continues by itself.
    wakeAt: NotRequired[str | None]
    #: `{source, reason?}`.
    cancellation: NotRequired[Any]
    input: Any
    #: Once it has ended.
    result: NotRequired[Any]
    state: Any
    #: Visits begun so far.
    stepCount: int
    #: The latest visit of each step: `{status, visits, attempt, startedAt?, completedAt?,
    #: error?}`.
    steps: Any


class RunAwait(TypedDict):
    """What a visit waits for, or a callback that a step has created: `event` or `trigger`."""

    #: Of a callback: it is closed; later requests get an error that says so.
    closed: NotRequired[bool | None]
    #: ISO 8601.
    createdAt: str
    #: `{kind, match?: [[path, value]], filter?, lookbackMs?}`
    event: NotRequired[dict[str, Any] | None]
    expiresAt: NotRequired[str | None]
    #: When it was fired last.
    firedAt: NotRequired[str | None]
    #: The id of a callback is all that a request needs to resume it.
    id: str
    #: Of a callback: it may be resumed repeatedly.
    many: NotRequired[bool | None]
    #: Of a callback: it accepts only signed requests.
    signed: NotRequired[bool | None]
    step: str
    #: `{type, payload?, secret?, secretEnv?, count?}`
    trigger: NotRequired[dict[str, Any] | None]
    #: What it was fired with.
    values: NotRequired[list[Any] | None]
    visit: int


class RunAwaits(TypedDict):
    items: list[RunAwait]


class RunList(TypedDict):
    items: list[RunSummary]
    #: The `cursor` of the next page; absent on the last page.
    nextCursor: NotRequired[str | None]


class RunSummary(TypedDict):
    """A run in a list."""

    #: Its correlation id, if it is not its own id.
    correlationId: NotRequired[str | None]
    #: ISO 8601, like all times.
    createdAt: str
    durationMs: NotRequired[int | None]
    endedAt: NotRequired[str | None]
    error: NotRequired[Any]
    #: The number of events of its stream.
    events: int
    flow: str
    #: The run it was forked or rerun from: `{runId, eventId}`.
    forkedFrom: NotRequired[Any]
    idempotencyKey: NotRequired[str | None]
    #: `flow`.
    kind: str
    metadata: NotRequired[Any]
    #: The run and the step that started it: `{runId, step, visit}`.
    parent: NotRequired[Any]
    runId: str
    #: `pending`, `running`, `waiting`, `paused`, `completed`, `failed` or `cancelled`.
    status: str
    tags: NotRequired[list[str] | None]
    tenantId: NotRequired[str | None]
    updatedAt: str
    version: str
    #: When it continues by itself.
    wakeAt: NotRequired[str | None]


class ShownProcess(TypedDict):
    config: NotRequired[Any]
    #: Why its file does not load, with a code and a message.
    error: NotRequired[Any]
    file: NotRequired[str | None]
    id: str
    language: NotRequired[str | None]
    queue: NotRequired[str | None]
    #: `queue`, `flow` or `call`; not known of one that never loaded.
    runMode: NotRequired[str | None]


class ShownWorker(TypedDict):
    """A remote worker."""

    #: Why a flow of its processes was not registered: `{code, message}`.
    faults: NotRequired[list[dict[str, Any]] | None]
    #: The flows made of its processes, as `<id>@<version>`.
    flows: NotRequired[list[str] | None]
    #: Distinguishes workers of the same name.
    id: int
    name: str
    #: The ids of its processes.
    processes: list[str]
    running: int
    #: The language and version of its SDK.
    sdk: str
    #: Processes among them that the server has too; the server runs these itself.
    shadowed: NotRequired[list[str] | None]
    #: When it connected last.
    since: str
    #: `connected`, `draining` or `away`.
    state: str
    tags: list[str]
    #: The most concurrent invocations.
    window: int


class StartBody(TypedDict):
    """How to start a run. Everything may be absent, and so may the body."""

    #: Its cause: the id of a run, a job or an event.
    causationId: NotRequired[str | None]
    #: Default: the id of the run.
    correlationId: NotRequired[str | None]
    #: Start the first step after this delay.
    delayMs: NotRequired[int | None]
    #: A second request with the same key for the same flow and tenant returns the first run. The
    #: header `Idempotency-Key` does the same.
    idempotencyKey: NotRequired[str | None]
    #: The input, which is the initial state of the run. Default: an empty object.
    input: NotRequired[Any]
    #: Stored with the run.
    metadata: NotRequired[Any]
    #: Default: a new id.
    runId: NotRequired[str | None]
    tags: NotRequired[list[str]]
    tenantId: NotRequired[str | None]
    #: Default: the newest version.
    version: NotRequired[str | None]


class StartedRun(TypedDict):
    """A run that was started, now or by an earlier request with the same key."""

    created: bool
    runId: str
    #: Its status when it was stored.
    status: str


class StateAt(TypedDict):
    """The state at a point in time."""

    #: The time of the last included event; absent before the first.
    at: NotRequired[str | None]
    #: The number of included events.
    events: int
    runId: str
    state: Any
    status: str


class StreamList(TypedDict):
    """Streams, newest first: those of flows as their runs."""

    items: list[StreamSummary | RunSummary]
    nextCursor: NotRequired[str]


class StreamSummary(TypedDict):
    """A stream that is no run's, as lists show it."""

    createdAt: str
    #: How many events it has.
    events: int
    id: str
    #: The full name, as `/api/events/{stream}` takes it.
    stream: str
    type: str
    updatedAt: str


class StreamView(TypedDict):
    """A stream that is no run's: what it begins and ends with."""

    #: How many events it has.
    events: int
    first: Event
    id: str
    #: A page of its events.
    items: list[Event]
    last: Event
    nextCursor: NotRequired[str | None]
    #: Of a trigger: what its events reduce to, with `status` `registered`, `fired`, `timeout` or
    #: `cancelled`.
    state: NotRequired[Any]
    #: The full name.
    stream: str
    type: str


class Throttle(TypedDict):
    key: NotRequired[str | None]
    windowMs: int


class Trigger(TypedDict):
    #: `{code, message}`: why it cannot be used. It starts no runs until it is corrected.
    broken: NotRequired[Any]
    config: Any
    contextKey: NotRequired[str | None]
    createdAt: str
    description: NotRequired[str | None]
    enabled: bool
    flow: str
    flowVersion: NotRequired[str | None]
    id: str
    idempotencyKey: NotRequired[str | None]
    input: NotRequired[Any]
    inputMap: NotRequired[str | None]
    metadata: NotRequired[Any]
    nextDueAt: NotRequired[str | None]
    #: `api`, or `project` if it comes from a file.
    origin: str
    #: The URL that fires it.
    path: NotRequired[str | None]
    stats: TriggerStats
    tags: NotRequired[list[str] | None]
    tenantId: NotRequired[str | None]
    type: str
    #: The next due times.
    upcoming: NotRequired[list[str] | None]
    updatedAt: str
    #: Grows with each change.
    version: int


class TriggerList(TypedDict):
    items: list[Trigger]
    #: The `cursor` of the next page; absent on the last page.
    nextCursor: NotRequired[str | None]


class TriggerStats(TypedDict):
    failed: int
    fired: int
    lastError: NotRequired[Any]
    lastFailedAt: NotRequired[str | None]
    lastFiredAt: NotRequired[str | None]
    lastRunId: NotRequired[str | None]
    #: Due times that passed without a run.
    missed: int
    nextDueAt: NotRequired[str | None]


class Unheard(TypedDict):
    """Emitted events without a receiver."""

    #: Of all types, since the store was created.
    total: int
    types: list[UnheardKind]


class UnheardKind(TypedDict):
    """How many events of a type had no receiver."""

    count: int
    lastAt: str
    type: str


class Validation(TypedDict):
    issues: list[Issue]
    valid: bool


class Version(TypedDict):
    name: str
    #: Facts about the store, for people.
    store: Any
    version: str


class Why(TypedDict):
    """Why a run, or a job, is where it is."""

    #: The run has failed and undoes what it did.
    compensating: NotRequired[bool | None]
    #: When the run fails with TIMEOUT unless it has ended. ISO 8601.
    deadlineAt: NotRequired[str | None]
    #: The code of the failure with which the run ends once what is active has ended.
    failing: NotRequired[str | None]
    #: The id of a run's flow.
    flow: NotRequired[str | None]
    #: `flow`, `job` or `call`.
    kind: str
    #: Active visits that were not looked at, because there are so many.
    more: NotRequired[int | None]
    #: Whether something is under way or about to begin.
    moving: bool
    #: One for each active visit, the most telling first; those of the whole run before them.
    reasons: list[WhyReason]
    runId: str
    #: The run's status, the job's state, or whether the call runs or how it has ended.
    status: str
    #: The first reason in a line, and how many others there are.
    summary: str


class WhyJob(TypedDict):
    """The job that a reason is about."""

    #: Of a waiting one: how many of the same key, or without one, begin before it. Counted up to
    #: 1,000.
    ahead: NotRequired[int | None]
    #: Somebody wants it stopped.
    cancelling: NotRequired[bool | None]
    id: str
    leaseUntil: NotRequired[str | None]
    #: Of an active one: who runs it, and how long that is believed (ISO 8601).
    owner: NotRequired[str | None]
    queue: str
    #: Of one that has its time: its queue is paused too, so that is not when it begins.
    queuePaused: NotRequired[bool | None]
    state: str
    #: The remote worker that has it: `{id, name}`.
    worker: NotRequired[Any]


class WhyReason(TypedDict):
    """Which members there are depends on the kind."""

    #: Of `concurrency`: those that run. Of `branches`: those that are active, as `{index, step,
    #: visit, status}`.
    active: NotRequired[Any]
    attempt: NotRequired[int | None]
    awaitId: NotRequired[str | None]
    #: The server drives as many runs as it may.
    busy: NotRequired[bool | None]
    #: Why that run is where it is: a `Why`, at most five deep.
    child: NotRequired[Any]
    childFlow: NotRequired[str | None]
    #: The run that is waited for.
    childId: NotRequired[str | None]
    #: Of what is parked: why, and the command that releases it.
    code: NotRequired[str | None]
    #: What the event must be like: `{match?, where?}`.
    condition: NotRequired[Any]
    #: Jobs that make a batch, and how many wait.
    count: NotRequired[int | None]
    details: NotRequired[Any]
    ended: NotRequired[int | None]
    #: Of the last attempt, or why the process does not load.
    error: NotRequired[Any]
    eventKind: NotRequired[str | None]
    failed: NotRequired[int | None]
    #: When the awaited event or request arrived; the run is about to continue. ISO 8601.
    firedAt: NotRequired[str | None]
    #: The run is paused, and it begins when that is over.
    held: NotRequired[bool | None]
    job: NotRequired[WhyJob | None]
    #: Events of the kind that its `where` has yet to judge, counted up to 100.
    judging: NotRequired[int | None]
    #: Of `concurrency`: the key, if it is the limit of each key.
    key: NotRequired[str | None]
    #: `ended`, `paused`, `parked`, `not-before`, `await-time`, `await-event`, `await-trigger`,
    #: `backoff`, `queue-paused`, `no-worker`, `process-broken`, `no-room`, `concurrency`,
    #: `rate-limit`, `gathering`, `delayed`, `queued`, `lease-expired`, `worker-away`, `running`,
    #: `child`, `branches` or `ready`.
    kind: str
    #: Jobs of the queue, or of the key, that may run at once.
    limit: NotRequired[int | None]
    #: Jobs of the queue that may begin within a window.
    max: NotRequired[int | None]
    message: NotRequired[str | None]
    #: How often a callback was resumed that waits for more, and how often it is to be, if that
    #: was said.
    opened: NotRequired[int | None]
    #: Of `backoff`: the operation of the step's code whose try failed, `{op, name, nth?, try}`.
    operation: NotRequired[Any]
    #: The process that is unknown to this server, or that does not load.
    process: NotRequired[str | None]
    #: Of a pause, or of a time that is waited for.
    reason: NotRequired[str | None]
    release: NotRequired[str | None]
    #: ISO 8601.
    since: NotRequired[str | None]
    #: Of the visit.
    status: NotRequired[str | None]
    #: The visit that it is about; reasons of the whole run have none.
    step: NotRequired[str | None]
    #: In a line.
    summary: str
    #: Branches in all, ended, and failed of those.
    total: NotRequired[int | None]
    #: `webhook`, `user` or `api`.
    triggerType: NotRequired[str | None]
    #: Why its `where` could not be judged: `{at, code, message}`. Such events are passed over.
    trouble: NotRequired[Any]
    #: The finished visit that this one undoes.
    undoes: NotRequired[str | None]
    #: When the reason ends by itself, if that is known. ISO 8601.
    until: NotRequired[str | None]
    #: Where the trigger is fired.
    url: NotRequired[str | None]
    visit: NotRequired[int | None]
    waiting: NotRequired[int | None]
    wanted: NotRequired[int | None]
    windowMs: NotRequired[int | None]


class WorkerList(TypedDict):
    items: list[ShownWorker]
