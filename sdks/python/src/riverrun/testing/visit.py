"""One visit of a step, as a test reads it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from .outcome import Outcome


@dataclass
class SimulatedAwait:
    """A wait, with the simulated times at which it began and ended."""

    type: str
    #: `time`, the kind of the event, or the id of the trigger.
    name: str
    #: ISO 8601.
    began_at: str
    #: `None` while it lasts.
    ended_at: str | None = None
    waited_ms: int | None = None
    outcome: Literal["time", "event", "trigger", "timeout", "waiting"] = "waiting"
    value: Any = None


@dataclass
class SimulatedRetry:
    """A try that failed and was followed by another."""

    attempt: int
    error: BaseException
    #: When it failed (ISO 8601), and how long it was waited until the next try.
    failed_at: str
    delay_ms: int


@dataclass
class VisitRun(Outcome):
    """What came of a visit, over all of its executions."""

    step: str = ""
    visit: int = 1
    input: Any = None
    #: The name and the number of the finished visit that this one undoes.
    undoes: tuple[str, int] | None = None
    status: Literal["completed", "failed", "cancelled", "timeout", "waiting"] = "waiting"
    awaits: list[SimulatedAwait] = field(default_factory=list)
    #: How often it was tried: 1, and 1 more for each of `retries`.
    attempt: int = 1
    retries: list[SimulatedRetry] = field(default_factory=list)
    #: How often the handler was called, over all attempts.
    executions: int = 0
    started_at: str = ""
    ended_at: str = ""
