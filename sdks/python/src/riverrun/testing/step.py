"""A step through all of its waits: its handler is called again after each, by the real engine."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .flow import FlowWarning, simulate
from .given import GivenEvent, Triggers
from .outcome import through_json
from .play import Given
from .steps import Executable, parts, roles
from .visit import VisitRun

#: What a config says of the way into a step and out of it, which a step alone does not have.
_WAYS = set("flow step subscriptions triggers join await emits compensation onFailure".split())


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
    start: datetime.datetime | str | float = "2026-01-01T00:00:00Z",
    state: Mapping[str, Any] | None = None,
    calls: Mapping[str, Any] | None = None,
    run_id: str = "run-1",
    schemas: bool = True,
) -> StepRun:
    """Runs a step, calling its handler again after each of its waits, as the server does.

    A wait for a time moves the clock. A wait for an event gets the first given event that matches,
    and `triggers` resumes callbacks; a wait without an answer ends with its timeout. An await in
    the step's config comes first, unless `awaited` gives its result. `schemas=False` turns off the
    checks against the schemas of the config.
    """
    function, config = parts(handler)
    said = [role for role in roles(config) if flow is None or role.get("id") in (None, flow)]
    if not said:
        raise ValueError(f"the process is no step of the flow {flow}")
    role = said[0]
    name = step or role.get("step") or config.get("step") or "test"
    id = flow or role.get("id") or name
    declared = (role.get("await") or config.get("await")) if awaited is None else None
    own = {key: value for key, value in config.items() if key not in _WAYS}
    # Alone it is the entry, and it has no transitions.
    alone: dict[str, Any] = {**own, "flow": {"id": id, "role": "entry", "step": name}}
    if role.get("limits"):
        alone["flow"]["limits"] = role["limits"]
    steps = {name: (function, alone)}
    if declared:
        alone["await"] = declared
        late = declared.get("onTimeout") if isinstance(declared, dict) else None
        if late and late != name:
            # Where a timeout leads is not played: that it went there is seen by the status.
            there = {"flow": {"id": id, "role": "step", "step": late}}
            steps[late] = (lambda: None, there)
    request = {"input": input, "flow": id, "state": state, "runId": run_id}
    given = Given(triggers, calls or {}, through_json(awaited))
    run = simulate(steps, request, events, start, given, schemas)
    return StepRun(**vars(run.visits[0]), elapsed_ms=run.elapsed_ms, warnings=run.warnings)
