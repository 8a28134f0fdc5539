"""A test kit: run a handler without a server, with time that jumps.

    from riverrun.testing import run

    def test_it_charges_once():
        outcome = run(handler, {"order": 7}, calls={"charge": lambda input: "paid"})
        assert outcome.value == "paid"
        assert outcome.state == {"status": "done"}
        assert outcome.elapsed >= 60        # it slept for a minute, the test did not

The handler gets the same context as in a worker. What it does is recorded in the outcome.
"""

from __future__ import annotations

import asyncio
import contextvars
import itertools
import selectors
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

from . import _json
from ._path import NOTHING, delete_at, get_at, set_at
from ._runner.handler import Handler
from .cancellation import Signal, SyncSignal
from .context import Context, SyncContext
from .errors import RiverrunError

__all__ = ["LogLine", "Outcome", "SimulatedLoop", "run", "simulated"]


@dataclass(frozen=True)
class LogLine:
    level: str
    message: str
    meta: dict[str, Any] = field(default_factory=dict)


@dataclass
class Outcome:
    """What came of an invocation."""

    #: What the handler returned, as JSON has it; `None` if it failed.
    value: Any = None
    #: What the handler raised.
    error: BaseException | None = None
    state: dict[str, Any] = field(default_factory=dict)
    logs: list[LogLine] = field(default_factory=list)
    #: `{"type", "data"?}`, in order.
    events: list[dict[str, Any]] = field(default_factory=list)
    #: `{"pct"?, "detail"?}`, in order.
    progress: list[dict[str, Any]] = field(default_factory=list)
    #: `{"path"?, "value"}`, in order.
    partials: list[dict[str, Any]] = field(default_factory=list)
    #: `{"queue", "name"?, "data", "options"?}`, in order.
    enqueued: list[dict[str, Any]] = field(default_factory=list)
    #: `{"process", "input", "timeoutMs"?}`, in order.
    calls: list[dict[str, Any]] = field(default_factory=list)
    #: `{"flow", "input", "options"?}`, in order.
    started: list[dict[str, Any]] = field(default_factory=list)
    #: What `ctx.run` recorded: give it as `journal` to play the next attempt.
    journal: list[dict[str, Any]] = field(default_factory=list)
    #: What was saved last: give it as `checkpoint` to play the next attempt.
    checkpoint: Any = None
    #: Seconds of simulated time.
    elapsed: float = 0.0
    #: Of a batch: what was done with `ctx.job` for each of its jobs. The first is the batch's own.
    jobs: list[Outcome] = field(default_factory=list, repr=False)

    def result(self) -> Any:
        """The value; raises what the handler raised."""
        if self.error is not None:
            raise self.error
        return self.value


def run(
    handler: Callable[..., Any],
    input: Any = None,
    *,
    state: Mapping[str, Any] | None = None,
    calls: Mapping[str, Any] | None = None,
    journal: Sequence[Mapping[str, Any]] = (),
    checkpoint: Any = None,
    job_id: str | None = "job-1",
    queue: str | None = "test",
    name: str | None = None,
    attempt: int = 1,
    max_attempts: int = 3,
    run_id: str | None = "run-1",
    correlation_id: str | None = None,
    causation_id: str | None = None,
    tenant_id: str | None = None,
    is_lease_valid: bool = True,
    cancel_after: float | None = None,
    cancel_reason: str = "user",
    batch: bool = False,
) -> Outcome:
    """Runs a handler, sync or async, decorated or not, and tells what it did.

    `calls` holds what `ctx.call` gives for each process: a value, a function of the input, or an
    exception. `cancel_after` tells the handler to stop after so many simulated seconds. With
    `batch` the input is a list of inputs, for a handler that takes several jobs at once.
    """
    params: dict[str, Any] = {
        "kind": "job",
        "jobId": job_id,
        "queue": queue,
        "name": name or queue,
        "attempt": attempt,
        "maxAttempts": max_attempts,
        "runId": run_id,
        "correlationId": correlation_id,
        "causationId": causation_id,
        "tenantId": tenant_id,
        "checkpoint": _through_json(checkpoint),
        "journal": _through_json(list(journal)),
        "input": _through_json(input),
        "isBatch": batch,
    }
    outcome = Outcome(
        state=_through_json(dict(state or {})),
        journal=list(params["journal"]),
        checkpoint=params["checkpoint"],
    )
    if batch:
        jobs = [{"jobId": f"{job_id}-{at}", "input": one} for at, one in enumerate(params["input"])]
        params["jobs"] = jobs
        # What is said on the context of the batch belongs to its first job.
        others = (Outcome(state=_through_json(dict(state or {}))) for _ in jobs[1:])
        outcome.jobs = [outcome, *others]
    server = _Server(outcome, calls or {}, is_lease_valid)
    prepared = Handler(handler, getattr(handler, "__name__", "handler"))
    cancel = (cancel_after, cancel_reason)
    # A handler that sets a context variable must not change the test's.
    context = contextvars.copy_context()
    if prepared.is_async:
        context.run(_run_async, prepared, params, server, cancel)
    else:
        context.run(_run_blocking, prepared, params, server, cancel)
    return outcome


def _run_async(
    handler: Handler, params: dict[str, Any], server: _Server, cancel: tuple[float | None, str]
) -> None:
    outcome = server.outcome
    signal = Signal()

    async def invoke() -> None:
        loop = asyncio.get_running_loop()
        begun = loop.time()
        task = asyncio.current_task()
        after, reason = cancel
        if after is not None:
            loop.call_later(after, signal.trip, reason, task)
        try:
            ctx = Context(server, params, signal)
            value = await handler.call(_subject(handler, params), ctx)
            outcome.value = _through_json(value)
        except BaseException as error:
            outcome.error = error
        outcome.elapsed = loop.time() - begun

    simulated(invoke())


def _run_blocking(
    handler: Handler, params: dict[str, Any], server: _Server, cancel: tuple[float | None, str]
) -> None:
    outcome = server.outcome
    signal = _SimulatedSignal(outcome, *cancel)
    # Handlers that took `sleep` out of the module before sleep for real.
    with mock.patch("time.sleep", signal.sleep):
        try:
            ctx = SyncContext(server, params, signal)
            outcome.value = _through_json(handler.call(_subject(handler, params), ctx))
        except BaseException as error:
            outcome.error = error


class _SimulatedSignal(SyncSignal):
    """The signal of a sync handler, set when simulated time has come far enough."""

    __slots__ = ("_after", "_outcome", "_why")

    def __init__(self, outcome: Outcome, after: float | None, reason: str) -> None:
        super().__init__()
        self._outcome = outcome
        self._after = after
        self._why = reason
        self.sleep(0.0)

    def sleep(self, seconds: float) -> None:
        self._outcome.elapsed += max(0.0, seconds)
        if self._after is not None and self._outcome.elapsed >= self._after:
            self.trip(self._why)

    def wait(self, timeout: float | None = None) -> bool:
        if not self._set:
            until_set = None if self._after is None else self._after - self._outcome.elapsed
            pauses = [pause for pause in (timeout, until_set) if pause is not None]
            if not pauses:
                raise AssertionError("the handler waits for a cancel that never comes")
            self.sleep(min(pauses))
        return self._set


def _subject(handler: Handler, params: dict[str, Any]) -> Any:
    if not params["isBatch"]:
        return handler.subject(params)
    return [handler.subject({**params, **job}) for job in params["jobs"]]


class _Server:
    """Plays the server for one invocation, in memory. A channel of the context."""

    def __init__(self, outcome: Outcome, calls: Mapping[str, Any], is_lease_valid: bool) -> None:
        self.outcome = outcome
        self._calls = calls
        self._is_lease_valid = is_lease_valid
        self._version = 0
        self._ids = itertools.count(1)
        self._lock = threading.RLock()
        self._others: dict[int, _Server] = {}

    def notify(self, method: str, params: dict[str, Any]) -> None:
        params = _json.decode(_json.encode_loosely(params))
        job_id = params.pop("jobId", None)
        if job_id is not None:
            self._of(job_id).notify(method, params)
        elif method == "log":
            line = LogLine(params["level"], params["message"], params.get("meta", {}))
            self.outcome.logs.append(line)
        else:
            told = {"progress": self.outcome.progress, "partial": self.outcome.partials}
            told[method].append(params)

    async def ask(self, method: str, params: dict[str, Any]) -> Mapping[str, Any]:
        # A real answer takes a turn of the loop too.
        await asyncio.sleep(0)
        return self.ask_blocking(method, params)

    def ask_blocking(self, method: str, params: dict[str, Any]) -> Mapping[str, Any]:
        with self._lock:
            params = _through_json(params)
            job_id = params.pop("jobId", None)
            if job_id is not None:
                return self._of(job_id).ask_blocking(method, params)
            answer = getattr(self, "_" + method.replace(".", "_").lower())
            found: Mapping[str, Any] = _through_json(answer(**params))
            return found

    def _of(self, job_id: str) -> _Server:
        """The server as one job of a batch sees it."""
        at = int(job_id.rsplit("-", 1)[1])
        if at == 0:
            return self
        if at not in self._others:
            outcome = self.outcome.jobs[at]
            self._others[at] = _Server(outcome, self._calls, self._is_lease_valid)
        return self._others[at]

    def _state_get(self, key: str) -> dict[str, Any]:
        value = get_at(self.outcome.state, key)
        found = {} if value is NOTHING else {"value": value}
        return {**found, "version": self._version}

    def _state_getall(self) -> dict[str, Any]:
        return {"state": self.outcome.state, "version": self._version}

    def _state_has(self, key: str) -> dict[str, Any]:
        return {"has": get_at(self.outcome.state, key) is not NOTHING}

    def _state_set(self, key: str, value: Any, ifVersion: int | None = None) -> dict[str, Any]:
        return self._write(ifVersion, lambda state: set_at(state, key, value))

    def _state_delete(self, key: str, ifVersion: int | None = None) -> dict[str, Any]:
        return self._write(ifVersion, lambda state: delete_at(state, key))

    def _state_setbatch(
        self, values: dict[str, Any], ifVersion: int | None = None
    ) -> dict[str, Any]:
        def change(state: dict[str, Any]) -> dict[str, Any]:
            for key, value in values.items():
                state = set_at(state, key, value)
            return state

        return self._write(ifVersion, change)

    def _write(
        self, on: int | None, change: Callable[[dict[str, Any]], dict[str, Any]]
    ) -> dict[str, Any]:
        if on is not None and on != self._version:
            raise RiverrunError("the state has moved on", code="STATE_CONFLICT")
        self.outcome.state = change(self.outcome.state)
        self._version += 1
        return {"version": self._version}

    def _emit(self, **event: Any) -> dict[str, Any]:
        self.outcome.events.append(event)
        return {"id": f"{next(self._ids)}-0"}

    def _memo(self, **record: Any) -> dict[str, Any]:
        self.outcome.journal.append({"op": "memo", **record})
        return {}

    def _checkpoint(self, data: Any) -> dict[str, Any]:
        self.outcome.checkpoint = data
        return {}

    def _enqueue(self, jobs: list[dict[str, Any]] | None = None, **job: Any) -> dict[str, Any]:
        added = [job] if jobs is None else jobs
        self.outcome.enqueued += added
        return {"jobs": [{"jobId": f"enqueued-{next(self._ids)}", "created": True} for _ in added]}

    def _call(self, process: str, input: Any, **more: Any) -> dict[str, Any]:
        self.outcome.calls.append({"process": process, "input": input, **more})
        if process not in self._calls:
            message = f"no process is called {process}: give run(…, calls={{{process!r}: …}})"
            raise RiverrunError(message, code="PROCESS_NOT_FOUND")
        value = self._calls[process]
        if callable(value) and not isinstance(value, type):
            value = value(input)
        if isinstance(value, BaseException):
            raise value
        return {"value": value}

    def _start(self, **run: Any) -> dict[str, Any]:
        self.outcome.started.append(run)
        return {"runId": f"started-{next(self._ids)}", "created": True}

    def _lease(self) -> dict[str, Any]:
        return {"valid": self._is_lease_valid, "untilMs": 0}


class _JumpingSelector(selectors.DefaultSelector):
    """Waits for nobody: where a real one would sleep, the clock jumps."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def select(self, timeout: float | None = None) -> Any:
        # Threads may still be at work: they get a moment of real time before the clock jumps.
        ready = super().select(0.001 if threading.active_count() > 1 and timeout != 0 else 0)
        if ready or timeout == 0:
            return ready
        if timeout is None:
            return super().select(None)
        self.now += timeout
        return ready


class SimulatedLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock jumps to the next timer as soon as nothing is ready."""

    def __init__(self) -> None:
        self._clock = _JumpingSelector()
        super().__init__(self._clock)

    def time(self) -> float:
        return self._clock.now


def simulated(work: Any) -> Any:
    """Runs a coroutine to its end in simulated time: `simulated(main())`."""
    loop = SimulatedLoop()
    try:
        return loop.run_until_complete(work)
    finally:
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


def _through_json(value: Any) -> Any:
    return _json.decode(_json.encode(value))
