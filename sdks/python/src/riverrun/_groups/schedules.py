"""Triggers of the type `schedule`. They are made and changed as triggers."""

from __future__ import annotations

from typing import Any

from .._api import requests
from .._http import blocking, calls, streams
from .._naming import options_on_wire
from ..options import Moment, Page


class Schedules:
    """Triggers of the type `schedule`. They are made and changed as triggers."""

    def __init__(self, http: blocking.Http) -> None:
        self._http = http

    def list(self, *, limit: int | None = None, cursor: str | None = None) -> Page[dict[str, Any]]:
        """A page of schedules, with their next due times."""
        return calls.page(self._http.send(requests.list_schedules(limit=limit, cursor=cursor)))

    def backfill(
        self,
        id: str,
        since: Moment,
        until: Moment,
        *,
        limit: int | None = None,
        forgotten: bool | None = None,
    ) -> dict[str, Any]:
        """Starts a run for each due time from `since` up to, not including, `until` without one.

        With `forgotten` also for those of so long ago that a run which there was may be deleted.
        """
        request = requests.backfill_schedule(
            id,
            options_on_wire({"from": since, "to": until, "limit": limit, "forgotten": forgotten}),
        )
        result: dict[str, Any] = self._http.send(request)
        return result


class AsyncSchedules:
    """See `Schedules`."""

    def __init__(self, http: streams.Http) -> None:
        self._http = http

    async def list(
        self, *, limit: int | None = None, cursor: str | None = None
    ) -> Page[dict[str, Any]]:
        return calls.page(
            await self._http.send(requests.list_schedules(limit=limit, cursor=cursor))
        )

    async def backfill(
        self,
        id: str,
        since: Moment,
        until: Moment,
        *,
        limit: int | None = None,
        forgotten: bool | None = None,
    ) -> dict[str, Any]:
        request = requests.backfill_schedule(
            id,
            options_on_wire({"from": since, "to": until, "limit": limit, "forgotten": forgotten}),
        )
        result: dict[str, Any] = await self._http.send(request)
        return result
