"""Durations as the server reads them: milliseconds, `90s`, `1h 30m`, `2 days`, `PT5M`.

Months and years have no fixed length, so they are none.
"""

from __future__ import annotations

import datetime
import re

#: Milliseconds, text, or a `timedelta`.
Duration = int | float | str | datetime.timedelta

_SECOND = 1000
_MINUTE = 60 * _SECOND
_HOUR = 60 * _MINUTE
_DAY = 24 * _HOUR

_UNITS = {
    r"w|wks?|weeks?": 7 * _DAY,
    r"d|days?": _DAY,
    r"h|hrs?|hours?": _HOUR,
    r"m|mins?|minutes?": _MINUTE,
    r"s|secs?|seconds?": _SECOND,
    r"ms|msecs?|millis?|milliseconds?": 1,
}
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]+)[\s,]*")
_ISO = re.compile(
    r"p(?:(\d+)w)?(?:(\d+)d)?(?:t(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:[.,]\d+)?)s)?)?", re.IGNORECASE
)


def duration_ms(duration: Duration) -> int | None:
    """Milliseconds; `None` if it is no duration."""
    if isinstance(duration, datetime.timedelta):
        ms: float | None = duration.total_seconds() * 1000
    elif isinstance(duration, str):
        ms = _text_ms(duration.strip().lower())
    else:
        ms = duration
    return round(ms) if ms is not None and 0 <= ms < float("inf") else None


def _text_ms(text: str) -> float | None:
    if re.fullmatch(r"\d+(\.\d+)?", text):
        return float(text)
    iso = _ISO.fullmatch(text)
    if iso is not None and any(iso.groups()):
        counts = [float((part or "0").replace(",", ".")) for part in iso.groups()]
        sizes = (7 * _DAY, _DAY, _HOUR, _MINUTE, _SECOND)
        return sum(count * size for count, size in zip(counts, sizes, strict=True))
    return _friendly_ms(text)


def _friendly_ms(text: str) -> float | None:
    total, read = 0.0, 0
    while read < len(text):
        part = _PART.match(text, read)
        unit = next((u for u in _UNITS if part and re.fullmatch(u, part[2])), None)
        if part is None or unit is None:
            return None
        total += float(part[1]) * _UNITS[unit]
        read = part.end()
    return total if text else None
