"""The config of a process as the JSON that the server reads."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from .._json import Record, encode
from .._naming import camel
from ..config import JavaScript
from ..errors import RiverrunError
from . import models

_SCHEMAS = {"inputSchema": "validation", "outputSchema": "serialization", "state": "validation"}
# Below these the names are the user's.
_THEIRS = frozenset({"data", "env", "input", "match", "metadata", "payload"})


def config_json(*configs: Any) -> dict[str, Any]:
    """The configs, merged into one; what comes later goes before what came earlier."""
    merged: dict[str, Any] = {}
    for config in configs:
        if config is not None:
            merged.update(_members(config, "config"))
    described = {
        name: models.schema_json(value, f"config.{name}", _SCHEMAS[name])
        if name in _SCHEMAS
        else _json(value, f"config.{name}", name in _THEIRS)
        for name, value in merged.items()
        if value is not None
    }
    try:
        encode(described)
    except (TypeError, ValueError) as error:
        raise _refused(f"config is not JSON: {error}") from None
    return described


def _members(value: Any, path: str) -> dict[str, Any]:
    found = _mapping(value)
    if found is None:
        kind = type(value).__name__
        raise _refused(f"{path} is a {kind}: give a dict, a dataclass or a pydantic model")
    return {camel(str(name)): item for name, item in found.items()}


def _mapping(value: Any) -> Mapping[str, Any] | None:
    if isinstance(value, Mapping):
        return value
    if isinstance(value, Record):
        return value.to_wire()
    if isinstance(value, type):
        return None
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if hasattr(value, "model_dump"):
        return {name: getattr(value, name) for name in type(value).model_fields}
    return None


def _json(value: Any, path: str, is_theirs: bool) -> Any:
    if isinstance(value, JavaScript):
        return {"$function": value.source}
    if isinstance(value, type) and issubclass(value, BaseException):
        return value.__name__
    mapping = _mapping(value)
    if mapping is not None:
        return {
            name: _json(item, f"{path}.{name}", is_theirs or name in _THEIRS)
            for name, item in (
                (str(key) if is_theirs else camel(str(key)), item) for key, item in mapping.items()
            )
            if is_theirs or item is not None
        }
    if isinstance(value, (list, tuple)):
        return [_json(item, f"{path}.{index}", is_theirs) for index, item in enumerate(value)]
    if callable(value):
        raise _refused(
            f"{path} is a Python function, and the server evaluates JavaScript alone: "
            'give an expression as a string, such as "input.orderId", or js("(input) => …")'
        )
    return value


def _refused(message: str) -> RiverrunError:
    return RiverrunError(message, code="MODULE_ERROR")
