"""The server of a test, in memory."""

from __future__ import annotations

import asyncio
import itertools
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .. import _json
from .._path import NOTHING, delete_at, get_at, set_at
from ..errors import RiverrunError
from .emitted import check_event
from .outcome import LogLine, Outcome, RunRetry, iso, through_json
from .retry import canonical_retry, retry_delay_ms
from .schemas import Checks, check_write


@dataclass
class Store:
    """The state of a run or a job."""

    state: dict[str, Any]
    version: int = 0


class Server:
    """Plays the server for one invocation, in memory. A channel of the context."""

    def __init__(
        self,
        outcome: Outcome,
        calls: Mapping[str, Any],
        is_lease_valid: bool,
        store: Store,
        checks: Checks,
        retry_policy: Mapping[str, Any] | None = None,
    ) -> None:
        self.outcome = outcome
        self._calls = calls
        self._is_lease_valid = is_lease_valid
        self._store = store
        self._checks = checks
        self._retry_policy = retry_policy
        # What failed and has no outcome yet: how often.
        self._tries: dict[tuple[str, str, int], int] = {}
        self._ids = itertools.count(1)
        self._lock = threading.RLock()

    def notify(self, method: str, params: dict[str, Any]) -> None:
        params = _json.decode(_json.encode_loosely(params))
        if method == "log":
            line = LogLine(params["level"], params["message"], params.get("meta", {}))
            self.outcome.logs.append(line)
        else:
            lists = {"progress": self.outcome.progress, "partial": self.outcome.partials}
            lists[method].append(params)

    async def ask(self, method: str, params: dict[str, Any]) -> Mapping[str, Any]:
        # A real answer takes a turn of the loop too.
        await asyncio.sleep(0)
        return self.ask_blocking(method, params)

    def ask_blocking(self, method: str, params: dict[str, Any]) -> Mapping[str, Any]:
        with self._lock:
            answer = getattr(self, "_" + method.replace(".", "_").lower())
            asked = through_json(params)
            self.outcome.journal += asked.pop("seen", [])
            asked.pop("inRun", None)
            found: Mapping[str, Any] = through_json(answer(**asked))
            return found

    def _state_get(self, key: str) -> dict[str, Any]:
        value = get_at(self._store.state, key)
        found = {} if value is NOTHING else {"value": value}
        return {**found, "version": self._store.version}

    def _state_getall(self) -> dict[str, Any]:
        return {"state": self._store.state, "version": self._store.version}

    def _state_has(self, key: str) -> dict[str, Any]:
        return {"has": get_at(self._store.state, key) is not NOTHING}

    def _state_set(self, key: str, value: Any, ifVersion: int | None = None) -> dict[str, Any]:
        return self._write(ifVersion, lambda state: set_at(state, key, value))

    def _state_delete(self, key: str, ifVersion: int | None = None) -> dict[str, Any]:
        return self._write(ifVersion, lambda state: delete_at(state, key))

    def _state_setbatch(
        self, values: dict[str, Any], ifVersion: int | None = None
    ) -> dict[str, Any]:
        def change(state: dict[str, Any]) -> dict[str, Any]:
            for key, value in values.items():
                state = set_at(state, key, value)
            return state

        return self._write(ifVersion, change)

    def _write(
        self, on: int | None, change: Callable[[dict[str, Any]], dict[str, Any]]
    ) -> dict[str, Any]:
        if on is not None and on != self._store.version:
            raise RiverrunError("the state has moved on", code="STATE_CONFLICT")
        after = change(self._store.state)
        check_write(self._checks, self._store.state, after)
        self._store.state = after
        self._store.version += 1
        return {"version": self._store.version}

    def _emit(self, **event: Any) -> dict[str, Any]:
        check_event(event["type"], event.get("data"))
        self.outcome.events.append(event)
        return {"id": f"{next(self._ids)}-0"}

    def _memo(self, **record: Any) -> dict[str, Any]:
        record = {"op": "memo", **record}
        self._tries.pop(_operation(record), None)
        self.outcome.journal.append(record)
        return {}

    def _memo_failed(self, retry: Any = None, **record: Any) -> dict[str, Any]:
        # As the server decides it: it is tried again, or its error is final and recorded.
        record = {"op": "memo", **record}
        operation, error = _operation(record), record["error"]
        failures = self._tries.get(operation, 0) + 1
        policy = _policy(self._retry_policy, retry)
        delay_ms = retry_delay_ms(policy, error, failures)
        if delay_ms is None:
            final = {name: value for name, value in error.items() if name != "retryAfterMs"}
            self._memo(**{**record, "error": {**final, "retriable": False}})
            return {"final": True}
        self._tries[operation] = failures
        op, name, nth = operation
        self.outcome.run_retries.append(
            RunRetry(op, name, nth, failures, error, delay_ms, iso(time.time() * 1000))
        )
        return {"attempt": failures + 1, "retryAfterMs": max(0, round(delay_ms))}

    def _checkpoint(self, data: Any) -> dict[str, Any]:
        self.outcome.checkpoint = data
        return {}

    def _enqueue(self, jobs: list[dict[str, Any]] | None = None, **job: Any) -> dict[str, Any]:
        added = [job] if jobs is None else jobs
        self.outcome.enqueued += added
        ids = [(one.get("options") or {}).get("jobId") for one in added]
        return {
            "jobs": [{"jobId": id or f"enqueued-{next(self._ids)}", "created": True} for id in ids]
        }

    def _call(self, process: str, input: Any, **more: Any) -> dict[str, Any]:
        self.outcome.calls.append({"process": process, "input": input, **more})
        if process not in self._calls:
            message = f"no process is called {process}: give run(…, calls={{{process!r}: …}})"
            raise RiverrunError(message, code="PROCESS_NOT_FOUND")
        value = self._calls[process]
        if callable(value) and not isinstance(value, type):
            value = value(input)
        if isinstance(value, BaseException):
            raise value
        return {"value": value}

    def _start(self, **run: Any) -> dict[str, Any]:
        self.outcome.started.append(run)
        return {"runId": f"started-{next(self._ids)}", "created": True}

    def _lease(self) -> dict[str, Any]:
        return {"valid": self._is_lease_valid, "untilMs": 0}


def _operation(record: Mapping[str, Any]) -> tuple[str, str, int]:
    return record["op"], record["name"], record.get("nth") or 1


def _policy(config: Mapping[str, Any] | None, said: Any) -> Mapping[str, Any] | None:
    # What the code says of its retries, over what the config says.
    policy = canonical_retry(config)
    if said is None:
        return policy
    if isinstance(said, int):
        return {**policy, "maxAttempts": int(said) or 1}
    return {**policy, **canonical_retry(said)}


class BatchServer:
    """Plays the server for a batch, in which each job has a server of its own.

    What names no job belongs to the first.
    """

    def __init__(self, servers: Sequence[Server]) -> None:
        self.outcome = servers[0].outcome
        self._servers = servers

    def notify(self, method: str, params: dict[str, Any]) -> None:
        server, params = self._of(params)
        server.notify(method, params)

    async def ask(self, method: str, params: dict[str, Any]) -> Mapping[str, Any]:
        server, params = self._of(params)
        return await server.ask(method, params)

    def ask_blocking(self, method: str, params: dict[str, Any]) -> Mapping[str, Any]:
        server, params = self._of(params)
        return server.ask_blocking(method, params)

    def _of(self, params: dict[str, Any]) -> tuple[Server, dict[str, Any]]:
        """The server of the job that is named, and what is said to it."""
        said = dict(params)
        job_id = said.pop("jobId", None)
        # The ids of a batch end with the place of the job.
        at = 0 if job_id is None else int(job_id.rsplit("-", 1)[1])
        return self._servers[at], said
