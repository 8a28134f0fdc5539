"""How an invocation learns that it is to stop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

from .errors import Cancelled

__all__ = ["Signal", "SyncSignal"]


class _Told:
    __slots__ = ("_reason", "_set")

    def __init__(self) -> None:
        self._set = False
        self._reason: str | None = None

    def is_set(self) -> bool:
        return self._set

    @property
    def reason(self) -> str | None:
        """`user`, `timeout`, `shutdown`, `lease-lost` or `client-gone`."""
        return self._reason

    def raise_if_set(self) -> None:
        """Ends the handler as cancelled if it was asked to stop."""
        if self._set:
            raise Cancelled(self._reason)


class Signal(_Told):
    """The signal of an async handler.

    When it is set the handler's task is cancelled, unless the handler waits for the signal itself:
    then `wait` returns, and the handler ends as it likes.
    """

    __slots__ = ("_waiting",)

    def __init__(self) -> None:
        super().__init__()
        self._waiting: dict[asyncio.Future[None], asyncio.Task[object] | None] | None = None

    async def wait(self) -> None:
        if self._set:
            return
        if self._waiting is None:
            self._waiting = {}
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting[future] = asyncio.current_task()
        try:
            await future
        finally:
            del self._waiting[future]

    def trip(self, reason: str | None, task: asyncio.Task[None] | None) -> None:
        """Sets it and cancels the task. Only the first time counts."""
        if self._set:
            return
        self._set, self._reason = True, reason
        waiting = dict(self._waiting or ())
        for future in waiting:
            if not future.done():
                future.set_result(None)
        if task is not None and task not in waiting.values():
            task.cancel()


class SyncSignal(_Told):
    """The signal of a sync handler, which has to look at it: a thread cannot be cancelled.

    Blocking calls of the context that wait when it is set end with `Cancelled`; later ones work,
    so that the handler can tidy up.
    """

    __slots__ = ("_changed", "_interrupts")

    def __init__(self) -> None:
        super().__init__()
        self._changed = threading.Condition(threading.Lock())
        self._interrupts: set[Callable[[], None]] = set()

    def wait(self, timeout: float | None = None) -> bool:
        """Waits for it, for so many seconds. True if it was set."""
        with self._changed:
            self._changed.wait_for(self.is_set, timeout)
        return self._set

    def trip(self, reason: str | None) -> None:
        """Sets it. Only the first time counts."""
        with self._changed:
            if self._set:
                return
            self._set, self._reason = True, reason
            self._changed.notify_all()
            interrupts = list(self._interrupts)
        for interrupt in interrupts:
            interrupt()

    def on_trip(self, interrupt: Callable[[], None]) -> Callable[[], None]:
        """Calls `interrupt` when it is set from now on; gives a function that takes it back."""
        with self._changed:
            self._interrupts.add(interrupt)
        return lambda: self._interrupts.discard(interrupt)
