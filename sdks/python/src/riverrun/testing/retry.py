"""Whether a step is tried again, and when: as the server decides it, with nothing left to chance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: What holds where a config says nothing.
_ATTEMPTS = 3
_BACKOFF = {"type": "exponential", "delayMs": 1000}
_LONGEST_MS = 60_000


def most_attempts(policy: Mapping[str, Any] | None) -> int:
    return max(1, (policy or {}).get("attempts") or _ATTEMPTS)


def retry_delay_ms(
    policy: Mapping[str, Any] | None, failure: Mapping[str, Any], failures: int
) -> int | None:
    """How long to wait after the n-th failure. `None`: it is not tried again."""
    policy = policy or {}
    if failure.get("retriable") is False or failures >= most_attempts(policy):
        return None
    worthy = policy.get("retriableErrors")
    if worthy is not None and not {failure.get("code"), failure.get("name")} & set(worthy):
        return None
    if failure.get("retryAfterMs") is not None:
        return int(failure["retryAfterMs"])
    backoff = policy.get("backoff") or _BACKOFF
    first = int(backoff.get("delayMs", _BACKOFF["delayMs"]))
    longest = backoff.get("maxDelayMs")
    longest = max(_LONGEST_MS, first) if longest is None else int(longest)
    delay = first if backoff.get("type") == "fixed" else first * 2 ** (failures - 1)
    return min(delay, longest)
