"""What an application offers to run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .._runner.describe import config_json
from .._runner.handler import Handler
from ..define import definition_of
from ..errors import RiverrunError


@dataclass(frozen=True)
class Process:
    handler: Handler
    config: dict[str, Any]


def processes_of(offered: Mapping[str, Any]) -> dict[str, Process]:
    """By id, which is also the name of the queue where the config gives none.

    Each is a handler, with or without a decorator, a pair of a handler and its config, or a module
    with `handler` and `config`.
    """
    if not offered:
        message = "a worker needs something to run: give it processes"
        raise RiverrunError(message, code="NO_PROCESSES")
    return {id: _process_of(id, one) for id, one in sorted(offered.items())}


def _process_of(id: str, offered: Any) -> Process:
    function, config = offered, None
    if isinstance(offered, tuple):
        function, config = offered
    elif not callable(offered):
        function, config = getattr(offered, "handler", None), getattr(offered, "config", None)
    if not callable(function):
        message = f"{id} is no function, and no module that has one called handler"
        raise RiverrunError(message, code="HANDLER_NOT_FOUND")
    definition = definition_of(function)
    described = config_json(config, definition.config if definition else None)
    return Process(Handler(function, id), described)
