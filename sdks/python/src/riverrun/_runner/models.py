"""Pydantic, where the user has it: schemas of models, and inputs made into them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from ..errors import NonRetriableError, RiverrunError


def schema_json(value: Any, path: str, mode: str) -> Any:
    """A JSON Schema for a schema, a pydantic model or a type."""
    if isinstance(value, (Mapping, bool)):
        return value
    if not isinstance(value, type) and not hasattr(value, "__origin__"):
        kind = type(value).__name__
        raise RiverrunError(
            f"{path} is a {kind}: give a JSON Schema, a pydantic model or a type",
            code="MODULE_ERROR",
        )
    if is_model(value):
        return value.model_json_schema(mode=mode)
    return _adapter(value, path).json_schema(mode=mode)


def validator(annotation: Any, where: str) -> Callable[[Any], Any] | None:
    """What makes an input into the type that a handler asks for; none if it takes plain JSON."""
    if is_model(annotation):
        check = annotation.model_validate
    elif isinstance(annotation, type) and dataclasses.is_dataclass(annotation):
        check = _adapter(annotation, where).validate_python
    else:
        return None
    import pydantic

    def validate(value: Any) -> Any:
        try:
            return check(value)
        except pydantic.ValidationError as error:
            raise _input_invalid(error) from None

    return validate


def is_model(value: Any) -> bool:
    return isinstance(value, type) and hasattr(value, "model_validate")


def _adapter(value: Any, where: str) -> Any:
    try:
        from pydantic import TypeAdapter
    except ImportError:
        name = getattr(value, "__name__", repr(value))
        raise RiverrunError(
            f"{where} needs pydantic to understand {name}: pip install pydantic",
            code="MODULE_ERROR",
        ) from None
    return TypeAdapter(value)


def _input_invalid(error: Any) -> RiverrunError:
    issues = [
        {
            "path": ".".join(str(part) for part in issue["loc"]),
            "rule": issue["type"],
            "message": issue["msg"],
        }
        for issue in error.errors(include_url=False, include_context=False, include_input=False)
    ]
    first = issues[0]
    where = f"input.{first['path']}" if first["path"] else "input"
    more = f", and {len(issues) - 1} more" if len(issues) > 1 else ""
    return NonRetriableError(
        f"{where}: {first['message']}{more}", code="INPUT_INVALID", details={"issues": issues}
    )
