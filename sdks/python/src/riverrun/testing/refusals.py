"""What the server refuses of a flow and of a wait: with its codes, so that a test finds it first."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from .._duration import duration_ms
from ..errors import RiverrunError
from .awaits import await_issues
from .given import iso
from .payload import payload_problem
from .plan import PlannedStep
from .words import Issue, meant, refusal

#: No run waits for longer: ten years.
LONGEST_MS = 10 * 366 * 24 * 60 * 60 * 1000

_KIND = re.compile(r"[A-Za-z0-9._:/-]{1,128}", re.ASCII)
#: Families of events, and single types, that riverrun writes down by itself.
_FAMILIES = {"flow", "step", "job"}
_WRITTEN = {
    *"emit progress partial log.debug log.info log.warn log.error".split(),
    *"state.set state.delete state.batch state.snapshot".split(),
    *"trigger.registered trigger.fired trigger.timeout trigger.cancelled trigger.failed".split(),
    *"worker.registered worker.heartbeat worker.stopped".split(),
}
_MOST = {
    "maxSteps": 10_000_000,
    "maxAwaits": 1_000_000,
    "maxValueBytes": 67_108_864,
    "maxStateBytes": 67_108_864,
}


def check_flow(flow: str, steps: Mapping[str, PlannedStep]) -> None:
    """Refuses a flow that the server would not take in. All that is wrong is told at once."""
    issues = [issue for step in steps.values() for issue in _issues_of(step, list(steps))]
    if issues:
        raise refusal("FLOW_INVALID", f"flow {flow}", issues)


def refused_wait(
    wait: Mapping[str, Any], until_ms: float | None, now_ms: int
) -> RiverrunError | None:
    """Why the server would not let code wait for this, if it would not."""
    kind = wait.get("eventKind")
    if kind is not None and _is_own(kind):
        message = (
            f"{kind} is written by riverrun itself, and no run can wait for it: emit an event of "
            "your own, or have a trigger on it start a flow that does"
        )
        return _refused("BAD_KIND", message)
    if kind is not None and _KIND.fullmatch(kind) is None:
        return _refused("INPUT_ERROR", f'"{kind}" is no kind of event')
    if until_ms is not None and until_ms > now_ms + LONGEST_MS:
        return _refused("INPUT_ERROR", f"{_date(until_ms)} is more than ten years away")
    return None


def used_door() -> RiverrunError:
    message = (
        "the step waits again for a trigger that was used: one for many is made with `many`"
    )
    return _refused("INPUT_ERROR", message)


def too_many_awaits(limit: int) -> RiverrunError:
    message = (
        f"the step has waited {limit} times in one visit, the most that its flow's "
        "limits.maxAwaits allows, and all that it did is read again after each: begin a run that "
        "goes on from here with ctx.start, and return"
    )
    return _refused("MAX_AWAITS", message)


def too_many_steps(limit: int) -> RiverrunError:
    message = (
        f"the run has made {limit} steps, the most that its flow's limits.maxSteps allows: "
        "does a step feed itself?"
    )
    return _refused("MAX_STEPS", message)


def _issues_of(step: PlannedStep, names: list[str]) -> Iterator[Issue]:
    at = f"steps.{step.name}"
    for number, subscription in enumerate(step.subscriptions):
        yield from _heard(f"{at}.subscriptions.{number}.eventKind", subscription.get("eventKind"))
    declared = step.awaits or {}
    if declared.get("type") == "event":
        yield from _heard(f"{at}.await.eventKind", declared.get("eventKind"))
    yield from await_issues(f"{at}.await", declared)
    yield from _target(f"{at}.await.onTimeout", declared.get("onTimeout"), names)
    for field in ("timeout", "lookback", "delay"):
        yield from _duration(f"{at}.await.{field}", declared.get(field))
    problem = payload_problem(declared.get("payload"))
    if problem is not None:
        yield _issue(f"{at}.await.payload", problem)
    many = declared.get("many")
    if many is not None and (type(many) is not int or not 2 <= many <= 1000):
        yield _issue(f"{at}.await.many", f"must be 2 to 1000, is {many!r}")
    undo = step.compensation or {}
    yield from _target(f"{at}.compensation.step", undo.get("step"), names)
    on = undo.get("on") or ()
    for kind in [on] if isinstance(on, str) else on:
        yield from _heard(f"{at}.compensation.on", kind)
    for name, value in (step.limits or {}).items():
        if name in _MOST and (type(value) is not int or not 1 <= value <= _MOST[name]):
            yield _issue(f"limits.{name}", f"must be 1 to {_MOST[name]}, is {value!r}")


def _heard(path: str, kind: Any) -> Iterator[Issue]:
    if isinstance(kind, str) and _is_own(kind):
        message = (
            f"{kind} is written by riverrun itself, and never comes to a step: emit an event of "
            "your own, or have a trigger on it start a flow"
        )
        yield _issue(path, message)
    elif not isinstance(kind, str) or _KIND.fullmatch(kind) is None:
        yield _issue(path, f"{kind!r} is no kind of event")


def _target(path: str, name: Any, names: list[str]) -> Iterator[Issue]:
    if name is not None and name not in names:
        yield _issue(path, f'there is no step "{name}"{meant(str(name), names)}')


def _duration(path: str, given: Any) -> Iterator[Issue]:
    ms = duration_ms(given) if isinstance(given, (int, float, str)) else None
    if ms is not None and ms > LONGEST_MS:
        yield _issue(path, f"{given!r} is not between 0 and ten years")


def _is_own(kind: str) -> bool:
    return kind.split(".")[0] in _FAMILIES or kind in _WRITTEN


def _date(ms: float) -> str:
    try:
        return iso(ms)
    except (OverflowError, ValueError):
        return "that"


def _issue(path: str, message: str) -> Issue:
    return {"path": path, "message": message}


def _refused(code: str, message: str) -> RiverrunError:
    return RiverrunError(message, code=code, retriable=False)
