"""One execution of a step's code.

From the top to its end, or to a wait whose answer is not known yet. What the code does is recorded,
and what earlier executions recorded is not done again.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import hashlib
import re
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from . import _json
from ._channel import Channel
from ._failure import revive
from ._journal import IN_RUN, Journal
from ._outcomes import HANDLER_THREAD, TRY_THREADS, Doing, Outcomes, RunTry, SyncOutcomes, numbered
from ._quiet import GRACE, long_grace, may_wait
from .cancellation import Signal, SyncSignal
from .errors import Cancelled, ExecutionOver, RiverrunError

Wait = dict[str, Any]

#: Requests that leave a record.
_RECORDS = {
    "emit",
    "memo",
    "memo.failed",
    "await.trigger",
    "state.set",
    "state.delete",
    "state.setBatch",
}


@dataclass
class _Run:
    """The `ctx.run` whose function is running: the n-th of its name."""

    name: str
    number: int
    uses: Counter[tuple[str, str]] = field(default_factory=Counter)
    #: The kinds of the events that were emitted inside of it, by all of its tries.
    emits: list[str] = field(default_factory=list)
    #: How often this try has emitted each kind.
    emitted: Counter[str] = field(default_factory=Counter)
    attempt: RunTry | None = None

    def refuse_over(self) -> None:
        """Nothing counts that a try does after its time is over."""
        if self.attempt is not None and self.attempt.over is not None:
            raise self.attempt.over


_inside: contextvars.ContextVar[_Run | None] = contextvars.ContextVar("inside", default=None)


class Suspension(BaseException):
    """Unwinds a sync handler whose execution ends with a wait. Not to be caught."""


class _Execution:
    """What executions in tasks and in threads have in common."""

    def __init__(self, channel: Channel, params: Mapping[str, Any]) -> None:
        self._channel = channel
        self._params = params
        self._journal = Journal(params.get("journal") or ())
        # What the code has read since something was last recorded, and notes of what is next. It is
        # recorded with that.
        self._seen: list[dict[str, Any]] = []
        self._in_flight = 0
        self._waits = False
        # Something that failed waits for its next try, for which the server waits.
        self._backs_off = False
        self._refused: RiverrunError | None = None
        self._has_left = False

    def notify(self, method: str, params: dict[str, Any]) -> None:
        if not self._has_left:
            self._channel.notify(method, params)

    def refuse_in_run(self) -> None:
        run = _inside.get()
        if run is not None:
            raise RiverrunError(
                f"ctx.wait cannot stand inside of ctx.run({run.name!r}): what runs there is "
                "recorded when it has ended. Wait before it or after it",
                code="AWAIT_IN_RUN",
                retriable=False,
            )

    def take_seen(self) -> list[dict[str, Any]]:
        """What was read and is not recorded yet."""
        seen, self._seen = self._seen, []
        return seen

    def _with_seen(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        # What is recorded takes along what was read before it.
        if self._seen and method in _RECORDS:
            return {**params, "seen": self.take_seen()}
        return params

    def _saw(self, op: str, name: str, nth: int, value: Any) -> None:
        self._seen.append({"op": op, "name": name, **numbered(nth), "value": value})

    def _next(self, op: str, name: str) -> Mapping[str, Any] | None:
        # The record for the next use of a name. It may let go on what was held back.
        record = self._journal.take(op, name)
        self._let_go()
        return record

    def _is_ready(self, place: int | None) -> bool:
        # Whether what is held back may go on: with a place, its record stands there.
        if place is None:
            return self._journal.is_used_up
        return self._journal.is_in_turn(place)

    def _take(self, op: str, name: str) -> Mapping[str, Any] | None:
        record = self._next(op, name)
        return None if record is None else _answer(record)

    def _let_go(self) -> None:
        # The code has asked for something.
        raise NotImplementedError

    def patched(self, id: str) -> bool:
        """Whether the code takes the path of a change: runs that were past it take the old one."""
        record = self._next("patched", id)
        if record is not None:
            return record.get("value") is True
        if not self._journal.is_used_up:
            return False
        self._saw("patched", id, self._journal.uses("patched", id), True)
        return True

    def _id(self, name: str, number: int) -> str:
        run_id, step = self._params.get("runId"), self._params.get("step")
        return f"{run_id}/{step}/{self._params.get('visit') or 1}/{name}/{number}"

    def _id_inside(self, run: _Run, op: str, name: str) -> str:
        # A run that is taken from the journal does nothing, so what it does has its own numbers.
        run.uses[op, name] += 1
        return self._id(f"{run.name}/{run.number}/{name}", run.uses[op, name])

    def _begin_wait(self) -> None:
        if self._waits:
            self._refused = _concurrent()
            raise self._refused
        self._waits = True

    def _problem(self) -> RiverrunError | None:
        return self._refused or self._journal.mismatch()

    def _run(self, name: str, id: str, emits: list[str], attempt: RunTry) -> _Run:
        # Its id ends with its number; by now another thread may have used the name again.
        return _Run(name, int(id.rpartition("/")[2]), emits=emits, attempt=attempt)


class Asked(Coroutine[Any, Any, Any]):
    """A wait that the code has asked for. It begins when it is awaited, if it is."""

    __slots__ = ("_begin", "_running", "is_over", "what")

    def __init__(self, what: str, begin: Callable[[], Awaitable[Any]]) -> None:
        self.what = what
        self.is_over = False
        self._begin = begin
        self._running: Coroutine[Any, Any, Any] | None = None

    def send(self, value: Any) -> Any:
        return self._begun().send(value)

    def throw(self, *error: Any) -> Any:
        return self._begun().throw(*error)

    def close(self) -> None:
        if self._running is not None:
            self._running.close()

    def __await__(self) -> Any:
        return self._begun().__await__()

    def _begun(self) -> Coroutine[Any, Any, Any]:
        if self._running is None:
            self._running = self._run()
        return self._running

    async def _run(self) -> Any:
        try:
            return await self._begin()
        finally:
            self.is_over = True


class Execution(_Execution):
    """The execution of an async handler."""

    def __init__(
        self, channel: Channel, params: Mapping[str, Any], signal: Signal | None = None
    ) -> None:
        super().__init__(channel, params)
        #: Called when the code waits, or was found to be wrong when it did.
        self.on_leave: Callable[[Wait | RiverrunError], None] = lambda outcome: None
        self._signal = signal or Signal()
        self._outcomes = Outcomes(
            self.ask, self._signal, params.get("retries") or (), self._stop
        )
        self._has_ended = False
        # Waits that are over, and after which the code has yet to go on.
        self._settling = 0
        self._idle: asyncio.Future[None] | None = None
        # Code that does not go on in this execution.
        self._parked: list[asyncio.Future[None]] = []
        # Operations that no record fits, done once the code has asked for all that was recorded;
        # and those whose record stands at a place behind others that the code has not asked for.
        self._held: list[tuple[int | None, asyncio.Future[None]]] = []
        self._judging: asyncio.Task[None] | None = None
        self._asked: list[Asked] = []
        self._leaving: asyncio.Task[None] | None = None

    async def ask(self, method: str, params: dict[str, Any]) -> Mapping[str, Any]:
        """Asks the server. Code does not continue once the execution is over."""
        if self._has_left:
            raise asyncio.CancelledError
        with self._working():
            try:
                return await self._channel.ask(method, self._with_seen(method, params))
            except ExecutionOver as over:
                self._stop(over)

    def _stop(self, error: RiverrunError) -> NoReturn:
        """Ends this execution with an error that the code does not see."""
        if not self._has_left and not self._has_ended:
            self._has_left = True
            self.on_leave(error)
            self._unpark()
        raise asyncio.CancelledError

    def _refuse_stopped(self) -> None:
        """Code that is to stop begins nothing more."""
        if self._signal.is_set():
            self._stop(Cancelled(self._signal.reason))

    def ask_blocking(self, method: str, params: dict[str, Any]) -> Mapping[str, Any]:
        return self._channel.ask_blocking(method, params)

    async def emit(self, kind: str, ask: Callable[[], Awaitable[Any]]) -> Any:
        """Emits, which the server records by itself.

        Inside of a `ctx.run` its record belongs to that.
        """
        if _is_emitted(kind):
            return None
        with _emitting(kind) as is_in_run:

            async def noted() -> Any:
                if is_in_run:
                    self._seen.append(_note(kind))
                return await ask()

            return await self.once("emit", kind, noted)

    async def once(self, op: str, name: str, work: Callable[[], Awaitable[Any]]) -> Any:
        """Does something that the server records by itself."""
        self._refuse_stopped()
        record = self._next(op, name)
        if record is not None:
            if _inside.get() is None:
                await self._fitting(self._journal.place())
            return _answer(record).get("value")
        if _inside.get() is None:
            await self._fitting()
        return await work()

    async def read(self, op: str, name: str, ask: Callable[[], Awaitable[Any]]) -> Any:
        """Reads something that may have changed when the code is called again.

        Then it gets this answer.
        """
        if _inside.get() is not None:
            return await ask()
        record = self._take(op, name)
        if record is not None:
            return record.get("value")
        nth = self._journal.uses(op, name)
        value = await ask()
        self._saw(op, name, nth, value)
        return value

    async def write(self, op: str, name: str, params: dict[str, Any], value: Any = None) -> None:
        """Writes something, unless an earlier execution did.

        Inside of a `ctx.run` it is part of that.
        """
        self._refuse_stopped()
        if _inside.get() is not None:
            await self.ask(op, {**params, "inRun": True})
        elif not self._journal.wrote(op, name, _plain(value)):
            await self._new_write(op, name)
            await self.ask(op, params)

    async def patch(self, op: str, name: str, change: Callable[[bool], Awaitable[Any]]) -> Any:
        """Changes something by what it is now. That nothing was written is recorded too."""
        self._refuse_stopped()
        if _inside.get() is not None:
            return (await change(True))[0]
        record = self._take(op, name)
        if record is not None:
            return record.get("value")
        await self._new_write(op, name)
        value, has_written = await change(False)
        if not has_written:
            self._seen.append({"op": op, "name": name})
        return value

    async def recorded(
        self,
        op: str,
        name: str,
        work: Callable[[str, RunTry], Awaitable[Any]],
        emits: list[str] | None = None,
        **settings: Any,
    ) -> Any:
        """Does something and has its outcome recorded.

        `work` is given an id that is the same in every execution of the visit. Inside of a
        `ctx.run` nothing is recorded: the run is.
        """
        self._refuse_stopped()
        with self._working():
            run = _inside.get()
            if run is not None:
                run.refuse_over()
                assert run.attempt is not None
                return await work(self._id_inside(run, op, name), run.attempt)
            record = self._next(op, name)
            if record is not None:
                await self._fitting(self._journal.place())
                return _answer(record).get("value")
            nth = self._journal.uses(op, name)
            await self._fitting()
            doing = Doing(op, name, nth, [] if emits is None else emits, **settings)
            return await self._outcomes.of(
                doing, lambda attempt: work(self._id(name, nth), attempt), self._back_off
            )

    async def run(
        self, name: str, work: Callable[[RunTry], Awaitable[Any]], **settings: Any
    ) -> Any:
        """A part of the work that is recorded as a whole."""
        emits: list[str] = []

        async def inside(id: str, attempt: RunTry) -> Any:
            if _inside.get() is not None:
                return await work(attempt)
            token = _inside.set(self._run(name, id, emits, attempt))
            try:
                return await work(attempt)
            finally:
                _inside.reset(token)

        return await self.recorded("memo", name, inside, emits, **settings)

    async def _back_off(self) -> NoReturn:
        # Leaves the wait for the next try to the server, once nothing else is under way.
        self._backs_off = True
        self._leaving = asyncio.get_running_loop().create_task(self._leave({"type": "retry"}))
        with self._idling():
            await self._park()
        raise asyncio.CancelledError

    async def _new_write(self, op: str, name: str) -> None:
        # A write under a name that no earlier execution has written to is new.
        if not self._journal.has_written(op, name):
            await self._fitting()

    async def _fitting(self, place: int | None = None) -> None:
        # Waits until the code has asked for all that was recorded, or for all before a place.
        if self._is_ready(place):
            return
        loop = asyncio.get_running_loop()
        held: asyncio.Future[None] = loop.create_future()
        self._held.append((place, held))
        if self._judging is None:
            self._judging = loop.create_task(self._judge_held())
        with self._idling():
            await held

    def _let_go(self) -> None:
        if not self._held:
            return
        ready = [held for held in self._held if self._is_ready(held[0])]
        self._held = [held for held in self._held if held not in ready]
        # What was recorded first is answered first: of a race the same one wins.
        for place, one in sorted(ready, key=lambda held: _rank(held[0])):
            if not one.done():
                one.set_result(None)

    async def _judge_held(self) -> None:
        # The code does not fit its journal if it asks for nothing more while records are left.
        loop = asyncio.get_running_loop()
        asked, quiet, longest = -1, 0.0, long_grace(self._params)
        while asked != self._journal.asked or (quiet < longest and may_wait(loop)):
            if asked != self._journal.asked:
                asked, quiet = self._journal.asked, 0.0
            over: asyncio.Future[None] = loop.create_future()
            loop.call_later(GRACE, _end, over)
            await over
            quiet += GRACE
            await self._until_quiet()
            if not self._held:
                self._judging = None
                return
        places = [place for place, _ in self._held if place is not None]
        problem = self._journal.mismatch(min(places, default=None))
        if problem is None or self._has_left or self._has_ended:
            return
        self._refused, self._has_left = problem, True
        self.on_leave(problem)
        self._unpark()

    async def _park(self) -> None:
        parked: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._parked.append(parked)
        await parked

    @contextlib.contextmanager
    def _idling(self) -> Iterator[None]:
        # What waits for the server, or for the rest of the code, is not under way.
        is_working = self._in_flight > 0
        if is_working:
            self._ended_one()
        try:
            yield
        finally:
            self._in_flight += is_working

    def asked(self, what: str, begin: Callable[[], Awaitable[Any]]) -> Asked:
        """Notes that something is to be waited for. Whoever forgets to await it is told."""
        asked = Asked(what, begin)
        self._asked.append(asked)
        return asked

    async def wait(self, name: str, wait: Callable[[], Wait]) -> Any:
        """Gives what a wait has brought, or ends this execution."""
        self._refuse_stopped()
        self.refuse_in_run()
        record = self._next("await", name)
        if record is not None:
            await self._settled(self._journal.place())
            return _answer(record).get("value")
        made = wait()
        self._begin_wait()
        self._leaving = asyncio.get_running_loop().create_task(self._leave(made))
        await self._park()

    async def _settled(self, place: int) -> None:
        """Goes on after a wait, unless something before it was recorded and not done this time.

        Then nothing that stands after it is done.
        """
        self._settling += 1
        try:
            await self._until_quiet()
        finally:
            self._settling -= 1
        problem = None if self._has_ended or self._has_left else self._journal.mismatch(place)
        if problem is not None:
            self._has_left = True
            self._refused = problem
            self.on_leave(problem)
            self._unpark()
            raise asyncio.CancelledError

    async def returned(self) -> RiverrunError | None:
        """The handler has returned. Gives the error that its value does not count."""
        forgotten = [asked.what for asked in self._asked if not asked.is_over]
        self.ended()
        if self._in_flight:
            await self._until_quiet()
        problem = self._problem()
        if problem is None and self._backs_off and not self._has_left:
            # Something that nobody waits for is tried again first.
            self._has_left = True
            self.on_leave({"type": "retry"})
            return None
        if problem is None:
            for what in forgotten:
                message = (
                    f"the handler returned while {what} still waited, so nothing was waited for: "
                    "is an await missing before it?"
                )
                self.notify("log", {"level": "warn", "message": message})
        return problem

    def ended(self) -> None:
        self._has_ended = True
        self._unpark()

    async def _leave(self, wait: Wait) -> None:
        await self._until_quiet()
        while self._settling:
            await self._until_quiet()
        if self._has_ended or self._has_left:
            return
        # What failed is tried again before anything else is waited for.
        next: Wait = {"type": "retry"} if self._backs_off else wait
        self._has_left = True
        self.on_leave(self._problem() or next)
        self._unpark()

    def _unpark(self) -> None:
        for parked in [*self._parked, *(held for _, held in self._held)]:
            parked.cancel()

    async def _until_quiet(self) -> None:
        """Until nothing is under way, and what that has led to neither."""
        while True:
            # Tasks that were made together each get their first turn.
            for _ in range(3):
                await asyncio.sleep(0)
            if not self._in_flight:
                return
            if self._idle is None:
                self._idle = asyncio.get_running_loop().create_future()
            await asyncio.shield(self._idle)

    @contextlib.contextmanager
    def _working(self) -> Iterator[None]:
        self._in_flight += 1
        try:
            yield
        finally:
            self._ended_one()

    def _ended_one(self) -> None:
        self._in_flight -= 1
        if not self._in_flight and self._idle is not None:
            self._idle.set_result(None)
            self._idle = None


class SyncExecution(_Execution):
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
        if _is_emitted(kind):
            return None
        with _emitting(kind) as is_in_run:

            def noted() -> Any:
                if is_in_run:
                    with self._changed:
                        self._seen.append(_note(kind))
                return ask()

            return self.once("emit", kind, noted)

    def once(self, op: str, name: str, work: Callable[[], Any]) -> Any:
        """Does something that the server records by itself."""
        self._refuse_stopped()
        with self._changed:
            record, place = self._next(op, name), self._journal.place()
        if record is not None:
            if _inside.get() is None:
                self._fitting(place)
            return _answer(record).get("value")
        if _inside.get() is None:
            self._fitting()
        return work()

    def read(self, op: str, name: str, ask: Callable[[], Any]) -> Any:
        """Reads something that may have changed; see `Execution.read`."""
        if _inside.get() is not None:
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
        if _inside.get() is not None:
            self.ask_blocking(op, {**params, "inRun": True})
            return
        with self._changed:
            has_written = self._journal.wrote(op, name, _plain(value))
        if not has_written:
            self._new_write(op, name)
            self.ask_blocking(op, params)

    def patch(self, op: str, name: str, change: Callable[[bool], Any]) -> Any:
        """Changes something by what it is now; see `Execution.patch`."""
        self._refuse_stopped()
        if _inside.get() is not None:
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
            run = _inside.get()
            if run is not None:
                run.refuse_over()
                assert run.attempt is not None
                return work(self._id_inside(run, op, name), run.attempt)
            with self._changed:
                record, place = self._next(op, name), self._journal.place()
                nth = self._journal.uses(op, name)
            if record is not None:
                self._fitting(place)
                return _answer(record).get("value")
            self._fitting()
            doing = Doing(op, name, nth, [] if emits is None else emits, **settings)
            return self._outcomes.of(
                doing, lambda attempt: work(self._id(name, nth), attempt), self._back_off
            )

    def run(self, name: str, work: Callable[[RunTry], Any], **settings: Any) -> Any:
        """A part of the work that is recorded as a whole."""
        emits: list[str] = []

        def inside(id: str, attempt: RunTry) -> Any:
            if _inside.get() is not None:
                return work(attempt)
            token = _inside.set(self._run(name, id, emits, attempt))
            try:
                return work(attempt)
            finally:
                _inside.reset(token)

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
                return _answer(record).get("value")
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


def job_id(text: str) -> str:
    """The form that ids of jobs have, made of any text."""
    plain = text.replace("/", ".")
    if re.fullmatch(r"[A-Za-z0-9_.~-]{1,128}", plain):
        return plain
    return f"step-{hashlib.sha256(text.encode()).hexdigest()}"


def _answer(record: Mapping[str, Any]) -> Mapping[str, Any]:
    error = record.get("error")
    if error is None:
        return record
    raised = revive(error)
    # A timeout that was recorded is over in the next attempt too.
    if record["op"] == "await" and raised.retriable is None:
        raised.retriable = False
    raise raised


def _rank(place: int | None) -> float:
    return float("inf") if place is None else place


def _end(over: asyncio.Future[None]) -> None:
    if not over.done():
        over.set_result(None)


def _plain(value: Any) -> Any:
    # As a record of it would have it.
    return value if value is None else _json.decode(_json.encode(value))


def _note(kind: str) -> dict[str, Any]:
    return {"op": IN_RUN, "name": kind}


def _is_emitted(kind: str) -> bool:
    # Whether an earlier try of the `ctx.run` around it has emitted it.
    run = _inside.get()
    if run is None:
        return False
    run.refuse_over()
    run.emitted[kind] += 1
    return run.emitted[kind] <= run.emits.count(kind)


@contextlib.contextmanager
def _emitting(kind: str) -> Iterator[bool]:
    run = _inside.get()
    if run is not None:
        run.emits.append(kind)
    try:
        yield run is not None
    except BaseException:
        if run is not None:
            run.emits.remove(kind)
        raise


def _concurrent() -> RiverrunError:
    return RiverrunError(
        "a step waits for one thing at a time, and this execution already waits: wait for one "
        "after the other, and give a wait a timeout where it is not to wait for ever",
        code="AWAIT_CONCURRENT",
        retriable=False,
    )
