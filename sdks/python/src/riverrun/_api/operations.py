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
        """Count open awaits.

        How many awaits wait for events and callbacks, and how many events wait for a `where`
        expression or an event trigger to be evaluated. `GET /api/runs/{id}/why` names what one
        run waits for.
        """
        request = requests.get_await_stats()
        answer: types.AwaitStats = self._http.send(request)
        return answer

    def events_of_kind(
        self,
        type: Text,
        *,
        from_: Text | None = None,
        cursor: Text | None = None,
        limit: int | None = None,
    ) -> types.EventsOfKind:
        """Read or follow events by type.

        All events of these types, across runs and streams, in the order in which they were
        stored. Each event has its `stream` and its `cursor`. With `Accept: text/event-stream`
        they are sent live: `id` is the cursor, `event` the type, `data` the event.
        """
        request = requests.events_of_kind(type, from_=from_, cursor=cursor, limit=limit)
        answer: types.EventsOfKind = self._http.send(request)
        return answer

    def emit_event(
        self, body: types.EmittedEvent, *, idempotency_key: str | None = None
    ) -> types.Appended:
        """Emit an event.

        Into a run, a stream, or `nq:global`. With an idempotency key the event is stored once: a
        second request with the same key for the same stream returns the first event. Keys are
        kept as long as emitted events: 7 days, or `retention.emitted`.
        """
        request = requests.emit_event(body, idempotency_key=idempotency_key)
        answer: types.Appended = self._http.send(request)
        return answer

    def get_unheard(self) -> types.Unheard:
        """Count events without a receiver.

        An event that no step, await or trigger receives is stored and can be read like any other
        (`GET /api/events?type=`); this route counts such events. Types that did not occur for 7
        days are only part of `total`.
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
        order: Literal["asc", "desc"] | None = None,
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
            order=order,
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

        For `flow` the runs, each with its id as `id`.
        """
        request = requests.list_streams(type, name=name, limit=limit, cursor=cursor)
        answer: types.StreamList = self._http.send(request)
        return answer

    def get_stream(
        self, type: str, id: str, *, limit: int | None = None, cursor: Text | None = None
    ) -> types.StreamView | types.Run:
        """Read a stream by type and id.

        For `flow` the run; for other types the first and the last event and a page of events;
        for `trigger` also the `state` that they reduce to. The stream of a job has its lifecycle
        (`job.added`, `job.active`, `job.completed` …) and its logs, progress and partial
        results, in order.
        """
        request = requests.get_stream(type, id, limit=limit, cursor=cursor)
        answer: types.StreamView | types.Run = self._http.send(request)
        return answer

    def append_events(
        self, type: str, id: str, body: types.NewEvents, *, idempotency_key: str | None = None
    ) -> types.Appended:
        """Append events.

        One event or a list of events: all or none. Types that only the server writes, such as
        `flow.*` and `step.*`, are rejected.
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

        Runs in the format of FlowMonkey. `/api/runs` is cheaper, because it does not read the
        state of every run.
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
        order: Literal["asc", "desc"] | None = None,
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
            order=order,
            type=type,
            step=step,
            since=since,
            until=until,
        )
        answer: types.EventList = self._http.send(request)
        return answer

    def execution_jobs(self, id: str) -> types.JobList:
        """List an execution's jobs.

        The job of the run, and one for each visit of a process step.
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

        A definition never changes under its id and version. Registering the same definition
        again has no effect; another definition under the same version is rejected.
        """
        request = requests.register_flow(body)
        answer: types.RegisteredFlow = self._http.send(request)
        return answer

    def resume_callback_of_flow(
        self, id: str, body: Any | None = None
    ) -> types.Opened | types.StartedRun:
        """Answer a callback, at the path of the specifications."""
        request = requests.resume_callback_of_flow(id, body)
        answer: types.Opened | types.StartedRun = self._http.send(request)
        return answer

    def validate_flow(self, body: Any) -> types.Validation:
        """Validate a definition.

        Returns all issues, each with its path and rule. Nothing is registered.
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

        The run is on disk before the answer is sent. With `?wait=` the answer is the whole run:
        200 if it has ended, 202 with its current state if the time was over first.
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
        tag: Text | None = None,
        tags: Text | None = None,
        name: Text | None = None,
        key: Text | None = None,
        limit: int | None = None,
        cursor: Text | None = None,
    ) -> types.AnyJobList:
        """List jobs.

        Lists queue jobs; with `status` alone, `stalled` or `flow`, the jobs of runs. A filtered
        page of queue jobs may have fewer than `limit` jobs, or none, although more follow; then
        it has a `nextCursor`.
        """
        request = requests.list_jobs(
            status=status,
            stalled=stalled,
            flow=flow,
            queue=queue,
            tag=tag,
            tags=tags,
            name=name,
            key=key,
            limit=limit,
            cursor=cursor,
        )
        answer: types.AnyJobList = self._http.send(request)
        return answer

    def remove_job_by_id(self, id: Text) -> None:
        """Remove a job whose id cannot be part of a path.

        The same as DELETE /api/jobs/{id}, for jobs that an earlier version stored under the id
        `.` or `..`.
        """
        self._http.send(requests.remove_job_by_id(id))

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

        One that waits ends at once; one that runs is asked to stop, and stopped. That of a step
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

        The processes that this server can run, with their configurations. A process whose file
        does not load has an `error`; an earlier version of it may still run.
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

    def clear_queue(self, name: str, body: types.ClearBody | None = None) -> types.Drained:
        """Remove all waiting jobs.

        Jobs of steps are kept, because their runs wait for them. The specifications' name
        `drain` is accepted in the path as well.
        """
        request = requests.clear_queue(name, body)
        answer: types.Drained = self._http.send(request)
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
        """Redrive dead letters.

        Queues the jobs that have failed by now again, each once, starting with their first
        attempt. If there are many, the answer counts the first ones and the others follow in the
        background.
        """
        request = requests.redrive(name, body)
        answer: types.Redriven = self._http.send(request)
        return answer

    def queue_jobs(
        self,
        name: str,
        *,
        status: Text | None = None,
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
            name,
            status=status,
            tag=tag,
            tags=tags,
            name_=name_,
            key=key,
            limit=limit,
            cursor=cursor,
        )
        answer: types.QueueJobList = self._http.send(request)
        return answer

    def add_jobs(
        self, name: str, body: types.AddJobs, *, create: bool | None = None
    ) -> types.AddedJobs:
        """Add jobs to a queue.

        One job, or several under `jobs`: all of them or none. They are on disk before the answer
        is sent.
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

        Runs a process at once, without a queue, and returns its result. With `Accept:
        text/event-stream` its frames arrive as server-sent events (`log`, `progress`, `partial`,
        `heartbeat`), followed by `result`, `error` or `cancelled`.
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
        """Import a run.

        The body is a line of `riverrun runs export`: `{run, events, awaits}`. The run keeps its
        id and its events. A run that has not ended continues here, with its awaits and callback
        URLs; it is rejected if it waits for another run, or another run waits for it.
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

        Deletes an ended run with its stream.
        """
        self._http.send(requests.delete_run(id))

    def run_awaits(self, id: str, *, secrets: bool | None = None) -> types.RunAwaits:
        """Read what a run waits for.

        The awaits of a run in the form that an import needs: the events that it waits for, and
        its open and closed callbacks. `GET /api/runs/{id}/why` has the same for people.
        """
        request = requests.run_awaits(id, secrets=secrets)
        answer: types.RunAwaits = self._http.send(request)
        return answer

    def cancel_run(self, id: str, body: types.ReasonBody | None = None) -> types.Run:
        """Cancel a run.

        Running steps receive a stop signal, waiting ones are removed, child runs are cancelled
        too.
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
        order: Literal["asc", "desc"] | None = None,
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
            order=order,
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

        Starts a new run that shares the events of this run up to a given one.
        """
        request = requests.fork_run(id, body, wait=wait)
        answer: types.Run | types.StartedRun = self._http.send(request)
        return answer

    def run_history(
        self, id: str, *, limit: int | None = None, cursor: Text | None = None
    ) -> types.HistoryList:
        """Read a run's history.

        One entry for each ended attempt of a step, in the order in which they ended.
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

        No step starts until the run is resumed; running attempts finish.
        """
        request = requests.pause_run(id, body)
        answer: types.Run = self._http.send(request)
        return answer

    def rerun_run(
        self, id: str, body: types.RerunBody | None = None, *, wait: int | None = None
    ) -> types.Run | types.StartedRun:
        """Rerun a run.

        Starts a new run of the same flow with the same or a different input. `?wait=` works as
        for starting a run.
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

        The current state, or the state at an earlier event or time.
        """
        request = requests.run_state(id, at=at)
        answer: types.StateAt = self._http.send(request)
        return answer

    def run_why(self, id: str) -> types.Why:
        """Explain why a run waits.

        The reasons why a run does not continue, with ids and times: one for each active visit,
        the most important first. The id may be that of a job.
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
        """Start the missing runs of a range of due times.

        Starts a run for each due time without one, from `from` (inclusive) to `to` (exclusive).
        At most 1,000 at a time; `nextFrom` is where to continue. A due time whose run cannot be
        started has an `error`, and the others are started. Due times older than the shortest
        retention of ended runs are rejected without `forgotten`, because their runs may have
        been deleted.
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

        All events with one correlation id, ordered by time: those of the run, job or call with
        that id, of runs and jobs that were given it, of their sub-flows, and of other streams
        such as triggers. Each event has its `stream` and, if known, its cause (`causationId`).
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
        """Create a trigger.

        An enabled trigger starts runs of its flow at once.
        """
        request = requests.create_trigger(body)
        answer: types.Trigger = self._http.send(request)
        return answer

    def get_trigger(self, id: str) -> types.Trigger:
        """Read a trigger."""
        request = requests.get_trigger(id)
        answer: types.Trigger = self._http.send(request)
        return answer

    def resume_callback(self, id: str, body: Any | None = None) -> types.Opened | types.StartedRun:
        """Answer a callback.

        Resumes the step that waits for the callback (`ctx.await.trigger`, or `await: {type:
        trigger}` in its config); the step receives the body. A callback is answered once, unless
        it was created for many. If no step waits for the id and a trigger has it, the trigger is
        fired, as by `/api/triggers/{id}/fire`.
        """
        request = requests.resume_callback(id, body)
        answer: types.Opened | types.StartedRun = self._http.send(request)
        return answer

    def remove_trigger(self, id: str) -> types.RemovedTrigger:
        """Remove a trigger.

        Its runs continue.
        """
        request = requests.remove_trigger(id)
        answer: types.RemovedTrigger = self._http.send(request)
        return answer

    def change_trigger(self, id: str, body: types.ChangedTrigger) -> types.Trigger:
        """Change a trigger.

        Given members replace the existing ones, those of `config` one by one; null removes a
        member. Every change is a new version. With `version` the change is rejected unless the
        trigger has that version.
        """
        request = requests.change_trigger(id, body)
        answer: types.Trigger = self._http.send(request)
        return answer

    def disable_trigger(self, id: str) -> types.Trigger:
        """Disable a trigger.

        It starts no runs until it is enabled.
        """
        request = requests.disable_trigger(id)
        answer: types.Trigger = self._http.send(request)
        return answer

    def enable_trigger(self, id: str) -> types.Trigger:
        """Enable a trigger.

        A schedule continues with its next due time. Due times in the meantime do not count as
        missed.
        """
        request = requests.enable_trigger(id)
        answer: types.Trigger = self._http.send(request)
        return answer

    def fire_trigger(
        self, id: str, body: types.FireBody | None = None, *, wait: int | None = None
    ) -> types.StartedRun | types.Run:
        """Fire a trigger manually.

        Starts a run with the given input, for triggers of every type. `?wait=` works as for
        starting a run.
        """
        request = requests.fire_trigger(id, body, wait=wait)
        answer: types.StartedRun | types.Run = self._http.send(request)
        return answer

    def trigger_history(
        self, id: str, *, limit: int | None = None, cursor: Text | None = None
    ) -> types.EventList:
        """List the events of a trigger.

        The last 1,000 events, the latest first: registered, fired, failed, missed, removed.
        """
        request = requests.trigger_history(id, limit=limit, cursor=cursor)
        answer: types.EventList = self._http.send(request)
        return answer

    def trigger_stats(self, id: str) -> types.TriggerStats:
        """Count the events of a trigger."""
        request = requests.trigger_stats(id)
        answer: types.TriggerStats = self._http.send(request)
        return answer

    def version(self) -> types.Version:
        """Read the version."""
        request = requests.version()
        answer: types.Version = self._http.send(request)
        return answer

    def list_workers(self) -> types.WorkerList:
        """List workers.

        The remote workers that are connected or may reconnect.
        """
        request = requests.list_workers()
        answer: types.WorkerList = self._http.send(request)
        return answer

    def drain_worker(self, id: int, body: types.DrainWorkerBody | None = None) -> types.ShownWorker:
        """Drain a worker.

        The worker gets no more work. Its connection ends when its current work has ended or the
        time is over; unfinished work runs again elsewhere.
        """
        request = requests.drain_worker(id, body)
        answer: types.ShownWorker = self._http.send(request)
        return answer


class AsyncApi:
    """The HTTP API of a server: a method for each operation."""

    def __init__(self, http: streams.Http) -> None:
        self._http = http

    async def get_await_stats(self) -> types.AwaitStats:
        """Count open awaits.

        How many awaits wait for events and callbacks, and how many events wait for a `where`
        expression or an event trigger to be evaluated. `GET /api/runs/{id}/why` names what one
        run waits for.
        """
        request = requests.get_await_stats()
        answer: types.AwaitStats = await self._http.send(request)
        return answer

    async def events_of_kind(
        self,
        type: Text,
        *,
        from_: Text | None = None,
        cursor: Text | None = None,
        limit: int | None = None,
    ) -> types.EventsOfKind:
        """Read or follow events by type.

        All events of these types, across runs and streams, in the order in which they were
        stored. Each event has its `stream` and its `cursor`. With `Accept: text/event-stream`
        they are sent live: `id` is the cursor, `event` the type, `data` the event.
        """
        request = requests.events_of_kind(type, from_=from_, cursor=cursor, limit=limit)
        answer: types.EventsOfKind = await self._http.send(request)
        return answer

    async def emit_event(
        self, body: types.EmittedEvent, *, idempotency_key: str | None = None
    ) -> types.Appended:
        """Emit an event.

        Into a run, a stream, or `nq:global`. With an idempotency key the event is stored once: a
        second request with the same key for the same stream returns the first event. Keys are
        kept as long as emitted events: 7 days, or `retention.emitted`.
        """
        request = requests.emit_event(body, idempotency_key=idempotency_key)
        answer: types.Appended = await self._http.send(request)
        return answer

    async def get_unheard(self) -> types.Unheard:
        """Count events without a receiver.

        An event that no step, await or trigger receives is stored and can be read like any other
        (`GET /api/events?type=`); this route counts such events. Types that did not occur for 7
        days are only part of `total`.
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
        order: Literal["asc", "desc"] | None = None,
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
            order=order,
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

        For `flow` the runs, each with its id as `id`.
        """
        request = requests.list_streams(type, name=name, limit=limit, cursor=cursor)
        answer: types.StreamList = await self._http.send(request)
        return answer

    async def get_stream(
        self, type: str, id: str, *, limit: int | None = None, cursor: Text | None = None
    ) -> types.StreamView | types.Run:
        """Read a stream by type and id.

        For `flow` the run; for other types the first and the last event and a page of events;
        for `trigger` also the `state` that they reduce to. The stream of a job has its lifecycle
        (`job.added`, `job.active`, `job.completed` …) and its logs, progress and partial
        results, in order.
        """
        request = requests.get_stream(type, id, limit=limit, cursor=cursor)
        answer: types.StreamView | types.Run = await self._http.send(request)
        return answer

    async def append_events(
        self, type: str, id: str, body: types.NewEvents, *, idempotency_key: str | None = None
    ) -> types.Appended:
        """Append events.

        One event or a list of events: all or none. Types that only the server writes, such as
        `flow.*` and `step.*`, are rejected.
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

        Runs in the format of FlowMonkey. `/api/runs` is cheaper, because it does not read the
        state of every run.
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
        order: Literal["asc", "desc"] | None = None,
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
            order=order,
            type=type,
            step=step,
            since=since,
            until=until,
        )
        answer: types.EventList = await self._http.send(request)
        return answer

    async def execution_jobs(self, id: str) -> types.JobList:
        """List an execution's jobs.

        The job of the run, and one for each visit of a process step.
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

        A definition never changes under its id and version. Registering the same definition
        again has no effect; another definition under the same version is rejected.
        """
        request = requests.register_flow(body)
        answer: types.RegisteredFlow = await self._http.send(request)
        return answer

    async def resume_callback_of_flow(
        self, id: str, body: Any | None = None
    ) -> types.Opened | types.StartedRun:
        """Answer a callback, at the path of the specifications."""
        request = requests.resume_callback_of_flow(id, body)
        answer: types.Opened | types.StartedRun = await self._http.send(request)
        return answer

    async def validate_flow(self, body: Any) -> types.Validation:
        """Validate a definition.

        Returns all issues, each with its path and rule. Nothing is registered.
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

        The run is on disk before the answer is sent. With `?wait=` the answer is the whole run:
        200 if it has ended, 202 with its current state if the time was over first.
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
        tag: Text | None = None,
        tags: Text | None = None,
        name: Text | None = None,
        key: Text | None = None,
        limit: int | None = None,
        cursor: Text | None = None,
    ) -> types.AnyJobList:
        """List jobs.

        Lists queue jobs; with `status` alone, `stalled` or `flow`, the jobs of runs. A filtered
        page of queue jobs may have fewer than `limit` jobs, or none, although more follow; then
        it has a `nextCursor`.
        """
        request = requests.list_jobs(
            status=status,
            stalled=stalled,
            flow=flow,
            queue=queue,
            tag=tag,
            tags=tags,
            name=name,
            key=key,
            limit=limit,
            cursor=cursor,
        )
        answer: types.AnyJobList = await self._http.send(request)
        return answer

    async def remove_job_by_id(self, id: Text) -> None:
        """Remove a job whose id cannot be part of a path.

        The same as DELETE /api/jobs/{id}, for jobs that an earlier version stored under the id
        `.` or `..`.
        """
        await self._http.send(requests.remove_job_by_id(id))

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

        One that waits ends at once; one that runs is asked to stop, and stopped. That of a step
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

        The processes that this server can run, with their configurations. A process whose file
        does not load has an `error`; an earlier version of it may still run.
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

    async def clear_queue(self, name: str, body: types.ClearBody | None = None) -> types.Drained:
        """Remove all waiting jobs.

        Jobs of steps are kept, because their runs wait for them. The specifications' name
        `drain` is accepted in the path as well.
        """
        request = requests.clear_queue(name, body)
        answer: types.Drained = await self._http.send(request)
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
        """Redrive dead letters.

        Queues the jobs that have failed by now again, each once, starting with their first
        attempt. If there are many, the answer counts the first ones and the others follow in the
        background.
        """
        request = requests.redrive(name, body)
        answer: types.Redriven = await self._http.send(request)
        return answer

    async def queue_jobs(
        self,
        name: str,
        *,
        status: Text | None = None,
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
            name,
            status=status,
            tag=tag,
            tags=tags,
            name_=name_,
            key=key,
            limit=limit,
            cursor=cursor,
        )
        answer: types.QueueJobList = await self._http.send(request)
        return answer

    async def add_jobs(
        self, name: str, body: types.AddJobs, *, create: bool | None = None
    ) -> types.AddedJobs:
        """Add jobs to a queue.

        One job, or several under `jobs`: all of them or none. They are on disk before the answer
        is sent.
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

        Runs a process at once, without a queue, and returns its result. With `Accept:
        text/event-stream` its frames arrive as server-sent events (`log`, `progress`, `partial`,
        `heartbeat`), followed by `result`, `error` or `cancelled`.
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
        """Import a run.

        The body is a line of `riverrun runs export`: `{run, events, awaits}`. The run keeps its
        id and its events. A run that has not ended continues here, with its awaits and callback
        URLs; it is rejected if it waits for another run, or another run waits for it.
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

        Deletes an ended run with its stream.
        """
        await self._http.send(requests.delete_run(id))

    async def run_awaits(self, id: str, *, secrets: bool | None = None) -> types.RunAwaits:
        """Read what a run waits for.

        The awaits of a run in the form that an import needs: the events that it waits for, and
        its open and closed callbacks. `GET /api/runs/{id}/why` has the same for people.
        """
        request = requests.run_awaits(id, secrets=secrets)
        answer: types.RunAwaits = await self._http.send(request)
        return answer

    async def cancel_run(self, id: str, body: types.ReasonBody | None = None) -> types.Run:
        """Cancel a run.

        Running steps receive a stop signal, waiting ones are removed, child runs are cancelled
        too.
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
        order: Literal["asc", "desc"] | None = None,
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
            order=order,
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

        Starts a new run that shares the events of this run up to a given one.
        """
        request = requests.fork_run(id, body, wait=wait)
        answer: types.Run | types.StartedRun = await self._http.send(request)
        return answer

    async def run_history(
        self, id: str, *, limit: int | None = None, cursor: Text | None = None
    ) -> types.HistoryList:
        """Read a run's history.

        One entry for each ended attempt of a step, in the order in which they ended.
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

        No step starts until the run is resumed; running attempts finish.
        """
        request = requests.pause_run(id, body)
        answer: types.Run = await self._http.send(request)
        return answer

    async def rerun_run(
        self, id: str, body: types.RerunBody | None = None, *, wait: int | None = None
    ) -> types.Run | types.StartedRun:
        """Rerun a run.

        Starts a new run of the same flow with the same or a different input. `?wait=` works as
        for starting a run.
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

        The current state, or the state at an earlier event or time.
        """
        request = requests.run_state(id, at=at)
        answer: types.StateAt = await self._http.send(request)
        return answer

    async def run_why(self, id: str) -> types.Why:
        """Explain why a run waits.

        The reasons why a run does not continue, with ids and times: one for each active visit,
        the most important first. The id may be that of a job.
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
        """Start the missing runs of a range of due times.

        Starts a run for each due time without one, from `from` (inclusive) to `to` (exclusive).
        At most 1,000 at a time; `nextFrom` is where to continue. A due time whose run cannot be
        started has an `error`, and the others are started. Due times older than the shortest
        retention of ended runs are rejected without `forgotten`, because their runs may have
        been deleted.
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

        All events with one correlation id, ordered by time: those of the run, job or call with
        that id, of runs and jobs that were given it, of their sub-flows, and of other streams
        such as triggers. Each event has its `stream` and, if known, its cause (`causationId`).
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
        """Create a trigger.

        An enabled trigger starts runs of its flow at once.
        """
        request = requests.create_trigger(body)
        answer: types.Trigger = await self._http.send(request)
        return answer

    async def get_trigger(self, id: str) -> types.Trigger:
        """Read a trigger."""
        request = requests.get_trigger(id)
        answer: types.Trigger = await self._http.send(request)
        return answer

    async def resume_callback(
        self, id: str, body: Any | None = None
    ) -> types.Opened | types.StartedRun:
        """Answer a callback.

        Resumes the step that waits for the callback (`ctx.await.trigger`, or `await: {type:
        trigger}` in its config); the step receives the body. A callback is answered once, unless
        it was created for many. If no step waits for the id and a trigger has it, the trigger is
        fired, as by `/api/triggers/{id}/fire`.
        """
        request = requests.resume_callback(id, body)
        answer: types.Opened | types.StartedRun = await self._http.send(request)
        return answer

    async def remove_trigger(self, id: str) -> types.RemovedTrigger:
        """Remove a trigger.

        Its runs continue.
        """
        request = requests.remove_trigger(id)
        answer: types.RemovedTrigger = await self._http.send(request)
        return answer

    async def change_trigger(self, id: str, body: types.ChangedTrigger) -> types.Trigger:
        """Change a trigger.

        Given members replace the existing ones, those of `config` one by one; null removes a
        member. Every change is a new version. With `version` the change is rejected unless the
        trigger has that version.
        """
        request = requests.change_trigger(id, body)
        answer: types.Trigger = await self._http.send(request)
        return answer

    async def disable_trigger(self, id: str) -> types.Trigger:
        """Disable a trigger.

        It starts no runs until it is enabled.
        """
        request = requests.disable_trigger(id)
        answer: types.Trigger = await self._http.send(request)
        return answer

    async def enable_trigger(self, id: str) -> types.Trigger:
        """Enable a trigger.

        A schedule continues with its next due time. Due times in the meantime do not count as
        missed.
        """
        request = requests.enable_trigger(id)
        answer: types.Trigger = await self._http.send(request)
        return answer

    async def fire_trigger(
        self, id: str, body: types.FireBody | None = None, *, wait: int | None = None
    ) -> types.StartedRun | types.Run:
        """Fire a trigger manually.

        Starts a run with the given input, for triggers of every type. `?wait=` works as for
        starting a run.
        """
        request = requests.fire_trigger(id, body, wait=wait)
        answer: types.StartedRun | types.Run = await self._http.send(request)
        return answer

    async def trigger_history(
        self, id: str, *, limit: int | None = None, cursor: Text | None = None
    ) -> types.EventList:
        """List the events of a trigger.

        The last 1,000 events, the latest first: registered, fired, failed, missed, removed.
        """
        request = requests.trigger_history(id, limit=limit, cursor=cursor)
        answer: types.EventList = await self._http.send(request)
        return answer

    async def trigger_stats(self, id: str) -> types.TriggerStats:
        """Count the events of a trigger."""
        request = requests.trigger_stats(id)
        answer: types.TriggerStats = await self._http.send(request)
        return answer

    async def version(self) -> types.Version:
        """Read the version."""
        request = requests.version()
        answer: types.Version = await self._http.send(request)
        return answer

    async def list_workers(self) -> types.WorkerList:
        """List workers.

        The remote workers that are connected or may reconnect.
        """
        request = requests.list_workers()
        answer: types.WorkerList = await self._http.send(request)
        return answer

    async def drain_worker(
        self, id: int, body: types.DrainWorkerBody | None = None
    ) -> types.ShownWorker:
        """Drain a worker.

        The worker gets no more work. Its connection ends when its current work has ended or the
        time is over; unfinished work runs again elsewhere.
        """
        request = requests.drain_worker(id, body)
        answer: types.ShownWorker = await self._http.send(request)
        return answer
