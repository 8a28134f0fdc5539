"""What earlier executions of the same visit recorded."""

from __future__ import annotations

import json
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Mapping
from typing import Any

from .errors import RiverrunError

#: A note that the next emit of that kind is made inside of a `ctx.run`. One that failed may go
#: another way when it is tried again, so such an emit may be left without use.
IN_RUN = "inRun"

#: Entries that a message shows of each sequence.
_SHOWN = 20

#: Entries that the details have before and after the first that is missing.
_DETAILED = 50


class Journal:
    """Hands out records by what was done, under which name and as which use of it.

    So what runs side by side may end in any order. What has no number is handed out in order. Code
    gets each answer after those that were recorded before it, as in the execution that recorded
    them: code in which two operations have swapped places never asks for the first.
    """

    __slots__ = (
        "_checked",
        "_done",
        "_front",
        "_in_run",
        "_last",
        "_left",
        "_numbered",
        "_open",
        "_records",
        "_taken",
        "_uses",
        "_written",
    )

    def __init__(self, entries: Iterable[Mapping[str, Any]]) -> None:
        self._records = list(entries)
        # Where the records of each name stand that have no number and were not asked for yet.
        self._open: defaultdict[tuple[str, str], deque[int]] = defaultdict(deque)
        # Where those stand that say which use they are of.
        self._numbered: dict[tuple[str, str, int], int] = {}
        self._uses: Counter[tuple[str, str]] = Counter()
        self._taken: set[int] = set()
        self._done: list[dict[str, str]] = []
        # All records before this one were asked for.
        self._checked = 0
        # All before this one that the code must ask for were asked for.
        self._front = 0
        self._last = 0
        for at, entry in enumerate(self._records):
            op, name, nth = entry["op"], entry.get("name", ""), entry.get("nth")
            if nth is None:
                self._open[op, name].append(at)
            else:
                self._numbered[op, name, nth] = at
        # Where emits stand that were made inside of a `ctx.run`.
        self._in_run = _emits_in_run(self._records)
        for at, entry in enumerate(self._records):
            for kind in entry.get("emits", ()):
                self._settle(kind, at)
        # How many records are left that the code must ask for.
        self._left = sum(self._is_left(at) for at in range(len(self._records)))
        self._written = {
            (entry["op"], entry.get("name", ""))
            for entry in self._records
            if str(entry["op"]).startswith("state.")
        }

    @property
    def is_used_up(self) -> bool:
        """Whether the code has asked for all that was recorded: what it does now is new."""
        return self._left == 0

    @property
    def asked(self) -> int:
        """How much the code has asked for in this execution."""
        return len(self._done)

    def has_written(self, op: str, name: str) -> bool:
        """Whether earlier executions have written this, whatever the value."""
        return (op, name) in self._written

    def take(self, op: str, name: str) -> Mapping[str, Any] | None:
        """The record for the next use of a name; `None` if there is none."""
        self._done.append({"op": op, "name": name})
        self._uses[op, name] += 1
        at = self._numbered.get((op, name, self._uses[op, name]))
        if at is None:
            places = self._open.get((op, name))
            at = places.popleft() if places else None
        if at is None:
            return None
        self._last = at
        self._left -= self._is_left(at)
        self._taken.add(at)
        return self._records[at]

    def wrote(self, op: str, name: str, value: Any = None) -> bool:
        """Whether this was written before, by the next record of the name that has the value.

        Those before it were left by an attempt that went another way: they no longer count, and if
        there is none at all none does.
        """
        self._done.append({"op": op, "name": name})
        places = self._open[op, name]
        while places:
            if self._records[places.popleft()].get("value") == value:
                return True
        return False

    def uses(self, op: str, name: str) -> int:
        """How often this was done so far, in this execution: the number of the latest use."""
        return self._uses[op, name]

    def place(self) -> int:
        """Where the record stands that was taken last."""
        return self._last

    def is_in_turn(self, place: int) -> bool:
        """Whether the code has asked for all that was recorded before a place."""
        while self._front < place and not self._is_left(self._front):
            self._front += 1
        return self._front >= place

    def mismatch(self, until: int | None = None) -> RiverrunError | None:
        """The error for records that the code did not request: the code has changed.

        With a place, only those before it count.
        """
        end = len(self._records) if until is None else until
        missing = [
            _done(self._records[at]) for at in range(self._checked, end) if self._is_left(at)
        ]
        if not missing:
            self._checked = max(self._checked, end)
            return None
        first = next(at for at in range(self._checked, end) if self._is_left(at))
        # Of many records, only those around the first missing one: a longer message is unreadable.
        around = self._records[max(0, first - _DETAILED) : first + _DETAILED]
        recorded = [_done(record) for record in around if record["op"] != IN_RUN]
        asked = self._done[-2 * _DETAILED :]
        message = (
            "this execution did not do what earlier ones of the same visit recorded: "
            f"{_list(missing)}. Recorded: {_list(recorded)}. Done: {_list(asked)}. "
            "Code that goes on is called again from the top and must do the same until there: has "
            "it changed, or does it depend on time, chance or something outside of ctx.run?"
        )
        details = {"recorded": recorded, "done": asked, "missing": missing[:_DETAILED]}
        return RiverrunError(message, code="JOURNAL_MISMATCH", retriable=False, details=details)

    def _settle(self, kind: str, memo: int) -> None:
        # An emit inside of a recorded `ctx.run` is not requested again. It is the last one before
        # the record of the run, so that an emit from before an earlier wait still counts as missing.
        places = self._open["emit", kind]
        last = next((at for at in reversed(places) if at < memo), None)
        if last is not None:
            places.remove(last)
            self._taken.add(last)

    def _is_left(self, at: int) -> bool:
        is_used = at in self._taken or at in self._in_run
        return not is_used and _must_be_used(self._records[at])


def _emits_in_run(records: Iterable[Mapping[str, Any]]) -> set[int]:
    # Where emits stand before which a note says so.
    noted: Counter[str] = Counter()
    found = set()
    for at, record in enumerate(records):
        name = record.get("name", "")
        if record["op"] == IN_RUN:
            noted[name] += 1
        elif record["op"] == "emit" and noted[name]:
            noted[name] -= 1
            found.add(at)
    return found


def _must_be_used(record: Mapping[str, Any]) -> bool:
    # An attempt that failed may have read and written what the next one, on another way, does not.
    # Code may ask no more which path it takes once all runs take the new one.
    op = str(record["op"])
    return op not in (IN_RUN, "patched") and not op.startswith("state.")


def _done(record: Mapping[str, Any]) -> dict[str, str]:
    return {"op": record["op"], "name": record.get("name", "")}


def _list(entries: list[dict[str, str]]) -> str:
    if not entries:
        return "nothing"
    shown = [f"{entry['op']} {json.dumps(entry['name'])}" for entry in entries[:_SHOWN]]
    more = f" and {len(entries) - _SHOWN} more" if len(entries) > _SHOWN else ""
    return ", ".join(shown) + more
