"""Simulated time while a flow is played. The engine has the clock, and this follows it."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from unittest import mock

from ..cancellation import SyncSignal
from .loop import SimulatedLoop

_sleep = time.sleep

#: No attempt takes as long: ten years.
_LONGEST_S = 10 * 366 * 24 * 60 * 60


class FollowedLoop(SimulatedLoop):
    """An event loop in the time of the engine.

    When the loop has nothing to do before its next timer, it calls `ask` with the time of that
    timer, in milliseconds since 1970, and waits until a line or a thread wakes it.
    """

    def __init__(self, start_ms: int, ask: Callable[[int], None]) -> None:
        super().__init__()
        self.start_ms = start_ms
        self._ask = ask
        self._clock.jump = self._pass
        #: By the clock of the engine.
        self.now_ms = start_ms

    def jump(self, to_ms: int) -> None:
        """The engine says that it is this late."""
        self.now_ms = max(self.now_ms, to_ms)
        self._clock.now = max(self._clock.now, (self.now_ms - self.start_ms) / 1000)

    def exact_ms(self) -> float:
        """Milliseconds since 1970, with fractions, which the engine does not have."""
        return self.start_ms + round(self._clock.now * 1000, 3)

    def run_free(self) -> None:
        """The engine has ended the run: from now on the loop moves its own time."""
        self._clock.jump = self._clock.jump_alone

    def _pass(self, timeout: float) -> bool:
        at = self._clock.now + timeout
        at_ms = self.start_ms + int(round(at * 1000, 3))
        if at_ms <= self.now_ms:
            self._clock.now = at
            return True
        self._ask(at_ms)
        return False


class Sleepers:
    """Threads of handlers that sleep or wait for an answer."""

    def __init__(self, loop: FollowedLoop) -> None:
        self._loop = loop
        self._others = frozenset(threading.enumerate())
        self._idle: set[threading.Thread] = set()
        self._asleep: set[threading.Event] = set()
        self._is_over = False

    def sleep(self, seconds: float) -> None:
        """In place of `time.sleep`. Threads that existed before the run sleep in real time."""
        thread = threading.current_thread()
        if self._is_over or thread in self._others:
            _sleep(seconds)
        else:
            self.wait(seconds)

    def wait(self, seconds: float, signal: SyncSignal | None = None) -> None:
        """Sleeps so long, or until the signal is set."""
        woken = threading.Event()
        thread = threading.current_thread()
        self._asleep.add(woken)
        timers: list[asyncio.TimerHandle] = []

        def wake() -> None:
            self._idle.discard(thread)
            for timer in timers:
                timer.cancel()
            woken.set()

        def fall_asleep() -> None:
            if not woken.is_set():
                self._idle.add(thread)
                timers.append(self._loop.call_later(max(0.0, seconds), wake))

        forget = None if signal is None else signal.on_trip(lambda: self._call(wake))
        self._call(fall_asleep)
        if self._is_over or (signal is not None and signal.is_set()):
            self._call(wake)
            woken.set()
        woken.wait()
        self._asleep.discard(woken)
        if forget is not None:
            forget()

    def asks(self, thread: threading.Thread) -> None:
        """The thread waits for an answer."""
        if thread not in self._others:
            self._idle.add(thread)

    def is_answered(self, thread: threading.Thread) -> None:
        self._idle.discard(thread)

    def may_work(self, running: set[threading.Thread]) -> bool:
        """Whether a thread that runs a handler is at work.

        If threads that a handler made itself sleep, handlers are taken to wait for those.
        """
        own = self._idle - running
        return bool(running - self._idle) and not own

    def end(self) -> None:
        """Wakes every thread. Threads that sleep from now on do so in real time."""
        self._is_over = True
        for woken in list(self._asleep):
            woken.set()

    def look(self) -> None:
        """Makes the loop check again whether time may move. From any thread."""
        self._call(_nothing)

    def _call(self, function: Callable[[], None]) -> None:
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(function)


class PlayedSignal(SyncSignal):
    """The signal of a sync handler, which waits in simulated time."""

    __slots__ = ("_sleepers",)

    def __init__(self, sleepers: Sleepers) -> None:
        super().__init__()
        self._sleepers = sleepers

    def wait(self, timeout: float | None = None) -> bool:
        if not self._set:
            self._sleepers.wait(_LONGEST_S if timeout is None else timeout, self)
        return self._set


@contextlib.contextmanager
def simulated_time(loop: FollowedLoop, sleepers: Sleepers) -> Iterator[None]:
    """`time.time` and `time.sleep` go by the clock of the loop."""
    with (
        mock.patch("time.time", lambda: loop.exact_ms() / 1000),
        mock.patch("time.sleep", sleepers.sleep),
    ):
        yield


def _nothing() -> None:
    pass
