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
            described = describe(error)
            if (described.get("code", "HANDLER_ERROR"), described["message"]) == wanted:
                with_code(error)
                if isinstance(error, RiverrunError) and error.retriable is None:
                    error.retriable = failure.get("retriable")
                return error
        return revive(failure)


def visits_of(played: Played, errors: Errors) -> list[VisitRun]:
    return [_visit(reported, played, errors) for reported in played.report["visits"]]


def _visit(reported: Mapping[str, Any], played: Played, errors: Errors) -> VisitRun:
    traces = played.traces.get((reported["step"], reported["visit"]), Traces())
    undoes = reported.get("undoes")
    return VisitRun(
        **{one.name: getattr(traces, one.name) for one in fields(traces)},
        value=reported.get("value"),
        error=errors.of(reported.get("error")),
        state=played.report["state"],
        journal=reported["journal"],
        run_retries=[_run_retry(one) for one in reported["runRetries"]],
        step=reported["step"],
        visit=reported["visit"],
        input=reported["input"],
        undoes=undoes and (undoes["step"], undoes["visit"]),
        status=reported["status"],
        awaits=[_wait(one) for one in reported["awaits"]],
        attempt=reported["attempt"],
        retries=[_retry(one, errors) for one in reported["retries"]],
        started_at=reported["startedAt"],
        ended_at=reported.get("endedAt") or played.report["endedAt"],
    )


def _wait(reported: Mapping[str, Any]) -> SimulatedAwait:
    return SimulatedAwait(
        type=reported["type"],
        name=reported["name"],
        began_at=reported["from"],
        ended_at=reported.get("until"),
        waited_ms=reported.get("waitedMs"),
        outcome=reported["outcome"],
        value=reported.get("value"),
    )


def _retry(reported: Mapping[str, Any], errors: Errors) -> SimulatedRetry:
    error = errors.found(reported["error"])
    return SimulatedRetry(reported["attempt"], error, reported["failedAt"], reported["delayMs"])


def _run_retry(reported: Mapping[str, Any]) -> RunRetry:
    return RunRetry(
        op=reported["op"],
        name=reported["name"],
        nth=reported.get("nth") or 1,
        attempt=reported["attempt"],
        error=reported["error"],
        delay_ms=reported["delayMs"],
        failed_at=reported["failedAt"],
    )
