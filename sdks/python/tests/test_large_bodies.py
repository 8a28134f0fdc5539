"""Bodies that the server does not want: the clients find out why."""

from __future__ import annotations

import asyncio
import socket
import threading
import unittest
from typing import Any

import support  # noqa: F401
from server import Server

from riverrun import AsyncClient, Client, HttpError

LARGE = "x" * 20_000_000


def refused_by(url: str) -> list[Any]:
    """The answers that both clients get."""
    found = []
    with Client(url) as client:
        try:
            client.enqueue("q", LARGE, create=True)
        except HttpError as error:
            found.append((error.status, error.code))
        found.append(client.enqueue("q", 1, create=True).created)

    async def use() -> None:
        async with AsyncClient(url) as client:
            try:
                await client.enqueue("q", LARGE, create=True)
            except HttpError as error:
                found.append((error.status, error.code))
            found.append((await client.enqueue("q", 1, create=True)).created)

    asyncio.run(use())
    return found


class LargeBodies(unittest.TestCase):
    def test_a_body_over_the_limit_is_too_large(self) -> None:
        server = Server()
        self.addCleanup(server.close)
        self.assertEqual(refused_by(server.url), [(413, "TOO_LARGE"), True] * 2)

    def test_an_answer_is_read_though_the_connection_is_closed(self) -> None:
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)
        threading.Thread(target=_answer_and_close, args=(listener,), daemon=True).start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        self.assertEqual(refused_by(url), [(413, "TOO_LARGE"), True] * 2)


def _answer_and_close(listener: socket.socket) -> None:
    """Reads no body to its end, unless it is small."""
    while True:
        try:
            one, _ = listener.accept()
        except OSError:
            return
        with one:
            asked = b""
            while b"data" not in asked:
                asked += one.recv(1 << 16)
            if b"content-length: 2000" in asked:
                status, body = b"413 Payload Too Large", b'{"error":{"code":"TOO_LARGE","message":""}}'
            else:
                status, body = b"201 Created", b'{"jobs":[{"jobId":"a","created":true}]}'
            length = b"content-length: %d" % len(body)
            one.sendall(b"HTTP/1.1 %b\r\n%b\r\nconnection: close\r\n\r\n%b" % (status, length, body))


if __name__ == "__main__":
    unittest.main()
