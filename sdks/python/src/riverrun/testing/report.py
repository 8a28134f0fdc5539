"""The report of the engine as the results of `run_flow` and `run_step`.

Errors are the very ones that handlers raised, and visits have what their handlers did.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from .._failure import describe, revive
from ..errors import RiverrunError
from .outcome import RunRetry, with_code
from .play import Played
from .recorder import Traces
from .visit import SimulatedAwait, SimulatedRetry, VisitRun


class Errors:
    """Finds the exception that a failure of the report was."""

    def __init__(self, raised: Sequence[BaseException]) -> None:
        self._raised = raised

    def of(self, failure: Mapping[str, Any] | None) -> BaseException | None:
        return None if failure is None else self.found(failure)

    def found(self, failure: Mapping[str, Any]) -> BaseException:
        wanted = (failure.get("code"), failure.get("message"))
        for error in self._raised:
            told = describe(error)
            if (told.get("code", "HANDLER_ERROR"), told["message"]) == wanted:
                with_code(error)
                if isinstance(error, RiverrunError) and error.retriable is None:
                    error.retriable = failure.get("retriable")
                return error
        return revive(failure)


def visits_of(played: Played, errors: Errors) -> list[VisitRun]:
    return [_visit(told, played, errors) for told in played.report["visits"]]


def _visit(told: Mapping[str, Any], played: Played, errors: Errors) -> VisitRun:
    traces = played.traces.get((told["step"], told["visit"]), Traces())
    undoes = told.get("undoes")
    return VisitRun(
        **{one.name: getattr(traces, one.name) for one in fields(traces)},
        value=told.get("value"),
        error=errors.of(told.get("error")),
        state=played.report["state"],
        journal=told["journal"],
        run_retries=[_run_retry(one) for one in told["runRetries"]],
        step=told["step"],
        visit=told["visit"],
        input=told["input"],
        undoes=undoes and (undoes["step"], undoes["visit"]),
        status=told["status"],
        awaits=[_wait(one) for one in told["awaits"]],
        attempt=told["attempt"],
        retries=[_retry(one, errors) for one in told["retries"]],
        started_at=told["startedAt"],
        ended_at=told.get("endedAt") or played.report["endedAt"],
    )


def _wait(told: Mapping[str, Any]) -> SimulatedAwait:
    return SimulatedAwait(
        type=told["type"],
        name=told["name"],
        began_at=told["from"],
        ended_at=told.get("until"),
        waited_ms=told.get("waitedMs"),
        outcome=told["outcome"],
        value=told.get("value"),
    )


def _retry(told: Mapping[str, Any], errors: Errors) -> SimulatedRetry:
    error = errors.found(told["error"])
    return SimulatedRetry(told["attempt"], error, told["failedAt"], told["delayMs"])


def _run_retry(told: Mapping[str, Any]) -> RunRetry:
    return RunRetry(
        op=told["op"],
        name=told["name"],
        nth=told.get("nth") or 1,
        attempt=told["attempt"],
        error=told["error"],
        delay_ms=told["delayMs"],
        failed_at=told["failedAt"],
    )
