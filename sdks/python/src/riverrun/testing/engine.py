"""The engine that plays flows in tests: the `riverrun` binary.

It is started once per test process as `riverrun test-kit`, with simulated time and a store in
memory. It speaks the worker protocol over its stdin and stdout, so the handlers of a test run in
the process of the test. Lines with a member `kit` steer it; crates/riverrun/src/test_kit lists
them.
"""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import tempfile
import threading

from ..errors import RiverrunError

_READ_BYTES = 1 << 18
_STDERR_BYTES = 4096
_END_S = 5.0

_shared: Engine | None = None


def the_engine() -> Engine:
    """The engine of this test process."""
    global _shared
    # A process that was forked off cannot use the pipes of its parent.
    if _shared is None or _shared.is_over or _shared.owner != os.getpid():
        _shared = Engine(find_binary())
    return _shared


class Engine:
    """The process, and lines to and from it. Lines may be sent from any thread."""

    def __init__(self, path: str) -> None:
        self.owner = os.getpid()
        self.is_over = False
        self._stderr = tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            [path, "test-kit"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            bufsize=0,
        )
        self._lock = threading.Lock()
        self._begun = b""
        assert self._process.stdout is not None
        self.fd = self._process.stdout.fileno()
        atexit.register(self.stop)

    def send(self, line: bytes) -> None:
        assert self._process.stdin is not None
        with self._lock:
            try:
                rest = memoryview(line + b"\n")
                while rest:
                    rest = rest[self._process.stdin.write(rest) or 0 :]
            except (OSError, ValueError):
                # Reading says that it has ended.
                self.is_over = True

    def read(self) -> list[bytes]:
        """The lines that have come, once `fd` can be read. Raises `UNREACHABLE` after the last."""
        data = os.read(self.fd, _READ_BYTES)
        if not data:
            raise self._ended()
        *lines, self._begun = (self._begun + data).split(b"\n")
        return lines

    def stop(self) -> None:
        """Ends the engine; the next flow is played on a new one."""
        self.is_over = True
        atexit.unregister(self.stop)
        if self.owner != os.getpid():
            return
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._stderr):
            if pipe is not None:
                pipe.close()

    def _ended(self) -> RiverrunError:
        code = self._process.wait(_END_S)
        self._stderr.seek(0)
        said = self._stderr.read()[-_STDERR_BYTES:].decode(errors="replace").strip()
        self.stop()
        message = f"riverrun test-kit has ended (exit code {code}){said and f': {said}'}"
        return RiverrunError(message, code="UNREACHABLE")


def find_binary() -> str:
    """Where the binary is: `RIVERRUN_BINARY`, otherwise `riverrun` on the PATH."""
    named = os.environ.get("RIVERRUN_BINARY")
    if named:
        if os.path.isfile(named) and os.access(named, os.X_OK):
            return named
        where = f"RIVERRUN_BINARY names {named}, which cannot be executed"
    else:
        found = shutil.which("riverrun")
        if found is not None:
            return found
        where = "there is no riverrun on the PATH"
    message = (
        f"run_flow and run_step run the riverrun binary, and {where}: install riverrun, or set "
        "RIVERRUN_BINARY to the path of the binary. run needs no binary"
    )
    raise RiverrunError(message, code="RUNTIME_MISSING")
