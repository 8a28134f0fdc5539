"""What the tests share. Importing it makes the package importable without installing it."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import queue
import subprocess
import sys
import tempfile
import textwrap
import threading
from collections.abc import Iterator
from typing import Any

SOURCE = pathlib.Path(__file__).resolve().parent.parent / "src"
if str(SOURCE) not in sys.path:
    sys.path.insert(0, str(SOURCE))

# The binary that plays flows: `cargo build -p riverrun` makes it.
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR") or SOURCE.parents[2] / "target")
os.environ.setdefault(
    "RIVERRUN_BINARY", os.environ.get("RIVERRUN_BIN") or str(TARGET / "debug/riverrun")
)

PATIENCE_S = 20.0


class Runner:
    """A runner as the server sees it, on pipes."""

    def __init__(self, fd: int = 3, command: list[str] | None = None) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.messages: queue.Queue[dict[str, Any] | None] = queue.Queue()
        out, write = os.pipe()
        command = command or [sys.executable, "-m", "riverrun.runner"]
        # The shell puts the pipe where the runner looks for it.
        script = f'exec "$@" {fd}>&{write}'
        self.process = subprocess.Popen(
            ["/bin/sh", "-c", script, "runner", *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=[write],
            env={**os.environ, "PYTHONPATH": str(SOURCE), "RIVERRUN_RUNNER_FD": str(fd)},
        )
        os.close(write)
        threading.Thread(target=self._read, args=(out,), daemon=True).start()
        self._ids = iter(range(1, 1_000_000))

    def _read(self, fd: int) -> None:
        with os.fdopen(fd, "rb") as lines:
            for line in lines:
                message = json.loads(line)
                if message.get("method") != "heartbeat":
                    self.messages.put(message)
        self.messages.put(None)

    def write(self, source: str, name: str = "handler") -> str:
        file = pathlib.Path(self.folder.name) / f"{name}.py"
        file.write_text(textwrap.dedent(source))
        return str(file)

    def send(self, **message: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def next(self) -> dict[str, Any]:
        message = self.messages.get(timeout=PATIENCE_S)
        assert message is not None, "the runner has gone"
        return message

    def request(self, method: str, **params: Any) -> dict[str, Any]:
        """Sends a request and gives its answer; nothing else may come before it."""
        id = next(self._ids)
        self.send(id=id, method=method, params=params)
        answer = self.next()
        assert answer.get("id") == id, answer
        return answer

    def initialise(self, **params: Any) -> dict[str, Any]:
        return self.request("initialise", protocol=1, **params)

    def load(self, file: str) -> dict[str, Any]:
        return self.request("load", file=file, revision=1)

    def invoke(self, file: str, input: Any = None, **params: Any) -> dict[str, Any]:
        return self.request("invoke", file=file, input=input, **params)

    def end(self) -> tuple[int, str, str]:
        """Ends its input; gives the exit code and what it printed."""
        out, err = self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode, out.decode(), err.decode()

    def close(self) -> None:
        if self.process.returncode is None:
            self.process.kill()
            self.process.communicate()
        self.folder.cleanup()


@contextlib.contextmanager
def runner(**options: Any) -> Iterator[Runner]:
    started = Runner(**options)
    try:
        started.initialise()
        yield started
    finally:
        started.close()


def has_pydantic() -> bool:
    try:
        import pydantic
    except ImportError:
        return False
    return int(pydantic.VERSION.split(".")[0]) >= 2
