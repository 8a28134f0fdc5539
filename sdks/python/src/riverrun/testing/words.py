"""Words in a config that mean nothing.

A slip that is passed over in silence makes a test of something else. The server refuses the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..errors import RiverrunError

Issue = dict[str, str]

#: How like a known word another must be to be taken for a slip of it.
_LIKENESS = 0.8

_STEP = (
    "step subscriptions triggers join await emits compensation onFailure version role id".split()
)

#: The settings of a process, as the server knows them.
_SETTINGS = [
    *"runMode queue concurrency keyConcurrency rateLimit retry retryPolicy dlq timeoutMs".split(),
    *"idempotencyKey idempotencyWindowMs idempotency key throttle debounce batch".split(),
    *"inputSchema outputSchema state persistFrames logs flow name description".split(),
    *"metadata tags logger".split(),
    *_STEP,
]

#: What stands in a setting, older names included.
_MEMBERS = {
    name: words.split()
    for name, words in {
        "queue": "name concurrency",
        "rateLimit": "max durationMs",
        "retry": "maxAttempts backoffMs backoffMultiplier maxBackoffMs retryOn jitter onFail",
        "retryPolicy": "attempts backoff onFail retriableErrors",
        "retryPolicy.backoff": "type delayMs maxDelayMs jitter delay capMs",
        "dlq": "enabled queue",
        "idempotency": "key windowMs",
        "throttle": "windowMs key durationMs",
        "debounce": "delayMs key durationMs windowMs",
        "batch": "size waitMs max timeoutMs",
        "logs": "maxLines maxBytes",
        "flow": " ".join([*_STEP, "limits"]),
        "flow.limits": "maxSteps maxAwaits maxValueBytes maxStateBytes",
        "subscriptions": "eventKind when map",
        "await": "type delay eventKind where match triggerType payload secretEnv many timeout "
        "onTimeout lookback",
        "compensation": "step on",
    }.items()
}


def check_settings(config: Mapping[str, Any], name: str) -> None:
    """Refuses a config that has a setting which the server does not know."""
    issues = list(_strangers(config, _SETTINGS, "", ""))
    if issues:
        raise refusal("PROCESS_INVALID", f"the config of {name}", issues)


def refusal(code: str, what: str, issues: list[Issue]) -> RiverrunError:
    """An error that lists all issues at once."""
    count = "1 issue" if len(issues) == 1 else f"{len(issues)} issues"
    listed = "; ".join(f"{issue['path']}: {issue['message']}" for issue in issues)
    message = f"{what} has {count}; {listed}"
    return RiverrunError(message, code=code, retriable=False, details={"issues": issues})


def meant(word: str, known: Iterable[str]) -> str:
    """What somebody meant who wrote this, as the end of a sentence."""
    nearest = max(known, key=lambda one: _jaro_winkler(one, word), default="")
    is_near = _jaro_winkler(nearest, word) >= _LIKENESS
    return f"; did you mean {nearest}?" if is_near else ""


def _strangers(
    value: Mapping[str, Any], known: list[str], path: str, place: str
) -> Iterator[Issue]:
    for word, member in value.items():
        if word not in known:
            hint = _elsewhere(word, path) or meant(word, known)
            yield {"path": path + word, "message": f"is not a setting{hint}"}
            continue
        # What is said of a step means the same at the top and in a flow.
        below = place + word if place + word in _MEMBERS or place != "flow." else word
        listed = isinstance(member, list)
        for at, one in enumerate(member) if listed else [(0, member)]:
            if below in _MEMBERS and isinstance(one, Mapping):
                inner = f"{path}{word}.{at}." if listed else f"{path}{word}."
                yield from _strangers(one, _MEMBERS[below], inner, f"{below}.")


def _elsewhere(word: str, path: str) -> str:
    is_limits = word == "limits" and path == ""
    return ': it belongs into flow, as flow={"limits": …}' if is_limits else ""


def _jaro_winkler(one: str, other: str) -> float:
    """0 for words that have nothing in common, 1 for the same."""
    reach = max(0, max(len(one), len(other)) // 2 - 1)
    taken: set[int] = set()
    common: list[str] = []
    for at, letter in enumerate(one):
        near = range(max(0, at - reach), min(len(other), at + reach + 1))
        found = next((n for n in near if other[n] == letter and n not in taken), None)
        if found is not None:
            taken.add(found)
            common.append(letter)
    if not common:
        return 0.0
    theirs = [other[at] for at in sorted(taken)]
    swapped = sum(a != b for a, b in zip(common, theirs, strict=True)) / 2
    same = len(common)
    jaro = (same / len(one) + same / len(other) + (same - swapped) / same) / 3
    prefix = 0
    while prefix < min(4, len(one), len(other)) and one[prefix] == other[prefix]:
        prefix += 1
    return jaro + prefix * 0.1 * (1 - jaro)
