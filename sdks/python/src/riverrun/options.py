"""The shapes of what is asked for and of what comes back."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypedDict, TypeVar, Union

from ._json import Record
from ._naming import options_on_wire

__all__ = [
    "Backoff",
    "CallOptions",
    "Debounce",
    "Dedupe",
    "EnqueueOptions",
    "Enqueued",
    "Event",
    "EventQuery",
    "Idempotency",
    "JobFilter",
    "JobQuery",
    "Moment",
    "NewJob",
    "Page",
    "Redriven",
    "RunQuery",
    "StartOptions",
    "Started",
    "Throttle",
]

T = TypeVar("T")

#: An event as it is on the wire: `{id, ts, type, runId, flowName, …, data?}`.
Event = dict[str, Any]

#: A moment: a `datetime`, ISO 8601, or milliseconds since 1970.
Moment = Union[datetime.datetime, str, int]


class Backoff(TypedDict, total=False):
    type: Literal["fixed", "exponential"]
    delay_ms: int
    max_delay_ms: int
    jitter: float


class Dedupe(TypedDict, total=False):
    key: str
    window_ms: int


class Idempotency(TypedDict, total=False):
    key: str
    window_ms: int


class Throttle(TypedDict, total=False):
    key: str
    window_ms: int


class Debounce(TypedDict, total=False):
    key: str
    delay_ms: int


class EnqueueOptions(TypedDict, total=False):
    """How a job is to be run. Everything may be absent; the queue's config fills in."""

    job_id: str
    priority: int
    delay_ms: int
    run_at: str | datetime.datetime
    attempts: int
    backoff: Backoff
    timeout_ms: int
    #: One job for the key: as long as the job is known, or for `idempotency_window_ms`.
    idempotency_key: str
    idempotency_window_ms: int
    #: The same, said in one.
    idempotency: Idempotency
    dedupe: Dedupe
    throttle: Throttle
    debounce: Debounce
    key: str
    tenant_id: str
    tags: list[str]
    metadata: Mapping[str, Any]
    correlation_id: str
    causation_id: str
    on_fail: Literal["retry", "dlq", "drop"]
    retriable_errors: list[str]


class CallOptions(TypedDict, total=False):
    """How a process is to be called. Everything may be absent."""

    timeout_ms: int
    #: A fresh one where absent. The stream of the call is `call/<id>`.
    call_id: str
    correlation_id: str
    #: False lets it go on when this program goes away.
    cancel_on_disconnect: bool
    #: False records nothing of it.
    persist_frames: bool


class JobQuery(TypedDict, total=False):
    """Which jobs a list shows."""

    status: str | Sequence[str]
    #: The older name of `status`.
    state: str | Sequence[str]
    tag: str
    name: str
    key: str
    limit: int
    cursor: str


class RunQuery(TypedDict, total=False):
    """Which runs a list shows."""

    flow: str
    version: str
    status: str | Sequence[str]
    tag: str
    tenant: str
    #: The run that started them.
    parent: str
    #: What their ids begin with.
    prefix: str
    #: Created at or after, and before.
    since: Moment
    until: Moment
    order: Literal["asc", "desc"]
    limit: int
    cursor: str


class EventQuery(TypedDict, total=False):
    """Which events of a stream."""

    order: Literal["asc", "desc"]
    #: The older name of `order`.
    direction: Literal["forward", "backward"]
    #: `log` takes every `log.*`.
    type: str | Sequence[str]
    step: str
    since: Moment
    until: Moment
    limit: int
    cursor: str


class JobFilter(TypedDict, total=False):
    """Which ended jobs: those that have all that is named."""

    #: The code of the job's error.
    code: str
    name: str
    key: str
    tag: str
    #: Ended at or before this time.
    before: Moment
    #: Ended at or after this time.
    after: Moment


class StartOptions(TypedDict, total=False):
    """How a run is to be started. Everything may be absent."""

    idempotency_key: str
    tags: list[str]
    metadata: Mapping[str, Any]
    tenant_id: str
    delay_ms: int
    version: str
    run_id: str


@dataclass(frozen=True)
class NewJob:
    """One of several jobs that are enqueued at once: all of them or none.

    Without a queue it goes to the one that `Client.enqueue_many` names.
    """

    data: Any = None
    queue: str | None = None
    name: str | None = None
    options: EnqueueOptions | None = None

    def to_wire(self) -> dict[str, Any]:
        wire: dict[str, Any] = {"data": self.data}
        if self.queue is not None:
            wire["queue"] = self.queue
        return with_options(wire, self.name, self.options)


@dataclass(frozen=True)
class Enqueued(Record):
    """A job that is on disk. `created` is false if an earlier one took its place."""

    job_id: str
    created: bool

    @classmethod
    def from_wire(cls, job: Mapping[str, Any]) -> Enqueued:
        return cls(job["jobId"], job.get("created", True))


@dataclass(frozen=True)
class Started(Record):
    """A run that is on disk. `created` is false if the idempotency key was known."""

    run_id: str
    created: bool
    status: str | None = None

    @classmethod
    def from_wire(cls, run: Mapping[str, Any]) -> Started:
        return cls(run["runId"], run.get("created", True), run.get("status"))


@dataclass(frozen=True)
class Redriven(Record):
    """Dead letters that wait again. With `goes_on` others follow in the background."""

    redriven: int
    goes_on: bool = False


@dataclass(frozen=True)
class Page(Generic[T]):
    """A page of a list. `next_cursor` reads on; it is `None` on the last page."""

    items: list[T]
    next_cursor: str | None = None

    def __iter__(self) -> Iterator[T]:
        return iter(self.items)


def with_options(
    wire: dict[str, Any], name: str | None, options: Mapping[str, Any] | None
) -> dict[str, Any]:
    if name is not None:
        wire["name"] = name
    if options:
        wire["options"] = options_on_wire(options)
    return wire
