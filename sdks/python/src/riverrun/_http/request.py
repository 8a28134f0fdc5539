"""What both kinds of client send, and how they read what comes back."""

from __future__ import annotations

import datetime
import os
import urllib.parse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .. import _json
from .._version import VERSION
from ..errors import HttpError, RiverrunError

#: A live stream says something at least every few seconds; one that is silent for so long is dead.
IDLE_S = 60.0

#: A text in a query. Lists are joined with commas, moments written as ISO 8601.
Text = str | int | datetime.datetime | Sequence[str]

DEFAULT_URL = "http://127.0.0.1:4600"


@dataclass(frozen=True)
class Request:
    """A request, without the server that it goes to."""

    method: str
    path: str
    query: Mapping[str, Any] = field(default_factory=dict)
    #: Sent as JSON; none where absent.
    body: Any = None
    headers: Mapping[str, str | None] = field(default_factory=dict)
    #: Seconds, in place of the client's.
    timeout_s: float | None = None

    def target(self) -> str:
        given = {name: _text(value) for name, value in self.query.items() if value is not None}
        return f"{self.path}?{urllib.parse.urlencode(given)}" if given else self.path

    def content(self) -> bytes | None:
        return None if self.body is None else _json.encode(self.body)


@dataclass(frozen=True)
class Server:
    """Where the server is, and what every request says to it."""

    is_tls: bool
    host: str
    port: int
    prefix: str
    headers: Mapping[str, str]

    @classmethod
    def at(cls, url: str, token: str | None, headers: Mapping[str, str] | None) -> Server:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            message = f"{url!r} is no URL of a server: it should look like http://127.0.0.1:4600"
            raise RiverrunError(message, code="URL_INVALID")
        is_tls = parts.scheme == "https"
        port = parts.port or (443 if is_tls else 80)
        common = {
            "host": parts.netloc.rpartition("@")[2],
            "user-agent": f"riverrun-python/{VERSION}",
        }
        if token is not None:
            common["authorization"] = f"Bearer {token}"
        common.update({name.lower(): value for name, value in (headers or {}).items()})
        return cls(is_tls, parts.hostname, port, parts.path.rstrip("/"), common)

    def headers_for(self, request: Request, content: bytes | None) -> dict[str, str]:
        given = {name: value for name, value in request.headers.items() if value is not None}
        headers = {**self.headers, "accept": "application/json", **given}
        if content is not None:
            headers["content-type"] = "application/json"
            headers["content-length"] = str(len(content))
        elif request.method == "POST":
            headers["content-length"] = "0"
        return headers

    def unreachable(self, cause: BaseException) -> RiverrunError:
        message = f"{self.host}:{self.port} cannot be reached: {cause or type(cause).__name__}"
        return RiverrunError(message, code="UNREACHABLE", retriable=True)

    def too_slow(self, request: Request, timeout_s: float) -> RiverrunError:
        message = f"{request.method} {request.path} took longer than {timeout_s:g} s"
        return RiverrunError(message, code="REQUEST_TIMEOUT", retriable=True)


def server_at(url: str | None, token: str | None, headers: Mapping[str, str] | None) -> Server:
    """The server that the arguments name, else the environment, else one on this machine."""
    url = url or os.environ.get("RIVERRUN_URL") or DEFAULT_URL
    return Server.at(url, token or os.environ.get("RIVERRUN_TOKEN"), headers)


def answer(status: int, content: bytes) -> Any:
    """The JSON of a good answer; any other raises."""
    if status >= 400:
        raise failure(status, content)
    if not content:
        return None
    try:
        return _json.decode(content)
    except ValueError:
        shown = content[:200].decode(errors="replace")
        message = f"what answers there is no riverrun: {shown!r}"
        raise RiverrunError(message, code="NOT_RIVERRUN") from None


def failure(status: int, content: bytes) -> HttpError:
    try:
        error = _json.decode(content)["error"]
        code, message, details = error["code"], error["message"], error.get("details")
    except (ValueError, KeyError, TypeError):
        code, details = f"HTTP_{status}", None
        message = content[:300].decode(errors="replace") or f"status {status}"
    return HttpError(status, str(message), code=str(code), details=details)


def segment(value: str | int) -> str:
    """A value as one segment of a path."""
    return urllib.parse.quote(str(value), safe=":@")


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime.datetime):
        return value.isoformat()
    if isinstance(value, (list, tuple, set, frozenset)):
        return ",".join(str(item) for item in value)
    return str(value)
