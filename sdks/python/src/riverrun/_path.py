"""Dot paths into JSON, with the server's rules. Nothing is changed in place."""

from __future__ import annotations

from typing import Any

#: Where nothing stands.
NOTHING: Any = object()


def get_at(value: Any, path: str) -> Any:
    """What stands at a path, or `NOTHING`."""
    for part in path.split("."):
        if isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        elif isinstance(value, dict) and part in value:
            value = value[part]
        else:
            return NOTHING
    return value


def set_at(state: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """Missing parents become objects; a parent that is neither object nor a fitting list too."""
    changed: dict[str, Any] = _put(state, path.split("."), value)
    return changed


def delete_at(state: dict[str, Any], path: str) -> dict[str, Any]:
    """Nothing there is fine."""
    changed: dict[str, Any] = _remove(state, path.split("."))
    return changed


def _put(parent: Any, path: list[str], value: Any) -> Any:
    if not path:
        return value
    key, *rest = path
    if isinstance(parent, list) and key.isdigit() and int(key) <= len(parent):
        index = int(key)
        old = parent[index] if index < len(parent) else None
        return [*parent[:index], _put(old, rest, value), *parent[index + 1 :]]
    members = parent if isinstance(parent, dict) else {}
    return {**members, key: _put(members.get(key), rest, value)}


def _remove(parent: Any, path: list[str]) -> Any:
    key, *rest = path
    if not isinstance(parent, dict) or key not in parent:
        return parent
    if rest:
        return {**parent, key: _remove(parent[key], rest)}
    return {name: value for name, value in parent.items() if name != key}
