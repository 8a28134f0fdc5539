"""The config of a process, as objects. Plain dicts are accepted too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypedDict

from ._json import Record

__all__ = [
    "AwaitConfig",
    "Batch",
    "Compensation",
    "DeadLetters",
    "Flow",
    "FlowConfig",
    "JavaScript",
    "QueueConfig",
    "RateLimit",
    "Retry",
    "RetryBackoff",
    "RetryPolicy",
    "Subscription",
    "js",
]


@dataclass(frozen=True)
class JavaScript:
    """A function that the server evaluates, in JavaScript."""

    source: str


def js(source: str) -> JavaScript:
    """A JavaScript function for the server: `js("(input) => input.orderId")`.

    The server's sandbox evaluates JavaScript alone, so a Python function cannot stand here.
    """
    return JavaScript(source)


@dataclass
class RateLimit(Record):
    """At most `max` jobs begin within `duration_ms`."""

    max: int
    duration_ms: int


@dataclass
class RetryBackoff(Record):
    """How long to wait before the next attempt. `jitter` is a share of it, 0 to 1."""

    type: Literal["fixed", "exponential"] = "exponential"
    delay_ms: int = 1000
    max_delay_ms: int | None = None
    jitter: float | None = None


@dataclass
class Retry(Record):
    """What happens after a failure, in the form that flows use as well.

    `retry_on` takes names or exception classes.
    """

    #: Attempts in all, the first included. Default 3; 1 means no retry.
    max_attempts: int | None = None
    #: Milliseconds before the second attempt. Default 1000.
    backoff_ms: int | None = None
    #: Each further delay is longer by this factor. Default 2.
    backoff_multiplier: float | None = None
    #: The longest delay in milliseconds. Default 60000.
    max_backoff_ms: int | None = None
    retry_on: Sequence[str | type[BaseException]] | None = None
    #: 0 to 1: the share of each delay that is random.
    jitter: float | None = None
    on_fail: Literal["retry", "dlq", "drop"] | None = None


@dataclass
class RetryPolicy(Record):
    """The form of `Retry` in the specifications."""

    #: Attempts in all, the first included. Default 3; 1 means no retry.
    attempts: int | None = None
    backoff: RetryBackoff | Mapping[str, Any] | None = None
    retriable_errors: Sequence[str | type[BaseException]] | None = None
    on_fail: Literal["retry", "dlq", "drop"] | None = None


@dataclass
class DeadLetters(Record):
    """What happens to jobs that failed for good."""

    enabled: bool | None = None
    queue: str | None = None


@dataclass
class Batch(Record):
    """The handler gets up to `size` jobs, or those that arrived within `wait_ms`."""

    size: int
    wait_ms: int | None = None


class _Kind(TypedDict):
    event_kind: str


class Subscription(_Kind, total=False):
    """A type of event that enters a step. Each matching event makes a visit.

    `when` and `map` are JavaScript over `event` and `ctx` (`runId`, `flowName`, `input`, `state`):
    only events for which `when` holds, and what `map` gives is the input, else the event's data.
    """

    when: str | JavaScript
    map: str | JavaScript


class _Await(TypedDict):
    type: Literal["time", "event", "trigger"]


class AwaitConfig(_Await, total=False):
    """What a step waits for.

    A step waits for an event or a trigger before its handler, which gets it as `ctx.awaited`. It
    waits for a time after its handler: `delay` is milliseconds, a duration, or a function of what
    the handler returned.
    `match` has dot paths into the event, each with a path into `input` or `state`, or
    `{"value": …}`. `payload` is shown to the person or program that resumes the callback: JSON
    whose strings may contain parts of the step's input and of the run's state (`${input.order}`,
    `${total}`), or a function of `ctx` (`input`, `state`, `runId`). `on_timeout` names the step
    that is entered when it takes longer than `timeout`; without it the visit fails.
    """

    delay: int | str | JavaScript
    event_kind: str
    where: str | JavaScript
    match: Mapping[str, str | Mapping[str, Any]]
    lookback: int | str
    trigger_type: Literal["webhook", "user", "api"]
    payload: Any
    #: The environment variable of the server with the secret that signs bodies.
    secret_env: str
    #: Requests before the step continues, 2 to 1,000; `ctx.awaited` is then a list.
    many: int
    timeout: int | str
    on_timeout: str


class _Undo(TypedDict):
    step: str


class Compensation(_Undo, total=False):
    """The step that undoes a visit when the run fails, or when one of these events comes."""

    on: str | Sequence[str]


#: A flow that a process is a step of, as a dict. Functional, since `await` is a word of Python's.
FlowConfig = TypedDict(
    "FlowConfig",
    {
        "id": str,
        "role": Literal["entry", "step"],
        "step": str,
        "emits": Sequence[str],
        "version": str,
        "triggers": str | Sequence[str],
        "subscriptions": Sequence[Subscription],
        "join": Literal["any", "all"],
        "await": AwaitConfig,
        "compensation": Compensation,
        "on_failure": Literal["stop", "finish"],
        "limits": Mapping[str, int],
    },
    total=False,
)


@dataclass
class Flow(Record):
    """The step of a flow that a process is.

    Without an `id` the flow has the name of its entry's step; another step without one is part of
    every flow that emits what it subscribes to, or that names it.
    """

    id: str | None = None
    role: Literal["entry", "step"] | None = None
    step: str | None = None
    emits: Sequence[str] | None = None
    version: str | None = None
    triggers: str | Sequence[str] | None = None
    subscriptions: Sequence[Subscription | Mapping[str, Any]] | None = None
    compensation: Compensation | Mapping[str, Any] | None = None
    join: Literal["any", "all"] | None = None
    #: `await` on the wire.
    await_: AwaitConfig | Mapping[str, Any] | None = None
    on_failure: Literal["stop", "finish"] | None = None
    #: Of the entry: how far a run may go before it fails: `max_steps`, `max_awaits`,
    #: `max_value_bytes`, `max_state_bytes`.
    limits: Mapping[str, int] | None = None


@dataclass
class QueueConfig(Record):
    """The config of a process. `None` means the server's default.

    `input_schema`, `output_schema` and `state` take a JSON Schema, a pydantic model, or, where
    pydantic is installed, a dataclass or `TypedDict`.
    """

    #: The name of the queue, or `{"name": …, "concurrency": …}`.
    queue: str | Mapping[str, Any] | None = None
    run_mode: Literal["queue", "flow", "call"] | None = None
    #: The flow or flows that it is a step of, by id or with what it is there. `step` and what
    #: belongs to it may stand at the top as well.
    flow: str | Flow | FlowConfig | Mapping[str, Any] | Sequence[Any] | None = None
    concurrency: int | None = None
    rate_limit: RateLimit | Mapping[str, Any] | None = None
    retry: Retry | Mapping[str, Any] | None = None
    #: Another form of `retry`.
    retry_policy: RetryPolicy | Mapping[str, Any] | None = None
    dlq: DeadLetters | Mapping[str, Any] | None = None
    timeout_ms: int | None = None
    #: `{"max_lines": …, "max_bytes": …}`: how much of one attempt's output is stored.
    logs: Mapping[str, int] | None = None
    #: `"auto"`, or an expression over `input`: a string or `js(...)`.
    idempotency_key: str | JavaScript | None = None
    batch: Batch | Mapping[str, Any] | None = None
    input_schema: Any = None
    output_schema: Any = None
    state: Any = None
    step: str | None = None
    subscriptions: Sequence[Subscription | Mapping[str, Any]] | None = None
    join: Literal["any", "all"] | None = None
    #: `await` on the wire.
    await_: AwaitConfig | Mapping[str, Any] | None = None
    emits: Sequence[str] | None = None
    compensation: Compensation | Mapping[str, Any] | None = None
    on_failure: Literal["stop", "finish"] | None = None
    role: Literal["entry", "step"] | None = None
    triggers: str | Sequence[str] | None = None
    #: The version of the flow, if this is the entry.
    version: str | None = None
    name: str | None = None
    description: str | None = None
    tags: Sequence[str] | None = None
    metadata: Mapping[str, Any] | None = None
    #: An expression over `input` that gives each job its key; keys take turns.
    key: str | JavaScript | None = None
    key_concurrency: int | None = None
    #: `{"window_ms": …, "key": …}`: the first job of each window is kept, per value of `key`.
    throttle: Mapping[str, Any] | None = None
    #: `{"delay_ms": …, "key": …}`: the last job is kept, once no other came for `delay_ms`.
    debounce: Mapping[str, Any] | None = None
    #: How long an idempotency key is taken. Default: as long as its job is stored.
    idempotency_window_ms: int | None = None
    #: `{"key": …, "window_ms": …}`: both in one.
    idempotency: Mapping[str, Any] | None = None
    #: Whether the frames of a call are recorded as events. Default: true.
    persist_frames: bool | None = None
    #: For people and other readers of the config.
    logger: Mapping[str, Any] | None = None
