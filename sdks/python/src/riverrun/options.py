"""The options of requests and the shapes of answers."""

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
    "ChildQuery",
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
    """Options of a job. All are optional; the config of the queue has the defaults."""

    job_id: str
    priority: int
    delay_ms: int
    run_at: str | datetime.datetime
    attempts: int
    backoff: Backoff
    timeout_ms: int
    #: One job per key: as long as the job is stored, or for `idempotency_window_ms`.
    idempotency_key: str
    idempotency_window_ms: int
    #: Both in one.
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
    """Options of a call. All are optional."""

    timeout_ms: int
    #: A new id by default. The stream of the call is `call/<id>`.
    call_id: str
    correlation_id: str
    #: With False the call continues when this program disconnects.
    cancel_on_disconnect: bool
    #: With False the call is not recorded.
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


class ChildQuery(TypedDict, total=False):
    """Which children of a run a list shows."""

    flow: str
    version: str
    status: str | Sequence[str]
    tag: str
    tenant: str
    #: The prefix of their ids.
    prefix: str
    #: Created at or after, and before.
    since: Moment
    until: Moment
    order: Literal["asc", "desc"]
    limit: int
    cursor: str


class RunQuery(ChildQuery, total=False):
    """Which runs a list shows."""

    #: The run that started them.
    parent: str


class EventQuery(TypedDict, total=False):
    """Which events of a stream."""

    order: Literal["asc", "desc"]
    #: The older name of `order`.
    direction: Literal["forward", "backward"]
    #: `log` matches every `log.*`.
    type: str | Sequence[str]
    step: str
    since: Moment
    until: Moment
    limit: int
    cursor: str


class JobFilter(TypedDict, total=False):
    """Which ended jobs: those that match all given fields."""

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
    """Options of a new run. All are optional."""

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
    """A job that is on disk. `created` is false if it is an earlier job."""

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
    """Dead letters that were queued again. With `goes_on` others follow in the background."""

    redriven: int
    goes_on: bool = False


@dataclass(frozen=True)
class Page(Generic[T]):
    """A page of a list. `next_cursor` is the cursor of the next page, `None` on the last one."""

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
