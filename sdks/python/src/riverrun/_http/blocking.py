"""HTTP for threads: `http.client` with connections that are kept."""

from __future__ import annotations

import http.client
import select
import socket
import threading
from collections.abc import Callable, Generator
from typing import Any

from ..errors import RiverrunError
from .request import IDLE_S, Request, Server, answer, failure

_KEPT = 32
_CHUNK_BYTES = 1 << 16


class Http:
    """Sends requests from any number of threads."""

    def __init__(self, server: Server, timeout_s: float) -> None:
        self.server = server
        self._timeout_s = timeout_s
        self._lock = threading.Lock()
        self._idle: list[http.client.HTTPConnection] = []

    def send(self, request: Request) -> Any:
        timeout_s = self._timeout_s if request.timeout_s is None else request.timeout_s
        connection = self._take(timeout_s)
        try:
            response = self._exchange(connection, request)
            content = response.read()
        except TimeoutError:
            connection.close()
            raise self.server.too_slow(request, timeout_s) from None
        except (OSError, http.client.HTTPException) as cause:
            connection.close()
            raise self.server.unreachable(cause) from cause
        except BaseException:
            connection.close()
            raise
        self._keep(connection, response)
        return answer(response.status, content)

    def stream(
        self, request: Request, patience_s: Callable[[], float] = lambda: IDLE_S
    ) -> Generator[bytes, None, None]:
        """The body as it comes. Raises when the connection breaks, ends when the server ends it.

        Nothing is waited for longer than `patience_s` says then.
        """
        connection = self._new(patience_s())
        # What reads the answer may take it away from the connection.
        sock = connection.sock
        try:
            response = self._exchange(connection, request)
            if response.status >= 400:
                raise failure(response.status, response.read())
            while data := response.read1(_CHUNK_BYTES):
                yield data
                sock.settimeout(patience_s())
        except RiverrunError:
            raise
        except (OSError, http.client.HTTPException) as cause:
            raise self.server.unreachable(cause) from cause
        finally:
            connection.close()

    def close(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _exchange(
        self, connection: http.client.HTTPConnection, request: Request
    ) -> http.client.HTTPResponse:
        content = request.content()
        headers = self.server.headers_for(request, content)
        target = self.server.prefix + request.target()
        try:
            connection.request(request.method, target, body=content, headers=headers)
        except (BrokenPipeError, ConnectionResetError) as cause:
            return _early_answer(connection, cause)
        return connection.getresponse()

    def _take(self, timeout_s: float) -> http.client.HTTPConnection:
        while True:
            with self._lock:
                connection = self._idle.pop() if self._idle else None
            if connection is None:
                return self._new(timeout_s)
            # A connection that the server has closed meanwhile is readable: at its end.
            if connection.sock is not None and not select.select([connection.sock], [], [], 0)[0]:
                connection.sock.settimeout(timeout_s)
                return connection
            connection.close()

    def _new(self, timeout_s: float) -> http.client.HTTPConnection:
        kind = http.client.HTTPSConnection if self.server.is_tls else http.client.HTTPConnection
        connection = kind(self.server.host, self.server.port, timeout=timeout_s)
        try:
            connection.connect()
        except OSError as cause:
            raise self.server.unreachable(cause) from cause
        connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection

    def _keep(
        self, connection: http.client.HTTPConnection, response: http.client.HTTPResponse
    ) -> None:
        with self._lock:
            if not response.will_close and len(self._idle) < _KEPT:
                self._idle.append(connection)
                return
        connection.close()


def _early_answer(
    connection: http.client.HTTPConnection, cause: OSError
) -> http.client.HTTPResponse:
    """What the server said before it stopped reading: why it did."""
    try:
        response = connection.getresponse()
    except (OSError, http.client.HTTPException):
        raise cause from None
    response.will_close = True
    return response
