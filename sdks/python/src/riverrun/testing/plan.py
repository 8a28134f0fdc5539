"""The steps of a flow, as the configs of processes tell of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .._runner.describe import config_json
from .._runner.handler import Handler
from ..define import definition_of

#: A handler, a pair of a handler and its config, or a module with `handler` and `config`.
Executable = Any


@dataclass
class PlannedStep:
    name: str
    handler: Handler
    is_entry: bool = False
    subscriptions: list[dict[str, Any]] = field(default_factory=list)
    join: str = "any"
    awaits: dict[str, Any] | None = None
    compensation: dict[str, Any] | None = None
    on_failure: str = "stop"
    flows: list[str] = field(default_factory=list)


def plan(
    executables: Sequence[Executable] | Mapping[str, Executable], flow: str | None
) -> tuple[str, dict[str, PlannedStep]]:
    """A step for each process that takes part in the flow; in the first one that they name."""
    if isinstance(executables, Mapping):
        named: list[tuple[str | None, Executable]] = list(executables.items())
    else:
        named = [(None, one) for one in executables]
    ids = [role["id"] for _, one in named for role in _roles(_parts(one)[1])]
    if flow is not None and ids and flow not in ids:
        raise ValueError(f"no step is part of the flow {flow}; they name {', '.join(ids)}")
    id = flow or (ids[0] if ids else "test")
    steps: dict[str, PlannedStep] = {}
    for key, executable in named:
        step = planned_step(executable, key, id)
        if step is None:
            continue
        if step.name in steps:
            raise ValueError(f"two steps are called {step.name}")
        steps[step.name] = step
    return id, steps


def planned_step(executable: Executable, key: str | None, flow: str | None) -> PlannedStep | None:
    """`None` if the process is part of other flows alone."""
    function, config = _parts(executable)
    roles = _roles(config)
    role = next((role for role in roles if flow is None or role["id"] == flow), None)
    if role is None and roles:
        return None
    merged = {**config, **(role or {})}
    own = config.get("queue") or getattr(function, "__name__", "step")
    name = str(merged.get("step") or key or own)
    return PlannedStep(
        name=name,
        handler=Handler(function, name),
        is_entry=merged.get("role") == "entry",
        subscriptions=[_subscription(one) for one in merged.get("subscriptions") or ()],
        join=merged.get("join") or "any",
        awaits=merged.get("await"),
        compensation=merged.get("compensation"),
        on_failure=merged.get("onFailure") or "stop",
        flows=[role["id"] for role in roles],
    )


def entry_of(steps: Mapping[str, PlannedStep], wanted: str | None) -> PlannedStep:
    """Where runs begin: the step that says so, or the only one that no event enters."""
    if wanted is not None:
        if wanted not in steps:
            raise ValueError(f"there is no step {wanted}; there are {', '.join(steps)}")
        return steps[wanted]
    led = {(step.compensation or {}).get("step") for step in steps.values()}
    led |= {(step.awaits or {}).get("onTimeout") for step in steps.values()}
    entries = [step for step in steps.values() if step.is_entry] or [
        step for step in steps.values() if not step.subscriptions and step.name not in led
    ]
    if len(entries) != 1:
        names = ", ".join(step.name for step in entries) or "no step"
        raise ValueError(f"it is not clear where the flow begins ({names}): give entry")
    return entries[0]


def expression_of(given: Any) -> str | None:
    """The text of an expression in a config, which may stand there as a function."""
    if isinstance(given, Mapping):
        return expression_of(given.get("$function") or given.get("where"))
    return None if given is None else str(given)


def _parts(executable: Executable) -> tuple[Callable[..., Any], dict[str, Any]]:
    config: Any = None
    if isinstance(executable, tuple):
        executable, config = executable
    elif not callable(executable):
        executable, config = executable.handler, getattr(executable, "config", None)
    definition = definition_of(executable)
    return executable, config_json(definition.config if definition else None, config)


def _roles(config: Mapping[str, Any]) -> list[dict[str, Any]]:
    flow = config.get("flow")
    listed = flow if isinstance(flow, list) else [] if flow is None else [flow]
    return [{"id": one} if isinstance(one, str) else one for one in listed]


def _subscription(given: dict[str, Any]) -> dict[str, Any]:
    when = given.get("when")
    kind = given.get("eventKind") or (when.get("kind") if isinstance(when, Mapping) else None)
    if not isinstance(kind, str):
        raise ValueError("run_flow plays subscriptions to one kind of event: give event_kind")
    return {**given, "eventKind": kind}
