"""One visit of a step: its handler is called, really again and again, with what it did before."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from unittest import mock

from ..cancellation import Signal
from ..context import Context, SyncContext
from ..errors import RiverrunError
from .given import iso
from .loop import simulated
from .outcome import Outcome, as_result, through_json, with_code
from .plan import PlannedStep
from .retry import most_attempts
from .run import SimulatedSignal
from .schemas import check_input, check_output
from .server import Server, Store

Wait = dict[str, Any]


@dataclass
class SimulatedAwait:
    """A wait, with the simulated times at which it began and ended."""

    type: str
    #: `time`, the kind of the event, or the id of the trigger.
    name: str
    #: ISO 8601.
    began_at: str
    #: `None` while it lasts.
    ended_at: str | None = None
    waited_ms: int | None = None
    outcome: Literal["time", "event", "trigger", "timeout", "waiting"] = "waiting"
    value: Any = None


@dataclass
class SimulatedRetry:
    """A try that failed and was followed by another."""

    attempt: int
    error: BaseException
    #: When it failed (ISO 8601), and how long it was waited until the next try.
    failed_at: str
    delay_ms: int


@dataclass
class VisitRun(Outcome):
    """What came of a visit, over all of its executions."""

    step: str = ""
    visit: int = 1
    input: Any = None
    #: The name and the number of the finished visit that this one undoes.
    undoes: tuple[str, int] | None = None
    status: Literal["completed", "failed", "cancelled", "timeout", "waiting"] = "waiting"
    awaits: list[SimulatedAwait] = field(default_factory=list)
    #: How often it was tried: 1, and 1 more for each of `retries`.
    attempt: int = 1
    retries: list[SimulatedRetry] = field(default_factory=list)
    #: How often the handler was called, over all attempts.
    executions: int = 0
    started_at: str = ""
    ended_at: str = ""


class Clock:
    """Simulated time: what has passed, and what passes in the handler that runs."""

    def __init__(self, start_ms: int) -> None:
        self.start_ms = start_ms
        self._ms: float = start_ms
        self._running: VisitRun | None = None
        self._base = 0.0

    @property
    def now(self) -> int:
        return round(self._ms)

    def jump(self, to_ms: float) -> None:
        self._ms = max(self._ms, to_ms)

    def time(self) -> float:
        """In place of `time.time` while a handler runs."""
        passed = 0.0
        if self._running is not None:
            try:
                passed = asyncio.get_running_loop().time()
            except RuntimeError:
                passed = self._running.elapsed - self._base
        return self._ms / 1000 + passed

    def begin(self, run: VisitRun) -> None:
        self._running, self._base = run, run.elapsed

    def end(self, run: VisitRun) -> None:
        self._running = None
        self._ms += (run.elapsed - self._base) * 1000


class Visit:
    """Its executions, one after the other."""

    def __init__(
        self,
        step: PlannedStep,
        number: int,
        input: Any,
        about: Mapping[str, Any],
        calls: Mapping[str, Any],
        store: Store,
        clock: Clock,
    ) -> None:
        self.step = step
        self.awaited: Any = None
        #: The event that entered it.
        self.entered_by: Any = None
        #: What had come of the await whose timeout led here: it is `awaited`, until its own await
        #: brings something.
        self.so_far: Any = None
        #: Attempts that failed since the code last went on after a wait.
        self.failures = 0
        #: Waits of its code that are over.
        self.awaits_over = 0
        self.is_active = True
        #: Its handler has ended, and it lets its declared time pass.
        self.has_returned = False
        self.run = VisitRun(
            step=step.name, visit=number, input=through_json(input), started_at=iso(clock.now)
        )
        self._about = about
        self._server = Server(
            self.run, calls, True, store, step.checks, is_step=True, retry_policy=step.retry_policy
        )
        self._clock = clock
        # What the last execution has read since something was last recorded.
        self._seen: list[dict[str, Any]] = []

    def execute(self) -> Wait | None:
        """Calls the handler. Gives what it waits for, or nothing if it has ended."""
        run = self.run
        run.executions += 1
        self._clock.begin(run)
        context = contextvars.copy_context()
        execute = self._execute_async if self.step.handler.is_async else self._execute_blocking
        with mock.patch("time.time", self._clock.time):
            outcome = context.run(execute)
        self._clock.end(run)
        if outcome is not None:
            run.journal += self._seen
        if isinstance(outcome, RiverrunError):
            run.error = outcome
            return None
        return outcome

    def retries(self) -> list[dict[str, Any]]:
        """What failed before and is tried again, with the time that is left until then."""
        return self._server.retries(self._clock.now)

    def failed(self, error: BaseException, delay_ms: int) -> None:
        """The next execution is another attempt."""
        run = self.run
        self.failures += 1
        run.retries.append(SimulatedRetry(run.attempt, error, iso(self._clock.now), delay_ms))
        run.attempt, run.error = run.attempt + 1, None

    def began(self, type: str, name: str) -> SimulatedAwait:
        wait = SimulatedAwait(type, name, iso(self._clock.now))
        self.run.awaits.append(wait)
        return wait

    def settle(self, name: str, **outcome: Any) -> None:
        """What a wait has brought: the next execution is given it."""
        self.run.journal.append({"op": "await", "name": name, **outcome})
        self.failures = 0
        self.awaits_over += 1

    def end(self, status: Literal["completed", "failed", "cancelled", "timeout"]) -> None:
        self.is_active = False
        self.run.status = status
        if status != "completed":
            self.run.value = None
        self.run.ended_at = iso(self._clock.now)

    def _execute_async(self) -> Wait | RiverrunError | None:
        async def invoke() -> Wait | RiverrunError | None:
            loop = asyncio.get_running_loop()
            begun, before = loop.time(), self.run.elapsed
            ctx = Context(self._server, self._params(), Signal())
            execution = ctx.execution
            assert execution is not None
            left: asyncio.Future[Wait | RiverrunError] = loop.create_future()
            execution.on_leave = left.set_result

            async def call() -> None:
                try:
                    value = await self.step.handler.call(self._subject(), ctx)
                    problem = await execution.returned()
                    if problem is not None:
                        raise problem
                    self.run.value = check_output(self.step.checks, as_result(value))
                finally:
                    execution.ended()

            task = loop.create_task(call())
            both: set[asyncio.Future[Any]] = {task, left}
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            if left.done():
                task.cancel()
                await asyncio.wait({task})
            elif task.exception() is not None:
                self.run.error = with_code(task.exception())
            self.run.elapsed = before + loop.time() - begun
            self._seen = through_json(execution.take_seen())
            return left.result() if left.done() else None

        outcome: Wait | RiverrunError | None = simulated(invoke())
        return outcome

    def _execute_blocking(self) -> Wait | RiverrunError | None:
        signal = SimulatedSignal(self.run, None, "user")
        ctx = SyncContext(self._server, self._params(), signal)
        execution = ctx.execution
        assert execution is not None
        with mock.patch("time.sleep", signal.sleep):
            try:
                value = self.step.handler.call(self._subject(), ctx)
                problem = execution.returned()
                if problem is not None:
                    raise problem
                if execution.outcome is None:
                    self.run.value = check_output(self.step.checks, as_result(value))
            except BaseException as error:
                if execution.outcome is None:
                    self.run.error = with_code(error)
        self._seen = through_json(execution.take_seen())
        return execution.outcome

    def _subject(self) -> Any:
        check_input(self.step.checks, self.run.input)
        return self.step.handler.subject(self._params())

    def _params(self) -> dict[str, Any]:
        run = self.run
        return {
            **self._about,
            "kind": "step",
            "process": run.step,
            "jobId": f"job-{run.visit}",
            "queue": run.step,
            "name": run.step,
            "attempt": run.attempt,
            # Attempts before a wait that is over do not count.
            "maxAttempts": run.attempt + most_attempts(self.step.retry_policy) - 1 - self.failures,
            "step": run.step,
            "visit": run.visit,
            "input": through_json(run.input),
            "awaited": self.so_far if self.awaited is None else self.awaited,
            "checkpoint": run.checkpoint,
            "journal": through_json(run.journal),
            "retries": self.retries(),
        }
