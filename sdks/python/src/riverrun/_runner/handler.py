"""A handler: what is called, and with what."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, Literal, get_args, get_origin

from ..context import Context, SyncContext
from ..define import definition_of
from ..errors import RiverrunError
from ..job import Job
from . import models

Form = Literal["nothing", "subject", "context", "both"]

_CONTEXT_NAMES = ("ctx", "context", "_ctx")


class Handler:
    """A function of the user's, looked at once so that calling it is quick."""

    def __init__(self, function: Callable[..., Any], name: str) -> None:
        definition = definition_of(function)
        plain = function.func if isinstance(function, functools.partial) else function
        called = plain if inspect.isroutine(plain) else type(plain).__call__
        if inspect.isgeneratorfunction(called) or inspect.isasyncgenfunction(called):
            raise _refused(f"{name} is a generator: a handler returns its result")
        self.name = name
        self.function = function
        self.takes_job = definition is not None and definition.takes == "job"
        self.is_async = inspect.iscoroutinefunction(called)
        self.form, subject = _form(function, name)
        self._validate = _validator(subject, called, name)

    def subject(self, params: Mapping[str, Any], queue: str | None = None) -> Any:
        """The first argument, made from an invocation or from one job of a batch."""
        data = params.get("input")
        if self._validate is not None:
            data = self._validate(data)
        return Job.from_wire(params, data, queue) if self.takes_job else data

    def call(self, subject: Any, ctx: Context | SyncContext) -> Any:
        if self.takes_job:
            _lease(subject, ctx)
        form = self.form
        if form == "both":
            return self.function(subject, ctx)
        if form == "subject":
            return self.function(subject)
        return self.function(ctx) if form == "context" else self.function()


def _lease(subject: Any, ctx: Context | SyncContext) -> None:
    """Gives each job the function that checks its lease."""
    if isinstance(subject, Job):
        subject.leased_by(ctx.is_lease_valid)
    elif isinstance(subject, list):
        for at, job in enumerate(subject):
            job.leased_by(lambda at=at: ctx.job(at).is_lease_valid())


def _form(function: Callable[..., Any], name: str) -> tuple[Form, inspect.Parameter | None]:
    """Which arguments the signature has room for, and the parameter that gets the input."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return "both", None
    places = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    takes_any = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    needed = [p for p in places[2:] if p.default is p.empty]
    needed += [p for p in parameters if p.kind is p.KEYWORD_ONLY and p.default is p.empty]
    if needed:
        raise _refused(f"{name} wants {needed[0].name}: a handler is called as (input, ctx)")
    if len(places) >= 2 or takes_any:
        return "both", places[0] if places else None
    if not places:
        return "nothing", None
    if places[0].name in _CONTEXT_NAMES:
        return "context", None
    return "subject", places[0]


def _validator(
    parameter: inspect.Parameter | None, called: Callable[..., Any], name: str
) -> Callable[[Any], Any] | None:
    if parameter is None or parameter.annotation is parameter.empty:
        return None
    annotation = _resolved(parameter.annotation, called)
    # A batch is annotated as list[…], a queue worker as Job[…].
    for wrapper in (list, Job):
        if get_origin(annotation) is wrapper:
            annotation = get_args(annotation)[0]
    return models.validator(annotation, f"{name}'s {parameter.name}")


def _resolved(annotation: Any, called: Callable[..., Any]) -> Any:
    if not isinstance(annotation, str):
        return annotation
    try:
        return eval(annotation, getattr(inspect.unwrap(called), "__globals__", {}))
    except Exception:
        # A name that only the type checker sees: nothing to validate against.
        return None


def _refused(message: str) -> RiverrunError:
    return RiverrunError(message, code="MODULE_ERROR")
