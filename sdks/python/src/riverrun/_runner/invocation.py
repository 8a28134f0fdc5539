"""One invocation: the channel between a handler and the server."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .._failure import clean
from .._json import encode, encode_loosely
from ..cancellation import Signal, SyncSignal
from ..errors import Cancelled, RiverrunError, from_wire

if TYPE_CHECKING:
    from .invocations import Invocations

_LOG_CHARACTERS = 65_536


class Invocation:
    """What is known of an invocation while it runs. Its methods may be called from any thread."""

    __slots__ = ("_lines", "_session", "ended", "has_begun", "id", "params", "signal", "task")

    def __init__(self, session: Invocations, id: int, params: dict[str, Any]) -> None:
        self.id = id
        self.params = params
        self.has_begun = False
        self.ended = False
        self.signal: Signal | SyncSignal = Signal()
        self.task: asyncio.Task[None] | None = None
        self._session = session
        self._lines: dict[str, str] | None = None

    def cancel(self, reason: str | None) -> None:
        if isinstance(self.signal, SyncSignal):
            self.signal.trip(reason)
        else:
            # A task that has not begun would end without an answer: it looks at the signal first.
            self.signal.trip(reason, self.task if self.has_begun else None)

    def notify(self, method: str, params: dict[str, Any]) -> None:
        if self.ended:
            if method == "log":
                print(params["message"], file=sys.stderr)
            return
        if method == "log":
            params["message"] = clean(params["message"], _LOG_CHARACTERS)
        self._send_notification(method, params)

    def log(self, level: str, message: str) -> None:
        self.notify("log", {"level": level, "message": message})

    def printed(self, level: str, text: str) -> None:
        """Takes text as it was printed, and logs the lines that are complete."""
        if self._lines is None:
            self._lines = {}
        *lines, rest = (self._lines.get(level, "") + text).split("\n")
        for line in lines:
            self.log(level, line)
        # A line without an end must not grow for ever.
        while len(rest) > _LOG_CHARACTERS:
            self.log(level, rest[:_LOG_CHARACTERS])
            rest = rest[_LOG_CHARACTERS:]
        self._lines[level] = rest

    def end(self) -> None:
        """Nothing of it is sent any more, but for what it had begun to print."""
        for level, rest in (self._lines or {}).items():
            if rest:
                self.log(level, rest)
        self.ended = True

    async def ask(self, method: str, params: dict[str, Any]) -> Mapping[str, Any]:
        id, line = self._request(method, params)
        answer: asyncio.Future[Mapping[str, Any]] = self._session.loop.create_future()
        self._session.open[id] = answer
        self._session.wire.ask(id, line)
        try:
            return await answer
        finally:
            self._session.open.pop(id, None)
            self._session.wire.forget(id)

    def ask_blocking(self, method: str, params: dict[str, Any]) -> Mapping[str, Any]:
        id, line = self._request(method, params)
        answer = Answer(self.signal)
        # Both come before the request is sent, so that nothing is missed.
        forget = (
            self.signal.on_trip(answer.give_up) if isinstance(self.signal, SyncSignal) else None
        )
        self._session.open[id] = answer
        self._session.wire.ask(id, line)
        try:
            return answer.wait()
        finally:
            self._session.open.pop(id, None)
            self._session.wire.forget(id)
            if forget is not None:
                forget()

    def _request(self, method: str, params: dict[str, Any]) -> tuple[int, bytes]:
        if self.ended:
            raise RiverrunError(
                f"{method}: the invocation has ended, and nothing more can be recorded for it",
                code="INVOCATION_ENDED",
            )
        params["invocation"] = self.id
        id = next(self._session.ids)
        line = encode({"id": id, "method": method, "params": params})
        limit = self._session.wire.message_bytes
        if len(line) > limit:
            message = f"{method}: the value makes a message of {len(line)} bytes, over {limit}"
            raise RiverrunError(message, code="MESSAGE_TOO_LARGE", retriable=False)
        return id, line

    def _send_notification(self, method: str, params: dict[str, Any]) -> None:
        params["invocation"] = self.id
        line = encode_loosely({"method": method, "params": params})
        limit = self._session.wire.message_bytes
        if len(line) <= limit:
            self._session.wire.send(line)
        else:
            text = f"{method} of {len(line)} bytes was left out: a message may have {limit}"
            self._send_notification("log", {"level": "warn", "message": text})


class Answer:
    """The answer that a thread waits for."""

    __slots__ = ("_error", "_gate", "_lock", "_result", "_signal")

    def __init__(self, signal: Signal | SyncSignal) -> None:
        self._signal = signal
        self._gate = threading.Lock()
        self._gate.acquire()
        self._lock = threading.Lock()
        self._result: Mapping[str, Any] | None = None
        self._error: RiverrunError | None = None

    def wait(self) -> Mapping[str, Any]:
        self._gate.acquire()
        if self._error is not None:
            raise self._error
        assert self._result is not None
        return self._result

    def settle(self, result: Mapping[str, Any] | None, error: RiverrunError | None) -> None:
        with self._lock:
            if self._result is None and self._error is None:
                self._result, self._error = result, error
                self._gate.release()

    def give_up(self) -> None:
        self.settle(None, Cancelled(self._signal.reason))


def settle(waiting: asyncio.Future[Mapping[str, Any]] | Answer, message: Mapping[str, Any]) -> None:
    """Passes an answer of the server to the request that waits for it."""
    error = message.get("error")
    failure = from_wire(error) if isinstance(error, Mapping) else None
    result = message.get("result")
    result = result if isinstance(result, Mapping) else {}
    if isinstance(waiting, Answer):
        waiting.settle(result, failure)
    elif not waiting.done():
        if failure is not None:
            waiting.set_exception(failure)
        else:
            waiting.set_result(result)
