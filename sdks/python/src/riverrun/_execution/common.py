"""What executions in tasks and in threads have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import _json
from .._channel import Channel
from .._failure import revive
from .._journal import Journal
from .._outcomes import RunTry, numbered
from ..errors import RiverrunError
from .in_run import Run, current_run

#: What an execution ends with that waits.
Wait = dict[str, Any]

#: Requests that leave a record.
RECORDS = {
    "emit",
    "memo",
    "memo.failed",
    "await.trigger",
    "state.set",
    "state.delete",
    "state.setBatch",
}


class Common:
    """What executions in tasks and in threads have in common."""

    def __init__(self, channel: Channel, params: Mapping[str, Any]) -> None:
        self._channel = channel
        self._params = params
        self._journal = Journal(params.get("journal") or ())
        # What the code has read since something was last recorded, and notes of what is next. It is
        # recorded with that.
        self._seen: list[dict[str, Any]] = []
        self._in_flight = 0
        self._waits = False
        # Something that failed waits for its next try, for which the server waits.
        self._backs_off = False
        self._refused: RiverrunError | None = None
        self._has_left = False

    def notify(self, method: str, params: dict[str, Any]) -> None:
        if not self._has_left:
            self._channel.notify(method, params)

    def refuse_in_run(self) -> None:
        run = current_run.get()
        if run is not None:
            raise RiverrunError(
                f"ctx.wait cannot stand inside of ctx.run({run.name!r}): what runs there is "
                "recorded when it has ended. Wait before it or after it",
                code="AWAIT_IN_RUN",
                retriable=False,
            )

    def take_seen(self) -> list[dict[str, Any]]:
        """What was read and is not recorded yet."""
        seen, self._seen = self._seen, []
        return seen

    def _with_seen(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        # What is recorded takes along what was read before it.
        if self._seen and method in RECORDS:
            return {**params, "seen": self.take_seen()}
        return params

    def _saw(self, op: str, name: str, nth: int, value: Any) -> None:
        self._seen.append({"op": op, "name": name, **numbered(nth), "value": value})

    def _next(self, op: str, name: str) -> Mapping[str, Any] | None:
        # The record for the next use of a name. It may let go on what was held back.
        record = self._journal.take(op, name)
        self._let_go()
        return record

    def _is_ready(self, place: int | None) -> bool:
        # Whether what is held back may go on: with a place, its record stands there.
        if place is None:
            return self._journal.is_used_up
        return self._journal.is_in_turn(place)

    def _take(self, op: str, name: str) -> Mapping[str, Any] | None:
        record = self._next(op, name)
        return None if record is None else answer_of(record)

    def _let_go(self) -> None:
        # The code has asked for something.
        raise NotImplementedError

    def patched(self, id: str) -> bool:
        """Whether the code takes the path of a change: runs that were past it take the old one."""
        record = self._next("patched", id)
        if record is not None:
            return record.get("value") is True
        if not self._journal.is_used_up:
            return False
        self._saw("patched", id, self._journal.uses("patched", id), True)
        return True

    def _id(self, name: str, number: int) -> str:
        run_id, step = self._params.get("runId"), self._params.get("step")
        return f"{run_id}/{step}/{self._params.get('visit') or 1}/{name}/{number}"

    def _id_inside(self, run: Run, op: str, name: str) -> str:
        # A run that is taken from the journal does nothing, so what it does has its own numbers.
        run.uses[op, name] += 1
        return self._id(f"{run.name}/{run.number}/{name}", run.uses[op, name])

    def _begin_wait(self) -> None:
        if self._waits:
            self._refused = concurrent()
            raise self._refused
        self._waits = True

    def _problem(self) -> RiverrunError | None:
        return self._refused or self._journal.mismatch()

    def _run(self, name: str, id: str, emits: list[str], attempt: RunTry) -> Run:
        # Its id ends with its number; by now another thread may have used the name again.
        return Run(name, int(id.rpartition("/")[2]), emits=emits, attempt=attempt)


def answer_of(record: Mapping[str, Any]) -> Mapping[str, Any]:
    error = record.get("error")
    if error is None:
        return record
    raised = revive(error)
    # A timeout that was recorded is over in the next attempt too.
    if record["op"] == "await" and raised.retriable is None:
        raised.retriable = False
    raise raised


def plain(value: Any) -> Any:
    # As a record of it would have it.
    return value if value is None else _json.decode(_json.encode(value))


def concurrent() -> RiverrunError:
    return RiverrunError(
        "a step waits for one thing at a time, and this execution already waits: wait for one "
        "after the other, and give a wait a timeout where it is not to wait for ever",
        code="AWAIT_CONCURRENT",
        retriable=False,
    )
