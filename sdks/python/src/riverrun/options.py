"""The shapes of what is asked for and of what comes back."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypedDict, TypeVar

from ._json import Record
from ._naming import options_on_wire

__all__ = [
    "Backoff",
    "Debounce",
    "Dedupe",
    "EnqueueOptions",
    "Enqueued",
    "NewJob",
    "Page",
    "StartOptions",
    "Started",
    "Throttle",
]

T = TypeVar("T")


class Backoff(TypedDict, total=False):
    type: Literal["fixed", "exponential"]
    delay_ms: int
    max_delay_ms: int
    jitter: float | bool


class Dedupe(TypedDict, total=False):
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
    idempotency_key: str
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
