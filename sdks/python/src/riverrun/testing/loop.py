"""An event loop in simulated time."""

from __future__ import annotations

import asyncio
import selectors
import threading
from collections.abc import Callable
from typing import Any


class _JumpingSelector(selectors.DefaultSelector):
    """Where a real one would wait for a timer, the clock jumps."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        #: Lets so many seconds pass and returns True, or returns False and wakes the loop later.
        self.jump: Callable[[float], bool] = self.jump_alone

    def select(self, timeout: float | None = None) -> Any:
        # Threads may still be at work: they get a moment of real time before the clock jumps.
        ready = super().select(0.001 if threading.active_count() > 1 and timeout != 0 else 0)
        if ready or timeout == 0:
            return ready
        if timeout is None or not self.jump(timeout):
            return super().select(None)
        return ready

    def jump_alone(self, seconds: float) -> bool:
        self.now += seconds
        return True


class SimulatedLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock jumps to the next timer as soon as nothing is ready."""

    def __init__(self) -> None:
        self._clock = _JumpingSelector()
        super().__init__(self._clock)

    def time(self) -> float:
        return self._clock.now


def simulated(work: Any) -> Any:
    """Runs a coroutine to its end in simulated time: `simulated(main())`."""
    loop = SimulatedLoop()
    try:
        return loop.run_until_complete(work)
    finally:
        end(loop)


def end(loop: SimulatedLoop) -> None:
    """Stops what still runs in a loop, and closes it."""
    for task in asyncio.all_tasks(loop):
        task.cancel()
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.close()
