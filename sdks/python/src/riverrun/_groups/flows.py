"""Definitions of flows. Runs of them are started and read with the client itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._api import requests
from .._http import blocking, calls, streams

Records = list[dict[str, Any]]


class Flows:
    """Definitions of flows. Runs of them are started and read with the client itself."""

    def __init__(self, http: blocking.Http) -> None:
        self._http = http

    def list(self) -> Records:
        """The newest version of every flow."""
        return calls.records(self._http.send(requests.list_flows()))

    def get(self, id: str, *, version: str | None = None) -> dict[str, Any]:
        """A version of a flow with its definition; the newest where none is given."""
        result: dict[str, Any] = self._http.send(requests.get_flow(id, version=version))
        return result

    def versions(self, id: str) -> Records:
        """The newest first."""
        return calls.records(self._http.send(requests.flow_versions(id)))

    def register(self, definition: Mapping[str, Any]) -> dict[str, Any]:
        """Kept for ever under its id and version; the same again changes nothing."""
        result: dict[str, Any] = self._http.send(requests.register_flow(dict(definition)))
        return result

    def validate(self, definition: Mapping[str, Any]) -> dict[str, Any]:
        """What is wrong with a definition, if anything. Nothing is registered."""
        result: dict[str, Any] = self._http.send(requests.validate_flow(dict(definition)))
        return result

    def diagram(self, id: str, *, version: str | None = None) -> dict[str, Any]:
        """Its nodes and edges."""
        result: dict[str, Any] = self._http.send(requests.flow_diagram(id, version=version))
        return result


class AsyncFlows:
    """See `Flows`."""

    def __init__(self, http: streams.Http) -> None:
        self._http = http

    async def list(self) -> Records:
        return calls.records(await self._http.send(requests.list_flows()))

    async def get(self, id: str, *, version: str | None = None) -> dict[str, Any]:
        result: dict[str, Any] = await self._http.send(requests.get_flow(id, version=version))
        return result

    async def versions(self, id: str) -> Records:
        return calls.records(await self._http.send(requests.flow_versions(id)))

    async def register(self, definition: Mapping[str, Any]) -> dict[str, Any]:
        result: dict[str, Any] = await self._http.send(requests.register_flow(dict(definition)))
        return result

    async def validate(self, definition: Mapping[str, Any]) -> dict[str, Any]:
        result: dict[str, Any] = await self._http.send(requests.validate_flow(dict(definition)))
        return result

    async def diagram(self, id: str, *, version: str | None = None) -> dict[str, Any]:
        result: dict[str, Any] = await self._http.send(requests.flow_diagram(id, version=version))
        return result
