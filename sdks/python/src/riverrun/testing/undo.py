"""What a run could undo."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .._failure import describe
from .visit import Visit


@dataclass(eq=False)
class Undo:
    """A visit whose work is done, what came of it, and the step that undoes it."""

    visit: Visit
    result: Any

    @property
    def by(self) -> str:
        return str((self.visit.step.compensation or {})["step"])

    def input(self, error: Mapping[str, Any] | None) -> dict[str, Any]:
        run = self.visit.run
        return {"step": run.step, "visit": run.visit, "result": self.result, "error": error}

    def is_called_by(self, kind: str) -> bool:
        on = (self.visit.step.compensation or {}).get("on") or ()
        return kind == on if isinstance(on, str) else kind in on


class Undoing:
    """Visits of steps with a `compensation` whose work is done, in the order in which they ended.

    Each is undone once.
    """

    def __init__(self) -> None:
        #: The run has failed, and undoes what it did.
        self.has_begun = False
        self._finished: list[Undo] = []

    def finished(self, visit: Visit) -> None:
        # What undoes is not undone.
        if visit.step.compensation and visit.run.undoes is None:
            self._finished.append(Undo(visit, visit.run.value))

    def last(self) -> Undo | None:
        """What ended last of all that can be undone."""
        return self._finished.pop() if self._finished else None

    def is_called_by(self, kind: str) -> bool:
        return not self.has_begun and any(undo.is_called_by(kind) for undo in self._finished)

    def called_by(self, kind: str) -> list[Undo]:
        """What an event of this kind undoes, the latest first."""
        if not self.is_called_by(kind):
            return []
        called = [undo for undo in self._finished if undo.is_called_by(kind)]
        self._finished = [undo for undo in self._finished if undo not in called]
        return called[::-1]


def reason(error: BaseException, step: str | None = None) -> dict[str, Any]:
    """A failure as a step that undoes is told of it."""
    told = describe(error)
    shown = {"code": told.get("code", "HANDLER_ERROR"), "message": told["message"]}
    if step is not None:
        shown["stepId"] = step
    return {**shown, "details": told["details"]} if "details" in told else shown
