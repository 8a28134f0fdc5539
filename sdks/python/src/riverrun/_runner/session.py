"""The conversation with the server: what each message leads to."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import inspect
import itertools
import os
import platform
import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any

from .._execution import Execution, SyncExecution
from .._failure import UNKNOWN_METHOD
from .._json import decode, encode
from .._version import VERSION
from ..cancellation import Signal, SyncSignal
from ..context import Context, SyncContext
from ..errors import NonRetriableError, RiverrunError
from . import answers
from .capture import current
from .handler import Handler
from .invocation import Answer, Invocation, settle
from .modules import DEFAULT, LoadError, Module, load
from .pool import Pool
from .wire import Wire

PROTOCOL = 1
HEARTBEAT_S = 10.0
# What still runs when the server has gone may tidy up for so long.
STOP_S = 1.0
# Threads for sync handlers beyond what any config asks for: the server decides how many
# invocations it sends, and one that waits here for a thread would use up its time.
MIN_THREADS = 64


class Session:
    """One connection from its beginning to its end."""

    def __init__(self, loop: asyncio.AbstractEventLoop, read_fd: int, write_fd: int) -> None:
        self.loop = loop
        self.ids = itertools.count(1)
        self.open: dict[int, asyncio.Future[Mapping[str, Any]] | Answer] = {}
        self.running: dict[int, Invocation] = {}
        self.ended: asyncio.Future[str | None] = loop.create_future()
        self._result_bytes = 1 << 20
        self._modules: dict[str, Module] = {}
        self._revisions: dict[str, int] = {}
        self._loading: dict[str, asyncio.Future[Module]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._draining: list[Callable[[], None]] = []
        self._pool = Pool(loop, MIN_THREADS)
        self.wire = Wire(loop, read_fd, write_fd, self._line, self._end)

    async def serve(self) -> str | None:
        """Until the input ends. Gives what was wrong with it, if something was."""
        self.loop.call_later(HEARTBEAT_S, self._beat)
        problem = await self.ended
        self.wire.close()
        await self._stop()
        return problem

    async def _stop(self) -> None:
        for invocation in list(self.running.values()):
            invocation.cancel("shutdown")
        until = self.loop.time() + STOP_S
        while self.running and self.loop.time() < until:
            await asyncio.sleep(0.01)

    def _beat(self) -> None:
        if self.running:
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
                waiting = self.open.pop(id, None)
                if waiting is not None:
                    settle(waiting, message)
            else:
                self._other(id, method, params)
        except (ValueError, TypeError, AttributeError, KeyError, RecursionError) as error:
            shown = line[:200].decode(errors="replace")
            self._end(f"a message cannot be read ({error!r}): {shown}")

    def _other(self, id: int | None, method: str, params: Mapping[str, Any]) -> None:
        if method == "cancel":
            invocation = self.running.get(params["invocation"])
            if invocation is not None:
                invocation.cancel(params.get("reason"))
        elif id is None:
            pass
        elif method == "initialise":
            self._initialise(id, params)
        elif method == "load":
            self._spawn(self._load(id, params["file"], params.get("revision") or 0))
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
        self._result_bytes = limits.get("resultBytes", self._result_bytes)
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
        def answer() -> None:
            if answer in self._draining:
                self._draining.remove(answer)
                timer.cancel()
                result = {"unfinished": len(self.running)}
                self.wire.send(encode({"id": id, "result": result}))

        self._draining.append(answer)
        timer = self.loop.call_later((30_000 if grace_ms is None else grace_ms) / 1000, answer)
        self._look_if_drained()

    def _look_if_drained(self) -> None:
        if not self.running:
            for answer in list(self._draining):
                answer()

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
        self._pool.limit = max([self._pool.limit, *(n for n in asked if isinstance(n, int))])
        return module

    def _import(self, file: str, revision: int) -> asyncio.Future[Module]:
        """Imports in a thread, so that a module that takes long holds up nobody else."""
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
        invocation = Invocation(self, id, params)
        self.running[id] = invocation
        module = self._modules.get(params["file"])
        if module is None or (params.get("revision") or 0) > module.revision:
            self._spawn(self._load_and_start(invocation))
        else:
            self._start(invocation, module)

    async def _load_and_start(self, invocation: Invocation) -> None:
        params = invocation.params
        try:
            module = await self._module(params["file"], params.get("revision") or 0)
        except RiverrunError as error:
            self._finish(invocation, answers.failure(invocation.id, error))
        else:
            self._start(invocation, module)

    def _start(self, invocation: Invocation, module: Module) -> None:
        if invocation.signal.is_set():
            self._finish(invocation, answers.cancelled(invocation.id))
            return
        export = invocation.params.get("export") or DEFAULT
        handler = module.handlers.get(export)
        if handler is None:
            message = f"{invocation.params['file']} has no handler {export}"
            line = answers.refusal(invocation.id, message, "HANDLER_NOT_FOUND")
            self._finish(invocation, line)
        elif handler.is_async:
            # Held by `running` for as long as it runs: the loop itself holds tasks weakly.
            invocation.task = _task(self._run(invocation, handler), self.loop)
        else:
            invocation.signal = SyncSignal()
            self._pool.submit(functools.partial(self._run_in_thread, invocation, handler))

    async def _run(self, invocation: Invocation, handler: Handler) -> None:
        current.set(invocation)
        signal = invocation.signal
        assert isinstance(signal, Signal)
        invocation.has_begun = True
        step: Execution | None = None
        try:
            signal.raise_if_set()
            batch = Batch.of(handler, invocation.params)
            params = invocation.params if batch is None else batch.params
            ctx = Context(invocation, params, signal)
            if ctx.execution is not None:
                step = ctx.execution
                step.on_leave = functools.partial(self._leave, invocation)
            if batch is None:
                value = await handler.call(handler.subject(invocation.params), ctx)
                problem = None if step is None else await step.returned()
                if problem is not None:
                    raise problem
                line = answers.result(invocation.id, value, self._result_bytes)
            else:
                value = await handler.call(batch.subjects, ctx) if batch.subjects else []
                line = batch.answer(invocation.id, value, self._result_bytes)
        except GeneratorExit:
            raise
        except BaseException as error:
            line = answers.failure(invocation.id, error)
        if step is not None:
            step.ended()
        if not invocation.ended:
            self._finish(invocation, line)

    def _leave(self, invocation: Invocation, outcome: dict[str, Any] | RiverrunError) -> None:
        """Answers for a step that waits, and then lets go of its task."""
        self._finish(invocation, answers.suspended(invocation.id, outcome))
        task = invocation.task
        if task is not None and not task.done():
            # Nothing else holds it now, and the handler may take its time to end.
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
            task.cancel()

    def _run_in_thread(self, invocation: Invocation, handler: Handler) -> None:
        contextvars.Context().run(self._run_blocking, invocation, handler)

    def _run_blocking(self, invocation: Invocation, handler: Handler) -> None:
        current.set(invocation)
        signal = invocation.signal
        assert isinstance(signal, SyncSignal)
        step: SyncExecution | None = None
        try:
            signal.raise_if_set()
            batch = Batch.of(handler, invocation.params)
            params = invocation.params if batch is None else batch.params
            ctx = SyncContext(invocation, params, signal)
            step = ctx.execution
            if batch is None:
                value = handler.call(handler.subject(invocation.params), ctx)
                _refuse_awaitable(value, handler)
                problem = None if step is None else step.returned()
                if problem is not None:
                    raise problem
                line = answers.result(invocation.id, value, self._result_bytes)
            else:
                value = handler.call(batch.subjects, ctx) if batch.subjects else []
                _refuse_awaitable(value, handler)
                line = batch.answer(invocation.id, value, self._result_bytes)
        except BaseException as error:
            line = answers.failure(invocation.id, error)
        if step is not None and step.outcome is not None:
            line = answers.suspended(invocation.id, step.outcome)
        self._finish(invocation, line)

    def _finish(self, invocation: Invocation, line: bytes) -> None:
        if len(line) > self.wire.message_bytes:
            message = f"the answer has {len(line)} bytes, and {self.wire.message_bytes} are allowed"
            line = answers.refusal(invocation.id, message, "RESULT_TOO_LARGE")
        invocation.end()
        self.running.pop(invocation.id, None)
        self.wire.send(line)
        if self._draining:
            self.loop.call_soon_threadsafe(self._look_if_drained)

    def _spawn(self, work: Any) -> None:
        task = _task(work, self.loop)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


class Batch:
    """The jobs of an invocation whose process takes several at once."""

    def __init__(self, handler: Handler, params: Mapping[str, Any]) -> None:
        jobs: list[Mapping[str, Any]] = params["jobs"]
        accepted: list[Mapping[str, Any]] = []
        self.subjects: list[Any] = []
        #: What the context knows: of the jobs, those that the handler is given.
        self.params = {**params, "jobs": accepted}
        # An input that its model refuses costs that job alone.
        self._refused: dict[int, RiverrunError] = {}
        self._size = len(jobs)
        for index, job in enumerate(jobs):
            try:
                self.subjects.append(handler.subject(job, params.get("queue")))
                accepted.append(job)
            except RiverrunError as error:
                self._refused[index] = error

    @classmethod
    def of(cls, handler: Handler, params: Mapping[str, Any]) -> Batch | None:
        return None if params.get("jobs") is None else cls(handler, params)

    def answer(self, id: int, value: Any, limit: int) -> bytes:
        if not isinstance(value, list):
            if not self._refused:
                return answers.result(id, value, limit)
            value = [value] * len(self.subjects)
        if len(value) != len(self.subjects):
            message = f"the handler returned {len(value)} results for {len(self.subjects)} jobs"
            raise NonRetriableError(message, code="BATCH_RESULTS")
        given = iter(value)
        merged = [self._refused.get(index) or next(given) for index in range(self._size)]
        return answers.results(id, merged, limit)


def _refuse_awaitable(value: Any, handler: Handler) -> None:
    if inspect.isawaitable(value):
        if inspect.iscoroutine(value):
            value.close()
        message = f"{handler.name} returned something to await: declare it with async def"
        raise NonRetriableError(message, code="RESULT_NOT_JSON")


if sys.version_info >= (3, 12):

    def _task(work: Any, loop: asyncio.AbstractEventLoop) -> asyncio.Task[None]:
        # A handler that does not wait for anything has then ended when this returns.
        return asyncio.Task(work, loop=loop, eager_start=True)

else:

    def _task(work: Any, loop: asyncio.AbstractEventLoop) -> asyncio.Task[None]:
        return asyncio.Task(work, loop=loop)
