"""A run of a flow in a test, which the real engine plays in simulated time."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from .given import GivenEvent, Triggers, date_ms, given_events
from .outcome import through_json
from .play import Given, Played, play
from .report import Errors, visits_of
from .steps import Executable, named, offered
from .visit import VisitRun

Event = dict[str, Any]


@dataclass(frozen=True)
class FlowWarning:
    """Something that the run says in its stream, as `log.warn`."""

    code: str
    message: str
    step: str


@dataclass
class FlowRun:
    """The outcome of a run. `waiting`: a step waits for something that the test does not give."""

    status: Literal["completed", "failed", "waiting"]
    error: BaseException | None
    visits: list[VisitRun]
    #: Emitted events and events from outside.
    events: list[Event]
    #: Events that entered no step and for which no step waited.
    unclaimed: list[Event]
    state: dict[str, Any]
    started_at: str
    ended_at: str
    elapsed_ms: int
    #: Expressions that raised something: what each was to judge was passed over.
    warnings: list[FlowWarning] = field(default_factory=list)


def run_flow(
    steps: Sequence[Executable] | Mapping[str, Executable],
    input: Any = None,
    *,
    flow: str | None = None,
    entry: str | None = None,
    events: Sequence[GivenEvent] = (),
    triggers: Triggers | None = None,
    start: datetime.datetime | str | float = "2026-01-01T00:00:00Z",
    state: Mapping[str, Any] | None = None,
    calls: Mapping[str, Any] | None = None,
    run_id: str = "run-1",
    schemas: bool = True,
) -> FlowRun:
    """Runs the steps of a flow: handlers with a decorator, pairs of a handler and its config, or
    modules. Inputs, results and state are held against the schemas of the configs, unless `schemas`
    is false.
    """
    request = {"input": input, "flow": flow, "entry": entry, "state": state, "runId": run_id}
    given = Given(triggers, calls or {})
    return simulate(named(steps), request, events, start, given, schemas)


def simulate(
    steps: Mapping[str, Any],
    request: Mapping[str, Any],
    events: Sequence[GivenEvent],
    start: datetime.datetime | str | float,
    given: Given,
    schemas: bool,
) -> FlowRun:
    """Plays the steps, each under the id of its process."""
    raised: list[BaseException] = []
    start_ms = date_ms(start)
    asked = {
        **{name: value for name, value in request.items() if value is not None},
        "startMs": start_ms,
        "events": given_events(events, start_ms),
    }
    played = play(through_json(asked), offered(steps, schemas, raised), given)
    return _flow_run(played, Errors(raised))


def _flow_run(played: Played, errors: Errors) -> FlowRun:
    report = played.report
    return FlowRun(
        status=report["status"],
        error=errors.of(report.get("error")),
        visits=visits_of(played, errors),
        events=report["events"],
        unclaimed=report["unclaimed"],
        state=report["state"],
        started_at=report["startedAt"],
        ended_at=report["endedAt"],
        elapsed_ms=report["elapsedMs"],
        warnings=[FlowWarning(**{"step": None, **warning}) for warning in report["warnings"]],
    )
