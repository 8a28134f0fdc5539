"""Records what handlers do while a run is played, and passes it on to the engine."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .. import _json
from .._failure import rpc_error
from .._runner.invocation import Invocation
from .clock import FollowedLoop, Sleepers
from .outcome import LogLine


@dataclass
class Traces:
    """What handlers of one visit did."""

    executions: int = 0
    #: Seconds of simulated time.
    elapsed: float = 0.0
    logs: list[LogLine] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)
    progress: list[dict[str, Any]] = field(default_factory=list)
    partials: list[dict[str, Any]] = field(default_factory=list)
    enqueued: list[dict[str, Any]] = field(default_factory=list)
    calls: list[dict[str, Any]] = field(default_factory=list)
    started: list[dict[str, Any]] = field(default_factory=list)
    checkpoint: Any = None


@dataclass
class _Question:
    """A request of a handler that the engine has not answered."""

    method: str
    asked: dict[str, Any]
    invocation: int
    thread: threading.Thread


class Recorder:
    """Sends the messages of handlers. Its methods may be called from any thread."""

    def __init__(
        self,
        send: Callable[[bytes], None],
        loop: FollowedLoop,
        sleepers: Sleepers,
        calls: Mapping[str, Any],
    ) -> None:
        self.message_bytes = 16 << 20
        self.traces: dict[tuple[str, int], Traces] = {}
        #: Nothing more is sent about this run.
        self.is_over = False
        #: Hands an answer to the handler that waits for it. In the thread of the loop.
        self.settle: Callable[[Mapping[str, Any]], None]
        self._send = send
        self._loop = loop
        self._sleepers = sleepers
        self._calls = calls
        self._visits: dict[int, tuple[Traces, float]] = {}
        self._open: dict[int, _Question] = {}

    def begun(self, id: int, params: Mapping[str, Any]) -> None:
        key = (params.get("step") or params.get("process") or "", params.get("visit") or 1)
        traces = self.traces.setdefault(key, Traces())
        traces.executions += 1
        self._visits[id] = (traces, self._loop.exact_ms())

    def waits(self, running: Mapping[int, Invocation]) -> bool:
        """Whether the engine has something to answer at once.

        A call lasts as long as the handler that it calls, which runs here too. If it does not run,
        its invocation or its answer is on the way.
        """
        open = [*self._open.values()]
        if any(one.method != "call" for one in open):
            return True
        calls = sum(1 for one in open if one.invocation in running)
        return calls > sum(1 for one in running.values() if one.params.get("kind") == "call")

    def send(self, line: bytes) -> None:
        message = _json.decode(line)
        said = message["params"]
        traces = self._traces(said.pop("invocation", None))
        if message["method"] == "log":
            traces.logs.append(LogLine(said["level"], said["message"], said.get("meta", {})))
        elif message["method"] == "progress":
            traces.progress.append(said)
        elif message["method"] == "partial":
            traces.partials.append(said)
        self._say(line)

    def ask(self, id: int, line: bytes) -> None:
        message = _json.decode(line)
        method, asked = message["method"], message["params"]
        invocation = asked.pop("invocation", 0)
        thread = threading.current_thread()
        self._open[id] = _Question(method, asked, invocation, thread)
        own = self._own(method, asked, self._traces(invocation))
        self._sleepers.asks(thread)
        if own is not None:
            self._loop.call_soon_threadsafe(self.answered, {"id": id, **own})
        else:
            self._say(line)

    def answered(self, message: Mapping[str, Any]) -> None:
        """In the thread of the loop."""
        question = self._open.pop(message.get("id", 0), None)
        if question is not None:
            self._sleepers.is_answered(question.thread)
            traces = self._traces(question.invocation)
            if question.method == "emit" and "error" not in message:
                known = ("type", "data")
                event = {name: question.asked[name] for name in known if name in question.asked}
                traces.events.append(event)
            elif question.method == "checkpoint":
                traces.checkpoint = question.asked.get("data")
        self.settle(message)

    def forget(self, id: int) -> None:
        question = self._open.pop(id, None)
        if question is not None:
            self._sleepers.is_answered(question.thread)

    def answer(self, id: int, line: bytes) -> None:
        traces, began_ms = self._visits.get(id) or (Traces(), 0.0)
        traces.elapsed += (self._loop.exact_ms() - began_ms) / 1000
        self._say(line)

    def _own(self, method: str, asked: Mapping[str, Any], traces: Traces) -> dict[str, Any] | None:
        """What the test answers in place of the engine."""
        if method == "call":
            traces.calls.append(dict(asked))
            return self._called(asked)
        if method == "start":
            traces.started.append(dict(asked))
            wanted = (asked.get("options") or {}).get("runId")
            run_id = wanted or f"started-{len(traces.started)}"
            return {"result": {"runId": run_id, "created": True}}
        if method == "enqueue":
            # The queues that jobs are added to are those of another server.
            return {
                "result": {"jobs": [_enqueued(traces, job) for job in asked.get("jobs", [asked])]}
            }
        return None

    def _called(self, asked: Mapping[str, Any]) -> dict[str, Any] | None:
        process = asked["process"]
        if process not in self._calls:
            return None
        try:
            value = self._calls[process]
            if callable(value) and not isinstance(value, type):
                value = value(asked.get("input"))
            if isinstance(value, BaseException):
                raise value
            _json.encode(value)
        except Exception as error:
            return {"error": rpc_error(error)}
        return {"result": {"value": value}}

    def _traces(self, invocation: Any) -> Traces:
        return self._visits.get(invocation, (Traces(), 0.0))[0]

    def _say(self, line: bytes) -> None:
        if not self.is_over:
            self._send(line)


def _enqueued(traces: Traces, job: dict[str, Any]) -> dict[str, Any]:
    traces.enqueued.append(job)
    wanted = (job.get("options") or {}).get("jobId")
    return {"jobId": wanted or f"enqueued-{len(traces.enqueued)}", "created": True}
