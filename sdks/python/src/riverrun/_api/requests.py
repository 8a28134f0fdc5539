# Generated from crates/api/openapi.json. Do not edit: run `make clients`.

"""Each operation as the request that it sends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from .._http.request import Request, segment

if TYPE_CHECKING:
    from .._http.request import Text
    from .types import (
        AddJobs,
        BackfillBody,
        ChangedTrigger,
        ChangeJobBody,
        CleanBody,
        ClearBody,
        DrainWorkerBody,
        EmittedEvent,
        ExecuteBody,
        FireBody,
        ForkBody,
        NewEvents,
        NewTrigger,
        ReasonBody,
        RedriveBody,
        RerunBody,
        StartBody,
    )


def get_await_stats() -> Request:
    return Request("GET", "/api/awaits")


def events_of_kind(
    type: Text, *, from_: Text | None = None, cursor: Text | None = None, limit: int | None = None
) -> Request:
    return Request(
        "GET", "/api/events", query={"type": type, "from": from_, "cursor": cursor, "limit": limit}
    )


def emit_event(body: EmittedEvent, *, idempotency_key: str | None = None) -> Request:
    return Request("POST", "/api/events", body=body, headers={"idempotency-key": idempotency_key})


def get_unheard() -> Request:
    return Request("GET", "/api/events/unheard")


def stream_events(
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
) -> Request:
    return Request(
        "GET",
        f"/api/events/{segment(stream)}",
        query={
            "limit": limit,
            "cursor": cursor,
            "from": from_,
            "order": order,
            "type": type,
            "step": step,
            "since": since,
            "until": until,
        },
    )


def follow_named(
    stream: str,
    *,
    from_: Text | None = None,
    last_event_id: Text | None = None,
    type: Text | None = None,
    follow: Literal["until-end", "forever"] | None = None,
) -> Request:
    return Request(
        "GET",
        f"/api/events/{segment(stream)}/tail",
        query={"from": from_, "lastEventId": last_event_id, "type": type, "follow": follow},
        headers={"accept": "text/event-stream"},
    )


def list_streams(
    type: str, *, name: Text | None = None, limit: int | None = None, cursor: Text | None = None
) -> Request:
    return Request(
        "GET",
        f"/api/events/{segment(type)}/list",
        query={"name": name, "limit": limit, "cursor": cursor},
    )


def get_stream(
    type: str, id: str, *, limit: int | None = None, cursor: Text | None = None
) -> Request:
    return Request(
        "GET",
        f"/api/events/{segment(type)}/{segment(id)}",
        query={"limit": limit, "cursor": cursor},
    )


def append_events(
    type: str, id: str, body: NewEvents, *, idempotency_key: str | None = None
) -> Request:
    return Request(
        "POST",
        f"/api/events/{segment(type)}/{segment(id)}",
        body=body,
        headers={"idempotency-key": idempotency_key},
    )


def follow_stream(
    type: str,
    id: str,
    *,
    from_: Text | None = None,
    last_event_id: Text | None = None,
    type_: Text | None = None,
    follow: Literal["until-end", "forever"] | None = None,
) -> Request:
    return Request(
        "GET",
        f"/api/events/{segment(type)}/{segment(id)}/stream",
        query={"from": from_, "lastEventId": last_event_id, "type": type_, "follow": follow},
        headers={"accept": "text/event-stream"},
    )


def list_executions(
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
) -> Request:
    return Request(
        "GET",
        "/api/executions",
        query={
            "status": status,
            "flow": flow,
            "version": version,
            "tag": tag,
            "tags": tags,
            "tenant": tenant,
            "parent": parent,
            "prefix": prefix,
            "since": since,
            "until": until,
            "order": order,
            "limit": limit,
            "cursor": cursor,
        },
    )


def get_execution(id: str, *, history: bool | None = None) -> Request:
    return Request("GET", f"/api/executions/{segment(id)}", query={"history": history})


def execution_events(
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
) -> Request:
    return Request(
        "GET",
        f"/api/executions/{segment(id)}/events",
        query={
            "limit": limit,
            "cursor": cursor,
            "from": from_,
            "order": order,
            "type": type,
            "step": step,
            "since": since,
            "until": until,
        },
    )


def execution_jobs(id: str) -> Request:
    return Request("GET", f"/api/executions/{segment(id)}/jobs")


def list_flows() -> Request:
    return Request("GET", "/api/flows")


def register_flow(body: Any) -> Request:
    return Request("POST", "/api/flows", body=body)


def resume_callback_of_flow(id: str, body: Any | None = None) -> Request:
    return Request("POST", f"/api/flows/triggers/{segment(id)}", body=body)


def validate_flow(body: Any) -> Request:
    return Request("POST", "/api/flows/validate", body=body)


def get_flow(id: str, *, version: Text | None = None) -> Request:
    return Request("GET", f"/api/flows/{segment(id)}", query={"version": version})


def flow_diagram(
    id: str,
    *,
    version: Text | None = None,
    format: Literal["json", "mermaid", "text"] | None = None,
) -> Request:
    return Request(
        "GET", f"/api/flows/{segment(id)}/diagram", query={"version": version, "format": format}
    )


def flow_runs(
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
) -> Request:
    return Request(
        "GET",
        f"/api/flows/{segment(id)}/runs",
        query={
            "status": status,
            "version": version,
            "tag": tag,
            "tags": tags,
            "tenant": tenant,
            "parent": parent,
            "prefix": prefix,
            "since": since,
            "until": until,
            "order": order,
            "limit": limit,
            "cursor": cursor,
        },
    )


def get_flow_run(id: str, run: str) -> Request:
    return Request("GET", f"/api/flows/{segment(id)}/runs/{segment(run)}")


def cancel_flow_run(id: str, run: str, body: ReasonBody | None = None) -> Request:
    return Request("POST", f"/api/flows/{segment(id)}/runs/{segment(run)}/cancel", body=body)


def start_run(
    id: str,
    body: StartBody | None = None,
    *,
    wait: int | None = None,
    idempotency_key: str | None = None,
) -> Request:
    return Request(
        "POST",
        f"/api/flows/{segment(id)}/start",
        query={"wait": wait},
        body=body,
        headers={"idempotency-key": idempotency_key},
    )


def flow_versions(id: str) -> Request:
    return Request("GET", f"/api/flows/{segment(id)}/versions")


def list_handlers() -> Request:
    return Request("GET", "/api/handlers")


def get_handler(kind: str) -> Request:
    return Request("GET", f"/api/handlers/{segment(kind)}")


def list_jobs(
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
) -> Request:
    return Request(
        "GET",
        "/api/jobs",
        query={
            "status": status,
            "stalled": stalled,
            "flow": flow,
            "queue": queue,
            "tag": tag,
            "tags": tags,
            "name": name,
            "key": key,
            "limit": limit,
            "cursor": cursor,
        },
    )


def remove_job_by_id(id: Text) -> Request:
    return Request("DELETE", "/api/jobs", query={"id": id})


def get_job(id: str) -> Request:
    return Request("GET", f"/api/jobs/{segment(id)}")


def remove_job(id: str) -> Request:
    return Request("DELETE", f"/api/jobs/{segment(id)}")


def change_job(id: str, body: ChangeJobBody) -> Request:
    return Request("PATCH", f"/api/jobs/{segment(id)}", body=body)


def cancel_job(id: str, body: ReasonBody | None = None) -> Request:
    return Request("POST", f"/api/jobs/{segment(id)}/cancel", body=body)


def promote_job(id: str) -> Request:
    return Request("POST", f"/api/jobs/{segment(id)}/promote")


def retry_job(id: str) -> Request:
    return Request("POST", f"/api/jobs/{segment(id)}/retry")


def openapi_json() -> Request:
    return Request("GET", "/api/openapi.json")


def list_processes() -> Request:
    return Request("GET", "/api/processes")


def list_queues() -> Request:
    return Request("GET", "/api/queues")


def get_queue(name: str) -> Request:
    return Request("GET", f"/api/queues/{segment(name)}")


def clean_queue(name: str, body: CleanBody | None = None) -> Request:
    return Request("POST", f"/api/queues/{segment(name)}/clean", body=body)


def clear_queue(name: str, body: ClearBody | None = None) -> Request:
    return Request("POST", f"/api/queues/{segment(name)}/clear", body=body)


def dead_letters(
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
) -> Request:
    return Request(
        "GET",
        f"/api/queues/{segment(name)}/dlq",
        query={
            "code": code,
            "name": name_,
            "key": key,
            "tag": tag,
            "before": before,
            "after": after,
            "limit": limit,
            "cursor": cursor,
        },
    )


def purge(name: str, body: CleanBody | None = None) -> Request:
    return Request("POST", f"/api/queues/{segment(name)}/dlq/purge", body=body)


def redrive(name: str, body: RedriveBody | None = None) -> Request:
    return Request("POST", f"/api/queues/{segment(name)}/dlq/redrive", body=body)


def queue_jobs(
    name: str,
    *,
    status: Text | None = None,
    tag: Text | None = None,
    tags: Text | None = None,
    name_: Text | None = None,
    key: Text | None = None,
    limit: int | None = None,
    cursor: Text | None = None,
) -> Request:
    return Request(
        "GET",
        f"/api/queues/{segment(name)}/jobs",
        query={
            "status": status,
            "tag": tag,
            "tags": tags,
            "name": name_,
            "key": key,
            "limit": limit,
            "cursor": cursor,
        },
    )


def add_jobs(name: str, body: AddJobs, *, create: bool | None = None) -> Request:
    return Request("POST", f"/api/queues/{segment(name)}/jobs", query={"create": create}, body=body)


def pause_queue(name: str) -> Request:
    return Request("POST", f"/api/queues/{segment(name)}/pause")


def resume_queue(name: str) -> Request:
    return Request("POST", f"/api/queues/{segment(name)}/resume")


def execute(body: ExecuteBody) -> Request:
    return Request("POST", "/api/runner/execute", body=body)


def list_runs(
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
) -> Request:
    return Request(
        "GET",
        "/api/runs",
        query={
            "status": status,
            "flow": flow,
            "version": version,
            "tag": tag,
            "tags": tags,
            "tenant": tenant,
            "parent": parent,
            "prefix": prefix,
            "since": since,
            "until": until,
            "order": order,
            "limit": limit,
            "cursor": cursor,
        },
    )


def import_run(body: dict[str, Any]) -> Request:
    return Request("POST", "/api/runs/import", body=body)


def get_run(id: str) -> Request:
    return Request("GET", f"/api/runs/{segment(id)}")


def delete_run(id: str) -> Request:
    return Request("DELETE", f"/api/runs/{segment(id)}")


def run_awaits(id: str, *, secrets: bool | None = None) -> Request:
    return Request("GET", f"/api/runs/{segment(id)}/awaits", query={"secrets": secrets})


def cancel_run(id: str, body: ReasonBody | None = None) -> Request:
    return Request("POST", f"/api/runs/{segment(id)}/cancel", body=body)


def run_children(
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
) -> Request:
    return Request(
        "GET",
        f"/api/runs/{segment(id)}/children",
        query={
            "status": status,
            "flow": flow,
            "version": version,
            "tag": tag,
            "tags": tags,
            "tenant": tenant,
            "prefix": prefix,
            "since": since,
            "until": until,
            "order": order,
            "limit": limit,
            "cursor": cursor,
        },
    )


def run_events(
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
) -> Request:
    return Request(
        "GET",
        f"/api/runs/{segment(id)}/events",
        query={
            "limit": limit,
            "cursor": cursor,
            "from": from_,
            "order": order,
            "type": type,
            "step": step,
            "since": since,
            "until": until,
        },
    )


def fork_run(id: str, body: ForkBody | None = None, *, wait: int | None = None) -> Request:
    return Request("POST", f"/api/runs/{segment(id)}/fork", query={"wait": wait}, body=body)


def run_history(id: str, *, limit: int | None = None, cursor: Text | None = None) -> Request:
    return Request(
        "GET", f"/api/runs/{segment(id)}/history", query={"limit": limit, "cursor": cursor}
    )


def run_jobs(id: str) -> Request:
    return Request("GET", f"/api/runs/{segment(id)}/jobs")


def pause_run(id: str, body: ReasonBody | None = None) -> Request:
    return Request("POST", f"/api/runs/{segment(id)}/pause", body=body)


def rerun_run(id: str, body: RerunBody | None = None, *, wait: int | None = None) -> Request:
    return Request("POST", f"/api/runs/{segment(id)}/rerun", query={"wait": wait}, body=body)


def resume_run(id: str, body: ReasonBody | None = None) -> Request:
    return Request("POST", f"/api/runs/{segment(id)}/resume", body=body)


def run_state(id: str, *, at: Text | None = None) -> Request:
    return Request("GET", f"/api/runs/{segment(id)}/state", query={"at": at})


def follow_run(
    id: str,
    *,
    from_: Text | None = None,
    last_event_id: Text | None = None,
    type: Text | None = None,
    follow: Literal["until-end", "forever"] | None = None,
) -> Request:
    return Request(
        "GET",
        f"/api/runs/{segment(id)}/stream",
        query={"from": from_, "lastEventId": last_event_id, "type": type, "follow": follow},
        headers={"accept": "text/event-stream"},
    )


def run_why(id: str) -> Request:
    return Request("GET", f"/api/runs/{segment(id)}/why")


def list_schedules(*, limit: int | None = None, cursor: Text | None = None) -> Request:
    return Request("GET", "/api/schedules", query={"limit": limit, "cursor": cursor})


def backfill_schedule(id: str, body: BackfillBody) -> Request:
    return Request("POST", f"/api/schedules/{segment(id)}/backfill", body=body)


def get_flow_schema() -> Request:
    return Request("GET", "/api/schemas/flow")


def get_story(
    correlation_id: str, *, limit: int | None = None, cursor: Text | None = None
) -> Request:
    return Request(
        "GET", f"/api/stories/{segment(correlation_id)}", query={"limit": limit, "cursor": cursor}
    )


def list_triggers(
    *,
    type: Literal["http", "schedule", "event", "manual"] | None = None,
    limit: int | None = None,
    cursor: Text | None = None,
) -> Request:
    return Request("GET", "/api/triggers", query={"type": type, "limit": limit, "cursor": cursor})


def create_trigger(body: NewTrigger) -> Request:
    return Request("POST", "/api/triggers", body=body)


def get_trigger(id: str) -> Request:
    return Request("GET", f"/api/triggers/{segment(id)}")


def resume_callback(id: str, body: Any | None = None) -> Request:
    return Request("POST", f"/api/triggers/{segment(id)}", body=body)


def remove_trigger(id: str) -> Request:
    return Request("DELETE", f"/api/triggers/{segment(id)}")


def change_trigger(id: str, body: ChangedTrigger) -> Request:
    return Request("PATCH", f"/api/triggers/{segment(id)}", body=body)


def disable_trigger(id: str) -> Request:
    return Request("POST", f"/api/triggers/{segment(id)}/disable")


def enable_trigger(id: str) -> Request:
    return Request("POST", f"/api/triggers/{segment(id)}/enable")


def fire_trigger(id: str, body: FireBody | None = None, *, wait: int | None = None) -> Request:
    return Request("POST", f"/api/triggers/{segment(id)}/fire", query={"wait": wait}, body=body)


def trigger_history(id: str, *, limit: int | None = None, cursor: Text | None = None) -> Request:
    return Request(
        "GET", f"/api/triggers/{segment(id)}/history", query={"limit": limit, "cursor": cursor}
    )


def trigger_stats(id: str) -> Request:
    return Request("GET", f"/api/triggers/{segment(id)}/stats")


def version() -> Request:
    return Request("GET", "/api/version")


def list_workers() -> Request:
    return Request("GET", "/api/workers")


def drain_worker(id: int, body: DrainWorkerBody | None = None) -> Request:
    return Request("POST", f"/api/workers/{segment(id)}/drain", body=body)
