# Generated from crates/api/openapi.json. Do not edit: run `make clients`.

"""Each operation as a method, for both kinds of client."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from . import requests

if TYPE_CHECKING:
    from .._http import blocking, streams
    from .._http.request import Text
    from . import types


class Api:
    """The HTTP API of a server: a method for each operation."""

    def __init__(self, http: blocking.Http) -> None:
        self._http = http

    def get_await_stats(self) -> types.AwaitStats:
        """Count awaits.

        How many wait for events and at doors, and how many events wait to be judged: those of
        which only an expression (`where`), or an event trigger, can tell whom they concern.
        `why` says what one run waits for.
        """
        request = requests.get_await_stats()
        answer: types.AwaitStats = self._http.send(request)
        return answer

    def events_of_kind(
        self,
        kind: Text,
        *,
        from_: Text | None = None,
        cursor: Text | None = None,
        limit: int | None = None,
    ) -> types.EventsOfKind:
        """Read or follow events of a kind.

        All events of these kinds, of whatever run or stream, in the order in which they were
        stored. Each also names its `stream` and its `cursor`. With `Accept: text/event-stream`
        they are followed live: `id` is the cursor to go on after, `event` the type, `data` the
        event.
        """
        request = requests.events_of_kind(kind, from_=from_, cursor=cursor, limit=limit)
        answer: types.EventsOfKind = self._http.send(request)
        return answer

    def emit_event(
        self, body: types.EmittedEvent, *, idempotency_key: str | None = None
    ) -> types.Appended:
        """Emit an event.

        To a run, to a stream, or to `nq:global`. With an idempotency key it is stored once,
        however often it is sent: the same key again, for the same stream, answers with the
        first. Keys are remembered as long as emitted events are: 7 days, unless
        `retention.emitted` says otherwise.
        """
        request = requests.emit_event(body, idempotency_key=idempotency_key)
        answer: types.Appended = self._http.send(request)
        return answer

    def get_unheard(self) -> types.Unheard:
        """Count events that nobody reacted to.

        An event that was emitted while no step, await or trigger was there for it is stored and
        can be read like any other (`GET /api/events?kind=`); here it is counted. Kinds that did
        not come for a day are only part of `total`.
        """
        request = requests.get_unheard()
        answer: types.Unheard = self._http.send(request)
        return answer

    def stream_events(
        self,
        stream: str,
        *,
        limit: int | None = None,
        cursor: Text | None = None,
        from_: Text | None = None,
        direction: Literal["forward", "backward", "asc", "desc"] | None = None,
        type: Text | None = None,
        step: Text | None = None,
        since: Text | None = None,
        until: Text | None = None,
    ) -> types.EventList:
        """Read a stream."""
        request = requests.stream_events(
            stream,
            limit=limit,
            cursor=cursor,
            from_=from_,
            direction=direction,
            type=type,
            step=step,
            since=since,
            until=until,
        )
        answer: types.EventList = self._http.send(request)
        return answer

    def list_streams(
        self,
        type: str,
        *,
        name: Text | None = None,
        limit: int | None = None,
        cursor: Text | None = None,
    ) -> types.StreamList:
        """List the streams of a type.

        For `flow` the runs, each with its id as `id` too.
        """
        request = requests.list_streams(type, name=name, limit=limit, cursor=cursor)
        answer: types.StreamList = self._http.send(request)
        return answer

    def get_stream(
        self, type: str, id: str, *, limit: int | None = None, cursor: Text | None = None
    ) -> types.StreamView | types.Run:
        """Read what a stream reduces to.

        For `flow` the run; for other types what the stream begins and ends with, and a page of
        its events; for `trigger` also the `state` that they reduce to. A job's stream holds its
        life (`job.added`, `job.active`, `job.completed` …) and what its handler said, in order.
        """
        request = requests.get_stream(type, id, limit=limit, cursor=cursor)
        answer: types.StreamView | types.Run = self._http.send(request)
        return answer

    def append_events(
        self, type: str, id: str, body: types.NewEvents, *, idempotency_key: str | None = None
    ) -> types.Appended:
        """Append events.

        One event or a list of them: all or none. What became of a run and its steps (`flow.*`,
        `step.*`) only the engine may say.
        """
        request = requests.append_events(type, id, body, idempotency_key=idempotency_key)
        answer: types.Appended = self._http.send(request)
        return answer

    def list_executions(
        self,
        *,
        status: Text | None = None,
        flow: Text | None = None,
        version: Text | None = None,
        tag: Text | None = None,
        tags: Text | None = None,
        tenant: Text | None = None,
        parent: Text | None = None,
        prefix: Text | None = None,
        since: Text | None = None,
        until: Text | None = None,
        order: Literal["asc", "desc"] | None = None,
        limit: int | None = None,
        cursor: Text | None = None,
    ) -> types.ExecutionList:
        """List executions.

        Runs in FlowMonkey's shape. `/api/runs` is cheaper: it does not read every run's state.
        """
        request = requests.list_executions(
            status=status,
            flow=flow,
            version=version,
            tag=tag,
            tags=tags,
            tenant=tenant,
            parent=parent,
            prefix=prefix,
            since=since,
            until=until,
            order=order,
            limit=limit,
            cursor=cursor,
        )
        answer: types.ExecutionList = self._http.send(request)
        return answer

    def get_execution(self, id: str, *, history: bool | None = None) -> types.Execution:
        """Read an execution."""
        request = requests.get_execution(id, history=history)
        answer: types.Execution = self._http.send(request)
        return answer

    def execution_events(
        self,
        id: str,
        *,
        limit: int | None = None,
        cursor: Text | None = None,
        from_: Text | None = None,
        direction: Literal["forward", "backward", "asc", "desc"] | None = None,
        type: Text | None = None,
        step: Text | None = None,
        since: Text | None = None,
        until: Text | None = None,
    ) -> types.EventList:
        """Read an execution's events."""
        request = requests.execution_events(
            id,
            limit=limit,
            cursor=cursor,
            from_=from_,
            direction=direction,
            type=type,
            step=step,
            since=since,
            until=until,
        )
        answer: types.EventList = self._http.send(request)
        return answer

    def execution_jobs(self, id: str) -> types.JobList:
        """List an execution's jobs.

        The run's own, and one for each visit of a step that a process runs.
        """
        request = requests.execution_jobs(id)
        answer: types.JobList = self._http.send(request)
        return answer

    def list_flows(self) -> types.FlowList:
        """List flows.

        The newest version of every flow.
        """
        request = requests.list_flows()
        answer: types.FlowList = self._http.send(request)
        return answer

    def register_flow(self, body: Any) -> types.RegisteredFlow:
        """Register a flow.

        A definition is kept for ever under its id and version. The same definition again changes
        nothing; another one under the same version is refused.
        """
        request = requests.register_flow(body)
        answer: types.RegisteredFlow = self._http.send(request)
        return answer

    def open_door_of_flow(
        self, id: str, body: Any | None = None
    ) -> types.Opened | types.StartedRun:
        """Let a step go on, under the name that the specification has."""
        request = requests.open_door_of_flow(id, body)
        answer: types.Opened | types.StartedRun = self._http.send(request)
        return answer

    def validate_flow(self, body: Any) -> types.Validation:
        """Validate a definition.

        Every issue at once, with its path and rule. Nothing is registered.
        """
        request = requests.validate_flow(body)
        answer: types.Validation = self._http.send(request)
        return answer

    def get_flow(self, id: str, *, version: Text | None = None) -> types.FlowDetail:
        """Read a flow."""
        request = requests.get_flow(id, version=version)
        answer: types.FlowDetail = self._http.send(request)
        return answer

    def flow_diagram(
        self,
        id: str,
        *,
        version: Text | None = None,
        format: Literal["json", "mermaid", "text"] | None = None,
    ) -> types.FlowDiagram:
        """Draw a flow."""
        request = requests.flow_diagram(id, version=version, format=format)
        answer: types.FlowDiagram = self._http.send(request)
        return answer

    def flow_runs(
        self,
        id: str,
        *,
        status: Text | None = None,
        version: Text | None = None,
        tag: Text | None = None,
        tags: Text | None = None,
        tenant: Text | None = None,
        parent: Text | None = None,
        prefix: Text | None = None,
        since: Text | None = None,
        until: Text | None = None,
        order: Literal["asc", "desc"] | None = None,
        limit: int | None = None,
        cursor: Text | None = None,
    ) -> types.RunList:
        """List the runs of a flow.

        The same as `/api/runs?flow=`.
        """
        request = requests.flow_runs(
            id,
            status=status,
            version=version,
            tag=tag,
            tags=tags,
            tenant=tenant,
            parent=parent,
            prefix=prefix,
            since=since,
            until=until,
            order=order,
            limit=limit,
            cursor=cursor,
        )
        answer: types.RunList = self._http.send(request)
        return answer

    def get_flow_run(self, id: str, run: str) -> types.Run:
        """Read a run of a flow.

        The same as `/api/runs/{id}`, for a run of this flow.
        """
        request = requests.get_flow_run(id, run)
        answer: types.Run = self._http.send(request)
        return answer

    def cancel_flow_run(self, id: str, run: str, body: types.ReasonBody | None = None) -> types.Run:
        """Cancel a run of a flow.

        The same as `/api/runs/{id}/cancel`, for a run of this flow.
        """
        request = requests.cancel_flow_run(id, run, body)
        answer: types.Run = self._http.send(request)
        return answer

    def start_run(
        self,
        id: str,
        body: types.StartBody | None = None,
        *,
        wait: int | None = None,
        idempotency_key: str | None = None,
    ) -> types.StartedRun | types.Run:
        """Start a run.

        When this is answered the run is on disk. With `?wait=` the answer is the whole run: 200
        if it has ended, 202 as it stands if the time was over first.
        """
        request = requests.start_run(id, body, wait=wait, idempotency_key=idempotency_key)
        answer: types.StartedRun | types.Run = self._http.send(request)
        return answer

    def flow_versions(self, id: str) -> types.FlowList:
        """List the versions of a flow."""
        request = requests.flow_versions(id)
        answer: types.FlowList = self._http.send(request)
        return answer

    def list_handlers(self) -> types.HandlerList:
        """List handlers."""
        request = requests.list_handlers()
        answer: types.HandlerList = self._http.send(request)
        return answer

    def get_handler(self, kind: str) -> types.HandlerInfo:
        """Read a handler."""
        request = requests.get_handler(kind)
        answer: types.HandlerInfo = self._http.send(request)
        return answer

    def list_jobs(
        self,
        *,
        status: Text | None = None,
        stalled: bool | None = None,
        flow: Text | None = None,
        queue: Text | None = None,
        state: Text | None = None,
        tag: Text | None = None,
        tags: Text | None = None,
        name: Text | None = None,
        key: Text | None = None,
        limit: int | None = None,
        cursor: Text | None = None,
    ) -> types.AnyJobList:
        """List jobs.

        Those of queues; with `status`, `stalled` or `flow` those of runs. A page of some jobs of
        queues only may hold fewer than `limit`, even none, although more follow: `nextCursor`
        says so.
        """
        request = requests.list_jobs(
            status=status,
            stalled=stalled,
            flow=flow,
            queue=queue,
            state=state,
            tag=tag,
            tags=tags,
            name=name,
            key=key,
            limit=limit,
            cursor=cursor,
        )
        answer: types.AnyJobList = self._http.send(request)
        return answer

    def get_job(self, id: str) -> types.Job | types.QueueJob:
        """Read a job.

        A job of a queue, or the one that drives a run, whose id is the run's.
        """
        request = requests.get_job(id)
        answer: types.Job | types.QueueJob = self._http.send(request)
        return answer

    def remove_job(self, id: str) -> None:
        """Remove a job.

        One that runs has to be cancelled first.
        """
        self._http.send(requests.remove_job(id))

    def change_job(self, id: str, body: types.ChangeJobBody) -> types.QueueJob:
        """Change a job that has not begun."""
        request = requests.change_job(id, body)
        answer: types.QueueJob = self._http.send(request)
        return answer

    def cancel_job(self, id: str, body: types.ReasonBody | None = None) -> types.QueueJob:
        """Cancel a job.

        One that waits ends at once; one that runs is told to stop, and stopped. That of a step
        ends with its run.
        """
        request = requests.cancel_job(id, body)
        answer: types.QueueJob = self._http.send(request)
        return answer

    def promote_job(self, id: str) -> types.QueueJob:
        """Let a delayed job begin."""
        request = requests.promote_job(id)
        answer: types.QueueJob = self._http.send(request)
        return answer

    def retry_job(self, id: str) -> types.QueueJob:
        """Try a job again.

        One that has ended waits again, from its first attempt on.
        """
        request = requests.retry_job(id)
        answer: types.QueueJob = self._http.send(request)
        return answer

    def openapi_json(self) -> Any:
        """The OpenAPI document."""
        request = requests.openapi_json()
        answer: Any = self._http.send(request)
        return answer

    def list_processes(self) -> types.ProcessList:
        """List processes.

        What this server can run: queue workers and callables, with their configs. What it cannot
        run, because its file does not load, has an error; an earlier version of it may go on.
        """
        request = requests.list_processes()
        answer: types.ProcessList = self._http.send(request)
        return answer

    def list_queues(self) -> types.QueueList:
        """List queues.

        Every queue that has had a job or has a process, with its counts, rates and latencies.
        """
        request = requests.list_queues()
        answer: types.QueueList = self._http.send(request)
        return answer

    def get_queue(self, name: str) -> types.Queue:
        """Read a queue."""
        request = requests.get_queue(name)
        answer: types.Queue = self._http.send(request)
        return answer

    def clean_queue(self, name: str, body: types.CleanBody | None = None) -> types.Removed:
        """Remove ended jobs."""
        request = requests.clean_queue(name, body)
        answer: types.Removed = self._http.send(request)
        return answer

    def dead_letters(
        self,
        name: str,
        *,
        code: Text | None = None,
        name_: Text | None = None,
        key: Text | None = None,
        tag: Text | None = None,
        before: Text | None = None,
        after: Text | None = None,
        limit: int | None = None,
        cursor: Text | None = None,
    ) -> types.QueueJobList:
        """List the dead letters of a queue.

        Jobs that have failed for good, newest first. A page of some of them only may hold fewer
        than `limit`, even none, although more follow: `nextCursor` says so.
        """
        request = requests.dead_letters(
            name,
            code=code,
            name_=name_,
            key=key,
            tag=tag,
            before=before,
            after=after,
            limit=limit,
            cursor=cursor,
        )
        answer: types.QueueJobList = self._http.send(request)
        return answer

    def purge(self, name: str, body: types.CleanBody | None = None) -> types.Removed:
        """Remove dead letters."""
        request = requests.purge(name, body)
        answer: types.Removed = self._http.send(request)
        return answer

    def redrive(self, name: str, body: types.RedriveBody | None = None) -> types.Redriven:
        """Let dead letters wait again.

        From their first attempt on: those that had failed when this was asked for, each once. Of
        very many the first are counted in the answer, and the others follow in the background.
        """
        request = requests.redrive(name, body)
        answer: types.Redriven = self._http.send(request)
        return answer

    def drain_queue(self, name: str, body: types.DrainBody | None = None) -> types.Drained:
        """Remove everything that waits.

        But for the jobs of steps: their runs wait for them.
        """
        request = requests.drain_queue(name, body)
        answer: types.Drained = self._http.send(request)
        return answer

    def queue_jobs(
        self,
        name: str,
        *,
        state: Text | None = None,
        tag: Text | None = None,
        tags: Text | None = None,
        name_: Text | None = None,
        key: Text | None = None,
        limit: int | None = None,
        cursor: Text | None = None,
    ) -> types.QueueJobList:
        """List the jobs of a queue.

        One state after the other: waiting and delayed ones in the order in which they will
        begin, ended ones newest first.
        """
        request = requests.queue_jobs(
            name, state=state, tag=tag, tags=tags, name_=name_, key=key, limit=limit, cursor=cursor
        )
        answer: types.QueueJobList = self._http.send(request)
        return answer

    def add_jobs(
        self, name: str, body: types.AddJobs, *, create: bool | None = None
    ) -> types.AddedJobs:
        """Add jobs to a queue.

        One job, or several under `jobs`: all of them or none. When this is answered they are on
        disk.
        """
        request = requests.add_jobs(name, body, create=create)
        answer: types.AddedJobs = self._http.send(request)
        return answer

    def pause_queue(self, name: str) -> types.Queue:
        """Pause a queue.

        No job of it begins until it is resumed; those that run are let finish.
        """
        request = requests.pause_queue(name)
        answer: types.Queue = self._http.send(request)
        return answer

    def resume_queue(self, name: str) -> types.Queue:
        """Resume a queue."""
        request = requests.resume_queue(name)
        answer: types.Queue = self._http.send(request)
        return answer

    def execute(self, body: types.ExecuteBody) -> types.Executed:
        """Call a process.

        Runs it at once, without a queue, and answers with its result. With `Accept:
        text/event-stream` its frames come as server-sent events (`log`, `progress`, `partial`,
        `heartbeat`), and last `result`, `error` or `cancelled`.
        """
        request = requests.execute(body)
        answer: types.Executed = self._http.send(request)
        return answer

    def list_runs(
        self,
        *,
        status: Text | None = None,
        flow: Text | None = None,
        version: Text | None = None,
        tag: Text | None = None,
        tags: Text | None = None,
        tenant: Text | None = None,
        parent: Text | None = None,
        prefix: Text | None = None,
        since: Text | None = None,
        until: Text | None = None,
        order: Literal["asc", "desc"] | None = None,
        limit: int | None = None,
        cursor: Text | None = None,
    ) -> types.RunList:
        """List runs."""
        request = requests.list_runs(
            status=status,
            flow=flow,
            version=version,
            tag=tag,
            tags=tags,
            tenant=tenant,
            parent=parent,
            prefix=prefix,
            since=since,
            until=until,
            order=order,
            limit=limit,
            cursor=cursor,
        )
        answer: types.RunList = self._http.send(request)
        return answer

    def import_run(self, body: dict[str, Any]) -> types.StartedRun:
        """Take a run in.

        A line of `riverrun runs export`: `{run, events, awaits}`. The run keeps its id and its
        whole past; one that has not ended goes on here, unless it waits for another run or
        another run for it. What it waits for comes too, and its doors keep their addresses.
        """
        request = requests.import_run(body)
        answer: types.StartedRun = self._http.send(request)
        return answer

    def get_run(self, id: str) -> types.Run:
        """Read a run."""
        request = requests.get_run(id)
        answer: types.Run = self._http.send(request)
        return answer

    def delete_run(self, id: str) -> None:
        """Delete a run.

        An ended one, with its stream.
        """
        self._http.send(requests.delete_run(id))

    def run_awaits(self, id: str, *, secrets: bool | None = None) -> types.RunAwaits:
        """Read what a run waits for.

        As an import wants it: how the events that it waits for are found, and the doors that it
        has made, open or closed. For people `why` says it.
        """
        request = requests.run_awaits(id, secrets=secrets)
        answer: types.RunAwaits = self._http.send(request)
        return answer

    def cancel_run(self, id: str, body: types.ReasonBody | None = None) -> types.Run:
        """Cancel a run.

        For good: what runs is told to stop, what waits is removed, children follow.
        """
        request = requests.cancel_run(id, body)
        answer: types.Run = self._http.send(request)
        return answer

    def run_children(
        self,
        id: str,
        *,
        status: Text | None = None,
        flow: Text | None = None,
        version: Text | None = None,
        tag: Text | None = None,
        tags: Text | None = None,
        tenant: Text | None = None,
        prefix: Text | None = None,
        since: Text | None = None,
        until: Text | None = None,
        order: Literal["asc", "desc"] | None = None,
        limit: int | None = None,
        cursor: Text | None = None,
    ) -> types.RunList:
        """List a run's children.

        The runs that its steps started. The same as `/api/runs?parent=`.
        """
        request = requests.run_children(
            id,
            status=status,
            flow=flow,
            version=version,
            tag=tag,
            tags=tags,
            tenant=tenant,
            prefix=prefix,
            since=since,
            until=until,
            order=order,
            limit=limit,
            cursor=cursor,
        )
        answer: types.RunList = self._http.send(request)
        return answer

    def run_events(
        self,
        id: str,
        *,
        limit: int | None = None,
        cursor: Text | None = None,
        from_: Text | None = None,
        direction: Literal["forward", "backward", "asc", "desc"] | None = None,
        type: Text | None = None,
        step: Text | None = None,
        since: Text | None = None,
        until: Text | None = None,
    ) -> types.EventList:
        """Read a run's events."""
        request = requests.run_events(
            id,
            limit=limit,
            cursor=cursor,
            from_=from_,
            direction=direction,
            type=type,
            step=step,
            since=since,
            until=until,
        )
        answer: types.EventList = self._http.send(request)
        return answer

    def fork_run(
        self, id: str, body: types.ForkBody | None = None, *, wait: int | None = None
    ) -> types.Run | types.StartedRun:
        """Fork a run.

        A new run that shares the past of this one up to an event, and goes its own way from
        there.
        """
        request = requests.fork_run(id, body, wait=wait)
        answer: types.Run | types.StartedRun = self._http.send(request)
        return answer

    def run_history(
        self, id: str, *, limit: int | None = None, cursor: Text | None = None
    ) -> types.HistoryList:
        """Read a run's history.

        One entry for each attempt of a step that has ended, in the order in which they ended.
        """
        request = requests.run_history(id, limit=limit, cursor=cursor)
        answer: types.HistoryList = self._http.send(request)
        return answer

    def run_jobs(self, id: str) -> types.JobList:
        """List a run's jobs."""
        request = requests.run_jobs(id)
        answer: types.JobList = self._http.send(request)
        return answer

    def pause_run(self, id: str, body: types.ReasonBody | None = None) -> types.Run:
        """Pause a run.

        It begins no more steps until it is resumed; attempts that run are let finish.
        """
        request = requests.pause_run(id, body)
        answer: types.Run = self._http.send(request)
        return answer

    def rerun_run(
        self, id: str, body: types.RerunBody | None = None, *, wait: int | None = None
    ) -> types.Run | types.StartedRun:
        """Start the same again.

        A new run of the same flow with the same input, or another one. With `?wait=` the answer
        is the whole run, as where a run is started.
        """
        request = requests.rerun_run(id, body, wait=wait)
        answer: types.Run | types.StartedRun = self._http.send(request)
        return answer

    def resume_run(self, id: str, body: types.ReasonBody | None = None) -> types.Run:
        """Resume a paused run."""
        request = requests.resume_run(id, body)
        answer: types.Run = self._http.send(request)
        return answer

    def run_state(self, id: str, *, at: Text | None = None) -> types.StateAt:
        """Read a run's state.

        As it is, or as it was at any event or time.
        """
        request = requests.run_state(id, at=at)
        answer: types.StateAt = self._http.send(request)
        return answer

    def run_why(self, id: str) -> types.Why:
        """Ask why a run waits.

        The exact reasons for which it does not move, with ids and times: one for each active
        visit, the most telling first. The id may be a job's.
        """
        request = requests.run_why(id)
        answer: types.Why = self._http.send(request)
        return answer

    def list_schedules(
        self, *, limit: int | None = None, cursor: Text | None = None
    ) -> types.TriggerList:
        """List schedules.

        The triggers of type `schedule`, with their next due times.
        """
        request = requests.list_schedules(limit=limit, cursor=cursor)
        answer: types.TriggerList = self._http.send(request)
        return answer

    def backfill_schedule(self, id: str, body: types.BackfillBody) -> types.Backfilled:
        """Start the runs of a range of due times.

        One for each due time from `from` up to, not including, `to` for which there is none. At
        most 1,000 at a time; `nextFrom` says where to go on. A due time whose run cannot be
        started says so in `error`, and holds up no other. Whether a due time before the shortest
        retention of ended runs had its run is not known: such are refused without `forgotten`.
        """
        request = requests.backfill_schedule(id, body)
        answer: types.Backfilled = self._http.send(request)
        return answer

    def get_flow_schema(self) -> Any:
        """Read the schema of definitions.

        JSON Schema of a flow, for editors.
        """
        request = requests.get_flow_schema()
        answer: Any = self._http.send(request)
        return answer

    def get_story(
        self, correlation_id: str, *, limit: int | None = None, cursor: Text | None = None
    ) -> types.EventList:
        """Read a story.

        Everything that has one correlation id, in the order of time: the run, job or call of
        that id; runs and jobs that were given it; their sub-flows; and events of other streams
        that carry it, such as those of triggers. Each event names its `stream`, and what brought
        it about where that is known (`causationId`).
        """
        request = requests.get_story(correlation_id, limit=limit, cursor=cursor)
        answer: types.EventList = self._http.send(request)
        return answer

    def list_triggers(
        self,
        *,
        type: Literal["http", "schedule", "event", "manual"] | None = None,
        limit: int | None = None,
        cursor: Text | None = None,
    ) -> types.TriggerList:
        """List triggers.

        By id.
        """
        request = requests.list_triggers(type=type, limit=limit, cursor=cursor)
        answer: types.TriggerList = self._http.send(request)
        return answer

    def create_trigger(self, body: types.NewTrigger) -> types.Trigger:
        """Make a trigger.

        From now on it starts runs of its flow, unless it is disabled.
        """
        request = requests.create_trigger(body)
        answer: types.Trigger = self._http.send(request)
        return answer

    def get_trigger(self, id: str) -> types.Trigger:
        """Read a trigger."""
        request = requests.get_trigger(id)
        answer: types.Trigger = self._http.send(request)
        return answer

    def open_door(self, id: str, body: Any | None = None) -> types.Opened | types.StartedRun:
        """Let a step go on.

        Opens the door that a step waits at (`ctx.await.trigger`, or `await: {type: trigger}` in
        its config): the body is what the step is given. A door is opened once, unless it was
        made for many. Where no step waits for the id and a trigger has it, that trigger is
        fired, as at `/api/triggers/{id}/fire`, with its body and its answers.
        """
        request = requests.open_door(id, body)
        answer: types.Opened | types.StartedRun = self._http.send(request)
        return answer

    def remove_trigger(self, id: str) -> types.RemovedTrigger:
        """Remove a trigger.

        The runs that it started go on.
        """
        request = requests.remove_trigger(id)
        answer: types.RemovedTrigger = self._http.send(request)
        return answer

    def change_trigger(self, id: str, body: types.ChangedTrigger) -> types.Trigger:
        """Change a trigger.

        Members that are given replace those that are there, those of `config` one by one; null
        takes away. Every change is a new version. With `version` the change is refused unless
        the trigger is in that version.
        """
        request = requests.change_trigger(id, body)
        answer: types.Trigger = self._http.send(request)
        return answer

    def disable_trigger(self, id: str) -> types.Trigger:
        """Disable a trigger.

        It starts nothing until it is enabled.
        """
        request = requests.disable_trigger(id)
        answer: types.Trigger = self._http.send(request)
        return answer

    def enable_trigger(self, id: str) -> types.Trigger:
        """Enable a trigger.

        A schedule goes on with its next due time; what would have been due meanwhile was not
        missed.
        """
        request = requests.enable_trigger(id)
        answer: types.Trigger = self._http.send(request)
        return answer

    def fire_trigger(
        self, id: str, body: types.FireBody | None = None, *, wait: int | None = None
    ) -> types.StartedRun | types.Run:
        """Fire a trigger by hand.

        Starts a run with the input that is given, whatever the trigger's type is. With `?wait=`
        the answer is the whole run, as where a run is started.
        """
        request = requests.fire_trigger(id, body, wait=wait)
        answer: types.StartedRun | types.Run = self._http.send(request)
        return answer

    def trigger_history(
        self, id: str, *, limit: int | None = None, cursor: Text | None = None
    ) -> types.EventList:
        """List what became of a trigger.

        Its last thousand events, the latest first: registered, fired, failed, missed, removed.
        """
        request = requests.trigger_history(id, limit=limit, cursor=cursor)
        answer: types.EventList = self._http.send(request)
        return answer

    def trigger_stats(self, id: str) -> types.TriggerStats:
        """Count what became of a trigger."""
        request = requests.trigger_stats(id)
        answer: types.TriggerStats = self._http.send(request)
        return answer

    def version(self) -> types.Version:
        """Which riverrun?"""
        request = requests.version()
        answer: types.Version = self._http.send(request)
        return answer

    def list_workers(self) -> types.WorkerList:
        """List workers.

        The remote workers that are connected, or may come back.
        """
        request = requests.list_workers()
        answer: types.WorkerList = self._http.send(request)
        return answer

    def drain_worker(self, id: int, body: types.DrainWorkerBody | None = None) -> types.ShownWorker:
        """Drain a worker.

        It gets no more work from now on. When it has ended what it runs, or its time is over,
        its connection ends; what did not end is tried again elsewhere.
        """
        request = requests.drain_worker(id, body)
        answer: types.ShownWorker = self._http.send(request)
        return answer


class AsyncApi:
    """The HTTP API of a server: a method for each operation."""

    def __init__(self, http: streams.Http) -> None:
        self._http = http

    async def get_await_stats(self) -> types.AwaitStats:
        """Count awaits.

        How many wait for events and at doors, and how many events wait to be judged: those of
        which only an expression (`where`), or an event trigger, can tell whom they concern.
        `why` says what one run waits for.
        """
        request = requests.get_await_stats()
        answer: types.AwaitStats = await self._http.send(request)
        return answer

    async def events_of_kind(
        self,
        kind: Text,
        *,
        from_: Text | None = None,
        cursor: Text | None = None,
        limit: int | None = None,
    ) -> types.EventsOfKind:
        """Read or follow events of a kind.

        All events of these kinds, of whatever run or stream, in the order in which they were
        stored. Each also names its `stream` and its `cursor`. With `Accept: text/event-stream`
        they are followed live: `id` is the cursor to go on after, `event` the type, `data` the
        event.
        """
        request = requests.events_of_kind(kind, from_=from_, cursor=cursor, limit=limit)
        answer: types.EventsOfKind = await self._http.send(request)
        return answer

    async def emit_event(
        self, body: types.EmittedEvent, *, idempotency_key: str | None = None
    ) -> types.Appended:
        """Emit an event.

        To a run, to a stream, or to `nq:global`. With an idempotency key it is stored once,
        however often it is sent: the same key again, for the same stream, answers with the
        first. Keys are remembered as long as emitted events are: 7 days, unless
        `retention.emitted` says otherwise.
        """
        request = requests.emit_event(body, idempotency_key=idempotency_key)
        answer: types.Appended = await self._http.send(request)
        return answer

    async def get_unheard(self) -> types.Unheard:
        """Count events that nobody reacted to.

        An event that was emitted while no step, await or trigger was there for it is stored and
        can be read like any other (`GET /api/events?kind=`); here it is counted. Kinds that did
        not come for a day are only part of `total`.
        """
        request = requests.get_unheard()
        answer: types.Unheard = await self._http.send(request)
        return answer

    async def stream_events(
        self,
        stream: str,
        *,
        limit: int | None = None,
        cursor: Text | None = None,
        from_: Text | None = None,
        direction: Literal["forward", "backward", "asc", "desc"] | None = None,
        type: Text | None = None,
        step: Text | None = None,
        since: Text | None = None,
        until: Text | None = None,
    ) -> types.EventList:
        """Read a stream."""
        request = requests.stream_events(
            stream,
            limit=limit,
            cursor=cursor,
            from_=from_,
            direction=direction,
            type=type,
            step=step,
            since=since,
            until=until,
        )
        answer: types.EventList = await self._http.send(request)
        return answer

    async def list_streams(
        self,
        type: str,
        *,
        name: Text | None = None,
        limit: int | None = None,
        cursor: Text | None = None,
    ) -> types.StreamList:
        """List the streams of a type.

        For `flow` the runs, each with its id as `id` too.
        """
        request = requests.list_streams(type, name=name, limit=limit, cursor=cursor)
        answer: types.StreamList = await self._http.send(request)
        return answer

    async def get_stream(
        self, type: str, id: str, *, limit: int | None = None, cursor: Text | None = None
    ) -> types.StreamView | types.Run:
        """Read what a stream reduces to.

        For `flow` the run; for other types what the stream begins and ends with, and a page of
        its events; for `trigger` also the `state` that they reduce to. A job's stream holds its
        life (`job.added`, `job.active`, `job.completed` …) and what its handler said, in order.
        """
        request = requests.get_stream(type, id, limit=limit, cursor=cursor)
        answer: types.StreamView | types.Run = await self._http.send(request)
        return answer

    async def append_events(
        self, type: str, id: str, body: types.NewEvents, *, idempotency_key: str | None = None
    ) -> types.Appended:
        """Append events.

        One event or a list of them: all or none. What became of a run and its steps (`flow.*`,
        `step.*`) only the engine may say.
        """
        request = requests.append_events(type, id, body, idempotency_key=idempotency_key)
        answer: types.Appended = await self._http.send(request)
        return answer

    async def list_executions(
        self,
        *,
        status: Text | None = None,
        flow: Text | None = None,
        version: Text | None = None,
        tag: Text | None = None,
        tags: Text | None = None,
        tenant: Text | None = None,
        parent: Text | None = None,
        prefix: Text | None = None,
        since: Text | None = None,
        until: Text | None = None,
        order: Literal["asc", "desc"] | None = None,
        limit: int | None = None,
        cursor: Text | None = None,
    ) -> types.ExecutionList:
        """List executions.

        Runs in FlowMonkey's shape. `/api/runs` is cheaper: it does not read every run's state.
        """
        request = requests.list_executions(
            status=status,
            flow=flow,
            version=version,
            tag=tag,
            tags=tags,
            tenant=tenant,
            parent=parent,
            prefix=prefix,
            since=since,
            until=until,
            order=order,
            limit=limit,
            cursor=cursor,
        )
        answer: types.ExecutionList = await self._http.send(request)
        return answer

    async def get_execution(self, id: str, *, history: bool | None = None) -> types.Execution:
        """Read an execution."""
        request = requests.get_execution(id, history=history)
        answer: types.Execution = await self._http.send(request)
        return answer

    async def execution_events(
        self,
        id: str,
        *,
        limit: int | None = None,
        cursor: Text | None = None,
        from_: Text | None = None,
        direction: Literal["forward", "backward", "asc", "desc"] | None = None,
        type: Text | None = None,
        step: Text | None = None,
        since: Text | None = None,
        until: Text | None = None,
    ) -> types.EventList:
        """Read an execution's events."""
        request = requests.execution_events(
            id,
            limit=limit,
            cursor=cursor,
            from_=from_,
            direction=direction,
            type=type,
            step=step,
            since=since,
            until=until,
        )
        answer: types.EventList = await self._http.send(request)
        return answer

    async def execution_jobs(self, id: str) -> types.JobList:
        """List an execution's jobs.

        The run's own, and one for each visit of a step that a process runs.
        """
        request = requests.execution_jobs(id)
        answer: types.JobList = await self._http.send(request)
        return answer

    async def list_flows(self) -> types.FlowList:
        """List flows.

        The newest version of every flow.
        """
        request = requests.list_flows()
        answer: types.FlowList = await self._http.send(request)
        return answer

    async def register_flow(self, body: Any) -> types.RegisteredFlow:
        """Register a flow.

        A definition is kept for ever under its id and version. The same definition again changes
        nothing; another one under the same version is refused.
        """
        request = requests.register_flow(body)
        answer: types.RegisteredFlow = await self._http.send(request)
        return answer

    async def open_door_of_flow(
        self, id: str, body: Any | None = None
    ) -> types.Opened | types.StartedRun:
        """Let a step go on, under the name that the specification has."""
        request = requests.open_door_of_flow(id, body)
        answer: types.Opened | types.StartedRun = await self._http.send(request)
        return answer

    async def validate_flow(self, body: Any) -> types.Validation:
        """Validate a definition.

        Every issue at once, with its path and rule. Nothing is registered.
        """
        request = requests.validate_flow(body)
        answer: types.Validation = await self._http.send(request)
        return answer

    async def get_flow(self, id: str, *, version: Text | None = None) -> types.FlowDetail:
        """Read a flow."""
        request = requests.get_flow(id, version=version)
        answer: types.FlowDetail = await self._http.send(request)
        return answer

    async def flow_diagram(
        self,
        id: str,
        *,
        version: Text | None = None,
        format: Literal["json", "mermaid", "text"] | None = None,
    ) -> types.FlowDiagram:
        """Draw a flow."""
        request = requests.flow_diagram(id, version=version, format=format)
        answer: types.FlowDiagram = await self._http.send(request)
        return answer

    async def flow_runs(
        self,
        id: str,
        *,
        status: Text | None = None,
        version: Text | None = None,
        tag: Text | None = None,
        tags: Text | None = None,
        tenant: Text | None = None,
        parent: Text | None = None,
        prefix: Text | None = None,
        since: Text | None = None,
        until: Text | None = None,
        order: Literal["asc", "desc"] | None = None,
        limit: int | None = None,
        cursor: Text | None = None,
    ) -> types.RunList:
        """List the runs of a flow.

        The same as `/api/runs?flow=`.
        """
        request = requests.flow_runs(
            id,
            status=status,
            version=version,
            tag=tag,
            tags=tags,
            tenant=tenant,
            parent=parent,
            prefix=prefix,
            since=since,
            until=until,
            order=order,
            limit=limit,
            cursor=cursor,
        )
        answer: types.RunList = await self._http.send(request)
        return answer

    async def get_flow_run(self, id: str, run: str) -> types.Run:
        """Read a run of a flow.

        The same as `/api/runs/{id}`, for a run of this flow.
        """
        request = requests.get_flow_run(id, run)
        answer: types.Run = await self._http.send(request)
        return answer

    async def cancel_flow_run(
        self, id: str, run: str, body: types.ReasonBody | None = None
    ) -> types.Run:
        """Cancel a run of a flow.

        The same as `/api/runs/{id}/cancel`, for a run of this flow.
        """
        request = requests.cancel_flow_run(id, run, body)
        answer: types.Run = await self._http.send(request)
        return answer

    async def start_run(
        self,
        id: str,
        body: types.StartBody | None = None,
        *,
        wait: int | None = None,
        idempotency_key: str | None = None,
    ) -> types.StartedRun | types.Run:
        """Start a run.

        When this is answered the run is on disk. With `?wait=` the answer is the whole run: 200
        if it has ended, 202 as it stands if the time was over first.
        """
        request = requests.start_run(id, body, wait=wait, idempotency_key=idempotency_key)
        answer: types.StartedRun | types.Run = await self._http.send(request)
        return answer

    async def flow_versions(self, id: str) -> types.FlowList:
        """List the versions of a flow."""
        request = requests.flow_versions(id)
        answer: types.FlowList = await self._http.send(request)
        return answer

    async def list_handlers(self) -> types.HandlerList:
        """List handlers."""
        request = requests.list_handlers()
        answer: types.HandlerList = await self._http.send(request)
        return answer

    async def get_handler(self, kind: str) -> types.HandlerInfo:
        """Read a handler."""
        request = requests.get_handler(kind)
        answer: types.HandlerInfo = await self._http.send(request)
        return answer

    async def list_jobs(
        self,
        *,
        status: Text | None = None,
        stalled: bool | None = None,
        flow: Text | None = None,
        queue: Text | None = None,
        state: Text | None = None,
        tag: Text | None = None,
        tags: Text | None = None,
        name: Text | None = None,
        key: Text | None = None,
        limit: int | None = None,
        cursor: Text | None = None,
    ) -> types.AnyJobList:
        """List jobs.

        Those of queues; with `status`, `stalled` or `flow` those of runs. A page of some jobs of
        queues only may hold fewer than `limit`, even none, although more follow: `nextCursor`
        says so.
        """
        request = requests.list_jobs(
            status=status,
            stalled=stalled,
            flow=flow,
            queue=queue,
            state=state,
            tag=tag,
            tags=tags,
            name=name,
            key=key,
            limit=limit,
            cursor=cursor,
        )
        answer: types.AnyJobList = await self._http.send(request)
        return answer

    async def get_job(self, id: str) -> types.Job | types.QueueJob:
        """Read a job.

        A job of a queue, or the one that drives a run, whose id is the run's.
        """
        request = requests.get_job(id)
        answer: types.Job | types.QueueJob = await self._http.send(request)
        return answer

    async def remove_job(self, id: str) -> None:
        """Remove a job.

        One that runs has to be cancelled first.
        """
        await self._http.send(requests.remove_job(id))

    async def change_job(self, id: str, body: types.ChangeJobBody) -> types.QueueJob:
        """Change a job that has not begun."""
        request = requests.change_job(id, body)
        answer: types.QueueJob = await self._http.send(request)
        return answer

    async def cancel_job(self, id: str, body: types.ReasonBody | None = None) -> types.QueueJob:
        """Cancel a job.

        One that waits ends at once; one that runs is told to stop, and stopped. That of a step
        ends with its run.
        """
        request = requests.cancel_job(id, body)
        answer: types.QueueJob = await self._http.send(request)
        return answer

    async def promote_job(self, id: str) -> types.QueueJob:
        """Let a delayed job begin."""
        request = requests.promote_job(id)
        answer: types.QueueJob = await self._http.send(request)
        return answer

    async def retry_job(self, id: str) -> types.QueueJob:
        """Try a job again.

        One that has ended waits again, from its first attempt on.
        """
        request = requests.retry_job(id)
        answer: types.QueueJob = await self._http.send(request)
        return answer

    async def openapi_json(self) -> Any:
        """The OpenAPI document."""
        request = requests.openapi_json()
        answer: Any = await self._http.send(request)
        return answer

    async def list_processes(self) -> types.ProcessList:
        """List processes.

        What this server can run: queue workers and callables, with their configs. What it cannot
        run, because its file does not load, has an error; an earlier version of it may go on.
        """
        request = requests.list_processes()
        answer: types.ProcessList = await self._http.send(request)
        return answer

    async def list_queues(self) -> types.QueueList:
        """List queues.

        Every queue that has had a job or has a process, with its counts, rates and latencies.
        """
        request = requests.list_queues()
        answer: types.QueueList = await self._http.send(request)
        return answer

    async def get_queue(self, name: str) -> types.Queue:
        """Read a queue."""
        request = requests.get_queue(name)
        answer: types.Queue = await self._http.send(request)
        return answer

    async def clean_queue(self, name: str, body: types.CleanBody | None = None) -> types.Removed:
        """Remove ended jobs."""
        request = requests.clean_queue(name, body)
        answer: types.Removed = await self._http.send(request)
        return answer

    async def dead_letters(
        self,
        name: str,
        *,
        code: Text | None = None,
        name_: Text | None = None,
        key: Text | None = None,
        tag: Text | None = None,
        before: Text | None = None,
        after: Text | None = None,
        limit: int | None = None,
        cursor: Text | None = None,
    ) -> types.QueueJobList:
        """List the dead letters of a queue.

        Jobs that have failed for good, newest first. A page of some of them only may hold fewer
        than `limit`, even none, although more follow: `nextCursor` says so.
        """
        request = requests.dead_letters(
            name,
            code=code,
            name_=name_,
            key=key,
            tag=tag,
            before=before,
            after=after,
            limit=limit,
            cursor=cursor,
        )
        answer: types.QueueJobList = await self._http.send(request)
        return answer

    async def purge(self, name: str, body: types.CleanBody | None = None) -> types.Removed:
        """Remove dead letters."""
        request = requests.purge(name, body)
        answer: types.Removed = await self._http.send(request)
        return answer

    async def redrive(self, name: str, body: types.RedriveBody | None = None) -> types.Redriven:
        """Let dead letters wait again.

        From their first attempt on: those that had failed when this was asked for, each once. Of
        very many the first are counted in the answer, and the others follow in the background.
        """
        request = requests.redrive(name, body)
        answer: types.Redriven = await self._http.send(request)
        return answer

    async def drain_queue(self, name: str, body: types.DrainBody | None = None) -> types.Drained:
        """Remove everything that waits.

        But for the jobs of steps: their runs wait for them.
        """
        request = requests.drain_queue(name, body)
        answer: types.Drained = await self._http.send(request)
        return answer

    async def queue_jobs(
        self,
        name: str,
        *,
        state: Text | None = None,
        tag: Text | None = None,
        tags: Text | None = None,
        name_: Text | None = None,
        key: Text | None = None,
        limit: int | None = None,
        cursor: Text | None = None,
    ) -> types.QueueJobList:
        """List the jobs of a queue.

        One state after the other: waiting and delayed ones in the order in which they will
        begin, ended ones newest first.
        """
        request = requests.queue_jobs(
            name, state=state, tag=tag, tags=tags, name_=name_, key=key, limit=limit, cursor=cursor
        )
        answer: types.QueueJobList = await self._http.send(request)
        return answer

    async def add_jobs(
        self, name: str, body: types.AddJobs, *, create: bool | None = None
    ) -> types.AddedJobs:
        """Add jobs to a queue.

        One job, or several under `jobs`: all of them or none. When this is answered they are on
        disk.
        """
        request = requests.add_jobs(name, body, create=create)
        answer: types.AddedJobs = await self._http.send(request)
        return answer

    async def pause_queue(self, name: str) -> types.Queue:
        """Pause a queue.

        No job of it begins until it is resumed; those that run are let finish.
        """
        request = requests.pause_queue(name)
        answer: types.Queue = await self._http.send(request)
        return answer

    async def resume_queue(self, name: str) -> types.Queue:
        """Resume a queue."""
        request = requests.resume_queue(name)
        answer: types.Queue = await self._http.send(request)
        return answer

    async def execute(self, body: types.ExecuteBody) -> types.Executed:
        """Call a process.

        Runs it at once, without a queue, and answers with its result. With `Accept:
        text/event-stream` its frames come as server-sent events (`log`, `progress`, `partial`,
        `heartbeat`), and last `result`, `error` or `cancelled`.
        """
        request = requests.execute(body)
        answer: types.Executed = await self._http.send(request)
        return answer

    async def list_runs(
        self,
        *,
        status: Text | None = None,
        flow: Text | None = None,
        version: Text | None = None,
        tag: Text | None = None,
        tags: Text | None = None,
        tenant: Text | None = None,
        parent: Text | None = None,
        prefix: Text | None = None,
        since: Text | None = None,
        until: Text | None = None,
        order: Literal["asc", "desc"] | None = None,
        limit: int | None = None,
        cursor: Text | None = None,
    ) -> types.RunList:
        """List runs."""
        request = requests.list_runs(
            status=status,
            flow=flow,
            version=version,
            tag=tag,
            tags=tags,
            tenant=tenant,
            parent=parent,
            prefix=prefix,
            since=since,
            until=until,
            order=order,
            limit=limit,
            cursor=cursor,
        )
        answer: types.RunList = await self._http.send(request)
        return answer

    async def import_run(self, body: dict[str, Any]) -> types.StartedRun:
        """Take a run in.

        A line of `riverrun runs export`: `{run, events, awaits}`. The run keeps its id and its
        whole past; one that has not ended goes on here, unless it waits for another run or
        another run for it. What it waits for comes too, and its doors keep their addresses.
        """
        request = requests.import_run(body)
        answer: types.StartedRun = await self._http.send(request)
        return answer

    async def get_run(self, id: str) -> types.Run:
        """Read a run."""
        request = requests.get_run(id)
        answer: types.Run = await self._http.send(request)
        return answer

    async def delete_run(self, id: str) -> None:
        """Delete a run.

        An ended one, with its stream.
        """
        await self._http.send(requests.delete_run(id))

    async def run_awaits(self, id: str, *, secrets: bool | None = None) -> types.RunAwaits:
        """Read what a run waits for.

        As an import wants it: how the events that it waits for are found, and the doors that it
        has made, open or closed. For people `why` says it.
        """
        request = requests.run_awaits(id, secrets=secrets)
        answer: types.RunAwaits = await self._http.send(request)
        return answer

    async def cancel_run(self, id: str, body: types.ReasonBody | None = None) -> types.Run:
        """Cancel a run.

        For good: what runs is told to stop, what waits is removed, children follow.
        """
        request = requests.cancel_run(id, body)
        answer: types.Run = await self._http.send(request)
        return answer

    async def run_children(
        self,
        id: str,
        *,
        status: Text | None = None,
        flow: Text | None = None,
        version: Text | None = None,
        tag: Text | None = None,
        tags: Text | None = None,
        tenant: Text | None = None,
        prefix: Text | None = None,
        since: Text | None = None,
        until: Text | None = None,
        order: Literal["asc", "desc"] | None = None,
        limit: int | None = None,
        cursor: Text | None = None,
    ) -> types.RunList:
        """List a run's children.

        The runs that its steps started. The same as `/api/runs?parent=`.
        """
        request = requests.run_children(
            id,
            status=status,
            flow=flow,
            version=version,
            tag=tag,
            tags=tags,
            tenant=tenant,
            prefix=prefix,
            since=since,
            until=until,
            order=order,
            limit=limit,
            cursor=cursor,
        )
        answer: types.RunList = await self._http.send(request)
        return answer

    async def run_events(
        self,
        id: str,
        *,
        limit: int | None = None,
        cursor: Text | None = None,
        from_: Text | None = None,
        direction: Literal["forward", "backward", "asc", "desc"] | None = None,
        type: Text | None = None,
        step: Text | None = None,
        since: Text | None = None,
        until: Text | None = None,
    ) -> types.EventList:
        """Read a run's events."""
        request = requests.run_events(
            id,
            limit=limit,
            cursor=cursor,
            from_=from_,
            direction=direction,
            type=type,
            step=step,
            since=since,
            until=until,
        )
        answer: types.EventList = await self._http.send(request)
        return answer

    async def fork_run(
        self, id: str, body: types.ForkBody | None = None, *, wait: int | None = None
    ) -> types.Run | types.StartedRun:
        """Fork a run.

        A new run that shares the past of this one up to an event, and goes its own way from
        there.
        """
        request = requests.fork_run(id, body, wait=wait)
        answer: types.Run | types.StartedRun = await self._http.send(request)
        return answer

    async def run_history(
        self, id: str, *, limit: int | None = None, cursor: Text | None = None
    ) -> types.HistoryList:
        """Read a run's history.

        One entry for each attempt of a step that has ended, in the order in which they ended.
        """
        request = requests.run_history(id, limit=limit, cursor=cursor)
        answer: types.HistoryList = await self._http.send(request)
        return answer

    async def run_jobs(self, id: str) -> types.JobList:
        """List a run's jobs."""
        request = requests.run_jobs(id)
        answer: types.JobList = await self._http.send(request)
        return answer

    async def pause_run(self, id: str, body: types.ReasonBody | None = None) -> types.Run:
        """Pause a run.

        It begins no more steps until it is resumed; attempts that run are let finish.
        """
        request = requests.pause_run(id, body)
        answer: types.Run = await self._http.send(request)
        return answer

    async def rerun_run(
        self, id: str, body: types.RerunBody | None = None, *, wait: int | None = None
    ) -> types.Run | types.StartedRun:
        """Start the same again.

        A new run of the same flow with the same input, or another one. With `?wait=` the answer
        is the whole run, as where a run is started.
        """
        request = requests.rerun_run(id, body, wait=wait)
        answer: types.Run | types.StartedRun = await self._http.send(request)
        return answer

    async def resume_run(self, id: str, body: types.ReasonBody | None = None) -> types.Run:
        """Resume a paused run."""
        request = requests.resume_run(id, body)
        answer: types.Run = await self._http.send(request)
        return answer

    async def run_state(self, id: str, *, at: Text | None = None) -> types.StateAt:
        """Read a run's state.

        As it is, or as it was at any event or time.
        """
        request = requests.run_state(id, at=at)
        answer: types.StateAt = await self._http.send(request)
        return answer

    async def run_why(self, id: str) -> types.Why:
        """Ask why a run waits.

        The exact reasons for which it does not move, with ids and times: one for each active
        visit, the most telling first. The id may be a job's.
        """
        request = requests.run_why(id)
        answer: types.Why = await self._http.send(request)
        return answer

    async def list_schedules(
        self, *, limit: int | None = None, cursor: Text | None = None
    ) -> types.TriggerList:
        """List schedules.

        The triggers of type `schedule`, with their next due times.
        """
        request = requests.list_schedules(limit=limit, cursor=cursor)
        answer: types.TriggerList = await self._http.send(request)
        return answer

    async def backfill_schedule(self, id: str, body: types.BackfillBody) -> types.Backfilled:
        """Start the runs of a range of due times.

        One for each due time from `from` up to, not including, `to` for which there is none. At
        most 1,000 at a time; `nextFrom` says where to go on. A due time whose run cannot be
        started says so in `error`, and holds up no other. Whether a due time before the shortest
        retention of ended runs had its run is not known: such are refused without `forgotten`.
        """
        request = requests.backfill_schedule(id, body)
        answer: types.Backfilled = await self._http.send(request)
        return answer

    async def get_flow_schema(self) -> Any:
        """Read the schema of definitions.

        JSON Schema of a flow, for editors.
        """
        request = requests.get_flow_schema()
        answer: Any = await self._http.send(request)
        return answer

    async def get_story(
        self, correlation_id: str, *, limit: int | None = None, cursor: Text | None = None
    ) -> types.EventList:
        """Read a story.

        Everything that has one correlation id, in the order of time: the run, job or call of
        that id; runs and jobs that were given it; their sub-flows; and events of other streams
        that carry it, such as those of triggers. Each event names its `stream`, and what brought
        it about where that is known (`causationId`).
        """
        request = requests.get_story(correlation_id, limit=limit, cursor=cursor)
        answer: types.EventList = await self._http.send(request)
        return answer

    async def list_triggers(
        self,
        *,
        type: Literal["http", "schedule", "event", "manual"] | None = None,
        limit: int | None = None,
        cursor: Text | None = None,
    ) -> types.TriggerList:
        """List triggers.

        By id.
        """
        request = requests.list_triggers(type=type, limit=limit, cursor=cursor)
        answer: types.TriggerList = await self._http.send(request)
        return answer

    async def create_trigger(self, body: types.NewTrigger) -> types.Trigger:
        """Make a trigger.

        From now on it starts runs of its flow, unless it is disabled.
        """
        request = requests.create_trigger(body)
        answer: types.Trigger = await self._http.send(request)
        return answer

    async def get_trigger(self, id: str) -> types.Trigger:
        """Read a trigger."""
        request = requests.get_trigger(id)
        answer: types.Trigger = await self._http.send(request)
        return answer

    async def open_door(self, id: str, body: Any | None = None) -> types.Opened | types.StartedRun:
        """Let a step go on.

        Opens the door that a step waits at (`ctx.await.trigger`, or `await: {type: trigger}` in
        its config): the body is what the step is given. A door is opened once, unless it was
        made for many. Where no step waits for the id and a trigger has it, that trigger is
        fired, as at `/api/triggers/{id}/fire`, with its body and its answers.
        """
        request = requests.open_door(id, body)
        answer: types.Opened | types.StartedRun = await self._http.send(request)
        return answer

    async def remove_trigger(self, id: str) -> types.RemovedTrigger:
        """Remove a trigger.

        The runs that it started go on.
        """
        request = requests.remove_trigger(id)
        answer: types.RemovedTrigger = await self._http.send(request)
        return answer

    async def change_trigger(self, id: str, body: types.ChangedTrigger) -> types.Trigger:
        """Change a trigger.

        Members that are given replace those that are there, those of `config` one by one; null
        takes away. Every change is a new version. With `version` the change is refused unless
        the trigger is in that version.
        """
        request = requests.change_trigger(id, body)
        answer: types.Trigger = await self._http.send(request)
        return answer

    async def disable_trigger(self, id: str) -> types.Trigger:
        """Disable a trigger.

        It starts nothing until it is enabled.
        """
        request = requests.disable_trigger(id)
        answer: types.Trigger = await self._http.send(request)
        return answer

    async def enable_trigger(self, id: str) -> types.Trigger:
        """Enable a trigger.

        A schedule goes on with its next due time; what would have been due meanwhile was not
        missed.
        """
        request = requests.enable_trigger(id)
        answer: types.Trigger = await self._http.send(request)
        return answer

    async def fire_trigger(
        self, id: str, body: types.FireBody | None = None, *, wait: int | None = None
    ) -> types.StartedRun | types.Run:
        """Fire a trigger by hand.

        Starts a run with the input that is given, whatever the trigger's type is. With `?wait=`
        the answer is the whole run, as where a run is started.
        """
        request = requests.fire_trigger(id, body, wait=wait)
        answer: types.StartedRun | types.Run = await self._http.send(request)
        return answer

    async def trigger_history(
        self, id: str, *, limit: int | None = None, cursor: Text | None = None
    ) -> types.EventList:
        """List what became of a trigger.

        Its last thousand events, the latest first: registered, fired, failed, missed, removed.
        """
        request = requests.trigger_history(id, limit=limit, cursor=cursor)
        answer: types.EventList = await self._http.send(request)
        return answer

    async def trigger_stats(self, id: str) -> types.TriggerStats:
        """Count what became of a trigger."""
        request = requests.trigger_stats(id)
        answer: types.TriggerStats = await self._http.send(request)
        return answer

    async def version(self) -> types.Version:
        """Which riverrun?"""
        request = requests.version()
        answer: types.Version = await self._http.send(request)
        return answer

    async def list_workers(self) -> types.WorkerList:
        """List workers.

        The remote workers that are connected, or may come back.
        """
        request = requests.list_workers()
        answer: types.WorkerList = await self._http.send(request)
        return answer

    async def drain_worker(
        self, id: int, body: types.DrainWorkerBody | None = None
    ) -> types.ShownWorker:
        """Drain a worker.

        It gets no more work from now on. When it has ended what it runs, or its time is over,
        its connection ends; what did not end is tried again elsewhere.
        """
        request = requests.drain_worker(id, body)
        answer: types.ShownWorker = await self._http.send(request)
        return answer
