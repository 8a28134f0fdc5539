"""The frames of a WebSocket (RFC 6455), as the client's side writes and reads them."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10


class BrokenRulesError(Exception):
    """What came breaks the rules; the connection is closed with this code."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True)
class Frame:
    kind: int
    is_last: bool
    payload: bytes


def frame(kind: int, payload: bytes) -> bytes:
    """A frame of a client: its payload is masked."""
    size = len(payload)
    head = bytes([0x80 | kind])
    if size < 126:
        head += bytes([0x80 | size])
    elif size < 65_536:
        head += b"\xfe" + size.to_bytes(2, "big")
    else:
        head += b"\xff" + size.to_bytes(8, "big")
    mask = os.urandom(4)
    return head + mask + _masked(payload, mask)


async def read_frame(read: Callable[[int], Awaitable[bytes]], limit: int) -> Frame:
    """Reads one frame; `read` gives exactly as many bytes. Raises `BrokenRulesError`."""
    first, second = await read(2)
    if first & 0x70:
        raise BrokenRulesError(1002, "a frame has reserved bits without a negotiated extension")
    if second & 0x80:
        raise BrokenRulesError(1002, "a frame of the server is masked")
    size = second & 0x7F
    if size >= 126:
        size = int.from_bytes(await read(2 if size == 126 else 8), "big")
    kind, is_last = first & 0x0F, bool(first & 0x80)
    if kind >= CLOSE and (size > 125 or not is_last):
        raise BrokenRulesError(1002, "a control frame is too long")
    if size > limit:
        raise BrokenRulesError(1009, f"a frame has more than {limit} bytes")
    return Frame(kind, is_last, await read(size) if size else b"")


def _masked(payload: bytes, mask: bytes) -> bytes:
    # As two long numbers: byte by byte would take a hundred times as long.
    size = len(payload)
    key = (mask * (size // 4 + 1))[:size]
    mixed = int.from_bytes(payload, "big") ^ int.from_bytes(key, "big")
    return mixed.to_bytes(size, "big")
