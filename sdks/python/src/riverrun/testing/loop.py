"""An event loop in simulated time."""

from __future__ import annotations

import asyncio
import selectors
import threading
from typing import Any


class _JumpingSelector(selectors.DefaultSelector):
    """Waits for nobody: where a real one would sleep, the clock jumps."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def select(self, timeout: float | None = None) -> Any:
        # Threads may still be at work: they get a moment of real time before the clock jumps.
        ready = super().select(0.001 if threading.active_count() > 1 and timeout != 0 else 0)
        if ready or timeout == 0:
            return ready
        if timeout is None:
            return super().select(None)
        self.now += timeout
        return ready


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
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()
