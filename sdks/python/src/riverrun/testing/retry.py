"""Whether a step is tried again, and when: as the server decides it, with nothing left to chance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: What holds where a config says nothing.
_DEFAULTS: dict[str, Any] = {
    "maxAttempts": 3,
    "backoffMs": 1000,
    "backoffMultiplier": 2,
    "maxBackoffMs": 60_000,
}


def canonical_retry(policy: Mapping[str, Any] | None) -> dict[str, Any]:
    """A policy of either form as `retry`."""
    retry = dict(policy or {})
    found: dict[str, Any] = {}
    if (attempts := retry.pop("attempts", None)) is not None:
        found["maxAttempts"] = attempts
    if (errors := retry.pop("retriableErrors", None)) is not None:
        found["retryOn"] = errors
    if (backoff := retry.pop("backoff", None)) is not None:
        is_fixed = backoff.get("type") == "fixed"
        first = int(backoff.get("delayMs", _DEFAULTS["backoffMs"]))
        longest = first if is_fixed else max(_DEFAULTS["maxBackoffMs"], first)
        found["backoffMs"] = first
        found["backoffMultiplier"] = 1 if is_fixed else 2
        found["maxBackoffMs"] = backoff.get("maxDelayMs") or longest
    if retry.get("backoffMs") is not None:
        found |= {key: _DEFAULTS[key] for key in ("backoffMultiplier", "maxBackoffMs")}
    return {**found, **retry}


def most_attempts(policy: Mapping[str, Any] | None) -> int:
    return max(1, canonical_retry(policy).get("maxAttempts") or _DEFAULTS["maxAttempts"])


def retry_delay_ms(
    policy: Mapping[str, Any] | None, failure: Mapping[str, Any], failures: int
) -> int | None:
    """How long to wait after the n-th failure. `None`: it is not tried again."""
    if failure.get("retriable") is False or failures >= most_attempts(policy):
        return None
    retry = {**_DEFAULTS, **canonical_retry(policy)}
    worthy = retry.get("retryOn")
    if worthy is not None and not {failure.get("code"), failure.get("name")} & set(worthy):
        return None
    if failure.get("retryAfterMs") is not None:
        return int(failure["retryAfterMs"])
    delay = int(retry["backoffMs"] * retry["backoffMultiplier"] ** (failures - 1))
    return min(delay, int(retry["maxBackoffMs"]))
