"""One connection to the server, from its first word to its end."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Mapping
from typing import Any, Literal

from .._failure import UNKNOWN_METHOD
from .._json import decode, encode
from .._runner import answers
from .._runner.invocations import Invocations
from .._version import VERSION
from ..errors import RiverrunError
from .offered import Process
from .voice import Voice
from .websocket import Closed, WebSocket

PROTOCOL = 1
#: How long a worker that is away may run on where the server did not say.
LEASE_S = 30.0


class Conversation:
    """What each message of the server leads to. One for all connections of a worker."""

    def __init__(
        self,
        about: Mapping[str, Any],
        processes: Mapping[str, Process],
        concurrency: int,
        invocations: Invocations,
        voice: Voice,
    ) -> None:
        self.reconnect_s = LEASE_S
        self.is_draining = False
        self.is_leaving = False
        self.is_connected = False
        #: What the server said when it let the worker in.
        self.welcome: dict[str, Any] | None = None
        self._about = about
        self._processes = processes
        self._concurrency = concurrency
        self._invocations = invocations
        self._voice = voice

    async def lead(
        self, socket: WebSocket, on_welcome: Callable[[], None]
    ) -> Literal["drained", "broken"]:
        """Until the connection ends. Raises what the server refuses the worker with."""
        try:
            while True:
                for line in (await socket.receive()).split(b"\n"):
                    if line:
                        self._hear(socket, _message(line), on_welcome)
        except Closed:
            return "drained" if self.is_draining else "broken"
        except RiverrunError as error:
            socket.close(1002, str(error))
            raise
        finally:
            self.is_connected = False
            self._voice.disconnected()
            socket.abort()

    def leave(self) -> None:
        self.is_leaving = True
        if self.is_connected:
            self._voice.send(b'{"method":"leave"}')

    def _hear(
        self, socket: WebSocket, message: dict[str, Any], on_welcome: Callable[[], None]
    ) -> None:
        method, id, params = message.get("method"), message.get("id"), message.get("params") or {}
        if method is None:
            self._voice.forget(id or 0)
            self._invocations.settle(message)
        elif method == "refused":
            _refuse(params)
        elif method == "welcome":
            self.welcome = params
            on_welcome()
        elif method == "cancel":
            self._invocations.cancel(params["invocation"], params.get("reason"))
        elif id is None:
            pass
        elif method == "invoke":
            self._invoke(id, params)
        elif method == "initialise":
            self._initialise(socket, id, params)
        elif method == "drain":
            self._drain(id, params.get("graceMs") or 0)
        else:
            error = {"code": UNKNOWN_METHOD, "message": f"there is no method {method}"}
            self._voice.send(encode({"id": id, "error": error}))

    def _initialise(self, socket: WebSocket, id: int, params: Mapping[str, Any]) -> None:
        if params.get("protocol") != PROTOCOL:
            message = f"this SDK speaks version {PROTOCOL}, the server {params.get('protocol')}"
            socket.send(answers.refusal(id, message, "PROTOCOL_VERSION"))
            raise RiverrunError(message, code="PROTOCOL_VERSION")
        limits = params.get("limits") or {}
        self._voice.message_bytes = limits.get("messageBytes", self._voice.message_bytes)
        invocations = self._invocations
        invocations.result_bytes = limits.get("resultBytes", invocations.result_bytes)
        self.reconnect_s = params.get("reconnectMs", LEASE_S * 1000) / 1000
        answer = {
            "protocol": PROTOCOL,
            "sdk": {"name": "riverrun", "version": VERSION, "language": "python"},
            "runtime": f"python {platform.python_version()}",
            "pid": os.getpid(),
            "worker": self._about,
            "processes": [
                {"id": id, "config": process.config} for id, process in self._processes.items()
            ],
            "credits": self._concurrency,
            "running": self._voice.running(),
        }
        socket.send(encode({"id": id, "result": answer}))
        self.is_connected = True
        self._voice.connected(socket)
        if self.is_leaving:
            self.leave()

    def _invoke(self, id: int, params: dict[str, Any]) -> None:
        self._voice.begun(id, params)
        invocation = self._invocations.add(id, params)
        process = self._processes.get(params.get("process") or "")
        if process is None:
            message = f"this worker has no process {params.get('process')}"
            line = answers.refusal(id, message, "PROCESS_NOT_FOUND")
            self._invocations.finish(invocation, line)
        else:
            self._invocations.start(invocation, process.handler)

    def _drain(self, id: int, grace_ms: int) -> None:
        """Running work gets its grace; then the worker answers and the server closes."""

        def answer(unfinished: int) -> None:
            self._invocations.cancel_all("shutdown")
            self._voice.send(encode({"id": id, "result": {"unfinished": unfinished}}))

        self.is_draining = True
        self._invocations.drain(grace_ms, answer)


def _message(line: bytes) -> dict[str, Any]:
    try:
        message = decode(line)
    except (ValueError, RecursionError):
        message = None
    if not isinstance(message, dict):
        raise RiverrunError("the server said what is no message", code="PROTOCOL_ERROR")
    return message


def _refuse(params: Mapping[str, Any]) -> None:
    code = str(params.get("code") or "REFUSED")
    # A server that stops is waited for: its end of the connection follows.
    if code != "SHUTTING_DOWN":
        message = str(params.get("message") or "the server does not want this worker")
        raise RiverrunError(message, code=code, details=params.get("details"))
