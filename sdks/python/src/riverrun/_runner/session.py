"""The conversation of a runner with the server: what each message leads to."""

from __future__ import annotations

import asyncio
import os
import platform
import sys
import threading
from collections.abc import Mapping
from typing import Any

from .._failure import UNKNOWN_METHOD
from .._json import decode, encode
from .._version import VERSION
from ..errors import RiverrunError
from . import answers
from .invocation import Invocation
from .invocations import Invocations
from .modules import DEFAULT, LoadError, Module, load
from .wire import Wire

PROTOCOL = 1
HEARTBEAT_S = 10.0
# What still runs when the server has gone may tidy up for so long.
STOP_S = 1.0


class Session:
    """One connection from its beginning to its end."""

    def __init__(self, loop: asyncio.AbstractEventLoop, read_fd: int, write_fd: int) -> None:
        self.loop = loop
        self.ended: asyncio.Future[str | None] = loop.create_future()
        self._invocations = Invocations(loop)
        self._modules: dict[str, Module] = {}
        self._revisions: dict[str, int] = {}
        self._loading: dict[str, asyncio.Future[Module]] = {}
        self.wire = Wire(loop, read_fd, write_fd, self._line, self._end)
        self._invocations.wire = self.wire

    async def serve(self) -> str | None:
        """Until the input ends. Gives what was wrong with it, if something was."""
        self.loop.call_later(HEARTBEAT_S, self._beat)
        problem = await self.ended
        self.wire.close()
        await self._stop()
        return problem

    async def _stop(self) -> None:
        self._invocations.cancel_all("shutdown")
        until = self.loop.time() + STOP_S
        while self._invocations.running and self.loop.time() < until:
            await asyncio.sleep(0.01)

    def _beat(self) -> None:
        if self._invocations.running:
            self.wire.send(b'{"method":"heartbeat","params":{}}')
        self.loop.call_later(HEARTBEAT_S, self._beat)

    def _end(self, problem: str | None) -> None:
        if not self.ended.done():
            self.ended.set_result(problem)

    def _line(self, line: bytes) -> None:
        if self.ended.done():
            return
        try:
            message = decode(line)
            method = message.get("method")
            id = message.get("id")
            params = message.get("params") or {}
            if method == "invoke":
                self._invoke(id, params)
            elif method is None:
                self._invocations.settle(message)
            else:
                self._other(id, method, params)
        except (ValueError, TypeError, AttributeError, KeyError, RecursionError) as error:
            shown = line[:200].decode(errors="replace")
            self._end(f"a message cannot be read ({error!r}): {shown}")

    def _other(self, id: int | None, method: str, params: Mapping[str, Any]) -> None:
        if method == "cancel":
            self._invocations.cancel(params["invocation"], params.get("reason"))
        elif id is None:
            pass
        elif method == "initialise":
            self._initialise(id, params)
        elif method == "load":
            self._invocations.spawn(self._load(id, params["file"], params.get("revision") or 0))
        elif method == "drain":
            self._drain(id, params.get("graceMs"))
        else:
            error = {"code": UNKNOWN_METHOD, "message": f"there is no method {method}"}
            self.wire.send(encode({"id": id, "error": error}))

    def _initialise(self, id: int, params: Mapping[str, Any]) -> None:
        if params["protocol"] != PROTOCOL:
            message = (
                f"this SDK speaks version {PROTOCOL} of the protocol, not {params['protocol']}"
            )
            self.wire.send(answers.refusal(id, message, "PROTOCOL_VERSION"))
            self._end(message)
            return
        limits = params.get("limits") or {}
        self.wire.message_bytes = limits.get("messageBytes", self.wire.message_bytes)
        invocations = self._invocations
        invocations.result_bytes = limits.get("resultBytes", invocations.result_bytes)
        project = params.get("project")
        # So that processes can import what lies beside them in the project.
        if project and project not in sys.path:
            sys.path.insert(0, project)
        answer = {
            "protocol": PROTOCOL,
            "sdk": {"name": "riverrun", "version": VERSION, "language": "python"},
            "runtime": f"python {platform.python_version()}",
            "pid": os.getpid(),
        }
        self.wire.send(encode({"id": id, "result": answer}))

    def _drain(self, id: int, grace_ms: int | None) -> None:
        def answer(unfinished: int) -> None:
            self.wire.send(encode({"id": id, "result": {"unfinished": unfinished}}))

        self._invocations.drain(grace_ms, answer)

    # Modules

    async def _load(self, id: int, file: str, revision: int) -> None:
        try:
            module = await self._module(file, revision)
        except RiverrunError as error:
            self.wire.send(answers.failure(id, error))
        else:
            self.wire.send(encode({"id": id, "result": {"processes": module.processes}}))

    async def _module(self, file: str, revision: int) -> Module:
        while file in self._loading:
            await asyncio.wait([self._loading[file]])
        module = self._modules.get(file)
        tried = self._revisions.setdefault(file, revision)
        if revision > tried:
            # What the module imports stays in memory, so only a new process is surely fresh.
            message = (
                f"{file} has changed: revision {tried} was loaded, {revision} needs a new runner"
            )
            raise RiverrunError(message, code="RELOAD")
        if module is not None:
            return module
        loading: asyncio.Future[Module] = self.loop.create_future()
        self._loading[file] = loading
        try:
            module = await self._import(file, revision)
        finally:
            del self._loading[file]
            loading.cancel()
        self._modules[file] = module
        asked = [process["config"].get("concurrency") for process in module.processes]
        pool = self._invocations.pool
        pool.limit = max([pool.limit, *(n for n in asked if isinstance(n, int))])
        return module

    def _import(self, file: str, revision: int) -> asyncio.Future[Module]:
        """Imports in a thread, so that a module that takes long does not block others."""
        done: asyncio.Future[Module] = self.loop.create_future()

        def work() -> None:
            asyncio.set_event_loop(self.loop)
            try:
                module = load(file, revision)
            except LoadError as error:
                self.loop.call_soon_threadsafe(done.set_exception, error)
            else:
                self.loop.call_soon_threadsafe(done.set_result, module)

        threading.Thread(target=work, name="riverrun-import", daemon=True).start()
        return done

    # Invocations

    def _invoke(self, id: int, params: dict[str, Any]) -> None:
        invocation = self._invocations.add(id, params)
        module = self._modules.get(params["file"])
        if module is None or (params.get("revision") or 0) > module.revision:
            self._invocations.spawn(self._load_and_start(invocation))
        else:
            self._start(invocation, module)

    async def _load_and_start(self, invocation: Invocation) -> None:
        params = invocation.params
        try:
            module = await self._module(params["file"], params.get("revision") or 0)
        except RiverrunError as error:
            self._invocations.finish(invocation, answers.failure(invocation.id, error))
        else:
            self._start(invocation, module)

    def _start(self, invocation: Invocation, module: Module) -> None:
        if invocation.signal.is_set():
            self._invocations.finish(invocation, answers.cancelled(invocation.id))
            return
        export = invocation.params.get("export") or DEFAULT
        handler = module.handlers.get(export)
        if handler is None:
            message = f"{invocation.params['file']} has no handler {export}"
            line = answers.refusal(invocation.id, message, "HANDLER_NOT_FOUND")
            self._invocations.finish(invocation, line)
        else:
            self._invocations.start(invocation, handler)
