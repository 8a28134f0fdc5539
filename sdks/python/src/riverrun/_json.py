"""JSON as it goes over the wire.

The standard library's encoder and decoder: they keep integers of any size, which faster ones
round, and refuse what JSON does not have instead of writing `null` for it.
"""

from __future__ import annotations

import dataclasses
import datetime
import enum
import json
import math
import uuid
from typing import Any

from ._naming import camel

_scan = json.JSONDecoder().raw_decode


def decode(text: bytes | str) -> Any:
    """A value from JSON. Raises `ValueError`."""
    if isinstance(text, bytes):
        text = text.decode()
    # Half the time of `json.loads` for a short message goes into looking for white space.
    try:
        value, end = _scan(text)
    except ValueError:
        return json.loads(text)
    return value if end == len(text) else json.loads(text)


class Record:
    """A dataclass of the SDK: camelCase on the wire, and without what is absent."""

    def to_wire(self) -> dict[str, Any]:
        fields = dataclasses.fields(self)  # type: ignore[arg-type]
        values = ((camel(field.name), getattr(self, field.name)) for field in fields)
        return {name: value for name, value in values if value is not None}


#: Integers with fewer digits are within the reach of a double.
_LONG = 309
_DIGITS = b"0" * _LONG
_ONLY_DIGITS = bytes(ord("0") if chr(byte) in "0123456789" else 0 for byte in range(256))


def _within_reach(digits: str) -> None:
    if math.isinf(float(digits)):
        count = len(digits.lstrip("-"))
        raise ValueError(f"an integer of {count} digits is more than a number in JSON may be")


def encode(value: Any) -> bytes:
    """One line of UTF-8. Raises `ValueError` or `TypeError` for what is not JSON.

    Dataclasses, pydantic models, enums, dates and UUIDs are written in the usual way.
    """
    # Text that UTF-8 cannot hold (half a surrogate pair) must fail here: the other side would end
    # the connection over it.
    try:
        text = _encoder.encode(value).encode()
    except RecursionError:
        raise ValueError("the value is nested too deeply") from None
    # So does an integer that no double reaches: a run of digits, in a number or in a text.
    if len(text) >= _LONG and _DIGITS in text.translate(_ONLY_DIGITS):
        json.loads(text, parse_int=_within_reach)
    return text


def encode_loosely(value: Any) -> bytes:
    """Like `encode`, but what is not JSON is shown as `repr` shows it. For logs."""
    try:
        return encode(value)
    except (TypeError, ValueError):
        return json.dumps(_shown(value, depth=8)).encode()


def plain(value: Any) -> Any:
    """What is written for a value that JSON has no form for. Raises `TypeError` if nothing is."""
    if isinstance(value, Record):
        return value.to_wire()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    dump = getattr(value, "model_dump", None)
    if dump is not None and not isinstance(value, type):
        return dump(mode="json", by_alias=True)
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, uuid.UUID):
        return str(value)
    raise TypeError(f"{type(value).__name__} is not JSON")


_encoder = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=plain
)


def _shown(value: Any, depth: int) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        # One that no double reaches cannot be read, and one that is longer still not even be shown.
        return value if value.bit_length() <= 1023 else f"an integer of {value.bit_length()} bits"
    if isinstance(value, str):
        return value.encode(errors="replace").decode()
    if depth and isinstance(value, dict):
        return {str(key): _shown(item, depth - 1) for key, item in value.items()}
    if depth and isinstance(value, (list, tuple, set, frozenset)):
        return [_shown(item, depth - 1) for item in value]
    try:
        return json.loads(encode(value))
    except (TypeError, ValueError):
        return repr(value).encode(errors="replace").decode()
