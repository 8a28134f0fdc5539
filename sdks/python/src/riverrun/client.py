"""The client: what a program asks of a riverrun server.

`Client` blocks, `AsyncClient` is awaited; both have the same methods. Failures of the server are
raised as `HttpError` with its stable code, a server that cannot be reached as `RiverrunError` with
the code `UNREACHABLE`.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncGenerator, Callable, Generator, Iterator, Mapping, Sequence
from contextlib import aclosing, closing
from types import TracebackType
from typing import TYPE_CHECKING, Any

from . import _json
from ._http import blocking, calls, streams
from ._http.follow import FINAL, Follower
from ._http.request import IDLE_S, Server
from ._http.sse import Parser
from .errors import HttpError, RiverrunError
from .options import Enqueued, NewJob, Page, Started

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

    from .options import EnqueueOptions, StartOptions

__all__ = ["AsyncClient", "Client", "Event", "HttpError"]

#: An event as it is on the wire: `{id, ts, type, runId, flowName, …, data?}`.
Event = dict[str, Any]

DEFAULT_URL = "http://127.0.0.1:4600"


class Client:
    """Talks to a server from any number of threads.

    The URL is the argument, else `RIVERRUN_URL`, else that of a server on this machine. The token,
    if there is one, is the argument, else `RIVERRUN_TOKEN`. `timeout` is in seconds.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        token: str | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float = 30.0,
    ) -> None:
        self._http = blocking.Http(_server(url, token, headers), timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def enqueue(
        self,
        queue: str,
        data: Any = None,
        *,
        name: str | None = None,
        **options: Unpack[EnqueueOptions],
    ) -> Enqueued:
        """Adds a job. When this returns it is on disk."""
        return calls.enqueued(self._http.send(calls.enqueue(queue, data, name, options)))[0]

    def enqueue_many(
        self, queue: str, jobs: Sequence[NewJob | Mapping[str, Any]]
    ) -> list[Enqueued]:
        """Adds several jobs to a queue: all of them or none."""
        return calls.enqueued(self._http.send(calls.enqueue_many(queue, jobs)))

    def job(self, job_id: str) -> dict[str, Any]:
        result: dict[str, Any] = self._http.send(calls.job(job_id))
        return result

    def jobs(
        self,
        queue: str,
        *,
        state: str | Sequence[str] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[dict[str, Any]]:
        """A page of a queue's jobs."""
        return calls.page(self._http.send(calls.jobs(queue, state, limit, cursor)))

    def retry_job(self, job_id: str) -> Any:
        return self._http.send(calls.job_action(job_id, "retry"))

    def cancel_job(self, job_id: str, reason: str | None = None) -> Any:
        return self._http.send(calls.job_action(job_id, "cancel", reason))

    def promote_job(self, job_id: str) -> Any:
        """Lets a delayed job begin now."""
        return self._http.send(calls.job_action(job_id, "promote"))

    def update_job(
        self, job_id: str, *, priority: int | None = None, delay_ms: int | None = None
    ) -> dict[str, Any]:
        """Changes a job that has not begun."""
        request = calls.update_job(job_id, priority, delay_ms)
        result: dict[str, Any] = self._http.send(request)
        return result

    def remove_job(self, job_id: str) -> None:
        """Removes a job that does not run."""
        self._http.send(calls.remove_job(job_id))

    def wait_job(self, job_id: str, timeout: float | None = None) -> dict[str, Any]:
        """Waits until a job has ended, and gives it. Raises `TimeoutError` past `timeout` s."""
        self._until_end(calls.job_stream(job_id), _Deadline(timeout, f"job {job_id}"))
        return self.job(job_id)

    def queues(self) -> list[dict[str, Any]]:
        return list(calls.page(self._http.send(calls.queues())))

    def queue(self, name: str) -> dict[str, Any]:
        result: dict[str, Any] = self._http.send(calls.queue(name))
        return result

    def pause_queue(self, name: str) -> Any:
        return self._http.send(calls.queue_action(name, "pause"))

    def resume_queue(self, name: str) -> Any:
        return self._http.send(calls.queue_action(name, "resume"))

    def drain_queue(self, name: str, *, delayed: bool = False) -> int:
        """Removes what waits, with `delayed` also what waits for its time; says how many."""
        answer = self._http.send(calls.queue_action(name, "drain", delayed=delayed))
        return int(answer["removed"])

    def clean_queue(
        self,
        name: str,
        *,
        state: str = "completed",
        older_than_ms: int | None = None,
        limit: int | None = None,
    ) -> int:
        """Removes jobs that have ended; says how many."""
        request = calls.queue_action(
            name, "clean", state=state, older_than_ms=older_than_ms, limit=limit
        )
        return int((self._http.send(request))["removed"])

    def dead_letters(
        self, queue: str, *, limit: int | None = None, cursor: str | None = None
    ) -> Page[dict[str, Any]]:
        """A page of the jobs that have failed for good, newest first."""
        return calls.page(self._http.send(calls.dead_letters(queue, limit, cursor)))

    def redrive(
        self, queue: str, *, limit: int | None = None, per_second: int | None = None
    ) -> int:
        """Lets dead letters wait again, from their first attempt on; says how many."""
        request = calls.queue_action(queue, "dlq/redrive", limit=limit, per_second=per_second)
        return int((self._http.send(request))["redriven"])

    def purge_dead_letters(
        self, queue: str, *, older_than_ms: int | None = None, limit: int | None = None
    ) -> int:
        """Removes dead letters; says how many."""
        request = calls.queue_action(queue, "dlq/purge", older_than_ms=older_than_ms, limit=limit)
        return int((self._http.send(request))["removed"])

    def call(self, process: str, input: Any = None, *, timeout_ms: int | None = None) -> Any:
        """Runs a process at once and gives its result."""
        answer = self._http.send(calls.call(process, input, timeout_ms))
        return answer.get("value")

    def call_frames(
        self, process: str, input: Any = None, *, timeout_ms: int | None = None
    ) -> Generator[dict[str, Any], None, None]:
        """Runs a process at once and gives its frames as they come, each with its `type`.

        The last is `result`, `error` or `cancelled`.
        """
        parser = Parser()
        request = calls.call_frames(process, input, timeout_ms)
        with closing(self._http.stream(request)) as body:
            for data in body:
                for message in parser.feed(data):
                    yield _frame(message.event, message.data)

    def start(self, flow: str, input: Any = None, **options: Unpack[StartOptions]) -> Started:
        """Starts a run of a flow. When this returns it is on disk."""
        return Started.from_wire(self._http.send(calls.start(flow, input, options)))

    def run(self, run_id: str) -> dict[str, Any]:
        """A run with its state."""
        result: dict[str, Any] = self._http.send(calls.run(run_id))
        return result

    def why(self, run_id: str) -> dict[str, Any]:
        """Why a run does not move: each active visit and what it waits for."""
        result: dict[str, Any] = self._http.send(calls.why(run_id))
        return result

    def fire(self, trigger_id: str, payload: Any = None) -> Any:
        """Opens a trigger: whoever waits for it goes on with the payload."""
        return self._http.send(calls.fire(trigger_id, payload))

    def cancel(self, run_id: str, reason: str | None = None) -> Any:
        return self._http.send(calls.run_action(run_id, "cancel", reason))

    def wait(self, run_id: str, timeout: float | None = None) -> dict[str, Any]:
        """Waits until a run has ended, and gives it. Raises `TimeoutError` past `timeout` s."""
        self._until_end(calls.run_stream(run_id), _Deadline(timeout, f"run {run_id}"))
        return self.run(run_id)

    def _until_end(self, path: str, deadline: _Deadline) -> None:
        """Reads a stream to its end, over lost connections too."""
        follower = Follower(path, "end", FINAL, until_end=True)
        while not follower.is_over:
            try:
                body = self._http.stream(follower.connect(), deadline.patience_s)
                with closing(body):
                    for data in body:
                        _drop(follower.feed(data))
                        if follower.is_over:
                            break
                follower.closed()
            except RiverrunError as error:
                follower.broken(error)
            if not follower.is_over:
                time.sleep(deadline.cap(follower.wait_s()))

    def emit(
        self,
        type: str,
        data: Any = None,
        *,
        run_id: str | None = None,
        stream: str | None = None,
        correlation_id: str | None = None,
        causation_id: str | None = None,
    ) -> str:
        """Appends an event to a run, to a stream, or to `nq:global`; gives its id."""
        more = {"correlation_id": correlation_id, "causation_id": causation_id}
        answer = self._http.send(calls.emit(type, data, run_id, stream, more))
        return str(answer["ids"][0])

    def subscribe(
        self,
        stream: str,
        *,
        after: str | None = None,
        types: Sequence[str] | None = None,
        until_end: bool = False,
        on_missed: Callable[[dict[str, Any]], None] | None = None,
    ) -> Generator[Event, None, None]:
        """The events of a stream as they happen, each once and in order, over lost connections too.

        `stream` is a run's id, `job/<id>` or another type and id, or a full name such as
        `nq:global`. Begins with the first event, or after the event `after`; `after="end"` shows
        what happens from now on. `types` takes families too: `log` for every `log.*`.

        `queue/<name>` is what happens to the queue's jobs from now on. Nothing of it is stored:
        `on_missed` is called when events are lost to this reader, which was too slow or away.
        """
        yield from self._follow(
            Follower(calls.stream_path(stream), after, types, until_end, on_missed)
        )

    def on_kind(
        self, kinds: str | Sequence[str], *, after: str | None = None
    ) -> Generator[Event, None, None]:
        """All events of some kinds, of every run and stream, as they happen.

        `order` takes every `order.*`. Each event also has its `stream`, and its `cursor`: give the
        last one as `after` to go on where you were. Without it, begins with what happens from now
        on; `after="start"` shows everything that is kept.
        """
        yield from self._follow(_on_kind(kinds, after))

    def _follow(self, follower: Follower) -> Generator[Event, None, None]:
        while not follower.is_over:
            try:
                body = self._http.stream(follower.connect())
                with closing(body):
                    for data in body:
                        yield from follower.feed(data)
                        if follower.is_over:
                            return
                follower.closed()
            except RiverrunError as error:
                follower.broken(error)
            if not follower.is_over:
                time.sleep(follower.wait_s())


class AsyncClient:
    """Talks to a server from any number of tasks of one loop. See `Client`."""

    def __init__(
        self,
        url: str | None = None,
        *,
        token: str | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float = 30.0,
    ) -> None:
        self._http = streams.Http(_server(url, token, headers), timeout)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        await self._http.close()

    async def enqueue(
        self,
        queue: str,
        data: Any = None,
        *,
        name: str | None = None,
        **options: Unpack[EnqueueOptions],
    ) -> Enqueued:
        """Adds a job. When this returns it is on disk."""
        return calls.enqueued(await self._http.send(calls.enqueue(queue, data, name, options)))[0]

    async def enqueue_many(
        self, queue: str, jobs: Sequence[NewJob | Mapping[str, Any]]
    ) -> list[Enqueued]:
        """Adds several jobs to a queue: all of them or none."""
        return calls.enqueued(await self._http.send(calls.enqueue_many(queue, jobs)))

    async def job(self, job_id: str) -> dict[str, Any]:
        result: dict[str, Any] = await self._http.send(calls.job(job_id))
        return result

    async def jobs(
        self,
        queue: str,
        *,
        state: str | Sequence[str] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[dict[str, Any]]:
        """A page of a queue's jobs."""
        return calls.page(await self._http.send(calls.jobs(queue, state, limit, cursor)))

    async def retry_job(self, job_id: str) -> Any:
        return await self._http.send(calls.job_action(job_id, "retry"))

    async def cancel_job(self, job_id: str, reason: str | None = None) -> Any:
        return await self._http.send(calls.job_action(job_id, "cancel", reason))

    async def promote_job(self, job_id: str) -> Any:
        """Lets a delayed job begin now."""
        return await self._http.send(calls.job_action(job_id, "promote"))

    async def update_job(
        self, job_id: str, *, priority: int | None = None, delay_ms: int | None = None
    ) -> dict[str, Any]:
        """Changes a job that has not begun."""
        request = calls.update_job(job_id, priority, delay_ms)
        result: dict[str, Any] = await self._http.send(request)
        return result

    async def remove_job(self, job_id: str) -> None:
        """Removes a job that does not run."""
        await self._http.send(calls.remove_job(job_id))

    async def wait_job(self, job_id: str, timeout: float | None = None) -> dict[str, Any]:
        """Waits until a job has ended, and gives it. Raises `TimeoutError` past `timeout` s."""
        await self._until_end(calls.job_stream(job_id), _Deadline(timeout, f"job {job_id}"))
        return await self.job(job_id)

    async def queues(self) -> list[dict[str, Any]]:
        return list(calls.page(await self._http.send(calls.queues())))

    async def queue(self, name: str) -> dict[str, Any]:
        result: dict[str, Any] = await self._http.send(calls.queue(name))
        return result

    async def pause_queue(self, name: str) -> Any:
        return await self._http.send(calls.queue_action(name, "pause"))

    async def resume_queue(self, name: str) -> Any:
        return await self._http.send(calls.queue_action(name, "resume"))

    async def drain_queue(self, name: str, *, delayed: bool = False) -> int:
        """Removes what waits, with `delayed` also what waits for its time; says how many."""
        answer = await self._http.send(calls.queue_action(name, "drain", delayed=delayed))
        return int(answer["removed"])

    async def clean_queue(
        self,
        name: str,
        *,
        state: str = "completed",
        older_than_ms: int | None = None,
        limit: int | None = None,
    ) -> int:
        """Removes jobs that have ended; says how many."""
        request = calls.queue_action(
            name, "clean", state=state, older_than_ms=older_than_ms, limit=limit
        )
        return int((await self._http.send(request))["removed"])

    async def dead_letters(
        self, queue: str, *, limit: int | None = None, cursor: str | None = None
    ) -> Page[dict[str, Any]]:
        """A page of the jobs that have failed for good, newest first."""
        return calls.page(await self._http.send(calls.dead_letters(queue, limit, cursor)))

    async def redrive(
        self, queue: str, *, limit: int | None = None, per_second: int | None = None
    ) -> int:
        """Lets dead letters wait again, from their first attempt on; says how many."""
        request = calls.queue_action(queue, "dlq/redrive", limit=limit, per_second=per_second)
        return int((await self._http.send(request))["redriven"])

    async def purge_dead_letters(
        self, queue: str, *, older_than_ms: int | None = None, limit: int | None = None
    ) -> int:
        """Removes dead letters; says how many."""
        request = calls.queue_action(queue, "dlq/purge", older_than_ms=older_than_ms, limit=limit)
        return int((await self._http.send(request))["removed"])

    async def call(self, process: str, input: Any = None, *, timeout_ms: int | None = None) -> Any:
        """Runs a process at once and gives its result."""
        answer = await self._http.send(calls.call(process, input, timeout_ms))
        return answer.get("value")

    async def call_frames(
        self, process: str, input: Any = None, *, timeout_ms: int | None = None
    ) -> AsyncGenerator[dict[str, Any], None]:
        """Runs a process at once and gives its frames as they come; see `Client.call_frames`."""
        parser = Parser()
        request = calls.call_frames(process, input, timeout_ms)
        async with aclosing(self._http.stream(request)) as body:
            async for data in body:
                for message in parser.feed(data):
                    yield _frame(message.event, message.data)

    async def start(self, flow: str, input: Any = None, **options: Unpack[StartOptions]) -> Started:
        """Starts a run of a flow. When this returns it is on disk."""
        return Started.from_wire(await self._http.send(calls.start(flow, input, options)))

    async def run(self, run_id: str) -> dict[str, Any]:
        """A run with its state."""
        result: dict[str, Any] = await self._http.send(calls.run(run_id))
        return result

    async def why(self, run_id: str) -> dict[str, Any]:
        """Why a run does not move: each active visit and what it waits for."""
        result: dict[str, Any] = await self._http.send(calls.why(run_id))
        return result

    async def fire(self, trigger_id: str, payload: Any = None) -> Any:
        """Opens a trigger: whoever waits for it goes on with the payload."""
        return await self._http.send(calls.fire(trigger_id, payload))

    async def cancel(self, run_id: str, reason: str | None = None) -> Any:
        return await self._http.send(calls.run_action(run_id, "cancel", reason))

    async def wait(self, run_id: str, timeout: float | None = None) -> dict[str, Any]:
        """Waits until a run has ended, and gives it. Raises `TimeoutError` past `timeout` s."""
        await self._until_end(calls.run_stream(run_id), _Deadline(timeout, f"run {run_id}"))
        return await self.run(run_id)

    async def _until_end(self, path: str, deadline: _Deadline) -> None:
        """Reads a stream to its end, over lost connections too."""
        try:
            await asyncio.wait_for(self._read_to_end(path), deadline.timeout)
        except (asyncio.TimeoutError, TimeoutError):
            raise deadline.over() from None

    async def _read_to_end(self, path: str) -> None:
        follower = Follower(path, "end", FINAL, until_end=True)
        while not follower.is_over:
            try:
                body = self._http.stream(follower.connect())
                async with aclosing(body):
                    async for data in body:
                        _drop(follower.feed(data))
                        if follower.is_over:
                            break
                follower.closed()
            except RiverrunError as error:
                follower.broken(error)
            if not follower.is_over:
                await asyncio.sleep(follower.wait_s())

    async def emit(
        self,
        type: str,
        data: Any = None,
        *,
        run_id: str | None = None,
        stream: str | None = None,
        correlation_id: str | None = None,
        causation_id: str | None = None,
    ) -> str:
        """Appends an event to a run, to a stream, or to `nq:global`; gives its id."""
        more = {"correlation_id": correlation_id, "causation_id": causation_id}
        answer = await self._http.send(calls.emit(type, data, run_id, stream, more))
        return str(answer["ids"][0])

    async def subscribe(
        self,
        stream: str,
        *,
        after: str | None = None,
        types: Sequence[str] | None = None,
        until_end: bool = False,
        on_missed: Callable[[dict[str, Any]], None] | None = None,
    ) -> AsyncGenerator[Event, None]:
        """The events of a stream as they happen; see `Client.subscribe`."""
        follower = Follower(calls.stream_path(stream), after, types, until_end, on_missed)
        async with aclosing(self._follow(follower)) as events:
            async for event in events:
                yield event

    async def on_kind(
        self, kinds: str | Sequence[str], *, after: str | None = None
    ) -> AsyncGenerator[Event, None]:
        """All events of some kinds, of every run and stream; see `Client.on_kind`."""
        async with aclosing(self._follow(_on_kind(kinds, after))) as events:
            async for event in events:
                yield event

    async def _follow(self, follower: Follower) -> AsyncGenerator[Event, None]:
        while not follower.is_over:
            try:
                body = self._http.stream(follower.connect())
                async with aclosing(body):
                    async for data in body:
                        for event in follower.feed(data):
                            yield event
                        if follower.is_over:
                            return
                follower.closed()
            except RiverrunError as error:
                follower.broken(error)
            if not follower.is_over:
                await asyncio.sleep(follower.wait_s())


def _on_kind(kinds: str | Sequence[str], after: str | None) -> Follower:
    kinds = [kinds] if isinstance(kinds, str) else kinds
    return Follower("/api/events", after, None, False, kinds=kinds)


class _Deadline:
    def __init__(self, timeout: float | None, what: str) -> None:
        self.timeout = timeout
        self._what = what
        self._at = None if timeout is None else time.monotonic() + timeout

    def over(self) -> TimeoutError:
        return TimeoutError(f"{self._what} has not ended after {self.timeout:g} s; it goes on")

    def patience_s(self) -> float:
        """How long a connection may be silent."""
        return max(0.001, min(IDLE_S, self._left_s()))

    def cap(self, pause: float) -> float:
        left = self._left_s()
        if left <= 0:
            raise self.over()
        return min(pause, left)

    def _left_s(self) -> float:
        return IDLE_S if self._at is None else self._at - time.monotonic()


def _drop(events: Iterator[Event]) -> None:
    for _ in events:
        pass


def _frame(event: str, data: str) -> dict[str, Any]:
    frame = _json.decode(data)
    frame = frame if isinstance(frame, dict) else {"value": frame}
    return {"type": event, **frame}


def _server(url: str | None, token: str | None, headers: Mapping[str, str] | None) -> Server:
    url = url or os.environ.get("RIVERRUN_URL") or DEFAULT_URL
    return Server.at(url, token or os.environ.get("RIVERRUN_TOKEN"), headers)
