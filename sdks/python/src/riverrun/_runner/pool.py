"""Threads for sync handlers.

Work is handed over in batches: one thread is woken for all that came in together, and more are
woken, twice as many each time, as long as work is still waiting a moment later. Short handlers are
so run back to back by one thread, and long ones have a thread each within milliseconds.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable

from .._outcomes import HANDLER_THREAD

_MOMENT_S = 0.002
_IDLE_S = 30.0


class Pool:
    """Runs work in threads, at most `limit` of them."""

    def __init__(self, loop: asyncio.AbstractEventLoop, limit: int) -> None:
        self.limit = limit
        self._loop = loop
        self._work: deque[Callable[[], None]] = deque()
        self._lock = threading.Lock()
        self._threads = 0
        self._sleepers: list[threading.Lock] = []
        self._will_hand_over = False
        self._will_grow = False
        self._step = 1

    def submit(self, work: Callable[[], None]) -> None:
        """From the loop's thread. `work` must not raise."""
        self._work.append(work)
        if not self._will_hand_over:
            self._will_hand_over = True
            self._loop.call_soon(self._hand_over)

    def _hand_over(self) -> None:
        self._will_hand_over = False
        self._wake(1)
        if not self._will_grow:
            self._will_grow = True
            self._loop.call_later(_MOMENT_S, self._grow)

    def _grow(self) -> None:
        if not self._work:
            self._will_grow, self._step = False, 1
            return
        self._wake(min(self._step, len(self._work)))
        self._step *= 2
        self._loop.call_later(_MOMENT_S, self._grow)

    def _wake(self, count: int) -> None:
        with self._lock:
            woken = [self._sleepers.pop() for _ in range(min(count, len(self._sleepers)))]
            new = min(count - len(woken), self.limit - self._threads)
            self._threads += max(0, new)
        for sleeper in woken:
            sleeper.release()
        for _ in range(new):
            threading.Thread(target=self._serve, name=HANDLER_THREAD, daemon=True).start()

    def _serve(self) -> None:
        gate = threading.Lock()
        gate.acquire()
        while True:
            try:
                work = self._work.popleft()
            except IndexError:
                if self._rest(gate):
                    continue
                return
            work()

    def _rest(self, gate: threading.Lock) -> bool:
        """Sleeps until there is work; false if there was none for so long that the thread ends."""
        with self._lock:
            if self._work:
                return True
            self._sleepers.append(gate)
        if gate.acquire(timeout=_IDLE_S):
            return True
        with self._lock:
            if gate in self._sleepers:
                self._sleepers.remove(gate)
                self._threads -= 1
                return False
        gate.acquire()
        return True
