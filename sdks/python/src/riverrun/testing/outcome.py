"""What comes of an invocation in a test."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field
from typing import Any

from .. import _json
from .._runner.answers import value_text
from ..errors import Stopped


@dataclass(frozen=True)
class LogLine:
    level: str
    message: str
    meta: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class RunRetry:
    """A try of a `ctx.run`, or of another recorded operation, that failed and was followed by another."""

    op: str
    name: str
    nth: int
    #: The try that failed, from 1.
    attempt: int
    error: dict[str, Any]
    delay_ms: int
    failed_at: str


@dataclass
class Outcome:
    """What came of an invocation."""

    #: What the handler returned, as JSON has it; `None` if it failed.
    value: Any = None
    #: What the handler raised.
    error: BaseException | None = None
    state: dict[str, Any] = field(default_factory=dict)
    logs: list[LogLine] = field(default_factory=list)
    #: `{"type", "data"?}`, in order.
    events: list[dict[str, Any]] = field(default_factory=list)
    #: `{"pct"?, "detail"?}`, in order.
    progress: list[dict[str, Any]] = field(default_factory=list)
    #: `{"path"?, "value"}`, in order.
    partials: list[dict[str, Any]] = field(default_factory=list)
    #: `{"queue", "name"?, "data", "options"?}`, in order.
    enqueued: list[dict[str, Any]] = field(default_factory=list)
    #: `{"process", "input", "timeoutMs"?}`, in order.
    calls: list[dict[str, Any]] = field(default_factory=list)
    #: `{"flow", "input", "options"?}`, in order.
    started: list[dict[str, Any]] = field(default_factory=list)
    #: What `ctx.run` recorded: give it as `journal` to play the next attempt.
    journal: list[dict[str, Any]] = field(default_factory=list)
    #: Tries of `ctx.run` and the like that failed and were followed by another, in order.
    run_retries: list[RunRetry] = field(default_factory=list)
    #: What was saved last: give it as `checkpoint` to play the next attempt.
    checkpoint: Any = None
    #: Seconds of simulated time.
    elapsed: float = 0.0
    #: Of a batch: what was done with `ctx.job` for each of its jobs. The first is the batch's own.
    jobs: list[Outcome] = field(default_factory=list, repr=False)

    def result(self) -> Any:
        """The value; raises what the handler raised."""
        if self.error is not None:
            raise self.error
        return self.value


#: What a result may have.
_RESULT_BYTES = 1 << 20


def as_result(value: Any) -> Any:
    """What is left of a result, or the error that it cannot be sent."""
    return _json.decode(value_text(value, _RESULT_BYTES))


def through_json(value: Any) -> Any:
    """What is left of a value that goes over the wire."""
    return _json.decode(_json.encode(value))


def with_code(error: BaseException | None) -> BaseException | None:
    """The error with a code, as the server shows every failure."""
    if isinstance(error, Stopped):
        error = error.error
    if isinstance(error, Exception) and getattr(error, "code", None) is None:
        vars(error)["code"] = "HANDLER_ERROR"
    return error


def iso(ms: float) -> str:
    date = datetime.datetime.fromtimestamp(round(ms) / 1000, datetime.timezone.utc)
    return date.isoformat(timespec="milliseconds").replace("+00:00", "Z")
