"""Following a stream over any number of connections, without the connections.

Each begins after the last event that was seen, so the reader gets every event once and in order.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from .. import _json
from .._api import requests
from ..errors import HttpError, RiverrunError
from .request import Request, failure
from .sse import Parser

FINAL = (
    "flow.completed",
    "flow.failed",
    "flow.cancelled",
    "job.completed",
    "job.failed",
    "job.cancelled",
)
_LONGEST_WAIT_S = 30.0


class Follower:
    """What a reader of a stream has seen, and what it does next."""

    def __init__(
        self,
        request: Request,
        after: str | None,
        types: Sequence[str] | None,
        until_end: bool,
        on_missed: Callable[[dict[str, Any]], None] | None = None,
    ) -> None:
        self.is_over = False
        self._request = request
        self._after = after
        self._types = types
        self._until_end = until_end
        self._on_missed = on_missed
        self._has_ended = False
        self._last_id: str | None = None
        self._retry_ms = 1000
        self._failures = 0
        self._parser = Parser()
        self._was_empty = True

    def connect(self) -> Request:
        """The request of the next connection."""
        self._parser, self._was_empty = Parser(), True
        self._has_ended = False
        # The end must be received even if its types were not requested.
        types = [*self._types, *(FINAL if self._until_end else ())] if self._types else None
        headers = {**self._request.headers, "last-event-id": self._last_id}
        query = {
            **self._request.query,
            "from": self._after if self._last_id is None else None,
            "type": types or self._request.query.get("type"),
            "follow": "until-end" if self._until_end else None,
        }
        return replace(self._request, query=query, headers=headers)

    def feed(self, data: bytes) -> Iterator[dict[str, Any]]:
        """The events in what came."""
        self._was_empty = False
        for message in self._parser.feed(data):
            if message.event == "stream.deleted":
                raise RiverrunError("the stream was deleted", code="STREAM_NOT_FOUND")
            if message.event == "stream.failed":
                raise failure(500, message.data.encode())
            if message.event == "stream.missed":
                if self._on_missed is not None:
                    self._on_missed(_json.decode(message.data))
                continue
            event: dict[str, Any] = _json.decode(message.data)
            # Of events of many streams the place is not the event's id.
            self._last_id = message.id or event["id"]
            self._failures = 0
            self._has_ended = self._until_end and event["type"] in FINAL
            if self._is_wanted(event["type"]):
                yield event
            # A job that has ended may have begun anew: it is over when the server says no more.
            if self._has_ended and not event["type"].startswith("job."):
                self.is_over = True
                return
        self._last_id = self._parser.position or self._last_id
        self._retry_ms = self._parser.retry_ms or self._retry_ms

    def closed(self) -> None:
        """The server has ended the connection."""
        # Not one byte came: it had ended, and everything was seen.
        ended = self._was_empty or self._has_ended
        self.is_over = self.is_over or (self._until_end and ended)

    def broken(self, error: RiverrunError) -> None:
        """The connection failed. Raises if another would as well."""
        is_passing = error.code == "UNREACHABLE" or (
            isinstance(error, HttpError) and (error.status >= 500 or error.status in (408, 429))
        )
        if not is_passing:
            raise error

    def wait_s(self) -> float:
        """How long to wait before the next connection."""
        longest = min(self._retry_ms / 1000 * 2.0 ** min(self._failures, 10), _LONGEST_WAIT_S)
        self._failures += 1
        return longest * (0.5 + random.random() / 2)

    def _is_wanted(self, type: str) -> bool:
        return not self._types or any(
            type == wanted or type.startswith(f"{wanted}.") for wanted in self._types
        )


def drop(events: Iterator[Any]) -> None:
    for _ in events:
        pass


def of_kinds(kinds: str | Sequence[str], after: str | None) -> Follower:
    """Follows all events of some kinds."""
    kinds = [kinds] if isinstance(kinds, str) else kinds
    request = requests.events_of_kind(kinds)
    return Follower(replace(request, headers={"accept": "text/event-stream"}), after, None, False)
