"""Names: `snake_case` in Python, `camelCase` on the wire."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

# What is below these belongs to the user, whose names stay as they are.
_THEIRS = frozenset(
    {
        "bodySchema",
        "data",
        "env",
        "input",
        "inputSchema",
        "match",
        "metadata",
        "outputSchema",
        "state",
    }
)


@functools.lru_cache(maxsize=1024)
def camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part[:1].upper() + part[1:] for part in rest)


def camel_keys(value: Any) -> Any:
    """The same value with camelCase keys, down to where the user's own data begins."""
    if isinstance(value, Mapping):
        return {
            name: item if name in _THEIRS else camel_keys(item)
            for name, item in ((camel(str(key)), item) for key, item in value.items())
        }
    if isinstance(value, (list, tuple)):
        return [camel_keys(item) for item in value]
    return value


def options_on_wire(options: Mapping[str, Any]) -> Any:
    """Options as the server takes them, without those that are `None`."""
    return {name: item for name, item in camel_keys(options).items() if item is not None}
