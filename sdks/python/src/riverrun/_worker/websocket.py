"""A WebSocket to the server, over asyncio, so that nothing has to be installed."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hashlib
import os
import ssl

from .._http.request import Request, Server, failure
from ..errors import HttpError, RiverrunError
from .frames import (
    BINARY,
    CLOSE,
    CONTINUATION,
    PING,
    PONG,
    TEXT,
    BrokenRulesError,
    frame,
    read_frame,
)

_CONNECT_S = 10.0
#: How long the other side has to answer a close.
_CLOSE_S = 2.0
_ACCEPTED = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
#: Unwritten bytes at which nothing more is read until they are gone.
_CROWDED_BYTES = 8 << 20
_HEAD_BYTES = 1 << 16


class Closed(Exception):  # noqa: N818
    """The connection has ended. 1006: it broke."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason or f"the connection broke ({code})")
        self.code = code


async def connect(server: Server, path: str, limit_bytes: int, silent_s: float) -> WebSocket:
    """Raises `UNREACHABLE`, `NOT_RIVERRUN`, or what the server refuses with."""
    try:
        return await asyncio.wait_for(_connect(server, path, limit_bytes, silent_s), _CONNECT_S)
    except (asyncio.TimeoutError, TimeoutError):
        cause = TimeoutError(f"it did not answer within {_CONNECT_S:g} s")
        raise server.unreachable(cause) from None
    except (OSError, EOFError, asyncio.LimitOverrunError) as cause:
        raise server.unreachable(cause) from cause


async def _connect(server: Server, path: str, limit_bytes: int, silent_s: float) -> WebSocket:
    tls = ssl.create_default_context() if server.is_tls else None
    reader, writer = await asyncio.open_connection(
        server.host, server.port, ssl=tls, limit=_HEAD_BYTES
    )
    try:
        await _shake_hands(server, path, reader, writer)
    except BaseException:
        writer.close()
        raise
    return WebSocket(reader, writer, limit_bytes, silent_s)


async def _shake_hands(
    server: Server, path: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    key = base64.b64encode(os.urandom(16))
    wanted = {
        "connection": "Upgrade",
        "upgrade": "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": key.decode(),
    }
    headers = server.headers_for(Request("GET", path, headers=wanted), None)
    lines = [f"GET {server.prefix}{path} HTTP/1.1"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    if any("\r" in line or "\n" in line for line in lines):
        raise ValueError("a header or the path has a line break")
    writer.write("\r\n".join([*lines, "", ""]).encode("latin-1"))
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    version, _, status = head[0].partition(" ")
    answered = {
        name.strip().lower(): value.strip()
        for name, _, value in (line.partition(":") for line in head[1:])
    }
    if not version.startswith("HTTP/") or not status[:3].isdigit():
        raise _not_riverrun(server, "it does not speak HTTP")
    if not status.startswith("101"):
        body = await reader.read(_HEAD_BYTES) if answered.get("content-length") != "0" else b""
        raise _refusal(server, int(status[:3]), body)
    expected = base64.b64encode(hashlib.sha1(key + _ACCEPTED).digest()).decode()
    if answered.get("sec-websocket-accept") != expected:
        raise _not_riverrun(server, "it does not speak WebSocket")


class WebSocket:
    """Texts in and out. All of its methods belong to the loop's thread."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        limit_bytes: int,
        silent_s: float,
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._limit_bytes = limit_bytes
        self._silent_s = silent_s
        self._is_closing = False
        self._loop = asyncio.get_running_loop()
        self._heard_at = self._loop.time()
        self._watch = self._loop.call_later(silent_s, self._look)

    def send(self, text: bytes) -> None:
        if not self._is_closing:
            self._writer.write(frame(TEXT, text))

    async def receive(self) -> bytes:
        """The next text. Raises `Closed`."""
        parts: list[bytes] = []
        try:
            while True:
                if self._writer.transport.get_write_buffer_size() > _CROWDED_BYTES:
                    await self._writer.drain()
                came = await read_frame(self._read, self._limit_bytes)
                if came.kind == CLOSE:
                    self._closed_by(came.payload)
                elif came.kind == PING:
                    self._writer.write(frame(PONG, came.payload))
                elif came.kind in (TEXT, CONTINUATION):
                    if (came.kind == CONTINUATION) != bool(parts):
                        raise BrokenRulesError(1002, "the parts of a message are out of order")
                    parts.append(came.payload)
                    if sum(map(len, parts)) > self._limit_bytes:
                        raise BrokenRulesError(1009, "a message is too long")
                    if came.is_last:
                        return b"".join(parts)
                elif came.kind == BINARY:
                    raise BrokenRulesError(1003, "binary messages are not spoken here")
                elif came.kind != PONG:
                    raise BrokenRulesError(1002, f"there is no opcode {came.kind}")
        except BrokenRulesError as broken:
            self.close(broken.code, str(broken))
            raise Closed(broken.code, str(broken)) from None
        except (OSError, EOFError) as cause:
            raise Closed(1006, str(cause) if isinstance(cause, OSError) else "") from None

    def close(self, code: int = 1000, reason: str = "") -> None:
        """Says that it is over, and lets go a moment later."""
        if self._is_closing:
            return
        payload = code.to_bytes(2, "big") + reason.encode()[:120]
        self._writer.write(frame(CLOSE, payload))
        self._is_closing = True
        self._loop.call_later(_CLOSE_S, self.abort)

    def abort(self) -> None:
        self._is_closing = True
        self._watch.cancel()
        with contextlib.suppress(OSError):
            self._writer.close()

    def _closed_by(self, payload: bytes) -> None:
        code = int.from_bytes(payload[:2], "big") if len(payload) >= 2 else 1005
        self.close(1000 if code == 1005 else code)
        self.abort()
        raise Closed(code, payload[2:].decode(errors="replace"))

    async def _read(self, size: int) -> bytes:
        pieces: list[bytes] = []
        while size:
            data = await self._reader.read(size)
            if not data:
                raise EOFError
            self._heard_at = self._loop.time()
            pieces.append(data)
            size -= len(data)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def _look(self) -> None:
        """A server over which nothing comes, not even a ping, is gone."""
        left_s = self._heard_at + self._silent_s - self._loop.time()
        if left_s <= 0:
            self._writer.transport.abort()
        else:
            self._watch = self._loop.call_later(left_s, self._look)


def _refusal(server: Server, status: int, body: bytes) -> RiverrunError:
    # A body that comes in chunks has their sizes around it.
    begin, end = body.find(b"{"), body.rfind(b"}")
    error: HttpError = failure(status, body[begin : end + 1])
    if error.code.startswith("HTTP_"):
        return _not_riverrun(server, f"it answered with the status {status}")
    return error


def _not_riverrun(server: Server, why: str) -> RiverrunError:
    message = f"what answers at {server.host}:{server.port} is no riverrun server: {why}"
    return RiverrunError(message, code="NOT_RIVERRUN")
