"""The handlers that a test gives, as processes of its worker."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .._runner.describe import config_json
from .._runner.handler import Handler
from .._worker.offered import Process
from ..context import Context, SyncContext
from ..define import definition_of

#: A handler, a pair of a handler and its config, or a module with `handler` and `config`.
Executable = Any

_SCHEMAS = ("inputSchema", "outputSchema", "state")


def parts(executable: Executable) -> tuple[Callable[..., Any], dict[str, Any]]:
    """What is to be called, and its config as JSON."""
    config: Any = None
    if isinstance(executable, tuple):
        executable, config = executable
    elif not callable(executable):
        executable, config = executable.handler, getattr(executable, "config", None)
    definition = definition_of(executable)
    return executable, config_json(definition.config if definition else None, config)


def named(
    executables: Sequence[Executable] | Mapping[str, Executable],
) -> dict[str, tuple[Callable[..., Any], dict[str, Any]]]:
    """The handlers and their configs by the ids that their processes get."""
    if isinstance(executables, Mapping):
        return {id: parts(one) for id, one in executables.items()}
    found: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {}
    for one in executables:
        function, config = parts(one)
        id = _name_of(function, config)
        if id in found:
            raise ValueError(f"two steps are called {id}")
        found[id] = (function, config)
    return found


def offered(
    steps: Mapping[str, tuple[Callable[..., Any], dict[str, Any]]],
    schemas: bool,
    raised: list[BaseException],
) -> dict[str, Process]:
    """The processes of the worker. What their handlers raise is added to `raised`."""
    return {
        id: Process(
            _Watched(function, id, raised),
            config if schemas else {k: v for k, v in config.items() if k not in _SCHEMAS},
        )
        for id, (function, config) in steps.items()
    }


def roles(config: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What a config says of each flow that it names."""
    flow = config.get("flow")
    listed = flow if isinstance(flow, list) else [{} if flow is None else flow]
    return [{"id": one} if isinstance(one, str) else one for one in listed]


def _name_of(function: Callable[..., Any], config: Mapping[str, Any]) -> str:
    steps = [role["step"] for role in roles(config) if role.get("step")]
    queue = config.get("queue")
    own = getattr(function, "__name__", "")
    name = steps[0] if steps else config.get("step") or (queue if isinstance(queue, str) else own)
    if not name or name == "<lambda>":
        message = "a step needs a name: config.step, config.flow.step, or a key in a dict of steps"
        raise ValueError(message)
    return str(name)


class _Watched(Handler):
    """A handler whose errors are kept: a test is given the very ones that were raised."""

    def __init__(
        self, function: Callable[..., Any], name: str, raised: list[BaseException]
    ) -> None:
        super().__init__(function, name)
        self._raised = raised

    def call(self, subject: Any, ctx: Context | SyncContext) -> Any:
        if self.is_async:
            return self._watch(super().call(subject, ctx))
        try:
            return super().call(subject, ctx)
        except Exception as error:
            self._raised.append(error)
            raise

    async def _watch(self, running: Any) -> Any:
        try:
            return await running
        except Exception as error:
            self._raised.append(error)
            raise
