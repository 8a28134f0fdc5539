"""How long code may ask for nothing before it is known not to fit its journal."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any

#: Seconds in which code that waits for nothing else asks for what is recorded.
GRACE = 1.0

#: The same where the code may wait for something that is not recorded: a timer, a socket, a thread.
#: At most half of the attempt.
_LONG_GRACE = 30.0


def long_grace(params: Mapping[str, Any]) -> float:
    """The most that code which waits for something else may take, in seconds."""
    timeout_ms = params.get("timeoutMs")
    return _LONG_GRACE if timeout_ms is None else min(_LONG_GRACE, timeout_ms / 2000)


def may_wait(loop: asyncio.AbstractEventLoop) -> bool:
    """Whether something may happen for which code waits, beyond what the server sends.

    Asked of what asyncio itself knows. A loop that does not tell may always wait for something.
    """
    timers = getattr(loop, "_scheduled", None)
    selector = getattr(loop, "_selector", None)
    if timers is None or selector is None:
        return True
    if getattr(loop, "_default_executor", None) is not None:
        return True
    handles = [timer for timer in timers if not timer.cancelled()]
    handles += _watched(selector.get_map() or {})
    return not all(_is_own(handle) for handle in handles)


def _watched(selected: Mapping[Any, Any]) -> Iterator[asyncio.Handle]:
    for key in selected.values():
        yield from (handle for handle in key.data if handle is not None)


def _is_own(handle: asyncio.Handle) -> bool:
    # Of the loop itself, or of this package.
    callback = getattr(handle, "_callback", None)
    name = getattr(callback, "__name__", "")
    module = str(getattr(callback, "__module__", ""))
    return name == "_read_from_self" or module.split(".")[0] == __package__
