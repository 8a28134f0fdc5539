"""What an await in a config says, as the server reads it.

The fields of its type, the values that its `match` names.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from .._path import NOTHING, get_at
from ..errors import RiverrunError
from .words import Issue

#: The fields that mean nothing in an await of a type.
_STRANGE = {
    "event": "delay triggerType payload secretEnv many".split(),
    "trigger": "delay eventKind where match lookback".split(),
    "time": "eventKind where match lookback triggerType payload secretEnv many".split(),
}
_SIGNS_NOTHING = (
    "a person who answers on a page signs nothing: take triggerType webhook or api where bodies "
    "must be signed, or leave the secret out"
)
#: What an event has when awaits are held against it.
_ENVELOPE = {
    *"data type kind runId flowName stepName stepId attempt".split(),
    *"correlationId causationId tenantId chain".split(),
}


def await_issues(at: str, declared: Mapping[str, Any]) -> Iterator[Issue]:
    """Why the server would not take the await in, if it would not."""
    type = declared.get("type") or ""
    for field in _STRANGE.get(type, ()):
        if declared.get(field) is not None:
            message = f"an await of the type {type} has no {field}"
            yield {"path": f"{at}.{field}", "message": message}
    is_of_a_person = (type, declared.get("triggerType")) == ("trigger", "user")
    if is_of_a_person and declared.get("secretEnv") is not None:
        yield {"path": f"{at}.secretEnv", "message": _SIGNS_NOTHING}
    for path, wanted in (declared.get("match") or {}).items():
        yield from _matched(f"{at}.match.{path}", path, wanted)


def wanted_values(match: Mapping[str, Any], ctx: Mapping[str, Any]) -> dict[str, Any]:
    """What must stand at the paths of a declared `match`, for a `ctx` of `input` and `state`.

    Raises a `RiverrunError` with which the step fails.
    """
    found: dict[str, Any] = {}
    for path, wanted in match.items():
        value = wanted
        if isinstance(wanted, str):
            value = get_at(ctx, wanted)
        elif isinstance(wanted, Mapping) and "value" in wanted:
            value = wanted["value"]
        if value is NOTHING:
            message = f"match has no value for {_quoted(path)}: there is no {wanted}"
            raise RiverrunError(message, code="INPUT_ERROR", retriable=False)
        found[path] = value
    return found


def _matched(at: str, path: str, wanted: Any) -> Iterator[Issue]:
    """A part of the event, and what it must equal."""
    head = path.split(".")[0]
    if head not in _ENVELOPE:
        message = (
            f"no event has {_quoted(head)}: what was emitted stands below data, "
            f'as in "data.{path}"'
        )
        yield {"path": at, "message": message}
    if not isinstance(wanted, str) or wanted == "input" or wanted.startswith(("input.", "state.")):
        return
    message = (
        f'{_quoted(wanted)} is no path into input or state, such as "input.{wanted}": '
        f'for the text itself write {{"value": {_quoted(wanted)}}}'
    )
    yield {"path": at, "message": message}


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
