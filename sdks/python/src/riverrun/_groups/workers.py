"""The programs that run work for the server from elsewhere."""

from __future__ import annotations

from typing import Any

from .._http import blocking, calls, groups, streams

Records = list[dict[str, Any]]


class Workers:
    """The programs that run work for the server from elsewhere."""

    def __init__(self, http: blocking.Http) -> None:
        self._http = http

    def list(self) -> Records:
        return calls.records(self._http.send(groups.workers()))

    def drain(self, id: int, *, grace_ms: int | None = None) -> None:
        """Gives it no more work, and lets it go when what it runs has ended."""
        self._http.send(groups.drain_worker(id, grace_ms))


class AsyncWorkers:
    """See `Workers`."""

    def __init__(self, http: streams.Http) -> None:
        self._http = http

    async def list(self) -> Records:
        return calls.records(await self._http.send(groups.workers()))

    async def drain(self, id: int, *, grace_ms: int | None = None) -> None:
        await self._http.send(groups.drain_worker(id, grace_ms))
