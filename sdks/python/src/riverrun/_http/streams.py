"""HTTP/1.1 for asyncio: as much of it as a client of one server needs."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncGenerator
from typing import Any

from ..errors import RiverrunError
from .request import IDLE_S, Request, Server, answer, failure

_KEPT = 32
_CHUNK_BYTES = 1 << 16
_HEAD_BYTES = 1 << 16


class Connection:
    """One connection, and the answer that is being read from it."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self.status = 0
        self._is_kept = False
        self._headers: dict[str, str] = {}

    async def exchange(self, server: Server, request: Request) -> None:
        """Sends a request and reads the answer up to its body."""
        content = request.content()
        lines = [f"{request.method} {server.prefix}{request.target()} HTTP/1.1"]
        lines += [
            f"{name}: {value}" for name, value in server.headers_for(request, content).items()
        ]
        if any("\r" in line or "\n" in line for line in lines):
            raise ValueError("a header or the path has a line break")
        self._writer.write("\r\n".join([*lines, "", ""]).encode("latin-1") + (content or b""))
        # Read while it is written: a server that does not want all of it says so before its end.
        await self._read_head()

    async def body(self) -> AsyncGenerator[bytes, None]:
        """The body as it comes. Raises `EOFError` if the connection breaks before its end."""
        if self.status in (204, 304):
            return
        if "chunked" in self._headers.get("transfer-encoding", "").lower():
            while size := int((await self._line()).partition(b";")[0], 16):
                async for data in self._exactly(size):
                    yield data
                await self._line()
            while await self._line():
                pass
        elif "content-length" in self._headers:
            async for data in self._exactly(int(self._headers["content-length"])):
                yield data
        else:
            self._is_kept = False
            while data := await self._reader.read(_CHUNK_BYTES):
                yield data

    def is_reusable(self) -> bool:
        return self._is_kept and self._writer.transport.get_write_buffer_size() == 0

    def is_open(self) -> bool:
        return not self._reader.at_eof() and not self._writer.is_closing()

    def close(self) -> None:
        self._writer.close()

    async def _read_head(self) -> None:
        self.status = 100
        while 100 <= self.status < 200:
            version, status, *_ = (await self._line()).decode("latin-1").split(" ", 2)
            self.status = int(status)
            self._headers = {}
            while line := await self._line():
                name, _, value = line.decode("latin-1").partition(":")
                self._headers[name.strip().lower()] = value.strip()
        self._is_kept = (
            version == "HTTP/1.1" and self._headers.get("connection", "").lower() != "close"
        )

    async def _line(self) -> bytes:
        line = await self._reader.readline()
        if not line.endswith(b"\n"):
            raise EOFError("the connection was closed")
        return line.rstrip(b"\r\n")

    async def _exactly(self, size: int) -> AsyncGenerator[bytes, None]:
        while size:
            data = await self._reader.read(min(size, _CHUNK_BYTES))
            if not data:
                raise EOFError("the connection was closed")
            size -= len(data)
            yield data


class Http:
    """Sends requests from any number of tasks of one loop."""

    def __init__(self, server: Server, timeout_s: float) -> None:
        self.server = server
        self._timeout_s = timeout_s
        self._idle: list[Connection] = []
        self._tls = ssl.create_default_context() if server.is_tls else None

    async def send(self, request: Request) -> Any:
        timeout_s = self._timeout_s if request.timeout_s is None else request.timeout_s
        try:
            status, content = await asyncio.wait_for(self._send(request), timeout_s)
        except (asyncio.TimeoutError, TimeoutError):
            raise self.server.too_slow(request, timeout_s) from None
        except (OSError, EOFError, ValueError) as cause:
            raise self.server.unreachable(cause) from cause
        return answer(status, content)

    async def stream(self, request: Request) -> AsyncGenerator[bytes, None]:
        """The body as it comes. Raises when the connection breaks, ends when the server ends it."""
        connection: Connection | None = None
        try:
            connection = await asyncio.wait_for(self._connect(), self._timeout_s)
            await asyncio.wait_for(connection.exchange(self.server, request), IDLE_S)
            body = connection.body()
            if connection.status >= 400:
                raise failure(connection.status, b"".join([data async for data in body]))
            while True:
                try:
                    data = await asyncio.wait_for(anext(body), IDLE_S)
                except StopAsyncIteration:
                    return
                yield data
        except RiverrunError:
            raise
        except (OSError, EOFError, ValueError, asyncio.TimeoutError) as cause:
            raise self.server.unreachable(cause) from cause
        finally:
            if connection is not None:
                connection.close()

    async def close(self) -> None:
        idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    async def _send(self, request: Request) -> tuple[int, bytes]:
        connection = await self._take()
        try:
            await connection.exchange(self.server, request)
            content = b"".join([data async for data in connection.body()])
        except BaseException:
            connection.close()
            raise
        if connection.is_reusable() and len(self._idle) < _KEPT:
            self._idle.append(connection)
        else:
            connection.close()
        return connection.status, content

    async def _take(self) -> Connection:
        while self._idle:
            connection = self._idle.pop()
            if connection.is_open():
                return connection
            connection.close()
        return await self._connect()

    async def _connect(self) -> Connection:
        reader, writer = await asyncio.open_connection(
            self.server.host, self.server.port, ssl=self._tls, limit=_HEAD_BYTES
        )
        return Connection(reader, writer)
