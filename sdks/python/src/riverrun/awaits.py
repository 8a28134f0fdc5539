"""`ctx.wait`: waits in the code of a step.

Nothing is held meanwhile: the execution ends, and when what it waits for has come the handler is
called again and given the recorded answers. One at a time; for "whichever comes first, but not
longer than" there is `timeout`.
"""

from __future__ import annotations

import datetime
import time
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NoReturn, get_args

from ._duration import Duration, duration_ms
from ._execution import Execution, SyncExecution, Wait
from .config import JavaScript
from .errors import RiverrunError

__all__ = ["Duration", "SyncTrigger", "SyncWaits", "Trigger", "TriggerType", "Waits"]

TriggerType = Literal["webhook", "user", "api"]

#: A duration, or a date.
Timeout = Duration | datetime.datetime

#: The longest wait.
_MAX_MS = 8_640_000_000_000_000


@dataclass(frozen=True)
class Trigger:
    """A callback: a POST to `url` resumes the step. The URL cannot be guessed."""

    id: str
    url: str
    _execution: Execution
    _wait: Wait

    def wait(self) -> Coroutine[Any, Any, Any]:
        """Waits until the callback is resumed; returns the body of the request."""
        what = f"wait() of the trigger {self.id}"
        return self._execution.asked(
            what, lambda: self._execution.wait(self.id, lambda: self._wait)
        )


@dataclass(frozen=True)
class SyncTrigger:
    """A callback: a POST to `url` resumes the step. The URL cannot be guessed."""

    id: str
    url: str
    _execution: SyncExecution
    _wait: Wait

    def wait(self) -> Any:
        """Waits until the callback is resumed; returns the body of the request."""
        return self._execution.wait(self.id, lambda: self._wait)


class Waits:
    """The waits of an async handler."""

    __slots__ = ("_execution", "_kind")

    def __init__(self, execution: Execution | None, kind: str) -> None:
        self._execution = execution
        self._kind = kind

    def time(self, until: Duration | datetime.datetime) -> Coroutine[Any, Any, None]:
        """Waits for a time: milliseconds, a duration such as `30 days`, a `timedelta` or a date."""
        step = self._step()
        return step.asked("ctx.wait.time", lambda: step.wait("time", lambda: _time(until)))

    def event(
        self,
        kind: str,
        *,
        match: Mapping[str, Any] | None = None,
        where: str | JavaScript | None = None,
        timeout: Timeout | None = None,
        lookback: Duration | None = None,
        **unknown: NoReturn,
    ) -> Coroutine[Any, Any, dict[str, Any]]:
        """Waits for an event that a run or a client emits.

        `match` has dot paths into the event with what it has there: `{"data.orderId": order_id}`.
        `where` is a function in JavaScript, which the server calls: it sees `event`, `ctx.input`
        and `input`. `lookback` says which earlier events count: those since the run began (`"run"`)
        where absent, those of the last so long, or none (`"none"`). The run is given each once.
        """
        step, kind = self._step(), _kind(kind)
        _refuse_unknown("wait.event", unknown, "match, where, timeout, lookback")
        return step.asked(
            f'ctx.wait.event("{kind}")',
            lambda: step.wait(kind, lambda: _event(kind, match, where, timeout, lookback)),
        )

    async def trigger(
        self,
        type: TriggerType = "webhook",
        *,
        payload: Any = None,
        timeout: Timeout | None = None,
        many: bool | None = None,
        secret: str | None = None,
        **unknown: NoReturn,
    ) -> Trigger:
        """Creates a callback; its `wait()` waits until it is resumed and returns the body.

        `payload` is shown to the person or program that resumes it. With `many` it can be resumed
        repeatedly, and each `wait()` returns the next body. With a `secret` requests must be
        signed.
        """
        step = self._step()
        step.refuse_in_run()
        _refuse_unknown("wait.trigger", unknown, "payload, timeout, many, secret")
        asked = _trigger(type, payload, timeout, many, secret)
        made = await step.once("trigger", type, lambda: step.ask("await.trigger", asked))
        return Trigger(made["id"], made["url"], step, _opened(made["id"], asked))

    def _step(self) -> Execution:
        if self._execution is None:
            raise _outside(self._kind)
        return self._execution


class SyncWaits:
    """The waits of a sync handler. A `BaseException` unwinds it, which must not be caught."""

    __slots__ = ("_execution", "_kind")

    def __init__(self, execution: SyncExecution | None, kind: str) -> None:
        self._execution = execution
        self._kind = kind

    def time(self, until: Duration | datetime.datetime) -> None:
        """Waits for a time; see `Waits.time`."""
        self._step().wait("time", lambda: _time(until))

    def event(
        self,
        kind: str,
        *,
        match: Mapping[str, Any] | None = None,
        where: str | JavaScript | None = None,
        timeout: Timeout | None = None,
        lookback: Duration | None = None,
        **unknown: NoReturn,
    ) -> dict[str, Any]:
        """Waits for an event; see `Waits.event`."""
        step = self._step()
        _refuse_unknown("wait.event", unknown, "match, where, timeout, lookback")
        event: dict[str, Any] = step.wait(
            _kind(kind), lambda: _event(kind, match, where, timeout, lookback)
        )
        return event

    def trigger(
        self,
        type: TriggerType = "webhook",
        *,
        payload: Any = None,
        timeout: Timeout | None = None,
        many: bool | None = None,
        secret: str | None = None,
        **unknown: NoReturn,
    ) -> SyncTrigger:
        """Creates a callback; see `Waits.trigger`."""
        step = self._step()
        step.refuse_in_run()
        _refuse_unknown("wait.trigger", unknown, "payload, timeout, many, secret")
        asked = _trigger(type, payload, timeout, many, secret)
        made = step.once("trigger", type, lambda: step.ask_blocking("await.trigger", asked))
        return SyncTrigger(made["id"], made["url"], step, _opened(made["id"], asked))

    def _step(self) -> SyncExecution:
        if self._execution is None:
            raise _outside(self._kind)
        return self._execution


def _time(until: Duration | datetime.datetime) -> Wait:
    if isinstance(until, bool):
        raise _wrong("wait.time", until, "milliseconds, a duration such as '1h 30m' or a date")
    if isinstance(until, datetime.datetime):
        # One without a zone is local time, as everywhere in the standard library.
        at = until.astimezone(datetime.timezone.utc)
    else:
        try:
            after = duration_ms(until)
            # Counted by the server's clock, which is the one that the wait ends by.
            if after is not None and after <= _MAX_MS:
                return {"type": "time", "afterMs": after}
            at = _date(until)
        except (OverflowError, TypeError, ValueError):
            message = (
                f"wait.time wants milliseconds, a duration such as '1h 30m' or a date: {until!r}"
            )
            raise _invalid(message) from None
    text = at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return {"type": "time", "resumeAt": text}


def _date(text: Any) -> datetime.datetime:
    if not isinstance(text, str):
        raise ValueError(text)
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).astimezone(
        datetime.timezone.utc
    )


def _event(
    kind: str,
    match: Mapping[str, Any] | None,
    where: str | JavaScript | None,
    timeout: Timeout | None,
    lookback: Duration | None,
) -> Wait:
    wait: Wait = {"type": "event", "eventKind": kind}
    if match is not None:
        if not isinstance(match, Mapping):
            raise _invalid('match wants dot paths and values, such as {"data.orderId": 7}')
        wait["match"] = dict(match)
    if where is not None:
        if not isinstance(where, str | JavaScript):
            raise _invalid("where is called by the server: give JavaScript as text, or use match")
        wait["where"] = where.source if isinstance(where, JavaScript) else where
    if lookback is not None:
        if lookback in ("run", "none"):
            wait["lookback"] = lookback
        else:
            allowed = "'run', 'none', milliseconds or a duration such as '24h'"
            wait["lookbackMs"] = _ms("lookback", lookback, allowed)
    if timeout is not None:
        wait["timeoutMs"] = _timeout_ms(timeout)
    return wait


def _refuse_unknown(what: str, unknown: Mapping[str, Any], known: str) -> None:
    for name in unknown:
        raise _invalid(f'{what} has no option "{name}": it knows {known}')


def _kind(kind: Any) -> str:
    if not isinstance(kind, str) or not kind:
        raise _invalid("wait.event needs the kind of event")
    return kind


def _trigger(
    type: str, payload: Any, timeout: Timeout | None, many: bool | None, secret: str | None
) -> dict[str, Any]:
    if type not in get_args(TriggerType):
        raise _wrong("type", type, "'webhook', 'user' or 'api'")
    if many is not None and not isinstance(many, bool):
        allowed = (
            "True or False; how often a callback is resumed before a step goes on is set in the "
            "config, as await: {'type': 'trigger', 'many': …}"
        )
        raise _wrong("many", many, allowed)
    if secret is not None and not isinstance(secret, str):
        raise _wrong("secret", secret, "a text")
    timeout_ms = None if timeout is None else _timeout_ms(timeout)
    asked = {"payload": payload, "timeoutMs": timeout_ms, "many": many, "secret": secret}
    return {"type": type, **{name: value for name, value in asked.items() if value is not None}}


def _opened(id: str, asked: Mapping[str, Any]) -> Wait:
    wait: Wait = {"type": "trigger", "triggerId": id}
    if "timeoutMs" in asked:
        wait["timeoutMs"] = asked["timeoutMs"]
    return wait


def _timeout_ms(timeout: Timeout) -> int:
    if not isinstance(timeout, datetime.datetime):
        allowed = "milliseconds, a duration such as '24h' or a datetime"
        return _ms("timeout", timeout, allowed)
    # So long from now. A date that is over is no time at all.
    return max(0, round((timeout.timestamp() - time.time()) * 1000))


def _ms(what: str, duration: Duration, allowed: str) -> int:
    is_one = isinstance(duration, Duration) and not isinstance(duration, bool)
    ms = duration_ms(duration) if is_one else None
    if ms is None or ms > _MAX_MS:
        raise _wrong(what, duration, allowed)
    return ms


def _wrong(option: str, value: Any, allowed: str) -> RiverrunError:
    return _invalid(f"{option} must be {allowed}, is {value!r}")


def _invalid(message: str) -> RiverrunError:
    return RiverrunError(message, code="INPUT_ERROR", retriable=False)


def _outside(kind: str) -> RiverrunError:
    return RiverrunError(
        f"ctx.wait works in a step of a flow, and this is a {kind}: give the process's config a "
        "flow (or step), and start that flow",
        code="AWAIT_OUTSIDE_FLOW",
        retriable=False,
    )
