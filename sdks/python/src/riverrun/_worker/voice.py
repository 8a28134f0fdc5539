"""What a worker has to say to its server, over all of its connections.

What may not have been received is said again over the next one; the server does it once.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Mapping
from typing import Any

from .websocket import WebSocket

#: As many requests as the server remembers the answers of.
_MOST_OPEN = 512
#: What handlers say while there is no server waits, up to here; more is lost and counted.
_MOST_WAITING = 1 << 20

#: An invocation as the server knows it again.
Running = dict[str, Any]


class Voice:
    """Its methods may be called from any thread, but for `connected` and `disconnected`."""

    def __init__(self, loop: asyncio.AbstractEventLoop, credits: int) -> None:
        self.message_bytes = 16 << 20
        #: Frames that were lost because too much waited.
        self.lost = 0
        self._loop = loop
        self._credits = credits
        self._lock = threading.Lock()
        self._asked: dict[int, bytes] = {}
        self._later: deque[tuple[int, bytes]] = deque()
        self._begun: dict[int, Running] = {}
        # The last answers: each may have been lost with its connection.
        self._answers: deque[tuple[Running, bytes]] = deque()
        self._out: list[bytes] = []
        self._out_bytes = 0
        self._will_flush = False
        self._socket: WebSocket | None = None

    def running(self) -> list[Running]:
        """What still runs, or has ended without an acknowledgement."""
        with self._lock:
            return [*self._begun.values(), *(running for running, _ in self._answers)]

    def has_more_to_say(self) -> bool:
        with self._lock:
            return bool(self._begun or self._out)

    def begun(self, id: int, params: Mapping[str, Any]) -> None:
        jobs = params.get("jobs") or [{}]
        job_id = params.get("jobId") or jobs[0].get("jobId") or params.get("runId") or ""
        running = {"invocation": id, "jobId": job_id, "lease": params.get("lease") or ""}
        with self._lock:
            self._begun[id] = running

    def connected(self, socket: WebSocket) -> None:
        """The server knows this worker again: it gets what it may have missed."""
        with self._lock:
            self._socket = socket
            # Requests first, so that they arrive before the answer of their invocation.
            for line in [*self._asked.values(), *(line for _, line in self._answers)]:
                self._say(line)

    def disconnected(self) -> None:
        with self._lock:
            self._socket = None

    def send(self, line: bytes) -> None:
        with self._lock:
            if self._socket is None and self._out_bytes + len(line) > _MOST_WAITING:
                self.lost += 1
            else:
                self._say(line)

    def ask(self, id: int, line: bytes) -> None:
        with self._lock:
            if len(self._asked) < _MOST_OPEN:
                self._ask(id, line)
            else:
                self._later.append((id, line))

    def forget(self, id: int) -> None:
        with self._lock:
            if self._asked.pop(id, None) is None:
                self._later = deque(one for one in self._later if one[0] != id)
            elif self._later:
                self._ask(*self._later.popleft())

    def answer(self, id: int, line: bytes) -> None:
        with self._lock:
            running = self._begun.pop(id, None)
            if running is not None:
                self._answers.append((running, line))
                # Each answer that the server has not received holds one of its credits.
                while len(self._answers) > self._credits:
                    self._answers.popleft()
            self._say(line)

    def _ask(self, id: int, line: bytes) -> None:
        self._asked[id] = line
        if self._socket is not None:
            self._say(line)

    def _say(self, line: bytes) -> None:
        """What is said within one turn of the loop is gathered and sent in one message."""
        self._out.append(line)
        self._out_bytes += len(line)
        if not self._will_flush and self._socket is not None:
            self._will_flush = True
            self._loop.call_soon_threadsafe(self._flush)

    def _flush(self) -> None:
        with self._lock:
            self._will_flush = False
            socket = self._socket
            if socket is None or not self._out:
                return
            lines, self._out, self._out_bytes = self._out, [], 0
        for text in _texts(lines, self.message_bytes):
            socket.send(text)


def _texts(lines: list[bytes], limit: int) -> list[bytes]:
    """The lines in as few messages as they fit into."""
    texts: list[bytes] = []
    part: list[bytes] = []
    size = 0
    for line in lines:
        if part and size + len(line) + 1 > limit:
            texts.append(b"\n".join(part))
            part, size = [], 0
        part.append(line)
        size += len(line) + 1
    return [*texts, b"\n".join(part)]
