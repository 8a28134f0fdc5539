"""The client of a riverrun server.

`Client` blocks, `AsyncClient` is awaited; both have the same methods. Failures of the server are
raised as `HttpError` with its stable code, a server that cannot be reached as `RiverrunError` with
the code `UNREACHABLE`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ._api import requests
from ._api.operations import Api
from ._groups.flows import Flows
from ._groups.schedules import Schedules
from ._groups.triggers import Triggers
from ._groups.workers import Workers
from ._http import blocking, calls
from ._http.deadline import Deadline
from ._http.follow import FINAL, Follower, drop, of_kinds
from ._http.request import Request, server_at
from ._http.sse import Parser, frame
from ._naming import options_on_wire
from .async_client import AsyncClient
from .errors import HttpError, RiverrunError
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

__all__ = ["AsyncClient", "Client", "Event", "HttpError"]


class Client:
    """A client of a server, for any number of threads.

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
        self._http = blocking.Http(server_at(url, token, headers), timeout)
        #: Every operation of the server's HTTP API.
        self.api = Api(self._http)
        self.flows = Flows(self._http)
        self.triggers = Triggers(self._http)
        self.schedules = Schedules(self._http)
        self.workers = Workers(self._http)

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
        create: bool = False,
        **options: Unpack[EnqueueOptions],
    ) -> Enqueued:
        """Adds a job. When this returns it is on disk.

        `create` makes the queue although no process takes its jobs yet.
        """
        request = calls.enqueue(queue, data, name, create, options)
        return calls.enqueued(self._http.send(request))[0]

    def enqueue_many(
        self, queue: str, jobs: Sequence[NewJob | Mapping[str, Any]], *, create: bool = False
    ) -> list[Enqueued]:
        """Adds several jobs to a queue: all of them or none."""
        if not jobs:
            return []
        return calls.enqueued(self._http.send(calls.enqueue_many(queue, jobs, create)))

    def job(self, job_id: str) -> dict[str, Any]:
        result: dict[str, Any] = self._http.send(requests.get_job(job_id))
        return result

    def jobs(
        self,
        queue: str,
        **query: Unpack[JobQuery],
    ) -> Page[dict[str, Any]]:
        """A page of a queue's jobs.

        It may hold fewer than `limit`, even none, although more follow: `next_cursor` says so.
        """
        return calls.page(self._http.send(calls.jobs(queue, query)))

    def find_jobs(
        self, *, queue: str | None = None, **query: Unpack[JobQuery]
    ) -> Page[dict[str, Any]]:
        """A page of the jobs of all queues, one queue after the other, or of one."""
        return calls.page(self._http.send(calls.find_jobs({"queue": queue, **query})))

    def run_jobs(
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
        return calls.page(self._http.send(calls.run_jobs(query)))

    def retry_job(self, job_id: str) -> Any:
        """Queues an ended job again, from its first attempt."""
        return self._http.send(requests.retry_job(job_id))

    def cancel_job(self, job_id: str, reason: str | None = None) -> Any:
        return self._http.send(requests.cancel_job(job_id, options_on_wire({"reason": reason})))

    def promote_job(self, job_id: str) -> Any:
        """Lets a delayed job start now."""
        return self._http.send(requests.promote_job(job_id))

    def update_job(
        self, job_id: str, *, priority: int | None = None, delay_ms: int | None = None
    ) -> dict[str, Any]:
        """Changes a job that has not started."""
        request = requests.change_job(
            job_id, options_on_wire({"priority": priority, "delay_ms": delay_ms})
        )
        result: dict[str, Any] = self._http.send(request)
        return result

    def remove_job(self, job_id: str) -> None:
        """Removes a job that is not running."""
        self._http.send(requests.remove_job(job_id))

    def wait_job(self, job_id: str, timeout: float | None = None) -> dict[str, Any]:
        """Waits until a job has ended, and returns it. Raises `TimeoutError` past `timeout` s."""
        self._until_end(requests.follow_stream("job", job_id), Deadline(timeout, f"job {job_id}"))
        return self.job(job_id)

    def queues(self) -> list[dict[str, Any]]:
        return list(calls.page(self._http.send(requests.list_queues())))

    def queue(self, name: str) -> dict[str, Any]:
        result: dict[str, Any] = self._http.send(requests.get_queue(name))
        return result

    def pause_queue(self, name: str) -> Any:
        return self._http.send(requests.pause_queue(name))

    def resume_queue(self, name: str) -> Any:
        return self._http.send(requests.resume_queue(name))

    def clear_queue(self, name: str, *, delayed: bool = False) -> int:
        """Removes waiting jobs, and with `delayed` also delayed ones.

        Returns how many it removed.
        """
        answer = self._http.send(requests.clear_queue(name, {"delayed": delayed}))
        return int(answer["removed"])

    def drain_queue(self, name: str, *, delayed: bool = False) -> int:
        """The older name of `clear_queue`."""
        return self.clear_queue(name, delayed=delayed)

    def clean_queue(
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
        return int((self._http.send(request))["removed"])

    def dead_letters(
        self,
        queue: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        filter: JobFilter | None = None,
    ) -> Page[dict[str, Any]]:
        """A page of dead letters, newest first: those that the query selects."""
        return calls.page(self._http.send(calls.dead_letters(queue, limit, cursor, filter)))

    def redrive(
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
        return calls.redriven(self._http.send(request))

    def purge_dead_letters(
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
        return int((self._http.send(request))["removed"])

    def call(self, process: str, input: Any = None, **options: Unpack[CallOptions]) -> Any:
        """Executes a process at once and returns its result."""
        answer = self._http.send(calls.call(process, input, options))
        return answer.get("value")

    def call_frames(
        self, process: str, input: Any = None, **options: Unpack[CallOptions]
    ) -> Generator[dict[str, Any], None, None]:
        """Executes a process at once and yields its frames as they come, each with its `type`.

        The last is `result`, `error` or `cancelled`.
        """
        parser = Parser()
        request = calls.call_frames(process, input, options)
        with closing(self._http.stream(request)) as body:
            for data in body:
                for message in parser.feed(data):
                    yield frame(message.event, message.data)

    def start(self, flow: str, input: Any = None, **options: Unpack[StartOptions]) -> Started:
        """Starts a run of a flow. When this returns it is on disk."""
        return Started.from_wire(self._http.send(calls.start(flow, input, options)))

    def start_and_wait(
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
        run: dict[str, Any] = self._http.send(request)
        if "endedAt" in run:
            return run
        left = None if timeout is None else max(0.0, started + timeout - time.monotonic())
        return self.wait(run["runId"], left)

    def run(self, run_id: str) -> dict[str, Any]:
        """A run with its state."""
        result: dict[str, Any] = self._http.send(requests.get_run(run_id))
        return result

    def runs(self, **query: Unpack[RunQuery]) -> Page[dict[str, Any]]:
        """A page of runs, the newest first."""
        return calls.page(self._http.send(requests.list_runs(**query)))

    def state(self, run_id: str, at: Moment | None = None) -> dict[str, Any]:
        """The state now, or after an event (its id), or at a time."""
        result: dict[str, Any] = self._http.send(requests.run_state(run_id, at=at))
        return result

    def history(
        self, run_id: str, *, limit: int | None = None, cursor: str | None = None
    ) -> Page[dict[str, Any]]:
        """A page of the ended attempts of steps, in the order of their ends."""
        request = requests.run_history(run_id, limit=limit, cursor=cursor)
        return calls.page(self._http.send(request))

    def story(
        self, correlation_id: str, *, limit: int | None = None, cursor: str | None = None
    ) -> Page[dict[str, Any]]:
        """A page of all events with one correlation id, across runs, jobs and triggers."""
        request = requests.get_story(correlation_id, limit=limit, cursor=cursor)
        return calls.page(self._http.send(request))

    def unheard(self) -> Any:
        """The number of events without a subscriber, by type."""
        return self._http.send(requests.get_unheard())

    def awaits(self) -> Any:
        """The numbers of open awaits, open callbacks, and events that are not evaluated yet."""
        return self._http.send(requests.get_await_stats())

    def children(self, run_id: str, **query: Unpack[ChildQuery]) -> Page[dict[str, Any]]:
        """A page of the runs that the steps of a run started."""
        return calls.page(self._http.send(requests.run_children(run_id, **query)))

    def events(self, stream: str, **query: Unpack[EventQuery]) -> Page[Event]:
        """A page of the events of a run, by its id, or of a stream, by a name like `nq:global`."""
        return calls.page(self._http.send(calls.events(stream, query)))

    def why(self, run_id: str) -> dict[str, Any]:
        """Why a run or a job does not continue: each active visit and what it waits for."""
        result: dict[str, Any] = self._http.send(requests.run_why(run_id))
        return result

    def fire(self, trigger_id: str, payload: Any = None, *, secret: str | None = None) -> Any:
        """Resumes the step that waits for a callback: it continues with the payload.

        One that was made with a secret wants it: the payload is signed with it. `triggers.fire`
        starts a flow.
        """
        return self._http.send(calls.fire(trigger_id, payload, secret))

    def cancel(self, run_id: str, reason: str | None = None) -> Any:
        """Cancels a run and its children: active work gets the stop signal, waiting work ends."""
        return self._http.send(requests.cancel_run(run_id, options_on_wire({"reason": reason})))

    def pause(self, run_id: str, reason: str | None = None) -> Any:
        """Starts no more steps of a run until it is resumed; active attempts finish."""
        return self._http.send(requests.pause_run(run_id, options_on_wire({"reason": reason})))

    def resume(self, run_id: str) -> Any:
        return self._http.send(requests.resume_run(run_id))

    def rerun(self, run_id: str, input: Any = None, *, latest: bool = False) -> Started:
        """Starts the flow again: with the same or another input, in its version or the latest."""
        request = requests.rerun_run(run_id, options_on_wire({"input": input, "latest": latest}))
        return Started.from_wire(self._http.send(request))

    def fork(self, run_id: str, *, at: str | None = None) -> Started:
        """A new run that shares the events of this one up to `at`, or up to now."""
        return Started.from_wire(
            self._http.send(requests.fork_run(run_id, options_on_wire({"at": at})))
        )

    def delete_run(self, run_id: str) -> None:
        """Deletes a run that has ended, with its stream."""
        self._http.send(requests.delete_run(run_id))

    def wait(self, run_id: str, timeout: float | None = None) -> dict[str, Any]:
        """Waits until a run has ended, and returns it. Raises `TimeoutError` past `timeout` s."""
        self._until_end(requests.follow_run(run_id), Deadline(timeout, f"run {run_id}"))
        return self.run(run_id)

    def _until_end(self, request: Request, deadline: Deadline) -> None:
        """Reads a stream to its end, over lost connections too."""
        follower = Follower(request, "end", FINAL, until_end=True)
        while not follower.is_over:
            try:
                body = self._http.stream(follower.connect(), deadline.patience_s)
                with closing(body):
                    for data in body:
                        drop(follower.feed(data))
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
        answer = self._http.send(calls.emit(type, data, run_id, stream, more))
        return str(answer["ids"][0])

    def append(
        self, type: str, id: str, events: Mapping[str, Any] | Sequence[Mapping[str, Any]]
    ) -> list[str]:
        """Appends events to a stream, all of them or none; returns their ids.

        `append("webhook", "github", {"type": "pushed"})`; `flow` and a run's id is a run.
        """
        answer = self._http.send(calls.append(type, id, events))
        return [str(one) for one in answer["ids"]]

    def processes(self) -> list[dict[str, Any]]:
        """The processes of the server, and those whose file does not load."""
        return calls.records(self._http.send(requests.list_processes()))

    def version(self) -> dict[str, Any]:
        result: dict[str, Any] = self._http.send(requests.version())
        return result

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
        yield from self._follow(Follower(calls.follow(stream), after, types, until_end, on_missed))

    def on_kind(
        self, kinds: str | Sequence[str], *, after: str | None = None
    ) -> Generator[Event, None, None]:
        """All events of some types, of every run and stream, as they happen.

        `order` takes every `order.*`. Each event also has its `stream`, and its `cursor`: give the
        last one as `after` to go on where you were. Without it, begins with what happens from now
        on; `after="start"` shows everything that is kept.
        """
        yield from self._follow(of_kinds(kinds, after))

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
