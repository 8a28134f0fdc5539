"""Outcomes of what code does, on their way to its journal."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ._failure import record_of, revive
from .errors import Cancelled

#: Turns of the loop after which code has ended that does not live with an error.
_TURNS = 10


@dataclass
class Doing:
    """What code does, and as which use of the name."""

    op: str
    name: str
    nth: int
    #: The kinds of the events that were emitted inside of it.
    emits: list[str] = field(default_factory=list)

    def memo(self, **outcome: Any) -> dict[str, Any]:
        """The request that records its outcome."""
        op = {} if self.op == "memo" else {"op": self.op}
        emits = {"emits": self.emits} if self.emits else {}
        return {**op, "name": self.name, **numbered(self.nth), **outcome, **emits}


class _Outcomes:
    def __init__(self) -> None:
        # Errors that were raised into the code and not recorded. If it goes on, it lives with them.
        self._raised: list[tuple[Doing, dict[str, Any]]] = []

    def lived_with(self) -> Iterator[dict[str, Any]]:
        """What is to be recorded since the code goes on: the next execution goes the same way."""
        return self._taken(list(self._raised))

    def _taken(self, raised: list[tuple[Doing, dict[str, Any]]]) -> Iterator[dict[str, Any]]:
        for one in raised:
            if one in self._raised:
                self._raised.remove(one)
                yield one[0].memo(error=one[1])

    def _before(self, doing: Doing) -> list[tuple[Doing, dict[str, Any]]]:
        # What uses of the same name have raised. It is recorded before an outcome of this one:
        # without it the next attempt would take that for another try of theirs.
        same = (doing.op, doing.name)
        return [one for one in self._raised if (one[0].op, one[0].name) == same]


class Outcomes(_Outcomes):
    """Those of an async handler. `memo` asks the server to record one."""

    def __init__(self, memo: Callable[[dict[str, Any]], Awaitable[Any]]) -> None:
        super().__init__()
        self._memo = memo

    async def of(self, doing: Doing, work: Callable[[], Awaitable[Any]]) -> Any:
        """Does something and has its outcome recorded. It raises what a replay would raise."""
        before = self._before(doing)
        try:
            value = await work()
        except Exception as error:
            record = record_of(error)
            if _is_final(error):
                await self._record(doing.memo(error=record), before)
            else:
                self._raised.append((doing, record))
            if isinstance(error, Cancelled):
                raise
            raise revive(record) from error
        await self._record(doing.memo(value=value), before)
        return value

    async def _record(
        self, memo: dict[str, Any], before: list[tuple[Doing, dict[str, Any]]]
    ) -> None:
        # Code that does not live with what was raised has ended by then: nothing is recorded.
        for _ in range(_TURNS if before else 0):
            await asyncio.sleep(0)
        for raised in self._taken(before):
            await self._memo(raised)
        await self._memo(memo)


class SyncOutcomes(_Outcomes):
    """Those of a sync handler, which may use threads of its own."""

    def __init__(self, memo: Callable[[dict[str, Any]], Any]) -> None:
        super().__init__()
        self._memo = memo
        self._thread = threading.get_ident()

    def of(self, doing: Doing, work: Callable[[], Any]) -> Any:
        """Does something and has its outcome recorded. It raises what a replay would raise."""
        # A thread that the handler has made goes on whatever becomes of the handler.
        before = self._before(doing) if threading.get_ident() == self._thread else []
        try:
            value = work()
        except Exception as error:
            record = record_of(error)
            if _is_final(error):
                self._record(doing.memo(error=record), before)
            else:
                self._raised.append((doing, record))
            if isinstance(error, Cancelled):
                raise
            raise revive(record) from error
        self._record(doing.memo(value=value), before)
        return value

    def _record(self, memo: dict[str, Any], before: list[tuple[Doing, dict[str, Any]]]) -> None:
        for raised in self._taken(before):
            self._memo(raised)
        self._memo(memo)


def numbered(nth: int) -> dict[str, int]:
    """How a record says which use of its name it is of."""
    return {"nth": nth} if nth > 1 else {}


def _is_final(error: Exception) -> bool:
    return getattr(error, "retriable", None) is False and not isinstance(error, Cancelled)
