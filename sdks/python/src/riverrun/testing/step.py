"""A step through all of its waits."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .flow import FlowWarning, Simulation
from .given import Expressions, GivenEvent, Triggers
from .outcome import through_json
from .plan import Executable, PlannedStep, planned_step, with_checks
from .refusals import check_flow
from .visit import VisitRun


@dataclass
class StepRun(VisitRun):
    """What came of a step. Its error is not raised: `result()` gives the value or raises it."""

    elapsed_ms: int = 0
    #: Expressions that raised something: what each was to judge was passed over.
    warnings: list[FlowWarning] = field(default_factory=list)


def run_step(
    handler: Executable,
    input: Any = None,
    *,
    flow: str | None = None,
    step: str | None = None,
    awaited: Any = None,
    events: Sequence[GivenEvent] = (),
    triggers: Triggers | None = None,
    expressions: Expressions | None = None,
    start: datetime.datetime | str | float = "2026-01-01T00:00:00Z",
    state: Mapping[str, Any] | None = None,
    calls: Mapping[str, Any] | None = None,
    run_id: str = "run-1",
    schemas: bool = True,
) -> StepRun:
    """Runs a step, calling its handler again after each of its waits, as the server would.

    A time jumps the clock, an event is the first given one that matches, a trigger is opened by
    `triggers`, and what nobody gives runs into its timeout. `expressions` gives a Python function
    for each `where`, by its text: `{"(event) => event.data.n > 1": lambda event: …}`. An await in
    the step's config is played first, unless `awaited` says what it has brought. `schemas=False`
    holds nothing against the schemas of the config.
    """
    planned = planned_step(handler, step or "test", flow)
    if planned is None:
        raise ValueError(f"the process is no step of the flow {flow}")
    # Alone it is entered once, by nobody, and leads nowhere.
    planned.subscriptions, planned.compensation = [], None
    planned.name = step or planned.name
    steps = {planned.name: planned}
    with_checks(steps, planned, schemas)
    late = (planned.awaits or {}).get("onTimeout")
    if late is not None:
        # Where a timeout leads is not played: that it went there is seen by the status.
        steps[late] = _nothing(late)
    id = flow or planned.flow or planned.name
    check_flow(id, steps)
    simulation = Simulation(
        id, steps, input, events, triggers, expressions, start, state, calls, run_id, planned
    )
    visit = simulation.enter(planned, input)
    visit.awaited = through_json(awaited)
    run = simulation.play()
    return StepRun(**vars(visit.run), elapsed_ms=run.elapsed_ms, warnings=run.warnings)


def _nothing(name: str) -> PlannedStep:
    step = planned_step(lambda: None, name, None)
    assert step is not None
    return step
