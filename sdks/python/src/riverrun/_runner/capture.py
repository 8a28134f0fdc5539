"""What handlers print becomes log lines of their invocation.

`print` and `sys.stderr` go through here. What is written to the file descriptors themselves, by C
code or child processes, goes to the server as it is, which shows it as output of the runner: it is
never protocol, because the protocol has descriptors of its own.
"""

from __future__ import annotations

import contextvars
import io
import logging
import os
import sys
from typing import Protocol, TextIO


class Printer(Protocol):
    """The invocation that printed."""

    ended: bool

    def printed(self, level: str, text: str) -> None: ...

    def log(self, level: str, message: str) -> None: ...


#: The invocation to which the running code belongs.
current: contextvars.ContextVar[Printer | None] = contextvars.ContextVar("riverrun", default=None)

_LEVELS = ((logging.ERROR, "error"), (logging.WARNING, "warn"), (logging.INFO, "info"))


def install() -> None:
    out, err = sys.stdout, sys.stderr
    for stream in (out, err):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace", line_buffering=True)
    sys.stdout = Captured(out, "info")
    sys.stderr = Captured(err, "warn")
    # If logging is not configured, warnings keep their level. A handler on the root logger would
    # make `logging.basicConfig` in user code do nothing.
    logging.lastResort = _Logs(logging.WARNING)

    def in_child() -> None:
        # A forked child has no loop that would send what it prints.
        sys.stdout, sys.stderr = out, err

    os.register_at_fork(after_in_child=in_child)


class Captured(io.TextIOBase):
    """Stands for standard output or standard error."""

    def __init__(self, real: TextIO, level: str) -> None:
        self._real = real
        self._level = level

    def write(self, text: str) -> int:
        printer = current.get()
        if printer is None or printer.ended:
            return self._real.write(text)
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        printer.printed(self._level, text)
        return len(text)

    def flush(self) -> None:
        self._real.flush()

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._real.fileno()

    def isatty(self) -> bool:
        return False

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return "utf-8"

    @property
    def errors(self) -> str:  # type: ignore[override]
        return "replace"

    @property
    def buffer(self) -> object:
        return self._real.buffer


class _Logs(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        try:
            message = self.format(record)
        except Exception:
            self.handleError(record)
            return
        printer = current.get()
        if printer is None or printer.ended:
            print(message, file=sys.stderr)
            return
        level = next((name for least, name in _LEVELS if record.levelno >= least), "debug")
        printer.log(level, message)
