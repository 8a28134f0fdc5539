"""`ctx.state`: the JSON object that a run's stream reduces to.

Keys are dot paths. Every write is durable when it returns, and refused with `STATE_INVALID` if it
breaks the schema of the state.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, overload

from ._channel import Channel
from .errors import RiverrunError

__all__ = ["State", "SyncState"]

#: How often `patch` starts over before it gives up with `STATE_CONFLICT`.
PATCH_ATTEMPTS = 100


class State:
    """The state, for async handlers."""

    __slots__ = ("_channel",)

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    async def get(self, key: str, default: Any = None) -> Any:
        return (await self._channel.ask("state.get", {"key": key})).get("value", default)

    async def get_all(self) -> dict[str, Any]:
        return _whole(await self._channel.ask("state.getAll", {}))

    async def has(self, key: str) -> bool:
        return bool((await self._channel.ask("state.has", {"key": key}))["has"])

    async def set(self, key: str, value: Any) -> None:
        await self._channel.ask("state.set", {"key": key, "value": value})

    async def delete(self, key: str) -> None:
        await self._channel.ask("state.delete", {"key": key})

    async def set_batch(self, values: Mapping[str, Any]) -> None:
        """Sets several keys at once: one event, all of them or none."""
        await self._channel.ask("state.setBatch", {"values": dict(values)})

    @overload
    async def patch(self, key: str, change: Callable[[Any], Any], /) -> Any: ...

    @overload
    async def patch(
        self,
        change: Callable[
            [dict[str, Any]], Mapping[str, Any] | Awaitable[Mapping[str, Any] | None] | None
        ],
        /,
    ) -> dict[str, Any] | None: ...

    async def patch(self, key: Any, change: Any = None, /) -> Any:
        """An atomic update: reads, calls the function, and writes unless somebody was faster.

        `patch("n", lambda n: (n or 0) + 1)` changes one key. `patch(fn)` gives `fn` the whole state
        and sets the keys that it returns; if it returns `None` nothing is written. The function is
        called again when somebody was faster, so it should do nothing else. Gives what was written.
        """
        if change is None:
            key, change = None, key
        for _ in range(PATCH_ATTEMPTS):
            read = await self._channel.ask(*_read(key))
            value = change(_given(key, read))
            if inspect.isawaitable(value):
                value = await value
            if key is None and value is None:
                return None
            try:
                await self._channel.ask(*_write(key, value, read))
            except RiverrunError as error:
                _again_if_conflict(error)
            else:
                return value
        raise _gave_up(key)


class SyncState:
    """The state, for sync handlers."""

    __slots__ = ("_channel",)

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    def get(self, key: str, default: Any = None) -> Any:
        return self._channel.ask_blocking("state.get", {"key": key}).get("value", default)

    def get_all(self) -> dict[str, Any]:
        return _whole(self._channel.ask_blocking("state.getAll", {}))

    def has(self, key: str) -> bool:
        return bool(self._channel.ask_blocking("state.has", {"key": key})["has"])

    def set(self, key: str, value: Any) -> None:
        self._channel.ask_blocking("state.set", {"key": key, "value": value})

    def delete(self, key: str) -> None:
        self._channel.ask_blocking("state.delete", {"key": key})

    def set_batch(self, values: Mapping[str, Any]) -> None:
        """Sets several keys at once: one event, all of them or none."""
        self._channel.ask_blocking("state.setBatch", {"values": dict(values)})

    @overload
    def patch(self, key: str, change: Callable[[Any], Any], /) -> Any: ...

    @overload
    def patch(
        self, change: Callable[[dict[str, Any]], Mapping[str, Any] | None], /
    ) -> dict[str, Any] | None: ...

    def patch(self, key: Any, change: Any = None, /) -> Any:
        """An atomic update; see `State.patch`."""
        if change is None:
            key, change = None, key
        for _ in range(PATCH_ATTEMPTS):
            read = self._channel.ask_blocking(*_read(key))
            value = change(_given(key, read))
            if key is None and value is None:
                return None
            try:
                self._channel.ask_blocking(*_write(key, value, read))
            except RiverrunError as error:
                _again_if_conflict(error)
            else:
                return value
        raise _gave_up(key)


def _whole(answer: Mapping[str, Any]) -> dict[str, Any]:
    return dict(answer["state"])


def _read(key: str | None) -> tuple[str, dict[str, Any]]:
    return ("state.getAll", {}) if key is None else ("state.get", {"key": key})


def _given(key: str | None, read: Mapping[str, Any]) -> Any:
    return _whole(read) if key is None else read.get("value")


def _write(key: str | None, value: Any, read: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    on = read["version"]
    if key is None:
        return "state.setBatch", {"values": dict(value), "ifVersion": on}
    return "state.set", {"key": key, "value": value, "ifVersion": on}


def _again_if_conflict(error: RiverrunError) -> None:
    if error.code != "STATE_CONFLICT":
        raise error


def _gave_up(key: str | None) -> RiverrunError:
    what = "the state" if key is None else f"the state's {key}"
    return RiverrunError(
        f"{what} changed {PATCH_ATTEMPTS} times while it was to be patched",
        code="STATE_CONFLICT",
    )
