"""Each operation of the client as the request that it sends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .._naming import options_on_wire
from ..errors import RiverrunError
from ..options import Enqueued, NewJob, Page, with_options
from .request import Request, segment

#: Beyond what the server itself waits for, in seconds.
_MARGIN_S = 10.0


def enqueue(queue: str, data: Any, name: str | None, options: Mapping[str, Any]) -> Request:
    body = with_options({"data": data}, name, options)
    return Request("POST", f"/api/queue/{segment(queue)}/jobs", body=body)


def enqueue_many(queue: str, jobs: Sequence[NewJob | Mapping[str, Any]]) -> Request:
    wires = [_new_job(job, queue) for job in jobs]
    return Request("POST", f"/api/queue/{segment(queue)}/jobs", body={"jobs": wires})


def _new_job(job: NewJob | Mapping[str, Any], queue: str) -> dict[str, Any]:
    if not isinstance(job, NewJob):
        job = NewJob(**job)
    if job.queue not in (None, queue):
        message = f"a job for {job.queue} cannot be added to {queue}"
        raise RiverrunError(message, code="BAD_REQUEST")
    wire = job.to_wire()
    wire.pop("queue", None)
    return wire


def enqueued(answer: Mapping[str, Any]) -> list[Enqueued]:
    return [Enqueued.from_wire(job) for job in answer["jobs"]]


def jobs(
    queue: str, state: str | Sequence[str] | None, limit: int | None, cursor: str | None
) -> Request:
    query = {"state": state, "limit": limit, "cursor": cursor}
    return Request("GET", f"/api/queue/{segment(queue)}/jobs", query)


def page(answer: Mapping[str, Any]) -> Page[dict[str, Any]]:
    return Page(answer["items"], answer.get("nextCursor"))


def job(job_id: str) -> Request:
    return Request("GET", f"/api/jobs/{segment(job_id)}")


def job_action(job_id: str, action: str, reason: str | None = None) -> Request:
    body = None if reason is None else {"reason": reason}
    return Request("POST", f"/api/jobs/{segment(job_id)}/{action}", body=body)


def update_job(job_id: str, priority: int | None, delay_ms: int | None) -> Request:
    body = options_on_wire({"priority": priority, "delay_ms": delay_ms})
    return Request("PATCH", f"/api/jobs/{segment(job_id)}", body=body)


def remove_job(job_id: str) -> Request:
    return Request("DELETE", f"/api/jobs/{segment(job_id)}")


def job_stream(job_id: str) -> str:
    return f"/api/events/job/{segment(job_id)}/stream"


def run_stream(run_id: str) -> str:
    return f"/api/runs/{segment(run_id)}/stream"


def queues() -> Request:
    return Request("GET", "/api/queue")


def queue(name: str) -> Request:
    return Request("GET", f"/api/queue/{segment(name)}")


def queue_action(name: str, action: str, **options: Any) -> Request:
    body = options_on_wire(options) if options else None
    return Request("POST", f"/api/queue/{segment(name)}/{action}", body=body)


def dead_letters(queue: str, limit: int | None, cursor: str | None) -> Request:
    query = {"limit": limit, "cursor": cursor}
    return Request("GET", f"/api/queue/{segment(queue)}/dlq", query)


def call(process: str, input: Any, timeout_ms: int | None) -> Request:
    body = {"process": process, "input": input}
    if timeout_ms is not None:
        body["timeoutMs"] = timeout_ms
    timeout_s = None if timeout_ms is None else timeout_ms / 1000 + _MARGIN_S
    return Request("POST", "/api/runner/execute", body=body, timeout_s=timeout_s)


def call_frames(process: str, input: Any, timeout_ms: int | None) -> Request:
    plain = call(process, input, timeout_ms)
    return Request(
        plain.method, plain.path, body=plain.body, headers={"accept": "text/event-stream"}
    )


def start(flow: str, input: Any, options: Mapping[str, Any]) -> Request:
    body = {"input": {} if input is None else input, **options_on_wire(options)}
    return Request("POST", f"/api/flows/{segment(flow)}/start", body=body)


def run(run_id: str) -> Request:
    return Request("GET", f"/api/runs/{segment(run_id)}")


def run_action(run_id: str, action: str, reason: str | None) -> Request:
    body = {} if reason is None else {"reason": reason}
    return Request("POST", f"/api/runs/{segment(run_id)}/{action}", body=body)


def why(run_id: str) -> Request:
    return Request("GET", f"/api/runs/{segment(run_id)}/why")


def fire(trigger_id: str, payload: Any) -> Request:
    body = {} if payload is None else payload
    return Request("POST", f"/api/triggers/{segment(trigger_id)}", body=body)


def emit(
    type: str, data: Any, run_id: str | None, stream: str | None, more: Mapping[str, Any]
) -> Request:
    body = options_on_wire({"type": type, "run_id": run_id, "stream": stream, **more})
    if data is not None:
        body["data"] = data
    return Request("POST", "/api/events", body=body)


def stream_path(stream: str) -> str:
    """The path of a live stream, from `flow/<id>`, a full name like `nq:global`, or a run's id."""
    if ":" in stream:
        return f"/api/events/{segment(stream)}/tail"
    kind, slash, id = stream.partition("/")
    if slash:
        return f"/api/events/{segment(kind)}/{segment(id)}/stream"
    return run_stream(stream)
