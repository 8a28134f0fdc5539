"""One execution of an async handler."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any, NoReturn

from .._channel import Channel
from .._outcomes import Doing, Outcomes, RunTry
from .._quiet import GRACE, long_grace, may_wait
from ..cancellation import Signal
from ..errors import Cancelled, ExecutionOver, RiverrunError
from .asked import Asked
from .common import Common, Wait, answer_of, plain
from .in_run import current_run, emitting, is_emitted, note


class Execution(Common):
    """The execution of an async handler."""

    def __init__(
        self, channel: Channel, params: Mapping[str, Any], signal: Signal | None = None
    ) -> None:
        super().__init__(channel, params)
        #: Called when the code waits, or was found to be wrong when it did.
        self.on_leave: Callable[[Wait | RiverrunError], None] = lambda outcome: None
        self._signal = signal or Signal()
        self._outcomes = Outcomes(self.ask, self._signal, params.get("retries") or (), self._stop)
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
        if is_emitted(kind):
            return None
        with emitting(kind) as is_in_run:

            async def noted() -> Any:
                if is_in_run:
                    self._seen.append(note(kind))
                return await ask()

            return await self.once("emit", kind, noted)

    async def once(self, op: str, name: str, work: Callable[[], Awaitable[Any]]) -> Any:
        """Does something that the server records by itself."""
        self._refuse_stopped()
        record = self._next(op, name)
        if record is not None:
            if current_run.get() is None:
                await self._fitting(self._journal.place())
            return answer_of(record).get("value")
        if current_run.get() is None:
            await self._fitting()
        return await work()

    async def read(self, op: str, name: str, ask: Callable[[], Awaitable[Any]]) -> Any:
        """Reads something that may have changed when the code is called again.

        Then it gets this answer.
        """
        if current_run.get() is not None:
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
        if current_run.get() is not None:
            await self.ask(op, {**params, "inRun": True})
        elif not self._journal.wrote(op, name, plain(value)):
            await self._new_write(op, name)
            await self.ask(op, params)

    async def patch(self, op: str, name: str, change: Callable[[bool], Awaitable[Any]]) -> Any:
        """Changes something by what it is now. That nothing was written is recorded too."""
        self._refuse_stopped()
        if current_run.get() is not None:
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
            run = current_run.get()
            if run is not None:
                run.refuse_over()
                assert run.attempt is not None
                return await work(self._id_inside(run, op, name), run.attempt)
            record = self._next(op, name)
            if record is not None:
                await self._fitting(self._journal.place())
                return answer_of(record).get("value")
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
            if current_run.get() is not None:
                return await work(attempt)
            token = current_run.set(self._run(name, id, emits, attempt))
            try:
                return await work(attempt)
            finally:
                current_run.reset(token)

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
        for _, one in sorted(ready, key=lambda held: _rank(held[0])):
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
        """Notes that something is to be waited for. One that is never awaited is logged."""
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
            return answer_of(record).get("value")
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
            # An operation whose result the code does not await is tried again first.
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


def _rank(place: int | None) -> float:
    return float("inf") if place is None else place


def _end(over: asyncio.Future[None]) -> None:
    if not over.done():
        over.set_result(None)
