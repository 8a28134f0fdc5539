"""What starts flows from outside. A trigger that a step waits for is opened with `fire`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from .._api import requests
from .._http import blocking, calls, streams
from .._naming import camel_keys
from ..options import Page, Started

TriggerType = Literal["http", "schedule", "event", "manual"]


class Triggers:
    """What starts flows from outside. A trigger that a step waits for is opened with `fire`."""

    def __init__(self, http: blocking.Http) -> None:
        self._http = http

    def list(
        self,
        *,
        type: TriggerType | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[dict[str, Any]]:
        """A page of triggers: of all, or `http`, `schedule`, `event`, `manual`."""
        return calls.page(
            self._http.send(requests.list_triggers(type=type, limit=limit, cursor=cursor))
        )

    def get(self, id: str) -> dict[str, Any]:
        result: dict[str, Any] = self._http.send(requests.get_trigger(id))
        return result

    def create(self, trigger: Mapping[str, Any]) -> dict[str, Any]:
        """Makes a trigger: `id`, `type`, `flow`, `config` and more; names may be `snake_case`."""
        result: dict[str, Any] = self._http.send(requests.create_trigger(camel_keys(trigger)))
        return result

    def update(self, id: str, changes: Mapping[str, Any]) -> dict[str, Any]:
        """Replaces the members that are given, those of `config` one by one; `None` takes away."""
        result: dict[str, Any] = self._http.send(requests.change_trigger(id, camel_keys(changes)))
        return result

    def remove(self, id: str) -> None:
        """The runs that it started go on."""
        self._http.send(requests.remove_trigger(id))

    def enable(self, id: str) -> dict[str, Any]:
        result: dict[str, Any] = self._http.send(requests.enable_trigger(id))
        return result

    def disable(self, id: str) -> dict[str, Any]:
        result: dict[str, Any] = self._http.send(requests.disable_trigger(id))
        return result

    def fire(
        self,
        id: str,
        input: Any = None,
        *,
        idempotency_key: str | None = None,
        source: str | None = None,
    ) -> Started:
        """Starts a run of its flow with this input, whatever the trigger's type is."""
        options = {"idempotency_key": idempotency_key, "source": source}
        request = calls.fire_trigger(id, input, options)
        return Started.from_wire(self._http.send(request))

    def history(
        self, id: str, *, limit: int | None = None, cursor: str | None = None
    ) -> Page[dict[str, Any]]:
        """What became of it, the latest first."""
        request = requests.trigger_history(id, limit=limit, cursor=cursor)
        return calls.page(self._http.send(request))

    def stats(self, id: str) -> dict[str, Any]:
        result: dict[str, Any] = self._http.send(requests.trigger_stats(id))
        return result


class AsyncTriggers:
    """See `Triggers`."""

    def __init__(self, http: streams.Http) -> None:
        self._http = http

    async def list(
        self,
        *,
        type: TriggerType | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[dict[str, Any]]:
        return calls.page(
            await self._http.send(requests.list_triggers(type=type, limit=limit, cursor=cursor))
        )

    async def get(self, id: str) -> dict[str, Any]:
        result: dict[str, Any] = await self._http.send(requests.get_trigger(id))
        return result

    async def create(self, trigger: Mapping[str, Any]) -> dict[str, Any]:
        result: dict[str, Any] = await self._http.send(requests.create_trigger(camel_keys(trigger)))
        return result

    async def update(self, id: str, changes: Mapping[str, Any]) -> dict[str, Any]:
        result: dict[str, Any] = await self._http.send(
            requests.change_trigger(id, camel_keys(changes))
        )
        return result

    async def remove(self, id: str) -> None:
        await self._http.send(requests.remove_trigger(id))

    async def enable(self, id: str) -> dict[str, Any]:
        result: dict[str, Any] = await self._http.send(requests.enable_trigger(id))
        return result

    async def disable(self, id: str) -> dict[str, Any]:
        result: dict[str, Any] = await self._http.send(requests.disable_trigger(id))
        return result

    async def fire(
        self,
        id: str,
        input: Any = None,
        *,
        idempotency_key: str | None = None,
        source: str | None = None,
    ) -> Started:
        options = {"idempotency_key": idempotency_key, "source": source}
        request = calls.fire_trigger(id, input, options)
        return Started.from_wire(await self._http.send(request))

    async def history(
        self, id: str, *, limit: int | None = None, cursor: str | None = None
    ) -> Page[dict[str, Any]]:
        request = requests.trigger_history(id, limit=limit, cursor=cursor)
        return calls.page(await self._http.send(request))

    async def stats(self, id: str) -> dict[str, Any]:
        result: dict[str, Any] = await self._http.send(requests.trigger_stats(id))
        return result
