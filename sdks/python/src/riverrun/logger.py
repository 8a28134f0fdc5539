"""The logger of an invocation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import _json
from ._channel import Channel

__all__ = ["Logger"]

# Keys that end in one of these: `token` takes `access_token`, but leaves `tokens`.
_SECRET = (
    "apikey",
    "authorization",
    "cookie",
    "credentials",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "secret",
    "token",
)
_REDACTED = "[redacted]"


class Logger:
    """Writes log lines into the stream of the job.

    Meta can be given as a mapping, by name, or both: `logger.info("sent", {"to": to}, n=1)`. What
    has the name of a secret (`password`, `access_token`, …) at any depth never leaves the
    process; `child(redact=…)` adds names.
    """

    __slots__ = ("_bindings", "_channel", "_secret")

    def __init__(
        self,
        channel: Channel,
        bindings: Mapping[str, Any] | None = None,
        secret: tuple[str, ...] = _SECRET,
    ) -> None:
        self._channel = channel
        self._bindings = bindings
        self._secret = secret

    def debug(self, message: object, meta: Mapping[str, Any] | None = None, /, **more: Any) -> None:
        self._log("debug", message, meta, more)

    def info(self, message: object, meta: Mapping[str, Any] | None = None, /, **more: Any) -> None:
        self._log("info", message, meta, more)

    def warn(self, message: object, meta: Mapping[str, Any] | None = None, /, **more: Any) -> None:
        self._log("warn", message, meta, more)

    #: What the standard library calls it.
    warning = warn

    def error(self, message: object, meta: Mapping[str, Any] | None = None, /, **more: Any) -> None:
        self._log("error", message, meta, more)

    def child(
        self,
        bindings: Mapping[str, Any] | None = None,
        /,
        *,
        redact: list[str] | None = None,
        **more: Any,
    ) -> Logger:
        """A logger that adds these bindings to every line."""
        secret = (*self._secret, *(_normal(name) for name in redact or ()))
        merged = {**(self._bindings or {}), **(bindings or {}), **more}
        return Logger(self._channel, merged, secret)

    def _log(
        self, level: str, message: object, meta: Mapping[str, Any] | None, more: dict[str, Any]
    ) -> None:
        params: dict[str, Any] = {"level": level, "message": str(message)}
        if self._bindings or meta or more:
            merged = {**(self._bindings or {}), **(meta or {}), **more}
            params["meta"] = self._redact(merged, depth=16)
        self._channel.notify("log", params)

    def _redact(self, value: Any, depth: int) -> Any:
        if value is None or isinstance(value, (str, int, float)):
            return value
        if depth == 0:
            return "[deep]"
        if isinstance(value, Mapping):
            return {
                key: _REDACTED if self._is_secret(key) else self._redact(item, depth - 1)
                for key, item in value.items()
            }
        if isinstance(value, (list, tuple)):
            return [self._redact(item, depth - 1) for item in value]
        try:
            return self._redact(_json.plain(value), depth - 1)
        except TypeError:
            return value

    def _is_secret(self, key: object) -> bool:
        return _normal(str(key)).endswith(self._secret)


def _normal(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")
