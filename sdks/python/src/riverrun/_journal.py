"""What earlier attempts of the same visit recorded."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping
from typing import Any


class Journal:
    """Hands out the records of `ctx.run`: the n-th use of a name gets the n-th record of it."""

    __slots__ = ("_records",)

    def __init__(self, entries: Iterable[Mapping[str, Any]]) -> None:
        self._records: defaultdict[str, deque[Mapping[str, Any]]] = defaultdict(deque)
        for entry in entries:
            if entry.get("op") == "memo":
                self._records[entry["name"]].append(entry)

    def take(self, name: str) -> Mapping[str, Any] | None:
        records = self._records.get(name)
        return records.popleft() if records else None
