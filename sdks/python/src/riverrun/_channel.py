"""What a context needs from its environment: the runner, or the test kit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol


class Channel(Protocol):
    """The way from one invocation to the server. Safe to use from any thread."""

    def notify(self, method: str, params: dict[str, Any]) -> None:
        """Says something. Never fails and never waits."""

    async def ask(self, method: str, params: dict[str, Any]) -> Mapping[str, Any]:
        """Asks for something; the answer comes when it is durable."""
        ...

    def ask_blocking(self, method: str, params: dict[str, Any]) -> Mapping[str, Any]:
        """The same for a thread of its own."""
        ...


class JobChannel:
    """A channel on which everything is said of one job of a batch."""

    __slots__ = ("_channel", "_job_id")

    def __init__(self, channel: Channel, job_id: str | None) -> None:
        self._channel = channel
        self._job_id = job_id

    def notify(self, method: str, params: dict[str, Any]) -> None:
        self._channel.notify(method, {**params, "jobId": self._job_id})

    async def ask(self, method: str, params: dict[str, Any]) -> Mapping[str, Any]:
        return await self._channel.ask(method, {**params, "jobId": self._job_id})

    def ask_blocking(self, method: str, params: dict[str, Any]) -> Mapping[str, Any]:
        return self._channel.ask_blocking(method, {**params, "jobId": self._job_id})
