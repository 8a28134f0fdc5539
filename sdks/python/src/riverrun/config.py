"""What a process says about itself, as objects. A plain dict does as well."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ._json import Record

__all__ = [
    "Batch",
    "DeadLetters",
    "Flow",
    "JavaScript",
    "QueueConfig",
    "RateLimit",
    "RetryBackoff",
    "RetryPolicy",
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

    type: Literal["fixed", "exponential"]
    delay_ms: int
    max_delay_ms: int | None = None
    jitter: float | bool | None = None


@dataclass
class RetryPolicy(Record):
    """What happens after a failure. `retriable_errors` takes names or exception classes."""

    attempts: int
    backoff: RetryBackoff | Mapping[str, Any] | None = None
    retriable_errors: Sequence[str | type[BaseException]] | None = None
    on_fail: Literal["retry", "dlq", "drop"] | None = None


@dataclass
class DeadLetters(Record):
    """Where jobs go that failed for good."""

    enabled: bool | None = None
    queue: str | None = None


@dataclass
class Batch(Record):
    """The handler gets up to `size` jobs, or what came within `wait_ms`."""

    size: int
    wait_ms: int | None = None


@dataclass
class Flow(Record):
    """The step of a flow that a process is."""

    id: str
    role: Literal["entry", "step"]
    step: str
    emits: Sequence[str] | None = None
    version: str | None = None
    triggers: str | Sequence[str] | None = None
    subscriptions: Sequence[Mapping[str, Any]] | None = None
    compensation: Mapping[str, Any] | None = None


@dataclass
class QueueConfig(Record):
    """The config of a process. What is `None` is left to the server's defaults.

    `input_schema`, `output_schema` and `state` take a JSON Schema, a pydantic model, or, where
    pydantic is installed, a dataclass or `TypedDict`.
    """

    queue: str | None = None
    run_mode: Literal["queue", "flow", "call"] | None = None
    flow: Flow | Mapping[str, Any] | None = None
    concurrency: int | Mapping[str, Any] | None = None
    rate_limit: RateLimit | Mapping[str, Any] | None = None
    retry_policy: RetryPolicy | Mapping[str, Any] | None = None
    dlq: DeadLetters | Mapping[str, Any] | None = None
    timeout_ms: int | None = None
    #: `"auto"`, or an expression over `input`: a string or `js(...)`.
    idempotency_key: str | JavaScript | None = None
    batch: Batch | Mapping[str, Any] | None = None
    input_schema: Any = None
    output_schema: Any = None
    state: Any = None
