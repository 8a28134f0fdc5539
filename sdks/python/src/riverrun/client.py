"""The client: what a program asks of a riverrun server.

`Client` blocks, `AsyncClient` is awaited; both have the same methods. Failures of the server are
raised as `HttpError` with its stable code, a server that cannot be reached as `RiverrunError` with
the code `UNREACHABLE`.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncGenerator, Generator, Iterator, Mapping, Sequence
from contextlib import aclosing, closing
from types import TracebackType
from typing import TYPE_CHECKING, Any

from . import _json
from ._http import blocking, calls, streams
from ._http.follow import Follower
from ._http.request import Server
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
_ENDED = frozenset({"completed", "failed", "cancelled"})
_LONGEST_LOOK_S = 0.5


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

    def cancel_job(self, job_id: str) -> Any:
        return self._http.send(calls.job_action(job_id, "cancel"))

    def promote_job(self, job_id: str) -> Any:
        """Lets a delayed job begin now."""
        return self._http.send(calls.job_action(job_id, "promote"))

    def wait_job(self, job_id: str, timeout: float | None = None) -> dict[str, Any]:
        """Waits until a job has ended, and gives it. Raises `TimeoutError` past `timeout` s."""
        deadline = _Deadline(timeout)
        for pause in _pauses():
            job = self.job(job_id)
            if _has_ended(job):
                return job
            time.sleep(deadline.cap(pause, f"job {job_id}"))
        raise AssertionError("unreachable")

    def queues(self) -> list[dict[str, Any]]:
        return list(calls.page(self._http.send(calls.queues())))

    def queue(self, name: str) -> dict[str, Any]:
        result: dict[str, Any] = self._http.send(calls.queue(name))
        return result

    def pause_queue(self, name: str) -> Any:
        return self._http.send(calls.queue_action(name, "pause"))

    def resume_queue(self, name: str) -> Any:
        return self._http.send(calls.queue_action(name, "resume"))

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
        deadline = _Deadline(timeout)
        for pause in _pauses():
            run = self.run(run_id)
            if _has_ended(run):
                return run
            time.sleep(deadline.cap(pause, f"run {run_id}"))
        raise AssertionError("unreachable")

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
    ) -> Generator[Event, None, None]:
        """The events of a stream as they happen, each once and in order, over lost connections too.

        `stream` is a run's id, `job/<id>` or another type and id, or a full name such as
        `nq:global`. Begins with the first event, or after the event `after`; `after="end"` shows
        what happens from now on. `types` takes families too: `log` for every `log.*`.
        """
        follower = Follower(calls.stream_path(stream), after, types, until_end)
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

    async def cancel_job(self, job_id: str) -> Any:
        return await self._http.send(calls.job_action(job_id, "cancel"))

    async def promote_job(self, job_id: str) -> Any:
        """Lets a delayed job begin now."""
        return await self._http.send(calls.job_action(job_id, "promote"))

    async def wait_job(self, job_id: str, timeout: float | None = None) -> dict[str, Any]:
        """Waits until a job has ended, and gives it. Raises `TimeoutError` past `timeout` s."""
        deadline = _Deadline(timeout)
        for pause in _pauses():
            job = await self.job(job_id)
            if _has_ended(job):
                return job
            await asyncio.sleep(deadline.cap(pause, f"job {job_id}"))
        raise AssertionError("unreachable")

    async def queues(self) -> list[dict[str, Any]]:
        return list(calls.page(await self._http.send(calls.queues())))

    async def queue(self, name: str) -> dict[str, Any]:
        result: dict[str, Any] = await self._http.send(calls.queue(name))
        return result

    async def pause_queue(self, name: str) -> Any:
        return await self._http.send(calls.queue_action(name, "pause"))

    async def resume_queue(self, name: str) -> Any:
        return await self._http.send(calls.queue_action(name, "resume"))

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
        deadline = _Deadline(timeout)
        for pause in _pauses():
            run = await self.run(run_id)
            if _has_ended(run):
                return run
            await asyncio.sleep(deadline.cap(pause, f"run {run_id}"))
        raise AssertionError("unreachable")

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
    ) -> AsyncGenerator[Event, None]:
        """The events of a stream as they happen; see `Client.subscribe`."""
        follower = Follower(calls.stream_path(stream), after, types, until_end)
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


class _Deadline:
    def __init__(self, timeout: float | None) -> None:
        self._timeout = timeout
        self._at = None if timeout is None else time.monotonic() + timeout

    def cap(self, pause: float, what: str) -> float:
        if self._at is None:
            return pause
        left = self._at - time.monotonic()
        if left <= 0:
            raise TimeoutError(f"{what} has not ended after {self._timeout:g} s; it goes on")
        return min(pause, left)


def _pauses() -> Iterator[float]:
    pause = 0.02
    while True:
        yield pause
        pause = min(pause * 1.5, _LONGEST_LOOK_S)


def _has_ended(what: Mapping[str, Any]) -> bool:
    # A run has a `status`, and its `state` is an object; a job's `state` is a word.
    return any(
        word in _ENDED for word in (what.get("status"), what.get("state")) if isinstance(word, str)
    )


def _frame(event: str, data: str) -> dict[str, Any]:
    frame = _json.decode(data)
    frame = frame if isinstance(frame, dict) else {"value": frame}
    return {"type": event, **frame}


def _server(url: str | None, token: str | None, headers: Mapping[str, str] | None) -> Server:
    url = url or os.environ.get("RIVERRUN_URL") or DEFAULT_URL
    return Server.at(url, token or os.environ.get("RIVERRUN_TOKEN"), headers)
