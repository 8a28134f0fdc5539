"""The client to be awaited: the same methods as those of `client.Client`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ._api import requests
from ._api.operations import AsyncApi
from ._groups.flows import AsyncFlows
from ._groups.schedules import AsyncSchedules
from ._groups.triggers import AsyncTriggers
from ._groups.workers import AsyncWorkers
from ._http import calls, streams
from ._http.deadline import Deadline
from ._http.follow import FINAL, Follower, drop, of_kinds
from ._http.request import Request, server_at
from ._http.sse import Parser, frame
from ._naming import options_on_wire
from .errors import RiverrunError
from .options import Enqueued, Event, NewJob, Page, Redriven, Started

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

    from .options import (
        CallOptions,
        ChildQuery,
        EnqueueOptions,
        EventQuery,
        JobFilter,
        JobQuery,
        Moment,
        RunQuery,
        StartOptions,
    )


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
        self._http = streams.Http(server_at(url, token, headers), timeout)
        #: Every operation of the server's HTTP API.
        self.api = AsyncApi(self._http)
        self.flows = AsyncFlows(self._http)
        self.triggers = AsyncTriggers(self._http)
        self.schedules = AsyncSchedules(self._http)
        self.workers = AsyncWorkers(self._http)

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
        create: bool = False,
        **options: Unpack[EnqueueOptions],
    ) -> Enqueued:
        """Adds a job. When this returns it is on disk.

        `create` makes the queue although no process takes its jobs yet.
        """
        request = calls.enqueue(queue, data, name, create, options)
        return calls.enqueued(await self._http.send(request))[0]

    async def enqueue_many(
        self, queue: str, jobs: Sequence[NewJob | Mapping[str, Any]], *, create: bool = False
    ) -> list[Enqueued]:
        """Adds several jobs to a queue: all of them or none."""
        if not jobs:
            return []
        return calls.enqueued(await self._http.send(calls.enqueue_many(queue, jobs, create)))

    async def job(self, job_id: str) -> dict[str, Any]:
        result: dict[str, Any] = await self._http.send(requests.get_job(job_id))
        return result

    async def jobs(
        self,
        queue: str,
        **query: Unpack[JobQuery],
    ) -> Page[dict[str, Any]]:
        """A page of a queue's jobs.

        It may hold fewer than `limit`, even none, although more follow: `next_cursor` says so.
        """
        return calls.page(await self._http.send(calls.jobs(queue, query)))

    async def find_jobs(
        self, *, queue: str | None = None, **query: Unpack[JobQuery]
    ) -> Page[dict[str, Any]]:
        """A page of the jobs of all queues, one queue after the other, or of one."""
        return calls.page(await self._http.send(calls.find_jobs({"queue": queue, **query})))

    async def run_jobs(
        self,
        *,
        flow: str | None = None,
        status: str | Sequence[str] | None = None,
        stalled: bool | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[dict[str, Any]]:
        """A page of the jobs that drive runs which have not ended.

        `stalled`: those that were to move by themselves longer than a lease ago.
        """
        query = {
            "flow": flow,
            "status": status,
            "stalled": stalled,
            "limit": limit,
            "cursor": cursor,
        }
        return calls.page(await self._http.send(calls.run_jobs(query)))

    async def retry_job(self, job_id: str) -> Any:
        """Queues an ended job again, from its first attempt."""
        return await self._http.send(requests.retry_job(job_id))

    async def cancel_job(self, job_id: str, reason: str | None = None) -> Any:
        return await self._http.send(
            requests.cancel_job(job_id, options_on_wire({"reason": reason}))
        )

    async def promote_job(self, job_id: str) -> Any:
        """Lets a delayed job start now."""
        return await self._http.send(requests.promote_job(job_id))

    async def update_job(
        self, job_id: str, *, priority: int | None = None, delay_ms: int | None = None
    ) -> dict[str, Any]:
        """Changes a job that has not started."""
        request = requests.change_job(
            job_id, options_on_wire({"priority": priority, "delay_ms": delay_ms})
        )
        result: dict[str, Any] = await self._http.send(request)
        return result

    async def remove_job(self, job_id: str) -> None:
        """Removes a job that is not running."""
        await self._http.send(requests.remove_job(job_id))

    async def wait_job(self, job_id: str, timeout: float | None = None) -> dict[str, Any]:
        """Waits until a job has ended, and returns it. Raises `TimeoutError` past `timeout` s."""
        await self._until_end(
            requests.follow_stream("job", job_id), Deadline(timeout, f"job {job_id}")
        )
        return await self.job(job_id)

    async def queues(self) -> list[dict[str, Any]]:
        return list(calls.page(await self._http.send(requests.list_queues())))

    async def queue(self, name: str) -> dict[str, Any]:
        result: dict[str, Any] = await self._http.send(requests.get_queue(name))
        return result

    async def pause_queue(self, name: str) -> Any:
        return await self._http.send(requests.pause_queue(name))

    async def resume_queue(self, name: str) -> Any:
        return await self._http.send(requests.resume_queue(name))

    async def clear_queue(self, name: str, *, delayed: bool = False) -> int:
        """Removes waiting jobs, and with `delayed` also delayed ones.

        Returns how many it removed.
        """
        answer = await self._http.send(requests.clear_queue(name, {"delayed": delayed}))
        return int(answer["removed"])

    async def drain_queue(self, name: str, *, delayed: bool = False) -> int:
        """The older name of `clear_queue`."""
        return await self.clear_queue(name, delayed=delayed)

    async def clean_queue(
        self,
        name: str,
        *,
        status: str | None = None,
        state: str | None = None,
        older_than_ms: int | None = None,
        limit: int | None = None,
        filter: JobFilter | None = None,
    ) -> int:
        """Removes ended jobs (`status`: completed by default); returns their number.

        `state` is the older name of `status`.
        """
        options = {
            "status": status or state or "completed",
            "older_than_ms": older_than_ms,
            "limit": limit,
            "filter": filter,
        }
        request = requests.clean_queue(name, options_on_wire(options))
        return int((await self._http.send(request))["removed"])

    async def dead_letters(
        self,
        queue: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        filter: JobFilter | None = None,
    ) -> Page[dict[str, Any]]:
        """A page of dead letters, newest first: those that the query selects."""
        return calls.page(await self._http.send(calls.dead_letters(queue, limit, cursor, filter)))

    async def redrive(
        self,
        queue: str,
        *,
        limit: int | None = None,
        per_second: int | None = None,
        filter: JobFilter | None = None,
    ) -> Redriven:
        """Queues dead letters again, from their first attempt, the newest first.

        Those that had failed by now, each once, at most `per_second` of them a second. What takes
        longer than a few seconds continues in the background, and `goes_on` is then true.
        """
        options = {"limit": limit, "per_second": per_second, "filter": filter}
        request = requests.redrive(queue, options_on_wire(options))
        return calls.redriven(await self._http.send(request))

    async def purge_dead_letters(
        self,
        queue: str,
        *,
        older_than_ms: int | None = None,
        limit: int | None = None,
        filter: JobFilter | None = None,
    ) -> int:
        """Removes dead letters; returns their number."""
        options = {"older_than_ms": older_than_ms, "limit": limit, "filter": filter}
        request = requests.purge(queue, options_on_wire(options))
        return int((await self._http.send(request))["removed"])

    async def call(self, process: str, input: Any = None, **options: Unpack[CallOptions]) -> Any:
        """Executes a process at once and returns its result."""
        answer = await self._http.send(calls.call(process, input, options))
        return answer.get("value")

    async def call_frames(
        self, process: str, input: Any = None, **options: Unpack[CallOptions]
    ) -> AsyncGenerator[dict[str, Any], None]:
        """Runs a process at once and gives its frames as they come; see `Client.call_frames`."""
        parser = Parser()
        request = calls.call_frames(process, input, options)
        async with aclosing(self._http.stream(request)) as body:
            async for data in body:
                for message in parser.feed(data):
                    yield frame(message.event, message.data)

    async def start(self, flow: str, input: Any = None, **options: Unpack[StartOptions]) -> Started:
        """Starts a run of a flow. When this returns it is on disk."""
        return Started.from_wire(await self._http.send(calls.start(flow, input, options)))

    async def start_and_wait(
        self,
        flow: str,
        input: Any = None,
        *,
        timeout: float | None = None,
        **options: Unpack[StartOptions],
    ) -> dict[str, Any]:
        """Starts a run and waits until it has ended. Raises `TimeoutError` past `timeout` s."""
        started = time.monotonic()
        request = calls.start_and_wait(flow, input, options, timeout)
        run: dict[str, Any] = await self._http.send(request)
        if "endedAt" in run:
            return run
        left = None if timeout is None else max(0.0, started + timeout - time.monotonic())
        return await self.wait(run["runId"], left)

    async def run(self, run_id: str) -> dict[str, Any]:
        """A run with its state."""
        result: dict[str, Any] = await self._http.send(requests.get_run(run_id))
        return result

    async def runs(self, **query: Unpack[RunQuery]) -> Page[dict[str, Any]]:
        """A page of runs, the newest first."""
        return calls.page(await self._http.send(requests.list_runs(**query)))

    async def state(self, run_id: str, at: Moment | None = None) -> dict[str, Any]:
        """The state now, or after an event (its id), or at a time."""
        result: dict[str, Any] = await self._http.send(requests.run_state(run_id, at=at))
        return result

    async def history(
        self, run_id: str, *, limit: int | None = None, cursor: str | None = None
    ) -> Page[dict[str, Any]]:
        """A page of the ended attempts of steps, in the order of their ends."""
        request = requests.run_history(run_id, limit=limit, cursor=cursor)
        return calls.page(await self._http.send(request))

    async def story(
        self, correlation_id: str, *, limit: int | None = None, cursor: str | None = None
    ) -> Page[dict[str, Any]]:
        """A page of all events with one correlation id, across runs, jobs and triggers."""
        request = requests.get_story(correlation_id, limit=limit, cursor=cursor)
        return calls.page(await self._http.send(request))

    async def unheard(self) -> Any:
        """The number of events without a subscriber, by type."""
        return await self._http.send(requests.get_unheard())

    async def awaits(self) -> Any:
        """The numbers of open awaits, open callbacks, and events that are not evaluated yet."""
        return await self._http.send(requests.get_await_stats())

    async def children(self, run_id: str, **query: Unpack[ChildQuery]) -> Page[dict[str, Any]]:
        """A page of the runs that the steps of a run started."""
        return calls.page(await self._http.send(requests.run_children(run_id, **query)))

    async def events(self, stream: str, **query: Unpack[EventQuery]) -> Page[Event]:
        """A page of the events of a run, by its id, or of a stream, by a name like `nq:global`."""
        return calls.page(await self._http.send(calls.events(stream, query)))

    async def why(self, run_id: str) -> dict[str, Any]:
        """Why a run or a job does not continue: each active visit and what it waits for."""
        result: dict[str, Any] = await self._http.send(requests.run_why(run_id))
        return result

    async def fire(self, trigger_id: str, payload: Any = None, *, secret: str | None = None) -> Any:
        """Resumes the step that waits for a callback: it continues with the payload.

        One that was made with a secret wants it: the payload is signed with it. `triggers.fire`
        starts a flow.
        """
        return await self._http.send(calls.fire(trigger_id, payload, secret))

    async def cancel(self, run_id: str, reason: str | None = None) -> Any:
        """Cancels a run and its children: active work gets the stop signal, waiting work ends."""
        return await self._http.send(
            requests.cancel_run(run_id, options_on_wire({"reason": reason}))
        )

    async def pause(self, run_id: str, reason: str | None = None) -> Any:
        """Starts no more steps of a run until it is resumed; active attempts finish."""
        return await self._http.send(
            requests.pause_run(run_id, options_on_wire({"reason": reason}))
        )

    async def resume(self, run_id: str) -> Any:
        return await self._http.send(requests.resume_run(run_id))

    async def rerun(self, run_id: str, input: Any = None, *, latest: bool = False) -> Started:
        """Starts the flow again: with the same or another input, in its version or the latest."""
        request = requests.rerun_run(run_id, options_on_wire({"input": input, "latest": latest}))
        return Started.from_wire(await self._http.send(request))

    async def fork(self, run_id: str, *, at: str | None = None) -> Started:
        """A new run that shares the events of this one up to `at`, or up to now."""
        return Started.from_wire(
            await self._http.send(requests.fork_run(run_id, options_on_wire({"at": at})))
        )

    async def delete_run(self, run_id: str) -> None:
        """Deletes a run that has ended, with its stream."""
        await self._http.send(requests.delete_run(run_id))

    async def wait(self, run_id: str, timeout: float | None = None) -> dict[str, Any]:
        """Waits until a run has ended, and returns it. Raises `TimeoutError` past `timeout` s."""
        await self._until_end(requests.follow_run(run_id), Deadline(timeout, f"run {run_id}"))
        return await self.run(run_id)

    async def _until_end(self, request: Request, deadline: Deadline) -> None:
        """Reads a stream to its end, over lost connections too."""
        try:
            await asyncio.wait_for(self._read_to_end(request), deadline.timeout)
        except (asyncio.TimeoutError, TimeoutError):
            raise deadline.over() from None

    async def _read_to_end(self, request: Request) -> None:
        follower = Follower(request, "end", FINAL, until_end=True)
        while not follower.is_over:
            try:
                body = self._http.stream(follower.connect())
                async with aclosing(body):
                    async for data in body:
                        drop(follower.feed(data))
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
        idempotency_key: str | None = None,
        tenant_id: str | None = None,
    ) -> str:
        """Appends an event to a run, to a stream, or to `nq:global`; returns its id. The same
        idempotency key again, for the same stream, stores nothing and returns the first id."""
        more = {
            "correlation_id": correlation_id,
            "causation_id": causation_id,
            "idempotency_key": idempotency_key,
            "tenant_id": tenant_id,
        }
        answer = await self._http.send(calls.emit(type, data, run_id, stream, more))
        return str(answer["ids"][0])

    async def append(
        self, type: str, id: str, events: Mapping[str, Any] | Sequence[Mapping[str, Any]]
    ) -> list[str]:
        """Appends events to a stream, all of them or none; returns their ids.

        `append("webhook", "github", {"type": "pushed"})`; `flow` and a run's id is a run.
        """
        answer = await self._http.send(calls.append(type, id, events))
        return [str(one) for one in answer["ids"]]

    async def processes(self) -> list[dict[str, Any]]:
        """The processes of the server, and those whose file does not load."""
        return calls.records(await self._http.send(requests.list_processes()))

    async def version(self) -> dict[str, Any]:
        result: dict[str, Any] = await self._http.send(requests.version())
        return result

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
        follower = Follower(calls.follow(stream), after, types, until_end, on_missed)
        async with aclosing(self._follow(follower)) as events:
            async for event in events:
                yield event

    async def on_kind(
        self, kinds: str | Sequence[str], *, after: str | None = None
    ) -> AsyncGenerator[Event, None]:
        """All events of some kinds, of every run and stream; see `Client.on_kind`."""
        async with aclosing(self._follow(of_kinds(kinds, after))) as events:
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
