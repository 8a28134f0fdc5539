"""What comes from outside in a test: events, and whoever opens triggers."""

from __future__ import annotations

import datetime
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .._duration import Duration, duration_ms
from .._path import get_at
from ..config import JavaScript
from .emitted import check_bytes
from .outcome import iso, through_json
from .server import MadeTrigger

#: `{"type", "data"?, "at"?}`: `at` is a date, or so long after the start. Without it the event
#: comes as soon as somebody waits for it.
GivenEvent = Mapping[str, Any]
Triggers = Callable[[MadeTrigger], Any] | Mapping[str, Callable[[MadeTrigger], Any]]
#: What stands for an expression in JavaScript, by its text.
Expressions = Mapping[str, Callable[..., Any]]


class ExpressionError(Exception):
    """The function that stands for an expression has raised something."""


@dataclass(frozen=True)
class Later:
    """An answer that takes its time."""

    after: Duration
    payload: Any = None


def later(after: Duration, payload: Any = None) -> Later:
    """What opens a trigger, so long after the handler began to wait.

    `triggers=lambda trigger: later("2 days", {"approved": True})`
    """
    return Later(after, payload)


def opened(triggers: Triggers | None, trigger: MadeTrigger) -> tuple[Any, int] | None:
    """The payload of a trigger, and how long it takes; `None` if nobody opens it."""
    answer = triggers.get(trigger.type) if isinstance(triggers, Mapping) else triggers
    given = None if answer is None else answer(trigger)
    if given is None:
        return None
    answered = given if isinstance(given, Later) else Later(0, given)
    check_bytes("body", answered.payload)
    return through_json(answered.payload), milliseconds("later", answered.after)


def arrival_ms(event: GivenEvent, start_ms: int) -> int | None:
    """When a given event comes; `None` for as soon as somebody waits for it."""
    at = event.get("at")
    if at is None:
        return None
    after = None if isinstance(at, datetime.datetime) else duration_ms(at)
    return date_ms(at) if after is None else start_ms + after


def seen(event: GivenEvent, ms: int, number: int) -> dict[str, Any]:
    """An event as expressions and handlers see it."""
    kind = event.get("type") or event.get("kind")
    if not kind:
        raise TypeError("an event needs a type")
    rest = {name: value for name, value in event.items() if name != "at"}
    # One from outside stands in the stream `global`.
    flow = "" if event.get("runId") else "global"
    about = {"runId": "global", "flowName": flow, "data": None}
    head = {"id": f"{ms}-{number}", "ts": iso(ms), **about}
    found: dict[str, Any] = through_json({**head, **rest, "type": kind, "kind": kind})
    return found


def matches(match: Mapping[str, Any], event: Mapping[str, Any]) -> bool:
    """Whether the event has these values at these paths."""
    return all(_is_same(get_at(event, path), value) for path, value in match.items())


def evaluate(expression: str | JavaScript, expressions: Expressions, *args: Any) -> Any:
    """What an expression gives, as the test says: Python does not run JavaScript.

    Raises `ExpressionError` with what its function raises.
    """
    text = expression.source if isinstance(expression, JavaScript) else expression
    function = expressions.get(text)
    if function is None:
        # What judges an event is given it and a context, what gives a value one thing.
        names = "event, ctx" if len(args) > 1 else "given"
        raise LookupError(
            f"the server evaluates {text!r}, a test in Python does not: "
            f"give expressions={{{text!r}: lambda {names}: …}}"
        )
    try:
        room = len(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        room = len(args)
    try:
        return function(*args[:room])
    except AssertionError:
        # The test's own word.
        raise
    except Exception as error:
        raise ExpressionError(f"{type(error).__name__}: {error}") from error


def milliseconds(what: str, duration: Duration) -> int:
    ms = duration_ms(duration)
    if ms is None:
        raise TypeError(f"{what} must be milliseconds or a duration, is {duration!r}")
    return ms


def date_ms(date: datetime.datetime | str | float) -> int:
    """Milliseconds since 1970 of a date, of ISO 8601, or of seconds."""
    if isinstance(date, str):
        date = datetime.datetime.fromisoformat(date.replace("Z", "+00:00"))
    seconds = date.timestamp() if isinstance(date, datetime.datetime) else date
    return round(seconds * 1000)


def _is_same(one: Any, other: Any) -> bool:
    # In JSON true is not 1.
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)
