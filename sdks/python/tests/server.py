"""The real server, for tests that need one: `cargo build -p riverrun` makes it."""

from __future__ import annotations

import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
from typing import IO

from riverrun import Client

ROOT = pathlib.Path(__file__).resolve().parents[3]
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target")
BINARY = pathlib.Path(os.environ.get("RIVERRUN_BIN") or TARGET / "debug/riverrun")


class Server:
    """A server without a project, with a data folder of its own."""

    def __init__(self, *args: str) -> None:
        if not BINARY.exists():
            raise RuntimeError(f"{BINARY} is not there: cargo build -p riverrun makes it")
        self._args = args
        self._data = tempfile.mkdtemp(prefix="riverrun-server-")
        self._process: subprocess.Popen[bytes]
        self.start("127.0.0.1:0")

    def start(self, listen: str) -> None:
        command = [str(BINARY), "serve", "--listen", listen, "--data", self._data, *self._args]
        self._process = subprocess.Popen(
            command, cwd=self._data, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        assert self._process.stdout is not None
        said = b""
        while True:
            line = self._process.stdout.readline()
            said += line
            found = re.search(rb"is listening on (\S+)", line)
            if found:
                break
            if not line:
                raise RuntimeError(f"the server ended: {said.decode()}")
        # The output is read no further, and a full pipe would block the server.
        threading.Thread(target=_drain, args=(self._process.stdout,), daemon=True).start()
        self.url = found[1].decode()
        self.client = Client(self.url)

    def restart(self, how: int = signal.SIGTERM) -> None:
        """The same server once more, at the same place, with the same data."""
        host = self.url.partition("//")[2]
        self.stop(how)
        self.start(host)

    def stop(self, how: int = signal.SIGTERM) -> None:
        self._process.send_signal(how)
        self._process.wait()
        self.client.close()

    def close(self) -> None:
        self.stop(signal.SIGKILL)
        shutil.rmtree(self._data, ignore_errors=True)


class Proxy:
    """A way to the server that can be cut."""

    def __init__(self, url: str) -> None:
        host, _, port = url.partition("//")[2].partition(":")
        self._far = (host, int(port))
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.is_open = True
        self._sockets: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        self.is_open = False
        for one in self._sockets:
            _end(one)
        self._sockets.clear()

    def close(self) -> None:
        self.cut()
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            if not self.is_open:
                near.close()
                continue
            far = socket.create_connection(self._far)
            self._sockets += [near, far]
            for one, other in ((near, far), (far, near)):
                threading.Thread(target=_pipe, args=(one, other), daemon=True).start()


def _drain(out: IO[bytes]) -> None:
    with out:
        while out.read(65536):
            pass


def _pipe(one: socket.socket, other: socket.socket) -> None:
    with one:
        try:
            while data := one.recv(65536):
                other.sendall(data)
        except OSError:
            pass
        _end(other)


def _end(one: socket.socket) -> None:
    try:
        one.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
