"""Plays a run on the engine: this process is its worker.

Requests of handlers go to the engine, except those that the test answers itself: `calls`, and jobs
and runs, which belong to another server.
"""

from __future__ import annotations

import contextvars
import os
import platform
import socket
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .. import _json
from .._runner import answers
from .._runner.handler import Handler
from .._runner.invocation import Invocation
from .._runner.invocations import Invocations
from .._version import VERSION
from .._worker.conversation import PROTOCOL
from .._worker.offered import Process
from ..errors import from_wire
from .clock import FollowedLoop, PlayedSignal, Sleepers, simulated_time
from .engine import Engine, the_engine
from .given import MadeTrigger, Triggers, opened
from .loop import end
from .recorder import Recorder, Traces

#: More than any test runs at once.
_CREDITS = 4096


@dataclass
class Played:
    report: dict[str, Any]
    #: By the step and the number of its visit.
    traces: Mapping[tuple[str, int], Traces]


@dataclass
class Given:
    """What the test answers while a run is played."""

    triggers: Triggers | None = None
    calls: Mapping[str, Any] = field(default_factory=dict)
    #: What a declared await has brought, in place of playing it.
    awaited: Any = None


def play(request: dict[str, Any], processes: Mapping[str, Process], given: Given) -> Played:
    engine = the_engine()
    stage = _Stage(engine, request["startMs"], processes, given)
    return stage.play(request)


class _Stage:
    def __init__(
        self, engine: Engine, start_ms: int, processes: Mapping[str, Process], given: Given
    ) -> None:
        self._engine = engine
        self._processes = processes
        self._given = given
        self._loop = FollowedLoop(start_ms, self._ask_for_time)
        self._sleepers = Sleepers(self._loop)
        self._invocations = _Invocations(self._loop, self._sleepers)
        self._recorder = Recorder(self._send, self._loop, self._sleepers, given.calls)
        self._recorder.settle = self._invocations.settle
        self._invocations.wire = self._recorder
        self._report = self._loop.create_future()
        #: The last sleep that was sent, if no other line was sent or received since.
        self._asked: tuple[int, list[int]] | None = None
        self._has_ended = False

    def play(self, request: dict[str, Any]) -> Played:
        loop = self._loop
        try:
            with simulated_time(loop, self._sleepers):
                loop.add_reader(self._engine.fd, self._read)
                self._send(_json.encode({"kit": "play", **request}))
                try:
                    report = loop.run_until_complete(self._report)
                finally:
                    self._leave()
        finally:
            # The engine would go on with a run that the test gave up.
            if not self._has_ended:
                self._engine.stop()
        return Played(report, self._recorder.traces)

    def _leave(self) -> None:
        self._recorder.is_over = True
        self._loop.remove_reader(self._engine.fd)
        self._loop.run_free()
        self._sleepers.end()
        self._invocations.cancel_all("shutdown")
        end(self._loop)

    def _send(self, line: bytes) -> None:
        self._asked = None
        self._engine.send(line)

    def _read(self) -> None:
        try:
            for line in self._engine.read():
                if line:
                    self._asked = None
                    self._hear(_json.decode(line))
        except BaseException as error:
            # The test's own functions may have raised it.
            if not self._report.done():
                self._report.set_exception(error)

    def _hear(self, message: dict[str, Any]) -> None:
        kit = message.get("kit")
        id, method, params = message.get("id"), message.get("method"), message.get("params") or {}
        if kit == "time":
            self._loop.jump(message["ms"])
        elif kit == "callback":
            self._answer(message["callback"], message["count"])
        elif kit == "played":
            self._has_ended = True
            self._report.set_result(message["report"])
        elif kit == "failed":
            self._has_ended = True
            self._report.set_exception(from_wire(message["error"]))
        elif method is None:
            self._recorder.answered(message)
        elif method == "initialise":
            self._initialise(id, params)
        elif method == "invoke":
            self._invoke(id, params)
        elif method == "cancel":
            self._invocations.cancel(params["invocation"], params.get("reason"))
        elif id is not None:
            self._send(_json.encode({"id": id, "result": {}}))

    def _initialise(self, id: Any, params: Mapping[str, Any]) -> None:
        limits = params.get("limits") or {}
        self._recorder.message_bytes = limits.get("messageBytes", self._recorder.message_bytes)
        self._invocations.result_bytes = limits.get("resultBytes", self._invocations.result_bytes)
        answer = {
            "protocol": PROTOCOL,
            "sdk": {"name": "riverrun", "version": VERSION, "language": "python"},
            "runtime": f"python {platform.python_version()}",
            "pid": os.getpid(),
            "worker": {"name": f"test-{socket.gethostname()}-{os.getpid()}", "tags": []},
            "processes": [
                {"id": id, "config": process.config} for id, process in self._processes.items()
            ],
            "credits": _CREDITS,
        }
        self._send(_json.encode({"id": id, "result": answer}))

    def _invoke(self, id: Any, params: dict[str, Any]) -> None:
        if self._given.awaited is not None:
            params = {**params, "awaited": self._given.awaited}
        self._recorder.begun(id, params)
        invocation = self._invocations.add(id, params)
        process = self._processes.get(params.get("process") or "")
        if process is None:
            message = f"the test has no process {params.get('process')}"
            line = answers.refusal(id, message, "PROCESS_NOT_FOUND")
            self._invocations.finish(invocation, line)
        else:
            self._invocations.start(invocation, process.handler)

    def _answer(self, callback: dict[str, Any], count: int) -> None:
        made = MadeTrigger(**{"payload": None, **callback})
        found: list[dict[str, Any]] = []
        while len(found) < count:
            answer = opened(self._given.triggers, made)
            if answer is None:
                break
            payload, after_ms = answer
            found.append({"payload": payload, "afterMs": after_ms})
        self._send(_json.encode({"kit": "opened", "answers": found}))

    def _ask_for_time(self, until_ms: int) -> None:
        """Sends the engine the time until which all handlers sleep, if nothing else runs here."""
        invocations = self._invocations.running.values()
        running = [one.id for one in invocations if not one.signal.is_set()]
        waits = self._recorder.waits(self._invocations.running)
        if not running or waits or self._sleepers.may_work(self._invocations.threads):
            return
        if self._asked != (until_ms, running):
            message = {"kit": "sleep", "untilMs": until_ms, "running": running}
            self._send(_json.encode(message))
            self._asked = (until_ms, running)


class _Invocations(Invocations):
    """Runs each sync handler in a thread of its own, with the context variables of the test."""

    def __init__(self, loop: FollowedLoop, sleepers: Sleepers) -> None:
        super().__init__(loop)
        self.threads: set[threading.Thread] = set()
        self._followed = loop
        self._sleepers = sleepers
        self._context = contextvars.copy_context()

    def start(self, invocation: Invocation, handler: Handler) -> None:
        if handler.is_async:
            super().start(invocation, handler)
            return
        invocation.signal = PlayedSignal(self._sleepers)
        self._start_thread(lambda: self._run_blocking(invocation, handler))

    def _start_thread(self, work: Callable[[], None]) -> None:
        context = self._context.copy()

        def run() -> None:
            try:
                context.run(work)
            finally:
                self.threads.discard(thread)
                self._sleepers.look()

        thread = threading.Thread(target=run, name="riverrun-handler", daemon=True)
        self.threads.add(thread)
        thread.start()
