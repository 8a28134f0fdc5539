"""What whoever opens a declared door is shown.

What a function gives, or JSON with parts of the step's input and of the run's state.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._path import NOTHING
from ..errors import RiverrunError
from .given import ExpressionError, Expressions, evaluate
from .outcome import through_json
from .template import TemplateError, check_template, resolve


def shown_payload(declared: Any, expressions: Expressions, ctx: Mapping[str, Any]) -> Any:
    """What is shown, for a `ctx` of `input`, `state` and `runId`.

    Raises a `RiverrunError` with which the step fails.
    """
    written = _as_written(declared)
    if not _is_function(written):
        # A state that has an `input` of its own hides the step's.
        found = resolve(written, {"input": ctx["input"], **ctx["state"]})
        return None if found is NOTHING else through_json(found)
    try:
        return through_json(evaluate(written, expressions, through_json(ctx)))
    except (ExpressionError, TypeError, ValueError) as error:
        message = f"payload: {error}"
        raise RiverrunError(message, code="INPUT_ERROR", retriable=False) from error


def payload_problem(declared: Any) -> str | None:
    """Why the server would not take a payload in, if it would not."""
    written = _as_written(declared)
    try:
        if not _is_function(written):
            check_template(written)
    except TemplateError as error:
        return str(error)
    return None


def _as_written(declared: Any) -> Any:
    """A payload as the server reads it: functions are their text."""
    if isinstance(declared, dict):
        source = declared.get("$function")
        if isinstance(source, str):
            return source
        return {key: _as_written(member) for key, member in declared.items()}
    if isinstance(declared, list):
        return [_as_written(item) for item in declared]
    return declared


def _is_function(written: Any) -> bool:
    """Whether a text is a function, as the server tells them: by its head."""
    if not isinstance(written, str):
        return False
    text = written.lstrip()
    head, arrow, _ = text.partition("=>")
    head = head.strip()
    is_name = head != "" and all(letter.isalnum() or letter in "_$" for letter in head)
    is_list = head.startswith("(") and head.endswith(")")
    return bool(arrow) and (is_name or is_list) or text.startswith(("function ", "function("))
