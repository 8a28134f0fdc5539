"""Outcomes of what code does, on their way to its journal.

What fails is tried again by itself, as the server decides: only the final error reaches the code, and
it is recorded first.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextvars
import inspect
import json
import threading
import weakref
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from ._failure import record_of, revive
from .cancellation import Signal, SyncSignal
from .errors import Cancelled, ExecutionOver, RiverrunError, Stopped

#: The name of the threads in which handlers run.
HANDLER_THREAD = "riverrun-handler"

#: Threads in which tries with a limit run. The handler has not made them.
TRY_THREADS: weakref.WeakSet[threading.Thread] = weakref.WeakSet()


@dataclass
class Doing:
    """What code does, and as which use of the name."""

    op: str
    name: str
    nth: int
    #: The kinds of the events that were emitted inside of it.
    emits: list[str] = field(default_factory=list)
    #: How it is tried again, where not as its process is.
    retry: Any = None
    #: How long one try may take.
    timeout_ms: int | None = None

    def memo(self, **outcome: Any) -> dict[str, Any]:
        """The request that records its outcome."""
        op = {} if self.op == "memo" else {"op": self.op}
        emits = {"emits": list(self.emits)} if self.emits else {}
        return {**op, "name": self.name, **numbered(self.nth), **outcome, **emits}

    def failed(self, error: Mapping[str, Any]) -> dict[str, Any]:
        """The request that says that a try has failed."""
        retry = {} if self.retry is None else {"retry": self.retry}
        return {**self.memo(error=error), **retry}


@dataclass
class RunTry:
    """One try of a `ctx.run`, for a function that takes an argument."""

    #: Counts from 1.
    attempt: int
    #: Set when the try has taken too long, or the work is to stop.
    signal: Signal | SyncSignal
    #: Why nothing counts any more that it does.
    over: RiverrunError | None = None


class _Outcomes:
    def __init__(self, pending: Sequence[Mapping[str, Any]] = ()) -> None:
        self._retries = pending

    def _pending(self, doing: Doing) -> Mapping[str, Any] | None:
        # What is known of a try that failed in an earlier execution.
        for one in self._retries:
            if (one["op"], one["name"], one.get("nth") or 1) == (doing.op, doing.name, doing.nth):
                return one
        return None


def _stop(error: RiverrunError) -> NoReturn:
    raise Stopped(error)


def _is_own(refused: RiverrunError) -> bool:
    # Whether the server does not accept a value, and never will.
    return refused.retriable is False and not isinstance(refused, ExecutionOver)


class Outcomes(_Outcomes):
    """Those of an async handler. `ask` asks the server.

    `leave` ends the execution with an error that the code does not see.
    """

    def __init__(
        self,
        ask: Callable[[str, dict[str, Any]], Awaitable[Any]],
        signal: Signal | None = None,
        pending: Sequence[Mapping[str, Any]] = (),
        leave: Callable[[RiverrunError], NoReturn] = _stop,
    ) -> None:
        super().__init__(pending)
        self._ask = ask
        self._signal = signal or Signal()
        self._leave = leave

    async def of(
        self,
        doing: Doing,
        work: Callable[[RunTry], Awaitable[Any]],
        suspend: Callable[[], Awaitable[NoReturn]] | None = None,
    ) -> Any:
        """Does something and has its outcome recorded. It raises what a replay would raise.

        `suspend` leaves a long wait for the next try to the server.
        """
        next = self._pending(doing)
        while True:
            if next is not None:
                if next.get("suspend") and suspend is not None:
                    await suspend()
                await asyncio.sleep(next["retryAfterMs"] / 1000)
            if self._signal.is_set():
                self._leave(Cancelled(self._signal.reason))
            try:
                value = await self._bounded(doing, 1 if next is None else next["attempt"], work)
            except Exception as error:
                if isinstance(error, ExecutionOver):
                    self._leave(error)
                # A try that fails while the work is to stop fails because of that.
                if self._signal.is_set():
                    self._leave(Cancelled(self._signal.reason))
                if isinstance(error, Cancelled):
                    raise
                record = record_of(error)
                if record.get("retriable") is False:
                    raise await self._final(doing, record) from error
                next = await self._record("memo.failed", doing.failed(record))
                if next.get("final"):
                    raise revive(_final(record)) from error
                continue
            try:
                await self._record("memo", doing.memo(value=value))
            except RiverrunError as refused:
                # The server does not accept the value. The function has run, so this is its outcome.
                raise await self._final(doing, record_of(refused)) from refused
            return value

    async def _final(self, doing: Doing, record: Mapping[str, Any]) -> RiverrunError:
        # Records that an operation has failed for good; gives the error that a replay would raise.
        await self._record("memo", doing.memo(error=record))
        return revive(record)

    async def _record(self, method: str, params: dict[str, Any]) -> Any:
        # Code never continues with an outcome that is not recorded.
        try:
            return await self._ask(method, params)
        except RiverrunError as refused:
            if _is_own(refused) and "value" in params:
                raise
            self._leave(refused)

    async def _bounded(
        self, doing: Doing, attempt: int, work: Callable[[RunTry], Awaitable[Any]]
    ) -> Any:
        if doing.timeout_ms is None:
            return await work(RunTry(attempt, self._signal))
        given = RunTry(attempt, Signal())
        task = asyncio.ensure_future(work(given))
        try:
            done, _ = await asyncio.wait({task}, timeout=doing.timeout_ms / 1000)
        except asyncio.CancelledError:
            task.cancel()
            raise
        if done:
            return task.result()
        given.over = _too_long(doing, attempt)
        given.signal.trip("timeout", task)  # type: ignore[call-arg, arg-type]
        # It may end later; its outcome is then ignored.
        task.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
        raise given.over


class SyncOutcomes(_Outcomes):
    """Those of a sync handler, which may use threads of its own."""

    def __init__(
        self,
        ask: Callable[[str, dict[str, Any]], Any],
        signal: SyncSignal | None = None,
        pending: Sequence[Mapping[str, Any]] = (),
        leave: Callable[[RiverrunError], NoReturn] = _stop,
    ) -> None:
        super().__init__(pending)
        self._ask = ask
        self._signal = signal or SyncSignal()
        self._leave = leave

    def of(
        self,
        doing: Doing,
        work: Callable[[RunTry], Any],
        suspend: Callable[[], NoReturn] | None = None,
    ) -> Any:
        """Does something and has its outcome recorded; see `Outcomes.of`."""
        next = self._pending(doing)
        while True:
            if next is not None:
                if next.get("suspend") and suspend is not None:
                    suspend()
                if next["retryAfterMs"]:
                    self._signal.wait(next["retryAfterMs"] / 1000)
            if self._signal.is_set():
                self._leave(Cancelled(self._signal.reason))
            try:
                value = self._bounded(doing, 1 if next is None else next["attempt"], work)
            except Exception as error:
                if isinstance(error, ExecutionOver):
                    self._leave(error)
                # A try that fails while the work is to stop fails because of that.
                if self._signal.is_set():
                    self._leave(Cancelled(self._signal.reason))
                if isinstance(error, Cancelled):
                    raise
                record = record_of(error)
                if record.get("retriable") is False:
                    raise self._final(doing, record) from error
                next = self._record("memo.failed", doing.failed(record))
                if next.get("final"):
                    raise revive(_final(record)) from error
                continue
            try:
                self._record("memo", doing.memo(value=value))
            except RiverrunError as refused:
                # The server does not accept the value. The function has run, so this is its outcome.
                raise self._final(doing, record_of(refused)) from refused
            return value

    def _final(self, doing: Doing, record: Mapping[str, Any]) -> RiverrunError:
        # Records that an operation has failed for good; gives the error that a replay would raise.
        self._record("memo", doing.memo(error=record))
        return revive(record)

    def _record(self, method: str, params: dict[str, Any]) -> Any:
        # Code never continues with an outcome that is not recorded.
        try:
            return self._ask(method, params)
        except RiverrunError as refused:
            if _is_own(refused) and "value" in params:
                raise
            self._leave(refused)

    def _bounded(self, doing: Doing, attempt: int, work: Callable[[RunTry], Any]) -> Any:
        if doing.timeout_ms is None:
            return work(RunTry(attempt, self._signal))
        # A thread cannot be stopped: what takes too long goes on beside the next try, and is logged.
        signal = SyncSignal()
        given, context = RunTry(attempt, signal), contextvars.copy_context()
        result: concurrent.futures.Future[Any] = concurrent.futures.Future()

        def run() -> None:
            try:
                result.set_result(context.run(work, given))
            except BaseException as error:
                result.set_exception(error)

        thread = threading.Thread(target=run, name=f"run {doing.name}", daemon=True)
        TRY_THREADS.add(thread)
        thread.start()
        take_back = self._signal.on_trip(lambda: signal.trip(self._signal.reason))
        try:
            concurrent.futures.wait([result], doing.timeout_ms / 1000)
            if result.done():
                return result.result()
            given.over = _too_long(doing, attempt)
            signal.trip("timeout")
            raise given.over
        finally:
            take_back()


def called(function: Callable[..., Any], attempt: RunTry) -> Any:
    """Calls the function of a `ctx.run`: with its try, if it asks for one."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return function()
    places = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    wants = any(p.kind in places and p.default is p.empty for p in parameters)
    return function(attempt) if wants else function()


def numbered(nth: int) -> dict[str, int]:
    """How a record says which use of its name it is of."""
    return {"nth": nth} if nth > 1 else {}


def _final(record: Mapping[str, Any]) -> dict[str, Any]:
    # As it is recorded when it was the last: code that lets it through has failed for good.
    kept = {name: value for name, value in record.items() if name != "retryAfterMs"}
    return {**kept, "retriable": False}


def _too_long(doing: Doing, attempt: int) -> RiverrunError:
    message = (
        f"try {attempt} of run({json.dumps(doing.name)}) took longer than {doing.timeout_ms} ms"
    )
    return RiverrunError(message, code="TIMEOUT")
