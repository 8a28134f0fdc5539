"""Exceptions as the error objects of the protocol."""

from __future__ import annotations

import os
import traceback
from collections.abc import Mapping
from typing import Any

from ._json import decode, encode
from .errors import RiverrunError, from_wire

FAILED = -32000
CANCELLED = -32001
UNKNOWN_METHOD = -32601

_OURS = (os.path.dirname(os.path.abspath(__file__)) + os.sep, "<frozen importlib")
_MESSAGE_CHARACTERS = 16_384
_STACK_CHARACTERS = 32_768
_DETAILS_BYTES = 65_536
#: Members of an error that the failure has by themselves.
_TOLD = {"message", "name", "stack", "retriable", "retry_after_ms", "details"}


def describe(error: BaseException) -> dict[str, Any]:
    """The members of an error, side by side: `message`, `name`, `code`, `stack`, …"""
    stack = getattr(error, "stack", None)
    described: dict[str, Any] = {
        "message": clean(message_of(error), _MESSAGE_CHARACTERS),
        "name": error.name if isinstance(error, RiverrunError) else type(error).__name__,
        "stack": clean(stack if isinstance(stack, str) else stack_of(error), _STACK_CHARACTERS),
    }
    for member, kind, wire in (
        ("code", str, "code"),
        ("retriable", bool, "retriable"),
        ("retryAfter", int, "retryAfterMs"),
        ("retry_after", int, "retryAfterMs"),
        ("retry_after_ms", int, "retryAfterMs"),
    ):
        value = getattr(error, member, None)
        if isinstance(value, kind):
            described[wire] = value
    details = _details(getattr(error, "details", None))
    if details is not None:
        described["details"] = details
    return described


def record_of(error: BaseException) -> dict[str, Any]:
    """What is recorded of an error that code may catch, as the journal gives it back."""
    members = _details(_members(error))
    record = {**describe(error), **({"members": members} if members else {})}
    plain: dict[str, Any] = decode(encode(record))
    return plain


def revive(record: Mapping[str, Any]) -> RiverrunError:
    """The exception that a record stands for: its own message, name, stack and members."""
    error = from_wire(record)
    error.code = error.code or "HANDLER_ERROR"
    for member, value in (record.get("members") or {}).items():
        setattr(error, member, value)
    if isinstance(record.get("stack"), str):
        error.stack = record["stack"]
    return error


def rpc_error(error: BaseException, code: int = FAILED) -> dict[str, Any]:
    """The `error` member of an answer."""
    data = describe(error)
    return {"code": code, "message": data.pop("message"), "data": data}


def message_of(error: BaseException) -> str:
    if isinstance(error, SystemExit):
        return f"the handler called sys.exit({error.code!r})"
    try:
        return str(error) or type(error).__name__
    except Exception:
        return type(error).__name__


def stack_of(error: BaseException) -> str:
    """The traceback, from the user's first frame on."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename.startswith(_OURS):
        trace = trace.tb_next
    try:
        return "".join(traceback.format_exception(type(error), error, trace))
    except Exception:
        return type(error).__name__


def clean(text: str, limit: int) -> str:
    """Text that surely goes over the wire."""
    if len(text) > limit:
        text = text[:limit] + "…"
    return text.encode(errors="replace").decode()


def _members(error: BaseException) -> dict[str, Any]:
    # Own members that have a form in JSON and are not part of the failure otherwise.
    return {
        name: value
        for name, value in vars(error).items()
        if not name.startswith("_")
        and name not in _TOLD
        and (name != "code" or isinstance(value, int))
        and (value is None or _details(value) is not None)
    }


def _details(details: Any) -> Any:
    if details is None:
        return None
    try:
        return details if len(encode(details)) <= _DETAILS_BYTES else None
    except (TypeError, ValueError):
        return None
