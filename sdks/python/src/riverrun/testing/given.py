"""What comes from outside in a test: events, and answers to callbacks."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .._duration import Duration, duration_ms
from .emitted import check_bytes
from .outcome import through_json

#: `{"type", "data"?, "at"?}`: `at` is a date, or so long after the start. Without it the event
#: comes as soon as a step waits for it.
GivenEvent = Mapping[str, Any]


@dataclass(frozen=True)
class MadeTrigger:
    """A callback that a step has created. `payload` is shown to those who resume it."""

    id: str
    url: str
    type: str
    payload: Any = None


Triggers = Callable[[MadeTrigger], Any] | Mapping[str, Callable[[MadeTrigger], Any]]


@dataclass(frozen=True)
class Later:
    """An answer that comes later."""

    after: Duration
    payload: Any = None


def later(after: Duration, payload: Any = None) -> Later:
    """An answer to a callback, so long after the handler began to wait.

    `triggers=lambda trigger: later("2 days", {"approved": True})`
    """
    return Later(after, payload)


def opened(triggers: Triggers | None, trigger: MadeTrigger) -> tuple[Any, int] | None:
    """The answer to a callback, and how long it takes; `None` without an answer."""
    answer = triggers.get(trigger.type) if isinstance(triggers, Mapping) else triggers
    given = None if answer is None else answer(trigger)
    if given is None:
        return None
    answered = given if isinstance(given, Later) else Later(0, given)
    check_bytes("body", answered.payload)
    after_ms = duration_ms(answered.after)
    if after_ms is None:
        message = f"later must be milliseconds or a duration, is {answered.after!r}"
        raise TypeError(message)
    return through_json(answered.payload), after_ms


def given_events(events: Sequence[GivenEvent], start_ms: int) -> list[dict[str, Any]]:
    """The events as the engine is given them, each with its time if it has one."""
    found = []
    for event in events:
        if not (event.get("type") or event.get("kind")):
            raise TypeError("an event needs a type")
        rest = {name: value for name, value in event.items() if name != "at"}
        at = event.get("at")
        when = {} if at is None else {"atMs": _arrival_ms(at, start_ms)}
        found.append({**when, "event": rest})
    return found


def date_ms(date: datetime.datetime | str | float) -> int:
    """Milliseconds since 1970 of a date, of ISO 8601, or of seconds."""
    if isinstance(date, str):
        date = datetime.datetime.fromisoformat(date.replace("Z", "+00:00"))
    seconds = date.timestamp() if isinstance(date, datetime.datetime) else date
    return round(seconds * 1000)


def _arrival_ms(at: Any, start_ms: int) -> int:
    after = None if isinstance(at, datetime.datetime) else duration_ms(at)
    return date_ms(at) if after is None else start_ms + after
