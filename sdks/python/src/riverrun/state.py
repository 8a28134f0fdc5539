"""`ctx.state`: the JSON object that a run's stream reduces to.

Keys are dot paths. Every write is durable when it returns, and refused with `STATE_INVALID` if it
breaks the schema of the state.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, overload

from ._channel import Channel
from ._execution import Execution, SyncExecution
from .errors import RiverrunError

__all__ = ["State", "SyncState"]

#: How often `patch` starts over before it gives up with `STATE_CONFLICT`.
PATCH_ATTEMPTS = 100


class State:
    """The state, for async handlers. In a step what they read and write is recorded."""

    __slots__ = ("_channel", "_step")

    def __init__(self, channel: Channel, step: Execution | None = None) -> None:
        self._channel = channel
        self._step = step

    async def get(self, key: str, default: Any = None) -> Any:
        async def ask() -> Any:
            return _found(await self._channel.ask("state.get", {"key": key}))

        return (await self._read("state.get", key, ask)).get("value", default)

    async def get_all(self) -> dict[str, Any]:
        async def ask() -> Any:
            return _whole(await self._channel.ask("state.getAll", {}))

        return dict(await self._read("state.getAll", "", ask))

    async def has(self, key: str) -> bool:
        async def ask() -> Any:
            return (await self._channel.ask("state.has", {"key": key}))["has"]

        return bool(await self._read("state.has", key, ask))

    async def set(self, key: str, value: Any) -> None:
        await self._write("state.set", key, {"key": key, "value": value}, value)

    async def delete(self, key: str) -> None:
        await self._write("state.delete", key, {"key": key})

    async def set_batch(self, values: Mapping[str, Any]) -> None:
        """Sets several keys at once: one event, all of them or none."""
        await self._write("state.setBatch", "", {"values": dict(values)}, dict(values))

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
        if self._step is None:
            return (await self._patch(key, change, False))[0]
        op, name = _record(key)
        return await self._step.patch(op, name, lambda in_run: self._patch(key, change, in_run))

    async def _patch(self, key: str | None, change: Any, in_run: bool) -> tuple[Any, bool]:
        for _ in range(PATCH_ATTEMPTS):
            read = await self._channel.ask(*_read(key))
            value = change(_given(key, read))
            if inspect.isawaitable(value):
                value = await value
            if key is None and value is None:
                return None, False
            try:
                await self._channel.ask(*_write(key, value, read, in_run))
            except RiverrunError as error:
                _again_if_conflict(error)
            else:
                return value, True
        raise _gave_up(key)

    async def _read(self, op: str, name: str, ask: Callable[[], Awaitable[Any]]) -> Any:
        return await (ask() if self._step is None else self._step.read(op, name, ask))

    async def _write(self, op: str, name: str, params: dict[str, Any], value: Any = None) -> None:
        if self._step is None:
            await self._channel.ask(op, params)
        else:
            await self._step.write(op, name, params, value)


class SyncState:
    """The state, for sync handlers. In a step what they read and write is recorded."""

    __slots__ = ("_channel", "_step")

    def __init__(self, channel: Channel, step: SyncExecution | None = None) -> None:
        self._channel = channel
        self._step = step

    def get(self, key: str, default: Any = None) -> Any:
        def ask() -> Any:
            return _found(self._channel.ask_blocking("state.get", {"key": key}))

        return self._read("state.get", key, ask).get("value", default)

    def get_all(self) -> dict[str, Any]:
        def ask() -> Any:
            return _whole(self._channel.ask_blocking("state.getAll", {}))

        return dict(self._read("state.getAll", "", ask))

    def has(self, key: str) -> bool:
        def ask() -> Any:
            return self._channel.ask_blocking("state.has", {"key": key})["has"]

        return bool(self._read("state.has", key, ask))

    def set(self, key: str, value: Any) -> None:
        self._write("state.set", key, {"key": key, "value": value}, value)

    def delete(self, key: str) -> None:
        self._write("state.delete", key, {"key": key})

    def set_batch(self, values: Mapping[str, Any]) -> None:
        """Sets several keys at once: one event, all of them or none."""
        self._write("state.setBatch", "", {"values": dict(values)}, dict(values))

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
        if self._step is None:
            return self._patch(key, change, False)[0]
        op, name = _record(key)
        return self._step.patch(op, name, lambda in_run: self._patch(key, change, in_run))

    def _patch(self, key: str | None, change: Any, in_run: bool) -> tuple[Any, bool]:
        for _ in range(PATCH_ATTEMPTS):
            read = self._channel.ask_blocking(*_read(key))
            value = change(_given(key, read))
            if key is None and value is None:
                return None, False
            try:
                self._channel.ask_blocking(*_write(key, value, read, in_run))
            except RiverrunError as error:
                _again_if_conflict(error)
            else:
                return value, True
        raise _gave_up(key)

    def _read(self, op: str, name: str, ask: Callable[[], Any]) -> Any:
        return ask() if self._step is None else self._step.read(op, name, ask)

    def _write(self, op: str, name: str, params: dict[str, Any], value: Any = None) -> None:
        if self._step is None:
            self._channel.ask_blocking(op, params)
        else:
            self._step.write(op, name, params, value)


def _found(answer: Mapping[str, Any]) -> dict[str, Any]:
    # Nothing and None are two things.
    return {"value": answer["value"]} if "value" in answer else {}


def _record(key: str | None) -> tuple[str, str]:
    return ("state.setBatch", "") if key is None else ("state.set", key)


def _whole(answer: Mapping[str, Any]) -> dict[str, Any]:
    return dict(answer["state"])


def _read(key: str | None) -> tuple[str, dict[str, Any]]:
    return ("state.getAll", {}) if key is None else ("state.get", {"key": key})


def _given(key: str | None, read: Mapping[str, Any]) -> Any:
    return _whole(read) if key is None else read.get("value")


def _write(
    key: str | None, value: Any, read: Mapping[str, Any], in_run: bool
) -> tuple[str, dict[str, Any]]:
    beside: dict[str, Any] = {"ifVersion": read["version"], **({"inRun": True} if in_run else {})}
    if key is None:
        return "state.setBatch", {"values": dict(value), **beside}
    return "state.set", {"key": key, "value": value, **beside}


def _again_if_conflict(error: RiverrunError) -> None:
    if error.code != "STATE_CONFLICT":
        raise error


def _gave_up(key: str | None) -> RiverrunError:
    what = "the state" if key is None else f"the state's {key}"
    return RiverrunError(
        f"{what} changed {PATCH_ATTEMPTS} times while it was to be patched",
        code="STATE_CONFLICT",
    )
