"""One execution of a sync handler."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn

from .._channel import Channel
from .._outcomes import HANDLER_THREAD, TRY_THREADS, Doing, RunTry, SyncOutcomes
from .._quiet import long_grace
from ..cancellation import SyncSignal
from ..errors import Cancelled, ExecutionOver, RiverrunError
from .common import Common, Wait, answer_of, plain
from .in_run import current_run, emitting, is_emitted, note


class Suspension(BaseException):
    """Unwinds a sync handler whose execution ends with a wait. Not to be caught."""


class SyncExecution(Common):
    """The execution of a sync handler, which may use threads of its own."""

    def __init__(
        self, channel: Channel, params: Mapping[str, Any], signal: SyncSignal | None = None
    ) -> None:
        super().__init__(channel, params)
        self._changed = threading.Condition()
        retries = params.get("retries") or ()
        self._signal = signal or SyncSignal()
        self._outcomes = SyncOutcomes(self.ask_blocking, self._signal, retries, self._stop)
        # Those that the handler cannot have made.
        self._threads = frozenset(threading.enumerate())
        #: What it has ended with before the handler did. Whatever the handler ends with after
        #: that, because it caught what it should not have, does not count.
        self.outcome: Wait | RiverrunError | None = None

    async def ask(self, method: str, params: dict[str, Any]) -> Mapping[str, Any]:
        return await self._channel.ask(method, params)

    def ask_blocking(self, method: str, params: dict[str, Any]) -> Mapping[str, Any]:
        if self._has_left:
            raise Suspension
        with self._working():
            with self._changed:
                params = self._with_seen(method, params)
            try:
                return self._channel.ask_blocking(method, params)
            except (Cancelled, ExecutionOver) as over:
                self._stop(over)

    def _stop(self, error: RiverrunError) -> NoReturn:
        """Ends this execution with an error that the code does not see."""
        with self._changed:
            if not self._has_left:
                self._has_left, self.outcome = True, error
            self._changed.notify_all()
        raise Suspension

    def _refuse_stopped(self) -> None:
        """Code that is to stop begins nothing more."""
        if self._signal.is_set():
            self._stop(Cancelled(self._signal.reason))

    def emit(self, kind: str, ask: Callable[[], Any]) -> Any:
        """Emits, which the server records by itself; see `Execution.emit`."""
        if is_emitted(kind):
            return None
        with emitting(kind) as is_in_run:

            def noted() -> Any:
                if is_in_run:
                    with self._changed:
                        self._seen.append(note(kind))
                return ask()

            return self.once("emit", kind, noted)

    def once(self, op: str, name: str, work: Callable[[], Any]) -> Any:
        """Does something that the server records by itself."""
        self._refuse_stopped()
        with self._changed:
            record, place = self._next(op, name), self._journal.place()
        if record is not None:
            if current_run.get() is None:
                self._fitting(place)
            return answer_of(record).get("value")
        if current_run.get() is None:
            self._fitting()
        return work()

    def read(self, op: str, name: str, ask: Callable[[], Any]) -> Any:
        """Reads something that may have changed; see `Execution.read`."""
        if current_run.get() is not None:
            return ask()
        with self._changed:
            record = self._take(op, name)
            nth = self._journal.uses(op, name)
        if record is not None:
            return record.get("value")
        value = ask()
        with self._changed:
            self._saw(op, name, nth, value)
        return value

    def write(self, op: str, name: str, params: dict[str, Any], value: Any = None) -> None:
        """Writes something, unless an earlier execution did; see `Execution.write`."""
        self._refuse_stopped()
        if current_run.get() is not None:
            self.ask_blocking(op, {**params, "inRun": True})
            return
        with self._changed:
            has_written = self._journal.wrote(op, name, plain(value))
        if not has_written:
            self._new_write(op, name)
            self.ask_blocking(op, params)

    def patch(self, op: str, name: str, change: Callable[[bool], Any]) -> Any:
        """Changes something by what it is now; see `Execution.patch`."""
        self._refuse_stopped()
        if current_run.get() is not None:
            return change(True)[0]
        with self._changed:
            record = self._take(op, name)
        if record is not None:
            return record.get("value")
        self._new_write(op, name)
        value, has_written = change(False)
        if not has_written:
            with self._changed:
                self._seen.append({"op": op, "name": name})
        return value

    def recorded(
        self,
        op: str,
        name: str,
        work: Callable[[str, RunTry], Any],
        emits: list[str] | None = None,
        **settings: Any,
    ) -> Any:
        """Does something and has its outcome recorded; see `Execution.recorded`."""
        self._refuse_stopped()
        with self._working():
            run = current_run.get()
            if run is not None:
                run.refuse_over()
                assert run.attempt is not None
                return work(self._id_inside(run, op, name), run.attempt)
            with self._changed:
                record, place = self._next(op, name), self._journal.place()
                nth = self._journal.uses(op, name)
            if record is not None:
                self._fitting(place)
                return answer_of(record).get("value")
            self._fitting()
            doing = Doing(op, name, nth, [] if emits is None else emits, **settings)
            return self._outcomes.of(
                doing, lambda attempt: work(self._id(name, nth), attempt), self._back_off
            )

    def run(self, name: str, work: Callable[[RunTry], Any], **settings: Any) -> Any:
        """A part of the work that is recorded as a whole."""
        emits: list[str] = []

        def inside(id: str, attempt: RunTry) -> Any:
            if current_run.get() is not None:
                return work(attempt)
            token = current_run.set(self._run(name, id, emits, attempt))
            try:
                return work(attempt)
            finally:
                current_run.reset(token)

        return self.recorded("memo", name, inside, emits, **settings)

    def patched(self, id: str) -> bool:
        """Whether the code takes the path of a change; see `Execution.patched`."""
        with self._changed:
            return super().patched(id)

    def _back_off(self) -> NoReturn:
        # Leaves the wait for the next try to the server, once nothing else is under way.
        with self._changed:
            self._backs_off = True
            self._in_flight -= 1
            self._changed.notify_all()
            self._changed.wait_for(lambda: not self._in_flight)
            self._in_flight += 1
            self._leave({"type": "retry"})

    def _leave(self, wait: Wait) -> NoReturn:
        if not self._has_left:
            # What failed is tried again before anything else is waited for.
            next: Wait = {"type": "retry"} if self._backs_off else wait
            self._has_left, self.outcome = True, self._problem() or next
        self._changed.notify_all()
        raise Suspension

    def _new_write(self, op: str, name: str) -> None:
        # A write under a name that no earlier execution has written to is new.
        if not self._journal.has_written(op, name):
            self._fitting()

    def _fitting(self, place: int | None = None) -> None:
        # Waits until the code has asked for all that was recorded, or for all before a place.
        with self._changed:
            while not self._is_ready(place) and not self._has_left:
                asked = self._journal.asked
                if self._others_may_ask():
                    # What other threads are about to ask for is not known.
                    self._changed.wait_for(
                        lambda: self._is_ready(place) or self._has_left, long_grace(self._params)
                    )
                if self._is_ready(place) or self._journal.asked != asked:
                    continue
                problem = self._journal.mismatch(place)
                if problem is None:
                    return
                self._has_left, self.outcome = True, problem
            if self._has_left:
                raise Suspension

    def _let_go(self) -> None:
        self._changed.notify_all()

    def _others_may_ask(self) -> bool:
        # A thread that the handler has made is not its only one.
        current = threading.current_thread()
        is_handlers = current in self._threads or current.name == HANDLER_THREAD
        return not is_handlers or bool(self._own_threads())

    def _own_threads(self) -> set[threading.Thread]:
        # Threads that the handler has made.
        others = set(threading.enumerate()) - self._threads - {threading.current_thread()}
        return others - set(TRY_THREADS)

    def wait(self, name: str, wait: Callable[[], Wait]) -> Any:
        """Gives what a wait has brought, or ends this execution."""
        self._refuse_stopped()
        self.refuse_in_run()
        with self._changed:
            if self._has_left:
                raise Suspension
            record = self._next("await", name)
            if record is not None:
                self._settled(self._journal.place())
                return answer_of(record).get("value")
            made = wait()
            self._begin_wait()
            self._changed.wait_for(lambda: not self._in_flight or self._has_left)
            self._leave(made)

    def _settled(self, place: int) -> None:
        # What threads of the handler's own are about to do is not known until it has ended.
        problem = None if self._own_threads() else self._journal.mismatch(place)
        if problem is not None:
            self._has_left, self.outcome = True, problem
            raise Suspension

    def returned(self) -> RiverrunError | None:
        """The handler has returned. Gives the error that its value does not count."""
        with self._changed:
            self._changed.wait_for(lambda: not self._in_flight)
        return self._problem()

    @contextlib.contextmanager
    def _working(self) -> Iterator[None]:
        with self._changed:
            self._in_flight += 1
        try:
            yield
        finally:
            with self._changed:
                self._in_flight -= 1
                self._changed.notify_all()
