"""Waiting for so long."""

from __future__ import annotations

import time

from .request import IDLE_S


class Deadline:
    """How long somebody waits for the end of something."""

    def __init__(self, timeout: float | None, what: str) -> None:
        self.timeout = timeout
        self._what = what
        self._at = None if timeout is None else time.monotonic() + timeout

    def over(self) -> TimeoutError:
        return TimeoutError(f"{self._what} has not ended after {self.timeout:g} s; it goes on")

    def patience_s(self) -> float:
        """How long a connection may be silent."""
        return max(0.001, min(IDLE_S, self._left_s()))

    def cap(self, pause: float) -> float:
        left = self._left_s()
        if left <= 0:
            raise self.over()
        return min(pause, left)

    def _left_s(self) -> float:
        return IDLE_S if self._at is None else self._at - time.monotonic()
