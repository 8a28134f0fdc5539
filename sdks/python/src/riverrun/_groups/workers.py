"""The programs that run work for the server from elsewhere."""

from __future__ import annotations

from typing import Any

from .._api import requests
from .._http import blocking, calls, streams
from .._naming import options_on_wire

Records = list[dict[str, Any]]


class Workers:
    """The programs that run work for the server from elsewhere."""

    def __init__(self, http: blocking.Http) -> None:
        self._http = http

    def list(self) -> Records:
        return calls.records(self._http.send(requests.list_workers()))

    def drain(self, id: int, *, grace_ms: int | None = None) -> None:
        """Gives it no more work, and lets it go when what it runs has ended."""
        self._http.send(requests.drain_worker(id, options_on_wire({"grace_ms": grace_ms})))


class AsyncWorkers:
    """See `Workers`."""

    def __init__(self, http: streams.Http) -> None:
        self._http = http

    async def list(self) -> Records:
        return calls.records(await self._http.send(requests.list_workers()))

    async def drain(self, id: int, *, grace_ms: int | None = None) -> None:
        await self._http.send(requests.drain_worker(id, options_on_wire({"grace_ms": grace_ms})))
