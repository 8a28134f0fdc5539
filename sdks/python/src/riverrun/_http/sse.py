"""Server-sent events from bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .. import _json


@dataclass(frozen=True)
class Message:
    """One server-sent event."""

    event: str
    data: str
    id: str | None


class Parser:
    """Takes bytes as they come and gives the messages that are complete."""

    def __init__(self) -> None:
        #: What the server says to wait before connecting again.
        self.retry_ms: int | None = None
        #: The id that was given last: where the stream stands, even if no event has come yet.
        self.position: str | None = None
        self._rest = b""
        self._event = ""
        self._data: list[str] = []
        self._id: str | None = None

    def feed(self, data: bytes) -> list[Message]:
        *lines, self._rest = (self._rest + data).split(b"\n")
        messages = []
        for line in lines:
            message = self._line(line.rstrip(b"\r").decode(errors="replace"))
            if message is not None:
                messages.append(message)
        return messages

    def _line(self, line: str) -> Message | None:
        if not line:
            return self._dispatch()
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._event = value
        elif name == "id":
            self._id = value
        elif name == "retry" and value.isdigit():
            self.retry_ms = int(value)
        return None

    def _dispatch(self) -> Message | None:
        event, data, id = self._event or "message", self._data, self._id
        self._event, self._data, self._id = "", [], None
        self.position = id or self.position
        return Message(event, "\n".join(data), id) if data else None


def frame(event: str, data: str) -> dict[str, Any]:
    """What a call says, with its type."""
    said = _json.decode(data)
    return {"type": event, **(said if isinstance(said, dict) else {"value": said})}
