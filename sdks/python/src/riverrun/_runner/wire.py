"""Messages in and out: lines on two file descriptors, many of them in a read or a write."""

from __future__ import annotations

import asyncio
import os
import select
import threading
from collections import deque
from collections.abc import Callable

_READ_BYTES = 1 << 18
# With more than this unsent the loop waits for the server instead of going on: a handler that
# floods its output must not fill the memory.
_UNSENT_BYTES = 8 << 20
_CLOSE_S = 1.0


class Wire:
    """Reads lines while the loop runs, and gathers what is sent into one write."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        read_fd: int,
        write_fd: int,
        on_line: Callable[[bytes], None],
        on_end: Callable[[str | None], None],
    ) -> None:
        self.message_bytes = 16 << 20
        self._loop = loop
        self._thread = threading.get_ident()
        self._read_fd = read_fd
        self._write_fd = write_fd
        self._on_line = on_line
        self._on_end = on_end
        self._begun: list[bytes] = []
        self._begun_bytes = 0
        self._out: deque[bytes] = deque()
        self._will_flush = False
        self._unsent = b""
        self._is_closed = False
        os.set_blocking(write_fd, False)
        loop.add_reader(read_fd, self._read)

    def send(self, line: bytes) -> None:
        """Sends a message, without its line break. From any thread. Nothing once it is closed."""
        if self._is_closed:
            return
        self._out.append(line)
        # Appended first, looked at second; `_flush` goes the other way, so nothing is left behind.
        if self._will_flush:
            return
        self._will_flush = True
        if threading.get_ident() == self._thread:
            self._loop.call_soon(self._flush)
        else:
            self._loop.call_soon_threadsafe(self._flush)

    def ask(self, id: int, line: bytes) -> None:
        self.send(line)

    def forget(self, id: int) -> None:
        pass

    def answer(self, id: int, line: bytes) -> None:
        self.send(line)

    def close(self) -> None:
        """Sends what is left, for a moment if it must wait, and no more after that."""
        self._stop_reading()
        self._is_closed = True
        self._flush()
        self._wait_until_unsent(0, _CLOSE_S)

    def _read(self) -> None:
        try:
            data = os.read(self._read_fd, _READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._stop_reading()
            self._on_end(None)
            return
        first, *rest = data.split(b"\n")
        self._begun.append(first)
        self._begun_bytes += len(first)
        if self._begun_bytes > self.message_bytes:
            self._stop_reading()
            self._on_end(f"a message has more than {self.message_bytes} bytes")
            return
        if not rest:
            return
        line = b"".join(self._begun)
        for following in rest:
            if line:
                self._on_line(line)
            line = following
        self._begun, self._begun_bytes = [line], len(line)

    def _stop_reading(self) -> None:
        self._loop.remove_reader(self._read_fd)

    def _flush(self) -> None:
        self._will_flush = False
        if not self._out:
            return
        pieces = [self._unsent] if self._unsent else []
        while self._out:
            pieces.append(self._out.popleft())
            pieces.append(b"\n")
        was_waiting = bool(self._unsent)
        self._unsent = b"".join(pieces)
        self._write()
        if self._unsent and not was_waiting:
            self._loop.add_writer(self._write_fd, self._write)
        self._wait_until_unsent(_UNSENT_BYTES)

    def _write(self) -> None:
        try:
            written = os.write(self._write_fd, self._unsent)
        except BlockingIOError:
            return
        except OSError:
            # The server no longer reads; the end of the input follows.
            written = len(self._unsent)
        self._unsent = self._unsent[written:]
        if not self._unsent:
            self._loop.remove_writer(self._write_fd)

    def _wait_until_unsent(self, limit: int, timeout_s: float | None = None) -> None:
        while len(self._unsent) > limit:
            _, writable, _ = select.select([], [self._write_fd], [], timeout_s)
            if not writable:
                return
            self._write()
