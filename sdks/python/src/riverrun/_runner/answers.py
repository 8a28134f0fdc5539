"""How an invocation ends, as the line that says so."""

from __future__ import annotations

import asyncio
from typing import Any

from .._failure import CANCELLED, FAILED, describe, message_of, rpc_error
from .._json import encode
from ..errors import Cancelled, NonRetriableError, RiverrunError


def result(id: int, value: Any, limit: int) -> bytes:
    """The value, or the error that it cannot be sent."""
    try:
        return b'{"id":%d,"result":{"value":%b}}' % (id, value_text(value, limit))
    except RiverrunError as refused:
        return failure(id, refused)


def results(id: int, values: list[Any], limit: int) -> bytes:
    """One entry for each job of a batch; an exception in the list is that job's error."""
    entries = []
    for value in values:
        try:
            if isinstance(value, BaseException):
                raise value
            entries.append(b'{"value":%b}' % value_text(value, limit))
        except BaseException as error:
            entries.append(encode({"error": describe(error)}))
    return b'{"id":%d,"result":{"results":[%b]}}' % (id, b",".join(entries))


def suspended(
    id: int, outcome: dict[str, Any] | RiverrunError, seen: list[dict[str, Any]]
) -> bytes:
    """What a step waits for and what it has read, or why it may not wait."""
    if isinstance(outcome, RiverrunError):
        return failure(id, outcome)
    try:
        read = {"seen": seen} if seen else {}
        return encode({"id": id, "result": {"suspended": outcome, **read}})
    except (TypeError, ValueError) as error:
        message = f"what the step waits for is not JSON: {error}"
        return failure(id, NonRetriableError(message, code="INPUT_ERROR"))


def failure(id: int, error: BaseException) -> bytes:
    if isinstance(error, (asyncio.CancelledError, Cancelled)):
        return cancelled(id, message_of(error))
    return encode({"id": id, "error": rpc_error(error)})


def cancelled(id: int, message: str = "cancelled") -> bytes:
    data = {"code": "CANCELLED"}
    return encode({"id": id, "error": {"code": CANCELLED, "message": message, "data": data}})


def refusal(id: int, message: str, code: str) -> bytes:
    """An error of the runner's own: the next attempt would end with it too."""
    data = {"code": code, "retriable": False}
    return encode({"id": id, "error": {"code": FAILED, "message": message, "data": data}})


def value_text(value: Any, limit: int) -> bytes:
    """JSON text of a value. Raises if there is none, or if it is too long."""
    try:
        text = encode(value)
    except (TypeError, ValueError) as error:
        message = f"the result is not JSON: {error}"
        raise NonRetriableError(message, code="RESULT_NOT_JSON") from None
    if len(text) > limit:
        message = f"the result has {len(text)} bytes, and {limit} are allowed"
        details = {"bytes": len(text), "limit": limit}
        raise NonRetriableError(message, code="RESULT_TOO_LARGE", details=details)
    return text
