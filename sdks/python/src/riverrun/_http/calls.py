"""Each operation of the client as the request that it sends."""

from __future__ import annotations

import hmac
from collections.abc import Mapping, Sequence
from typing import Any

from .. import _json
from .._naming import options_on_wire
from ..errors import RiverrunError
from ..options import Enqueued, NewJob, Page, Redriven, with_options
from .request import Request, segment

#: Beyond what the server itself waits for, in seconds.
_MARGIN_S = 10.0
#: How long the server is asked to hold one request open, in milliseconds.
_HOLD_MS = 20_000



def enqueue(
    queue: str, data: Any, name: str | None, create: bool, options: Mapping[str, Any]
) -> Request:
    return _add(queue, with_options({"data": data}, name, options), create)


def enqueue_many(
    queue: str, jobs: Sequence[NewJob | Mapping[str, Any]], create: bool
) -> Request:
    return _add(queue, {"jobs": [_new_job(job, queue) for job in jobs]}, create)


def _add(queue: str, body: Mapping[str, Any], create: bool) -> Request:
    query = {"create": True} if create else {}
    return Request("POST", f"/api/queues/{segment(queue)}/jobs", query, body)


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


def jobs(queue: str, query: Mapping[str, Any]) -> Request:
    return Request("GET", f"/api/queues/{segment(queue)}/jobs", query)


def find_jobs(query: Mapping[str, Any]) -> Request:
    # Without a queue, a status would select the jobs of runs.
    return Request("GET", "/api/jobs", {**query, "queue": query.get("queue") or "*"})


def run_jobs(query: Mapping[str, Any]) -> Request:
    # Said, or the jobs of queues would be meant.
    return Request("GET", "/api/jobs", {**query, "stalled": query.get("stalled") or False})


def page(answer: Mapping[str, Any]) -> Page[dict[str, Any]]:
    return Page(answer["items"], answer.get("nextCursor"))


def records(answer: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A list that has no pages."""
    return list(answer["items"])


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
    return Request("GET", "/api/queues")


def queue(name: str) -> Request:
    return Request("GET", f"/api/queues/{segment(name)}")


def queue_action(name: str, action: str, **options: Any) -> Request:
    body = options_on_wire(options) if options else None
    return Request("POST", f"/api/queues/{segment(name)}/{action}", body=body)


def redriven(answer: Mapping[str, Any]) -> Redriven:
    return Redriven(answer["redriven"], answer.get("goesOn", False))


def dead_letters(
    queue: str, limit: int | None, cursor: str | None, filter: Mapping[str, Any] | None
) -> Request:
    query = {"limit": limit, "cursor": cursor, **options_on_wire(filter or {})}
    return Request("GET", f"/api/queues/{segment(queue)}/dlq", query)


def call(process: str, input: Any, options: Mapping[str, Any]) -> Request:
    body = {"process": process, "input": input, **options_on_wire(options)}
    timeout_ms = options.get("timeout_ms")
    timeout_s = None if timeout_ms is None else timeout_ms / 1000 + _MARGIN_S
    return Request("POST", "/api/runner/execute", body=body, timeout_s=timeout_s)


def call_frames(process: str, input: Any, options: Mapping[str, Any]) -> Request:
    plain = call(process, input, options)
    return Request(
        plain.method, plain.path, body=plain.body, headers={"accept": "text/event-stream"}
    )


def start(flow: str, input: Any, options: Mapping[str, Any]) -> Request:
    body = {"input": {} if input is None else input, **options_on_wire(options)}
    return Request("POST", f"/api/flows/{segment(flow)}/start", body=body)


def start_and_wait(
    flow: str, input: Any, options: Mapping[str, Any], timeout_s: float | None
) -> Request:
    plain = start(flow, input, options)
    hold_ms = _HOLD_MS if timeout_s is None else min(_HOLD_MS, round(timeout_s * 1000))
    waits_s = hold_ms / 1000 + _MARGIN_S
    return Request(plain.method, plain.path, {"wait": hold_ms}, plain.body, timeout_s=waits_s)


def run(run_id: str) -> Request:
    return Request("GET", f"/api/runs/{segment(run_id)}")


def runs(query: Mapping[str, Any]) -> Request:
    return Request("GET", "/api/runs", query)


def run_action(run_id: str, action: str, **options: Any) -> Request:
    body = options_on_wire(options)
    return Request("POST", f"/api/runs/{segment(run_id)}/{action}", body=body)


def delete_run(run_id: str) -> Request:
    return Request("DELETE", f"/api/runs/{segment(run_id)}")


def run_part(run_id: str, part: str, query: Mapping[str, Any]) -> Request:
    return Request("GET", f"/api/runs/{segment(run_id)}/{part}", query)


def story(correlation_id: str, query: Mapping[str, Any]) -> Request:
    return Request("GET", f"/api/stories/{segment(correlation_id)}", query)


def unheard() -> Request:
    return Request("GET", "/api/events/unheard")


def awaits() -> Request:
    return Request("GET", "/api/awaits")


def why(run_id: str) -> Request:
    return Request("GET", f"/api/runs/{segment(run_id)}/why")


def fire(trigger_id: str, payload: Any, secret: str | None) -> Request:
    body = {} if payload is None else payload
    headers = {}
    if secret is not None:
        made = hmac.new(secret.encode(), _json.encode(body), "sha256").hexdigest()
        headers["x-riverrun-signature"] = f"sha256={made}"
    return Request("POST", f"/api/triggers/{segment(trigger_id)}", body=body, headers=headers)


def emit(
    type: str, data: Any, run_id: str | None, stream: str | None, more: Mapping[str, Any]
) -> Request:
    body = options_on_wire({"type": type, "run_id": run_id, "stream": stream, **more})
    if data is not None:
        body["data"] = data
    return Request("POST", "/api/events", body=body)


def append(type: str, id: str, events: Any) -> Request:
    one = isinstance(events, Mapping)
    wires = [options_on_wire(event) for event in ([events] if one else events)]
    return Request(
        "POST", f"/api/events/{segment(type)}/{segment(id)}", body=wires[0] if one else wires
    )


def processes() -> Request:
    return Request("GET", "/api/processes")


def version() -> Request:
    return Request("GET", "/api/version")


def events(stream: str, query: Mapping[str, Any]) -> Request:
    if ":" in stream:
        return Request("GET", f"/api/events/{segment(stream)}", query)
    return Request("GET", f"/api/runs/{segment(stream)}/events", query)


def stream_path(stream: str) -> str:
    """The path of a live stream, from `flow/<id>`, a full name like `nq:global`, or a run's id."""
    if ":" in stream:
        return f"/api/events/{segment(stream)}/tail"
    kind, slash, id = stream.partition("/")
    if slash:
        return f"/api/events/{segment(kind)}/{segment(id)}/stream"
    return run_stream(stream)
