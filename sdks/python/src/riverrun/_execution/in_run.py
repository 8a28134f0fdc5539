"""The `ctx.run` whose function is running: what is done inside of it belongs to it."""

from __future__ import annotations

import contextlib
import contextvars
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from .._journal import IN_RUN
from .._outcomes import RunTry


@dataclass
class Run:
    """The `ctx.run` whose function is running: the n-th of its name."""

    name: str
    number: int
    uses: Counter[tuple[str, str]] = field(default_factory=Counter)
    #: The kinds of the events that were emitted inside of it, by all of its tries.
    emits: list[str] = field(default_factory=list)
    #: How often this try has emitted each kind.
    emitted: Counter[str] = field(default_factory=Counter)
    attempt: RunTry | None = None

    def refuse_over(self) -> None:
        """Nothing counts that a try does after its time is over."""
        if self.attempt is not None and self.attempt.over is not None:
            raise self.attempt.over


current_run: contextvars.ContextVar[Run | None] = contextvars.ContextVar("run", default=None)


def note(kind: str) -> dict[str, Any]:
    return {"op": IN_RUN, "name": kind}


def is_emitted(kind: str) -> bool:
    # Whether an earlier try of the `ctx.run` around it has emitted it.
    run = current_run.get()
    if run is None:
        return False
    run.refuse_over()
    run.emitted[kind] += 1
    return run.emitted[kind] <= run.emits.count(kind)


@contextlib.contextmanager
def emitting(kind: str) -> Iterator[bool]:
    run = current_run.get()
    if run is not None:
        run.emits.append(kind)
    try:
        yield run is not None
    except BaseException:
        if run is not None:
            run.emits.remove(kind)
        raise
