"""What the server rejects of emitted events, and of bodies that answer callbacks."""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

from .. import _json
from ..errors import NonRetriableError

#: Families of events that only the server writes.
_RESERVED = {"flow", "step", "job", "call", "state", "log", "trigger", "worker"}

#: What the data of an event may have, and the body that answers a callback.
_LIMIT = 1 << 20


def check_event(type: str, data: Any) -> None:
    # An `emit` has its kind in its data.
    topic = None
    if type == "emit" and isinstance(data, dict):
        topic = next((data[key] for key in ("topic", "name", "kind") if key in data), None)
    for kind in (type, topic):
        if isinstance(kind, str):
            _check_kind(kind)
    check_bytes("event", data)


def check_bytes(what: str, data: Any) -> None:
    count = 0 if data is None else len(_json.encode(data))
    if count > _LIMIT:
        _refuse("TOO_LARGE", f"the {what} has {count} bytes; it may have {_LIMIT}")


def _check_kind(kind: str) -> None:
    if re.fullmatch(r"[A-Za-z0-9._:/-]{1,128}", kind) is None:
        _refuse("BAD_EVENT", f"{json.dumps(kind)} is no type of event")
    if kind.split(".")[0] in _RESERVED:
        message = f"only the server may write events of the type {json.dumps(kind)}"
        _refuse("RESERVED_TYPE", message)


def _refuse(code: str, message: str) -> NoReturn:
    raise NonRetriableError(message, code=code)
