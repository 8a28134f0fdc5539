# Generated from crates/api/openapi.json. Do not edit: run `make clients`.

"""The shapes of requests and answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict

if TYPE_CHECKING:
    from typing_extensions import NotRequired


class AddJob(TypedDict):
    """One of several jobs."""

    #: What the handler gets.
    data: NotRequired[Any]
    #: The queue's name where absent.
    name: NotRequired[str | None]
    options: NotRequired[AddOptions]


class AddJobs(TypedDict):
    """One job, or several under `jobs`."""

    #: What the handler gets.
    data: NotRequired[Any]
    #: Several jobs, with nothing beside them.
    jobs: NotRequired[list[AddJob] | None]
    #: The queue's name where absent.
    name: NotRequired[str | None]
    options: NotRequired[AddOptions | None]


class AddOptions(TypedDict):
    """How a job is to be run, where it differs from what its process says."""

    #: How often it is tried in all, the first try included. Default as its process says.
    attempts: NotRequired[int | None]
    backoff: NotRequired[Backoff | None]
    causationId: NotRequired[str | None]
    correlationId: NotRequired[str | None]
    debounce: NotRequired[Debounce | None]
    dedupe: NotRequired[KeyWindow | None]
    #: Not with `runAt`.
    delayMs: NotRequired[int | None]
    idempotency: NotRequired[KeyWindow | None]
    #: One job for this key, as long as the job is known or for a time; `auto` makes the key of
    #: the data.
    idempotencyKey: NotRequired[str | None]
    idempotencyWindowMs: NotRequired[int | None]
    #: The same id again is the same job.
    jobId: NotRequired[str | None]
    #: Jobs of one key take turns with other keys and share the key's concurrency.
    key: NotRequired[str | None]
    metadata: NotRequired[Any]
    #: `dlq`, `retry` or `drop`.
    onFail: NotRequired[Literal["dlq", "retry", "drop", None]]
    #: Higher goes first.
    priority: NotRequired[int]
    retriableErrors: NotRequired[list[str] | None]
    #: ISO 8601 or milliseconds, ten years from now at most.
    runAt: NotRequired[str | int | None]
    tags: NotRequired[list[str]]
    tenantId: NotRequired[str | None]
    throttle: NotRequired[Throttle | None]
    timeoutMs: NotRequired[int | None]


class AddedJobs(TypedDict):
    """What became of the jobs, in order."""

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
    """How many wait for events of a kind."""

    #: Those among them that have an expression (`where`).
    filters: int
    #: Its events that are to be judged.
    judging: int
    kind: str
    open: int


class AwaitStats(TypedDict):
    """Who waits for what, in all runs together."""

    #: Open doors: webhooks, people's answers.
    doors: int
    #: Open awaits of events.
    events: int
    #: Emitted events that only an expression, or an event trigger, can judge, and that wait for
    #: it. Counted up to 10,000.
    judging: int
    #: When the first of them came. ISO 8601.
    judgingSince: NotRequired[str | None]
    #: The kinds that most wait for, up to 1,000, and those of events that are to be judged.
    kinds: list[AwaitKind]


BackfillBody = TypedDict(
    "BackfillBody",
    {
        #: Also due times of so long ago that a run which there was may be deleted: they may run
        #: twice. Without it, those are refused.
        "forgotten": "NotRequired[bool | None]",
        #: The first moment that counts: ISO 8601 or milliseconds.
        "from": "str | int",
        #: At most so many due times, the earliest first: up to 1,000, default 100.
        "limit": "NotRequired[int | None]",
        #: The first that does not.
        "to": "str | int",
    },
)


class Backfilled(TypedDict):
    #: How many runs were started.
    created: int
    #: How many could not be.
    failed: int
    #: `{code, message}` of the first of those.
    firstError: NotRequired[Any]
    items: list[BackfilledTime]
    #: Where to go on; absent if nothing is left.
    nextFrom: NotRequired[str | None]


class BackfilledTime(TypedDict):
    #: False if there was a run for this time already.
    created: bool
    dueAt: str
    #: `{code, message}` of why there is no run.
    error: NotRequired[Any]
    #: Absent if none could be started.
    runId: NotRequired[str | None]


class Backoff(TypedDict):
    """How long a job waits before it is tried again."""

    delayMs: int
    #: A part of the delay by which it varies.
    jitter: NotRequired[float | None]
    maxDelayMs: NotRequired[int | None]
    #: `fixed` or `exponential`.
    type: NotRequired[Literal["fixed", "exponential"]]


class ChangeJobBody(TypedDict):
    #: Begin not before this long from now.
    delayMs: NotRequired[int | None]
    #: Higher goes first.
    priority: NotRequired[int | None]


class ChangedTrigger(TypedDict):
    """What of a trigger changes; null takes away."""

    config: NotRequired[dict[str, Any] | None]
    contextKey: NotRequired[str | None]
    description: NotRequired[str | None]
    enabled: NotRequired[bool | None]
    flow: NotRequired[str]
    flowVersion: NotRequired[str | None]
    #: The same as in the path: the id of a trigger never changes.
    id: NotRequired[str]
    idempotencyKey: NotRequired[str | None]
    input: NotRequired[Any]
    inputMap: NotRequired[str | None]
    metadata: NotRequired[dict[str, Any] | None]
    tags: NotRequired[list[str] | None]
    tenantId: NotRequired[str | None]
    #: `http`, `schedule`, `event` or `manual`.
    type: NotRequired[Literal["http", "schedule", "event", "manual"]]
    #: The version in which the trigger is to be; in another one the change is refused.
    version: NotRequired[int | None]


class CleanBody(TypedDict):
    filter: NotRequired[LetterFilter | None]
    #: At most this many.
    limit: NotRequired[int | None]
    #: Only those that ended at least this long ago.
    olderThanMs: NotRequired[int]
    #: `completed` (the default), `failed` or `cancelled`.
    state: NotRequired[Literal["completed", "failed", "cancelled"]]


class Debounce(TypedDict):
    delayMs: int
    key: NotRequired[str | None]


class DrainBody(TypedDict):
    #: Also those that wait for their time.
    delayed: NotRequired[bool]


class DrainWorkerBody(TypedDict):
    #: How long it may take to end what it runs; at most a day. Default 30,000.
    graceMs: NotRequired[int | None]


class Drained(TypedDict):
    #: So many wait still: the jobs of steps, whose runs wait for them, and what was added
    #: meanwhile.
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
    #: Whose it is: only that tenant's awaits and triggers, and those of no tenant, hear of it.
    #: Of a run's events the run says it, and another one is refused.
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
    #: Give it as `cursor` to read on; absent on the last page.
    nextCursor: NotRequired[str | None]


class EventsOfKind(TypedDict):
    """Events of many streams."""

    #: Where to go on later: give it as `from`.
    cursor: str
    #: Each also has `stream`, the full name of the stream that it is from, and `cursor`.
    items: list[Event]
    #: Give it as `cursor` to read on; absent where nothing more is there yet.
    nextCursor: NotRequired[str | None]


class ExecuteBody(TypedDict):
    #: The call's id; a fresh one where absent.
    callId: NotRequired[str | None]
    #: Whether it is stopped when the caller goes away. Default true.
    cancelOnDisconnect: NotRequired[bool | None]
    correlationId: NotRequired[str | None]
    #: What its handler gets. null where absent.
    input: NotRequired[Any]
    #: Whether what happens is recorded in the call's stream. Default true.
    persistFrames: NotRequired[bool | None]
    #: The process's id.
    process: str
    #: How long it may take; the process's own limit where absent.
    timeoutMs: NotRequired[int | None]


class Executed(TypedDict):
    """The result of a call."""

    callId: str
    value: Any


class Execution(TypedDict):
    """A run in FlowMonkey's shape. Times are milliseconds since 1970."""

    cancellation: NotRequired[ExecutionCancellation | None]
    context: Any
    createdAt: int
    #: The step that is active, or the last one that was.
    currentStepId: NotRequired[str | None]
    error: NotRequired[ExecutionError | None]
    flowId: str
    flowVersion: str
    #: The attempts that have ended, where they were asked for.
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
    #: Who or what fires it, for the run's metadata. Default `manual`.
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
    #: As it was registered; `/api/schemas/flow` is its schema.
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
    #: What has to come from outside: events that no step says it emits, and doors.
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
    #: The kind of the event, or who opens the door: `webhook`, `user` or `api`.
    label: str
    to: str
    #: `enters` (an event that enters the step), `resumes` (one that it waits for) or `opens` (a
    #: door that it waits at).
    type: str


class FlowSubscription(TypedDict):
    eventKind: str
    when: NotRequired[str | None]


class FlowSummary(TypedDict):
    """A flow as lists show it."""

    #: ISO 8601.
    createdAt: str
    description: NotRequired[str | None]
    id: str
    name: NotRequired[str | None]
    #: How many steps it has.
    steps: int
    tags: NotRequired[list[str] | None]
    version: str


class ForkBody(TypedDict):
    #: The last event that both runs share; everything up to now where absent.
    at: NotRequired[str | None]


class HandlerInfo(TypedDict):
    """A kind of step that this server can run."""

    about: str
    #: `none`: it depends on its input alone and touches nothing. `some`: it talks to the world.
    effects: str
    #: JSON Schema of a step's `config`.
    schema: NotRequired[Any]
    #: The `type` that steps name it by.
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
    #: Tries of its code's operations that failed and were tried again, the latest 20: `{op,
    #: name, nth?, attempt, at, nextRetryAt, error}`.
    retries: NotRequired[list[Any] | None]
    startedAt: str
    stepId: str
    visit: int


class HistoryList(TypedDict):
    items: list[HistoryEntry]
    #: Give it as `cursor` to read on; absent on the last page.
    nextCursor: NotRequired[str | None]


class Issue(TypedDict):
    """One thing to say about a definition."""

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

    #: Of a visit: tries so far, the first one included.
    attempt: NotRequired[int | None]
    createdAt: str
    #: When it moves by itself.
    dueAt: NotRequired[str | None]
    endedAt: NotRequired[str | None]
    flow: str
    id: str
    #: Of a visit: the process that runs it.
    process: NotRequired[str | None]
    runId: str
    #: It was to move by itself longer than a lease ago, and nobody has taken it up.
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
    """A key, and for how long it holds."""

    key: str
    windowMs: NotRequired[int | None]


class LetterFilter(TypedDict):
    """Which jobs: those that have all that is named."""

    #: Ended at or after this time.
    after: NotRequired[str | int | None]
    #: Ended at or before this time, as ISO 8601 or milliseconds.
    before: NotRequired[str | int | None]
    #: The code of the job's error.
    code: NotRequired[str | None]
    key: NotRequired[str | None]
    name: NotRequired[str | None]
    tag: NotRequired[str | None]


class NewEvent(TypedDict):
    """An event, as anybody may write it. Older forms are accepted as well."""

    attempt: NotRequired[int | None]
    causationId: NotRequired[str | None]
    correlationId: NotRequired[str | None]
    data: NotRequired[Any]
    stepName: NotRequired[str | None]
    #: Whose it is: only that tenant's awaits and triggers, and those of no tenant, hear of it.
    #: Of a run's events the run says it, and another one is refused.
    tenantId: NotRequired[str | None]
    type: str


#: An event, or a list of events.
NewEvents: TypeAlias = "NewEvent | list[NewEvent]"


class NewTrigger(TypedDict):
    """What a trigger is made of."""

    #: What is peculiar to the type: see the documentation of triggers.
    config: NotRequired[dict[str, Any]]
    #: Where in the input it lands.
    contextKey: NotRequired[str | None]
    description: NotRequired[str | None]
    #: Default true.
    enabled: NotRequired[bool | None]
    #: The flow that it starts, or `id@version`.
    flow: str
    #: The newest where absent.
    flowVersion: NotRequired[str | None]
    id: str
    #: An expression that gives the run's idempotency key.
    idempotencyKey: NotRequired[str | None]
    #: The input of its runs where nothing else gives one.
    input: NotRequired[Any]
    #: An expression that makes the input of what came.
    inputMap: NotRequired[str | None]
    metadata: NotRequired[dict[str, Any] | None]
    tags: NotRequired[list[str]]
    tenantId: NotRequired[str | None]
    #: `http`, `schedule`, `event` or `manual`.
    type: Literal["http", "schedule", "event", "manual"]


class Opened(TypedDict):
    """What somebody who opened a door is told."""

    runId: str
    success: bool
    triggerId: str


class ProcessList(TypedDict):
    items: list[ShownProcess]


class Queue(TypedDict):
    """A queue: how many jobs it has in each state, and how fast it is."""

    #: By state.
    counts: Any
    name: str
    #: How long the job that has waited longest has waited.
    oldestMs: NotRequired[int | None]
    paused: bool
    #: The process that takes its jobs here.
    process: NotRequired[str | None]
    #: Rates and latencies that this server has seen since it started.
    stats: Any


class QueueJob(TypedDict):
    """A job of a queue."""

    #: Attempts begun.
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
    """Why something is done, for the record."""

    reason: NotRequired[str | None]


class RedriveBody(TypedDict):
    filter: NotRequired[LetterFilter | None]
    #: At most this many, the newest first; all where absent.
    limit: NotRequired[int | None]
    #: At most so many of them begin in a second.
    perSecond: NotRequired[int | None]


class Redriven(TypedDict):
    #: There are more, and they follow in the background.
    goesOn: bool
    redriven: int


class RegisteredFlow(TypedDict):
    """What a registration did."""

    #: False where the same definition was there already.
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
    #: With the newest version of the flow instead of the run's own.
    latest: NotRequired[bool]


class Run(TypedDict):
    """A run with its state."""

    #: The story that it belongs to, if that is not its own.
    correlationId: NotRequired[str | None]
    #: ISO 8601, like all times.
    createdAt: str
    durationMs: NotRequired[int | None]
    endedAt: NotRequired[str | None]
    error: NotRequired[Any]
    #: How many events its stream has.
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
    #: When it moves by itself.
    wakeAt: NotRequired[str | None]
    #: `{source, reason?}`.
    cancellation: NotRequired[Any]
    input: Any
    #: Once it has ended.
    result: NotRequired[Any]
    state: Any
    #: Visits begun so far.
    stepCount: int
    #: The latest news of each step: `{status, visits, attempt, startedAt?, completedAt?,
    #: error?}`.
    steps: Any


class RunAwait(TypedDict):
    """What a visit waits for, or a door that a step has made: `event` or `trigger`."""

    #: Of a door: it is over, and tells whoever comes so.
    closed: NotRequired[bool | None]
    #: ISO 8601.
    createdAt: str
    #: `{kind, match?: [[path, value]], filter?, lookbackMs?}`
    event: NotRequired[dict[str, Any] | None]
    expiresAt: NotRequired[str | None]
    #: When it was fired last.
    firedAt: NotRequired[str | None]
    #: Whoever knows a door's id may open it.
    id: str
    #: Of a door: it may be opened again and again.
    many: NotRequired[bool | None]
    #: Of a door: it takes only what is signed.
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
    #: Give it as `cursor` to read on; absent on the last page.
    nextCursor: NotRequired[str | None]


class RunSummary(TypedDict):
    """A run as lists show it."""

    #: The story that it belongs to, if that is not its own.
    correlationId: NotRequired[str | None]
    #: ISO 8601, like all times.
    createdAt: str
    durationMs: NotRequired[int | None]
    endedAt: NotRequired[str | None]
    error: NotRequired[Any]
    #: How many events its stream has.
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
    #: When it moves by itself.
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

    #: Why some flow is not what its processes say: `{code, message}`.
    faults: NotRequired[list[dict[str, Any]] | None]
    #: The flows that its processes make, as `<id>@<version>`.
    flows: NotRequired[list[str] | None]
    #: Tells workers of the same name apart.
    id: int
    name: str
    #: The ids of the processes that it has.
    processes: list[str]
    running: int
    #: The language and version of its SDK.
    sdk: str
    #: Those of them that the server has itself, and runs itself.
    shadowed: NotRequired[list[str] | None]
    #: When it connected last.
    since: str
    #: `connected`, `draining` or `away`.
    state: str
    tags: list[str]
    #: How many invocations it takes at once.
    window: int


class StartBody(TypedDict):
    """How to start a run. Everything may be absent, and so may the body."""

    #: What brought it about: the id of a run, a job or an event.
    causationId: NotRequired[str | None]
    #: The story that it belongs to; its own where absent.
    correlationId: NotRequired[str | None]
    #: Begin no step for this long.
    delayMs: NotRequired[int | None]
    #: The same key for the same flow and tenant answers with the first run. The header
    #: `Idempotency-Key` does the same.
    idempotencyKey: NotRequired[str | None]
    #: What the run's state begins with. An empty object where absent.
    input: NotRequired[Any]
    #: Kept with the run for its owner.
    metadata: NotRequired[Any]
    #: A fresh id where absent.
    runId: NotRequired[str | None]
    tags: NotRequired[list[str]]
    tenantId: NotRequired[str | None]
    #: The newest version where absent.
    version: NotRequired[str | None]


class StartedRun(TypedDict):
    """A run that was started, now or by an earlier request with the same key."""

    created: bool
    runId: str
    #: How far it had come when it became durable.
    status: str


class StateAt(TypedDict):
    """The state at a moment."""

    #: The time of the last event that counts; absent before the first.
    at: NotRequired[str | None]
    #: How many events led to it.
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
    #: `{code, message}` of why it cannot be used as it stands. It starts nothing meanwhile.
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
    #: `api`, or `project` where a file keeps it.
    origin: str
    #: Where requests go that fire it.
    path: NotRequired[str | None]
    stats: TriggerStats
    tags: NotRequired[list[str] | None]
    tenantId: NotRequired[str | None]
    type: str
    #: The next due times.
    upcoming: NotRequired[list[str] | None]
    updatedAt: str
    #: Counts its changes.
    version: int


class TriggerList(TypedDict):
    items: list[Trigger]
    #: Give it as `cursor` to read on; absent on the last page.
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
    """Emitted events to which nobody reacted."""

    kinds: list[UnheardKind]
    #: Of all kinds, since the store was made.
    total: int


class UnheardKind(TypedDict):
    """How many events of a kind nobody reacted to."""

    count: int
    kind: str
    lastAt: str


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
    #: What is awaited has come, and the run is about to go on. ISO 8601.
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
    #: How often a door was opened that waits for more, and how often it is to be, if that was
    #: said.
    opened: NotRequired[int | None]
    #: Of `backoff`: the operation of the step's code whose try failed, `{op, name, nth?, try}`.
    operation: NotRequired[Any]
    #: The process that nobody here knows, or that does not load.
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
    #: When it is over by itself, as far as anybody knows. ISO 8601.
    until: NotRequired[str | None]
    #: Where the trigger is fired.
    url: NotRequired[str | None]
    visit: NotRequired[int | None]
    waiting: NotRequired[int | None]
    wanted: NotRequired[int | None]
    windowMs: NotRequired[int | None]


class WorkerList(TypedDict):
    items: list[ShownWorker]
