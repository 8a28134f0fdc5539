"""A wait that was asked for, and may never be awaited."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any


class Asked(Coroutine[Any, Any, Any]):
    """A wait that the code has asked for. It begins when it is awaited, if it is."""

    __slots__ = ("_begin", "_running", "is_over", "what")

    def __init__(self, what: str, begin: Callable[[], Awaitable[Any]]) -> None:
        self.what = what
        self.is_over = False
        self._begin = begin
        self._running: Coroutine[Any, Any, Any] | None = None

    def send(self, value: Any) -> Any:
        return self._begun().send(value)

    def throw(self, *error: Any) -> Any:
        return self._begun().throw(*error)

    def close(self) -> None:
        if self._running is not None:
            self._running.close()

    def __await__(self) -> Any:
        return self._begun().__await__()

    def _begun(self) -> Coroutine[Any, Any, Any]:
        if self._running is None:
            self._running = self._run()
        return self._running

    async def _run(self) -> Any:
        try:
            return await self._begin()
        finally:
            self.is_over = True
