"""Runs handlers for a server, from its `invoke` to the answer, over any transport."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import inspect
import itertools
import sys
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from .._execution import Execution, SyncExecution
from ..cancellation import Signal, SyncSignal
from ..context import Context, SyncContext
from ..errors import NonRetriableError, RiverrunError, Stopped
from . import answers
from .capture import current
from .handler import Handler
from .invocation import Answer, Invocation, settle
from .pool import Pool

# Threads for sync handlers beyond what any config asks for: the server decides how many
# invocations it sends, and one that waits here for a thread would use up its time.
MIN_THREADS = 64


class Voice(Protocol):
    """What is said to the server. From any thread; a line comes without its break."""

    message_bytes: int

    def send(self, line: bytes) -> None:
        """Sends something that may get lost."""

    def ask(self, id: int, line: bytes) -> None:
        """Asks for something. Its answer is settled with the same id."""

    def forget(self, id: int) -> None:
        """The answer is no longer needed."""

    def answer(self, id: int, line: bytes) -> None:
        """Says how an invocation has ended."""


class Invocations:
    """What runs in this process."""

    def __init__(self, loop: asyncio.AbstractEventLoop, threads: int = MIN_THREADS) -> None:
        self.loop = loop
        self.ids = itertools.count(1)
        self.open: dict[int, asyncio.Future[Mapping[str, Any]] | Answer] = {}
        self.running: dict[int, Invocation] = {}
        self.result_bytes = 1 << 20
        self.pool = Pool(loop, threads)
        self.wire: Voice
        self._tasks: set[asyncio.Task[None]] = set()
        self._draining: list[Callable[[], None]] = []

    def add(self, id: int, params: dict[str, Any]) -> Invocation:
        invocation = Invocation(self, id, params)
        self.running[id] = invocation
        return invocation

    def cancel(self, id: int, reason: str | None) -> None:
        invocation = self.running.get(id)
        if invocation is not None:
            invocation.cancel(reason)

    def cancel_all(self, reason: str) -> None:
        for invocation in list(self.running.values()):
            invocation.cancel(reason)

    def settle(self, message: Mapping[str, Any]) -> None:
        """Passes an answer of the server to the request that it answers."""
        id: Any = message.get("id")
        waiting = self.open.pop(id, None)
        if waiting is not None:
            settle(waiting, message)

    def drain(self, grace_ms: int | None, done: Callable[[int], None]) -> None:
        """Calls `done` with what is left when nothing runs, or when the time is over."""

        def end() -> None:
            if end in self._draining:
                self._draining.remove(end)
                timer.cancel()
                done(len(self.running))

        self._draining.append(end)
        timer = self.loop.call_later((30_000 if grace_ms is None else grace_ms) / 1000, end)
        self._look_if_drained()

    def _look_if_drained(self) -> None:
        if not self.running:
            for end in list(self._draining):
                end()

    def spawn(self, work: Any) -> None:
        task = _task(work, self.loop)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def start(self, invocation: Invocation, handler: Handler) -> None:
        if handler.is_async:
            # Held by `running` for as long as it runs: the loop itself holds tasks weakly.
            invocation.task = _task(self._run(invocation, handler), self.loop)
        else:
            invocation.signal = SyncSignal()
            self.pool.submit(functools.partial(self._run_in_thread, invocation, handler))

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
                step.on_leave = functools.partial(self._leave, invocation, step)
            if batch is None:
                value = await handler.call(handler.subject(invocation.params), ctx)
                problem = None if step is None else await step.returned()
                if problem is not None:
                    raise problem
                line = answers.result(invocation.id, value, self.result_bytes)
            else:
                value = await handler.call(batch.subjects, ctx) if batch.subjects else []
                line = batch.answer(invocation.id, value, self.result_bytes)
        except GeneratorExit:
            raise
        except BaseException as error:
            line = answers.failure(invocation.id, _blamed(invocation, error))
        if step is not None:
            step.ended()
        if not invocation.ended:
            self.finish(invocation, line)

    def _leave(
        self, invocation: Invocation, step: Execution, outcome: dict[str, Any] | RiverrunError
    ) -> None:
        """Answers for a step that waits, and then lets go of its task."""
        line = answers.suspended(invocation.id, outcome, step.take_seen())
        self.finish(invocation, line)
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
                line = answers.result(invocation.id, value, self.result_bytes)
            else:
                value = handler.call(batch.subjects, ctx) if batch.subjects else []
                _refuse_awaitable(value, handler)
                line = batch.answer(invocation.id, value, self.result_bytes)
        except BaseException as error:
            line = answers.failure(invocation.id, _blamed(invocation, error))
        if step is not None and step.outcome is not None:
            line = answers.suspended(invocation.id, step.outcome, step.take_seen())
        self.finish(invocation, line)

    def finish(self, invocation: Invocation, line: bytes) -> None:
        if len(line) > self.wire.message_bytes:
            message = f"the answer has {len(line)} bytes, and {self.wire.message_bytes} are allowed"
            line = answers.refusal(invocation.id, message, "RESULT_TOO_LARGE")
        invocation.end()
        self.running.pop(invocation.id, None)
        self.wire.answer(invocation.id, line)
        if self._draining:
            self.loop.call_soon_threadsafe(self._look_if_drained)


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


def _blamed(invocation: Invocation, error: BaseException) -> BaseException:
    """A `CancelledError` ends a job as cancelled only if the job was cancelled."""
    if isinstance(error, Stopped):
        return error.error
    if not isinstance(error, asyncio.CancelledError) or invocation.signal.is_set():
        return error
    raised = RiverrunError(
        "the handler raised CancelledError but was not cancelled", code="HANDLER_ERROR"
    )
    raised.name = "CancelledError"
    raised.__cause__ = error
    return raised


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
