"""What can go wrong, as exceptions that carry riverrun's stable codes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = [
    "Cancelled",
    "HttpError",
    "NonRetriableError",
    "RetryAfter",
    "RetryAfterError",
    "RiverrunError",
]


class RiverrunError(Exception):
    """An error with a stable code.

    Raised by the SDK when the server refuses something, and by handlers that want their jobs to
    fail in a certain way. `retriable=False` stops retries, `retry_after_ms` replaces the backoff,
    `details` is JSON that is kept with the error.
    """

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        retriable: bool | None = None,
        retry_after_ms: int | None = None,
        details: Any = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        #: What the error is called where it is recorded.
        self.name = type(self).__name__
        self.code = code
        self.retriable = retriable
        self.retry_after_ms = retry_after_ms
        self.details = details
        #: Where it was raised, of one that was recorded.
        self.stack: str | None = None


class NonRetriableError(RiverrunError):
    """Trying again is of no use: the job fails for good."""

    def __init__(self, message: str, *, code: str | None = None, details: Any = None) -> None:
        super().__init__(
            message, code=code or "NON_RETRIABLE", retriable=False, details=details
        )


class RetryAfter(RiverrunError):
    """Try again in so many seconds, whatever the backoff says."""

    def __init__(
        self,
        seconds: float,
        message: str | None = None,
        *,
        code: str | None = None,
        details: Any = None,
    ) -> None:
        super().__init__(
            message if message is not None else f"try again in {seconds:g} s",
            code=code or "RETRY_AFTER",
            retriable=True,
            retry_after_ms=max(0, round(seconds * 1000)),
            details=details,
        )


# The name under which the TypeScript SDK has it.
RetryAfterError = RetryAfter


class Cancelled(RiverrunError):
    """The invocation was asked to stop.

    What a blocking call of a sync handler ends with; in async handlers the task is cancelled
    instead. A handler that lets it through is recorded as cancelled.
    """

    def __init__(self, reason: str | None = None) -> None:
        super().__init__(f"cancelled: {reason}" if reason else "cancelled", code="CANCELLED")
        self.reason = reason


class ExecutionOver(RiverrunError):
    """The server accepts nothing more from this execution, or cannot record what it did.

    The code of a step must not continue: an `except` that undoes effects would run although nothing
    has failed for good. So the code does not see this error.
    """


class Stopped(BaseException):
    """Unwinds a handler that must not continue. Not to be caught; `error` says why."""

    def __init__(self, error: RiverrunError) -> None:
        super().__init__(error.message)
        self.error = error


#: The code of an error answer after which the code of the execution must not continue.
EXECUTION_OVER = -32002


class HttpError(RiverrunError):
    """What the server answered a request with."""

    def __init__(self, status: int, message: str, *, code: str, details: Any = None) -> None:
        super().__init__(message, code=code, retriable=status >= 500, details=details)
        self.status = status


def from_wire(error: Mapping[str, Any]) -> RiverrunError:
    """The exception for an error object of the protocol or of the HTTP API."""
    data = error.get("data")
    # HTTP and the journal have the members side by side, JSON-RPC has them in `data`.
    source: Mapping[str, Any] = data if isinstance(data, Mapping) else error
    code = source.get("code")
    is_over = isinstance(data, Mapping) and error.get("code") == EXECUTION_OVER
    found = (ExecutionOver if is_over else RiverrunError)(
        str(error.get("message", "unknown error")),
        code=code if isinstance(code, str) else None,
        retriable=source.get("retriable"),
        retry_after_ms=source.get("retryAfterMs"),
        details=source.get("details"),
    )
    if isinstance(source.get("name"), str):
        found.name = source["name"]
    return found
