"""A run, reduced from its events as the server reduces them.

Pure functions: nothing is changed in place, and an event that was seen already changes nothing.

    view = RunView()
    for event in client.subscribe(run_id, until_end=True):
        view = reduce(view, event)
        print(view.status, view.state)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ._path import delete_at, set_at

__all__ = ["RunView", "StepView", "Visit", "VisitKey", "reduce", "reduce_all", "reduce_state"]

Event = Mapping[str, Any]


@dataclass(frozen=True)
class VisitKey:
    """The n-th time that a run enters a step."""

    step: str
    visit: int


@dataclass(frozen=True)
class Branches:
    """What a visit has forked into."""

    steps: tuple[str, ...]
    #: At most this many at once; 0 for all.
    concurrency: int
    fail_fast: bool
    #: What is written in a branch stays there.
    scoped: bool
    entered: int = 0
    ended: int = 0


@dataclass(frozen=True)
class Visit:
    """A visit that has not ended."""

    key: VisitKey
    status: str = "pending"
    #: 0 before the first.
    attempt: int = 0
    #: The visit in whose branches this one stands.
    branch: VisitKey | None = None
    branches: Branches | None = None


@dataclass(frozen=True)
class StepView:
    """The latest news of a step."""

    status: str
    visits: int
    attempt: int = 0
    started_at: str | None = None
    ended_at: str | None = None
    error: Any = None


@dataclass(frozen=True)
class RunView:
    """A run as its events tell it; before the first event, an empty one."""

    run_id: str = ""
    flow: str = ""
    version: str = ""
    #: `pending running waiting paused completed failed cancelled`.
    status: str = "pending"
    input: Any = None
    state: dict[str, Any] = field(default_factory=dict)
    steps: dict[str, StepView] = field(default_factory=dict)
    visits: tuple[Visit, ...] = ()
    progress: Any = None
    result: Any = None
    error: Any = None
    cancellation: Any = None
    paused: bool = False
    created_at: str | None = None
    updated_at: str | None = None
    ended_at: str | None = None
    #: How many events led here.
    events: int = 0
    #: Begin after it to read on.
    last_event_id: str | None = None


def reduce(view: RunView, event: Event) -> RunView:
    """The run after one more event."""
    if view.last_event_id is not None and _order(event["id"]) <= _order(view.last_event_id):
        return view
    seen = replace(
        view,
        run_id=event["runId"],
        flow=event["flowName"],
        state=reduce_state(view.state, event),
        created_at=view.created_at or event["ts"],
        updated_at=event["ts"],
        events=view.events + 1,
        last_event_id=event["id"],
    )
    return _with_status(_apply(seen, event))


def reduce_all(events: Iterable[Event], view: RunView | None = None) -> RunView:
    """The run after all of these."""
    view = view or RunView()
    for event in events:
        view = reduce(view, event)
    return view


def reduce_state(state: dict[str, Any], event: Event) -> dict[str, Any]:
    """The state after an event that writes to it; the same object after any other."""
    data = _data(event)
    match event["type"]:
        case "flow.started":
            return _from_input(data.get("input"))
        case "state.set":
            return set_at(state, data["key"], data["value"])
        case "state.delete":
            return delete_at(state, data["key"])
        case "state.batch":
            for operation in data["operations"]:
                state = _operate(state, operation)
            return state
        case "state.snapshot":
            return dict(data)
    return state


def _operate(state: dict[str, Any], operation: Mapping[str, Any]) -> dict[str, Any]:
    if operation["type"] == "set":
        return set_at(state, operation["key"], operation.get("value"))
    return delete_at(state, operation["key"])


def _from_input(input: Any) -> dict[str, Any]:
    """An object is the state itself; any other value, but for null, is found under `input`."""
    if isinstance(input, dict):
        return input
    return {} if input is None else {"input": input}


def _apply(view: RunView, event: Event) -> RunView:
    data, ts = _data(event), event["ts"]
    type: str = event["type"]
    at = _visit_of(event)
    match type:
        case "flow.started":
            begun = replace(view, version=data.get("version", ""), input=data.get("input"))
            return _enter(begun, data.get("next"))
        case "flow.completed" | "job.completed":
            return _end(replace(view, result=data.get("result")), "completed", ts)
        case "flow.failed" | "job.failed":
            return _end(replace(view, error=data.get("error")), "failed", ts)
        case "flow.cancelled" | "job.cancelled":
            return _end(replace(view, cancellation=dict(data)), "cancelled", ts)
        case "flow.paused" | "flow.resumed":
            return replace(view, paused=type == "flow.paused")
        case "job.active":
            return replace(view, status="running")
        case "progress":
            return replace(view, progress=dict(data))
        case "job.progress":
            return replace(view, progress=dict(data.get("progress") or {}))
        case "step.started":
            return _started(view, at, event)
        case "step.completed":
            return _completed(view, at, event)
        case "step.failed":
            return _failed(view, at, event)
        case "step.retry":
            return _update(view, at, "retrying") if data.get("lost") else view
        case "step.parked":
            return _update(view, at, "waiting")
        case "step.released":
            return _update(view, at, "retrying" if event.get("attempt") else "pending")
        case "step.resumed":
            return _update(view, at, "running")
        case "step.cancelled":
            left, _ = _leave(view, at)
            return _summarise(left, at.step, status="cancelled", ended_at=ts)
        case "step.await.branches":
            return _enter_branches(_fork(_update(view, at, "waiting"), at, data), at)
        case "step.await.timeout":
            return view
    return _update(view, at, "waiting") if type.startswith("step.await.") else view


def _started(view: RunView, at: VisitKey, event: Event) -> RunView:
    attempt = event.get("attempt") or 1
    view = _update(view, at, "running", attempt)
    before = view.steps.get(at.step) or StepView("running", 1)
    step = StepView("running", before.visits, attempt, started_at=event["ts"])
    return replace(view, steps={**view.steps, at.step: step})


def _completed(before: RunView, at: VisitKey, event: Event) -> RunView:
    data = _data(event)
    view, visit = _leave(before, at)
    view = _summarise(view, at.step, status="completed", ended_at=event["ts"])
    if visit is None:
        return view
    if data.get("outputKey") is not None and "result" in data and not _is_in_scope(before, visit):
        view = replace(view, state=set_at(view.state, data["outputKey"], data["result"]))
    if data.get("next") is not None:
        return _enter(view, data["next"], visit.branch)
    return _path_ended(view, visit, failed=False)


def _failed(before: RunView, at: VisitKey, event: Event) -> RunView:
    data = _data(event)
    error = data.get("error")
    if data.get("nextRetryAt") is not None:
        return _summarise(_update(before, at, "retrying"), at.step, error=error)
    view, visit = _leave(before, at)
    view = _summarise(view, at.step, status="failed", ended_at=event["ts"], error=error)
    if visit is None:
        return view
    if data.get("next") is not None:
        return _enter(view, data["next"], visit.branch)
    return _path_ended(view, visit, failed=True)


def _end(view: RunView, status: str, ts: str) -> RunView:
    return replace(view, status=status, ended_at=ts, visits=(), paused=False)


def _with_status(view: RunView) -> RunView:
    if view.ended_at is not None or not view.steps:
        return view
    if view.paused:
        status = "paused"
    elif view.visits and all(visit.status in ("waiting", "retrying") for visit in view.visits):
        status = "waiting"
    elif all(step.started_at is None for step in view.steps.values()):
        status = "pending"
    else:
        status = "running"
    return replace(view, status=status)


def _enter(view: RunView, step: str | None, branch: VisitKey | None = None) -> RunView:
    if step is None:
        return view
    before = view.steps.get(step) or StepView("pending", 0)
    visits = before.visits + 1
    summary = replace(before, status="pending", attempt=0, visits=visits, error=None)
    visit = Visit(VisitKey(step, visits), branch=branch)
    return replace(view, steps={**view.steps, step: summary}, visits=(*view.visits, visit))


def _leave(view: RunView, key: VisitKey) -> tuple[RunView, Visit | None]:
    visit = _find(view, key)
    left = tuple(other for other in view.visits if other is not visit)
    return replace(view, visits=left), visit


def _update(view: RunView, key: VisitKey, status: str, attempt: int | None = None) -> RunView:
    """News of a visit, and of its step."""

    def news(visit: Visit) -> Visit:
        return replace(visit, status=status, attempt=visit.attempt if attempt is None else attempt)

    return _summarise(_change(view, key, news), key.step, status=status)


def _summarise(view: RunView, step: str, **news: Any) -> RunView:
    summary = view.steps.get(step)
    if summary is None:
        return view
    return replace(view, steps={**view.steps, step: replace(summary, **news)})


def _fork(view: RunView, key: VisitKey, data: Mapping[str, Any]) -> RunView:
    branches = Branches(
        steps=tuple(branch["step"] for branch in data["branches"]),
        concurrency=data.get("concurrency", 0),
        fail_fast=data.get("failFast", False),
        scoped=data.get("scoped", False),
    )
    return _change(view, key, lambda visit: replace(visit, branches=branches))


def _enter_branches(view: RunView, key: VisitKey) -> RunView:
    """Enters branches that have not begun, as far as their concurrency allows."""
    visit = _find(view, key)
    if visit is None or visit.branches is None:
        return view
    branches = visit.branches
    running = branches.entered - branches.ended
    room = max(0, branches.concurrency - running) if branches.concurrency else len(branches.steps)
    next_steps = branches.steps[branches.entered : branches.entered + room]
    entered = replace(branches, entered=branches.entered + len(next_steps))
    view = _change(view, key, lambda visit: replace(visit, branches=entered))
    for step in next_steps:
        view = _enter(view, step, key)
    return view


def _path_ended(view: RunView, visit: Visit, *, failed: bool) -> RunView:
    """A visit ended with nothing after it: the branch that it stands in is over."""
    holder = _find(view, visit.branch) if visit.branch else None
    if holder is None or holder.branches is None:
        return view
    ended = replace(holder.branches, ended=holder.branches.ended + 1)
    view = _change(view, holder.key, lambda visit: replace(visit, branches=ended))
    return view if failed and ended.fail_fast else _enter_branches(view, holder.key)


def _is_in_scope(view: RunView, visit: Visit) -> bool:
    """Whether what a visit writes belongs to a branch alone."""
    holder = _find(view, visit.branch) if visit.branch else None
    if holder is None:
        return False
    return bool(holder.branches and holder.branches.scoped) or _is_in_scope(view, holder)


def _change(view: RunView, key: VisitKey, change: Callable[[Visit], Visit]) -> RunView:
    changed = tuple(change(visit) if visit.key == key else visit for visit in view.visits)
    return replace(view, visits=changed)


def _find(view: RunView, key: VisitKey) -> Visit | None:
    return next((visit for visit in view.visits if visit.key == key), None)


def _visit_of(event: Event) -> VisitKey:
    step = event.get("stepName") or ""
    rest = (event.get("stepId") or "")[len(f"{event['runId']}__{step}") :]
    found = re.match(r"#(\d+)__", rest)
    return VisitKey(step, int(found[1]) if found else 1)


def _data(event: Event) -> Mapping[str, Any]:
    data = event.get("data")
    return data if isinstance(data, Mapping) else {}


def _order(id: str) -> tuple[int, int]:
    ms, _, n = id.partition("-")
    return int(ms), int(n or 0)
