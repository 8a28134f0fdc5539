"""Templates, as the server has them: any JSON whose strings may hold `${path}`.

`$${` stands for a literal `${`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from .. import _json
from .._path import NOTHING, get_at

#: The most parts that a path has.
_MOST_PARTS = 64


class TemplateError(ValueError):
    """The server would not take the template."""


def resolve(template: Any, view: Mapping[str, Any]) -> Any:
    """What a template gives for what is in view.

    A `${path}` that stands alone and finds nothing is `NOTHING`.
    """
    if isinstance(template, str):
        return _resolve_text(template, view)
    if isinstance(template, list):
        items = (resolve(item, view) for item in template)
        return [None if item is NOTHING else item for item in items]
    if isinstance(template, dict):
        members = {key: resolve(member, view) for key, member in template.items()}
        return {key: value for key, value in members.items() if value is not NOTHING}
    return template


def check_template(template: Any) -> None:
    """Raises `TemplateError` for what is none."""
    resolve(template, {})


def _resolve_text(text: str, view: Mapping[str, Any]) -> Any:
    parts = _parts_of(text)
    if len(parts) == 1 and parts[0][0] == "path":
        return get_at(view, parts[0][1])
    return "".join(
        part if kind == "text" else _as_text(get_at(view, part)) for kind, part in parts
    )


def _as_text(value: Any) -> str:
    if value is NOTHING:
        return ""
    return value if isinstance(value, str) else _json.encode(value).decode()


def _parts_of(text: str) -> list[tuple[str, str]]:
    """`("text", …)` and `("path", …)`, in order."""
    parts: list[tuple[str, str]] = []
    plain, rest = "", text
    while (at := rest.find("${")) >= 0:
        if rest[:at].endswith("$"):
            plain += rest[: at - 1] + "${"
            rest = rest[at + 2 :]
            continue
        end = rest.find("}", at)
        if end < 0:
            raise TemplateError(f"${{ is never closed in {_quoted(text)}")
        inner = rest[at + 2 : end]
        if not _is_path(inner.strip()):
            raise TemplateError(f"${{{inner}}} in {_quoted(text)} is not a path")
        plain += rest[:at]
        if plain:
            parts.append(("text", plain))
        parts.append(("path", inner.strip()))
        plain, rest = "", rest[end + 1 :]
    plain += rest
    return [*parts, ("text", plain)] if plain else parts


def _is_path(text: str) -> bool:
    parts = text.split(".")
    return len(parts) <= _MOST_PARTS and all(parts)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
