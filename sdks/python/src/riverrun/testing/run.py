"""One invocation of a handler."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Mapping, Sequence
from typing import Any
from unittest import mock

from .._runner.handler import Handler
from ..cancellation import Signal, SyncSignal
from ..context import Context, SyncContext
from .loop import simulated
from .outcome import Outcome, as_result, through_json, with_code
from .schemas import Checks, check_input, check_inputs, check_output, check_outputs, checks_of
from .server import BatchServer, Server, Store
from .steps import Executable, parts
from .words import check_settings


def run(
    handler: Executable,
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
    schemas: bool = True,
) -> Outcome:
    """Runs a handler, sync or async, decorated or not, and returns what it did. A pair of a handler
    and its config, or a module that has both, is accepted too.

    `calls` has the result of `ctx.call` for each process: a value, a function of the input, or an
    exception. `cancel_after` sends the stop signal after so many simulated seconds. With `batch`
    the input is a list of inputs, for a handler that takes several jobs at once. Input, result and
    state are checked against the schemas of the config, unless `schemas` is false.
    """
    function, config = parts(handler)
    check_settings(config, getattr(function, "__name__", "handler"))
    checks = checks_of(config, schemas)
    policy = config.get("retry") or config.get("retryPolicy")
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
        "checkpoint": through_json(checkpoint),
        "journal": through_json(list(journal)),
        "input": through_json(input),
        "isBatch": batch,
    }
    outcome = Outcome(
        journal=list(params["journal"]),
        checkpoint=params["checkpoint"],
    )
    stores = [Store(through_json(dict(state or {})))]
    if batch:
        jobs = [{"jobId": f"{job_id}-{at}", "input": one} for at, one in enumerate(params["input"])]
        params["jobs"] = jobs
        # What is said on the context of the batch belongs to its first job.
        stores += [Store(through_json(dict(state or {}))) for _ in jobs[1:]]
        outcome.jobs = [outcome, *(Outcome() for _ in jobs[1:])]
    servers = [
        Server(one, calls or {}, is_lease_valid, store, checks, retry_policy=policy)
        for one, store in zip(outcome.jobs or [outcome], stores, strict=True)
    ]
    server: Server | BatchServer = BatchServer(servers) if batch else servers[0]
    prepared = Handler(function, getattr(function, "__name__", "handler"))
    cancel = (cancel_after, cancel_reason)
    # A handler that sets a context variable must not change the test's.
    context = contextvars.copy_context()
    if prepared.is_async:
        context.run(_run_async, prepared, params, server, cancel, checks)
    else:
        context.run(_run_blocking, prepared, params, server, cancel, checks)
    for one, store in zip(outcome.jobs or [outcome], stores, strict=True):
        one.state = store.state
    return outcome


def _run_async(
    handler: Handler,
    params: dict[str, Any],
    server: Server | BatchServer,
    cancel: tuple[float | None, str],
    checks: Checks,
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
            value = await handler.call(_subject(handler, params, checks), ctx)
            outcome.value = _result(value, params, checks)
        except BaseException as error:
            outcome.error = with_code(error)
        outcome.elapsed = loop.time() - begun

    simulated(invoke())


def _run_blocking(
    handler: Handler,
    params: dict[str, Any],
    server: Server | BatchServer,
    cancel: tuple[float | None, str],
    checks: Checks,
) -> None:
    outcome = server.outcome
    signal = SimulatedSignal(outcome, *cancel)
    # Handlers that took `sleep` out of the module before sleep for real.
    with mock.patch("time.sleep", signal.sleep):
        try:
            ctx = SyncContext(server, params, signal)
            value = handler.call(_subject(handler, params, checks), ctx)
            outcome.value = _result(value, params, checks)
        except BaseException as error:
            outcome.error = with_code(error)


class SimulatedSignal(SyncSignal):
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


def _subject(handler: Handler, params: dict[str, Any], checks: Checks) -> Any:
    if not params["isBatch"]:
        check_input(checks, params["input"])
        return handler.subject(params)
    check_inputs(checks, params["input"])
    return [handler.subject({**params, **job}) for job in params["jobs"]]


def _result(value: Any, params: dict[str, Any], checks: Checks) -> Any:
    if not params["isBatch"] or not isinstance(value, list):
        return check_output(checks, as_result(value))
    # An exception in the list is the error of that job.
    each = [one if isinstance(one, BaseException) else as_result(one) for one in value]
    return check_outputs(checks, each)
