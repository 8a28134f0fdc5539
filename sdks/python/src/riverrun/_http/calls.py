"""What the clients add to the operations of the server: options, limits, signatures, streams."""

from __future__ import annotations

import hmac
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from .. import _json
from .._api import requests
from .._naming import options_on_wire
from ..errors import RiverrunError
from ..options import Enqueued, NewJob, Page, Redriven, with_options
from .request import Request

#: Beyond what the server itself waits for, in seconds.
_MARGIN_S = 10.0
#: How long the server is asked to hold one request open, in milliseconds.
_HOLD_MS = 20_000

#: Older names of members of queries.
_OLDER = {"state": "status", "direction": "order"}


def enqueue(
    queue: str, data: Any, name: str | None, create: bool, options: Mapping[str, Any]
) -> Request:
    return _add(queue, with_options({"data": data}, name, options), create)


def enqueue_many(queue: str, jobs: Sequence[NewJob | Mapping[str, Any]], create: bool) -> Request:
    return _add(queue, {"jobs": [_new_job(job, queue) for job in jobs]}, create)


def _add(queue: str, body: Any, create: bool) -> Request:
    return requests.add_jobs(queue, body, create=create or None)


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
    rest = _canonical(query)
    # The name of the queue is in the path, so that of the jobs has another name here.
    return requests.queue_jobs(queue, name_=rest.pop("name", None), **rest)


def find_jobs(query: Mapping[str, Any]) -> Request:
    # Without a queue, a status would select the jobs of runs.
    return requests.list_jobs(**{**_canonical(query), "queue": query.get("queue") or "*"})


def run_jobs(query: Mapping[str, Any]) -> Request:
    # Said, or the jobs of queues would be meant.
    return requests.list_jobs(**{**query, "stalled": query.get("stalled") or False})


def _canonical(query: Mapping[str, Any]) -> dict[str, Any]:
    for older, name in _OLDER.items():
        if older in query and name in query:
            message = f"{older} is the older name of {name}: give one of them"
            raise RiverrunError(message, code="BAD_REQUEST")
    return {_OLDER.get(name, name): value for name, value in query.items()}


def page(answer: Mapping[str, Any]) -> Page[dict[str, Any]]:
    return Page(answer["items"], answer.get("nextCursor"))


def records(answer: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A list that has no pages."""
    return list(answer["items"])


def redriven(answer: Mapping[str, Any]) -> Redriven:
    return Redriven(answer["redriven"], answer.get("goesOn", False))


def dead_letters(
    queue: str, limit: int | None, cursor: str | None, filter: Mapping[str, Any] | None
) -> Request:
    # As with `jobs`.
    named = {"name_" if name == "name" else name: value for name, value in (filter or {}).items()}
    return requests.dead_letters(queue, limit=limit, cursor=cursor, **named)


def call(process: str, input: Any, options: Mapping[str, Any]) -> Request:
    body = options_on_wire(options)
    body.update(process=process, input=input)
    request = requests.execute(body)
    timeout_ms = options.get("timeout_ms")
    timeout_s = None if timeout_ms is None else timeout_ms / 1000 + _MARGIN_S
    return replace(request, timeout_s=timeout_s)


def call_frames(process: str, input: Any, options: Mapping[str, Any]) -> Request:
    plain = call(process, input, options)
    return replace(plain, headers={"accept": "text/event-stream"}, timeout_s=None)


def start(flow: str, input: Any, options: Mapping[str, Any], wait: int | None = None) -> Request:
    body = options_on_wire(options)
    body["input"] = {} if input is None else input
    return requests.start_run(flow, body, wait=wait)


def start_and_wait(
    flow: str, input: Any, options: Mapping[str, Any], timeout_s: float | None
) -> Request:
    hold_ms = _HOLD_MS if timeout_s is None else min(_HOLD_MS, round(timeout_s * 1000))
    request = start(flow, input, options, hold_ms)
    return replace(request, timeout_s=hold_ms / 1000 + _MARGIN_S)


def fire(trigger_id: str, payload: Any, secret: str | None) -> Request:
    body = {} if payload is None else payload
    request = requests.resume_callback(trigger_id, body)
    if secret is None:
        return request
    made = hmac.new(secret.encode(), _json.encode(body), "sha256").hexdigest()
    return replace(request, headers={"x-riverrun-signature": f"sha256={made}"})


def fire_trigger(id: str, input: Any, options: Mapping[str, Any]) -> Request:
    body = options_on_wire(options)
    if input is not None:
        body["input"] = input
    return requests.fire_trigger(id, body)


def emit(
    type: str, data: Any, run_id: str | None, stream: str | None, more: Mapping[str, Any]
) -> Request:
    body = options_on_wire({"type": type, "run_id": run_id, "stream": stream, **more})
    if data is not None:
        body["data"] = data
    return requests.emit_event(body)


def append(type: str, id: str, events: Any) -> Request:
    one = isinstance(events, Mapping)
    wires = [options_on_wire(event) for event in ([events] if one else events)]
    return requests.append_events(type, id, wires[0] if one else wires)


def events(stream: str, query: Mapping[str, Any]) -> Request:
    if ":" in stream:
        return requests.stream_events(stream, **_canonical(query))
    return requests.run_events(stream, **_canonical(query))


def follow(stream: str) -> Request:
    """Follows `flow/<id>`, a full name like `nq:global`, or a run's id."""
    if ":" in stream:
        return requests.follow_named(stream)
    kind, slash, id = stream.partition("/")
    return requests.follow_stream(kind, id) if slash else requests.follow_run(stream)
