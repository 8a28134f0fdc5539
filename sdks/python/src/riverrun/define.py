"""The decorators that make a function a process."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, overload

from .config import QueueConfig

__all__ = ["Definition", "definition_of", "process", "queue_worker"]

F = TypeVar("F", bound=Callable[..., Any])

_MARK = "__riverrun__"


@dataclass(frozen=True)
class Definition:
    """What a decorator said: whether the handler wants the job or its input, and the config."""

    takes: Literal["job", "input"]
    config: Any


def definition_of(function: Any) -> Definition | None:
    found = getattr(function, _MARK, None)
    return found if isinstance(found, Definition) else None


@overload
def queue_worker(function: F, /) -> F: ...


@overload
def queue_worker(
    config: QueueConfig | Mapping[str, Any] | None = None, /, **options: Any
) -> Callable[[F], F]: ...


def queue_worker(config: Any = None, /, **options: Any) -> Any:
    """Makes a function the worker of a queue, called as `(job, ctx)`.

    Takes a config, the members of one by name, or nothing:

        @queue_worker(queue="emails", concurrency=8)
        async def send(job: Job[dict], ctx: Context) -> None: ...
    """
    return _decorator("job", config, options)


@overload
def process(function: F, /) -> F: ...


@overload
def process(
    config: QueueConfig | Mapping[str, Any] | None = None, /, **options: Any
) -> Callable[[F], F]: ...


def process(config: Any = None, /, **options: Any) -> Any:
    """Makes a function a process, called as `(input, ctx)`. Else like `queue_worker`."""
    return _decorator("input", config, options)


def _decorator(takes: Literal["job", "input"], config: Any, options: dict[str, Any]) -> Any:
    if callable(config) and not isinstance(config, type):
        setattr(config, _MARK, Definition(takes, None))
        return config
    if config is not None and options:
        raise TypeError("give a config or its members by name, not both")

    def mark(function: F) -> F:
        setattr(function, _MARK, Definition(takes, config if config is not None else options))
        return function

    return mark
