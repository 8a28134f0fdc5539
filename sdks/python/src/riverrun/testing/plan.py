"""The steps of a flow, as the configs of processes tell of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from .._runner.describe import config_json
from .._runner.handler import Handler
from ..define import definition_of
from .schemas import Checks, checks_of
from .words import check_settings

#: A handler, a pair of a handler and its config, or a module with `handler` and `config`.
Executable = Any


@dataclass
class PlannedStep:
    name: str
    handler: Handler
    #: The flow that it says it is part of; one that says none may be part of any.
    flow: str | None = None
    is_entry: bool = False
    subscriptions: list[dict[str, Any]] = field(default_factory=list)
    join: str = "any"
    awaits: dict[str, Any] | None = None
    compensation: dict[str, Any] | None = None
    on_failure: str = "stop"
    retry_policy: dict[str, Any] | None = None
    #: Of the entry: how far a run may go.
    limits: dict[str, Any] | None = None
    config: dict[str, Any] = field(default_factory=dict)
    checks: Checks = field(default_factory=Checks)


@dataclass
class Planned:
    flow: str
    entry: PlannedStep
    steps: dict[str, PlannedStep]


def plan(
    executables: Sequence[Executable] | Mapping[str, Executable],
    flow: str | None,
    entry: str | None,
) -> Planned:
    """The flow that is asked for; else that of the entry, the first that is named, or the one with
    the only beginning.
    """
    if isinstance(executables, Mapping):
        named: list[tuple[str | None, Executable]] = list(executables.items())
    else:
        named = [(None, one) for one in executables]
    found = [part for key, one in named for part in _parts_of(one, key)]
    ids = list(dict.fromkeys(part.flow for part in found if part.flow is not None))
    begins = next((part for part in found if part.flow is None and part.name == flow), None)
    if flow is not None and ids and flow not in ids and begins is None:
        raise ValueError(f"no step is part of the flow {flow}; they name {', '.join(ids)}")
    wanted = next((part for part in found if part.name == entry), None)
    id = flow
    if id is None and wanted is not None:
        id = wanted.flow or wanted.name
    elif id is None and ids:
        id = ids[0]
    steps: dict[str, PlannedStep] = {}
    for part in found:
        if part.flow is not None and id is not None and part.flow != id:
            continue
        if part.name in steps:
            raise ValueError(f"two steps are called {part.name}")
        steps[part.name] = part
    first = _entry_of(steps, begins.name if entry is None and begins is not None else entry)
    return Planned(id or first.name, first, steps)


def with_checks(steps: Mapping[str, PlannedStep], entry: PlannedStep, schemas: bool) -> None:
    """Has the steps check what goes in and out. The state is the run's, its schema the entry's."""
    state = checks_of({"state": entry.config.get("state")}, schemas).state
    for step in steps.values():
        own = checks_of({**step.config, "state": None}, schemas)
        step.checks = replace(own, state=state)


def planned_step(executable: Executable, key: str | None, flow: str | None) -> PlannedStep | None:
    """The process as a step of that flow, or of its first one. `None` if it is part of others."""
    found = _parts_of(executable, key)
    return next((part for part in found if flow is None or part.flow in (None, flow)), None)


def _parts_of(executable: Executable, key: str | None) -> list[PlannedStep]:
    function, config = parts(executable)
    found = []
    for role in _roles(config):
        merged = {**config, **role}
        own = config.get("queue") or getattr(function, "__name__", "step")
        name = str(merged.get("step") or key or own)
        check_settings(config, name)
        triggers = merged.get("triggers") or ()
        kinds = [triggers] if isinstance(triggers, str) else triggers
        part = PlannedStep(
            name=name,
            handler=Handler(function, name),
            flow=role.get("id"),
            is_entry=merged.get("role") == "entry",
            subscriptions=list(merged.get("subscriptions") or ())
            + [{"eventKind": kind} for kind in kinds],
            join=merged.get("join") or "any",
            awaits=merged.get("await"),
            compensation=merged.get("compensation"),
            on_failure=merged.get("onFailure") or "stop",
            retry_policy=config.get("retry") or config.get("retryPolicy"),
            limits=merged.get("limits"),
            config=config,
        )
        found.append(part)
    return found


def _entry_of(steps: Mapping[str, PlannedStep], wanted: str | None) -> PlannedStep:
    """Where runs begin: the step that says so, or the only one that nothing leads to."""
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
        return expression_of(given.get("$function"))
    return None if given is None else str(given)


def parts(executable: Executable) -> tuple[Callable[..., Any], dict[str, Any]]:
    """What is to be called, and its config as JSON."""
    config: Any = None
    if isinstance(executable, tuple):
        executable, config = executable
    elif not callable(executable):
        executable, config = executable.handler, getattr(executable, "config", None)
    definition = definition_of(executable)
    return executable, config_json(definition.config if definition else None, config)


def _roles(config: Mapping[str, Any]) -> list[dict[str, Any]]:
    flow = config.get("flow")
    listed = flow if isinstance(flow, list) else [{} if flow is None else flow]
    return [{"id": one} if isinstance(one, str) else one for one in listed]
