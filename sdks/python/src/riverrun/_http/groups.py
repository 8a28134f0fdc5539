"""The requests about flows, triggers, schedules and workers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._naming import camel_keys, options_on_wire
from .request import Request, segment


def flows() -> Request:
    return Request("GET", "/api/flows")


def flow(id: str, part: str = "", version: str | None = None) -> Request:
    return Request("GET", f"/api/flows/{segment(id)}{part}", {"version": version})


def register_flow(definition: Mapping[str, Any]) -> Request:
    return Request("POST", "/api/flows", body=definition)


def validate_flow(definition: Mapping[str, Any]) -> Request:
    return Request("POST", "/api/flows/validate", body=definition)


def triggers(type: str | None, limit: int | None, cursor: str | None) -> Request:
    return Request("GET", "/api/triggers", {"type": type, "limit": limit, "cursor": cursor})


def trigger(id: str, part: str = "", **query: Any) -> Request:
    return Request("GET", f"/api/triggers/{segment(id)}{part}", query)


def create_trigger(trigger: Mapping[str, Any]) -> Request:
    return Request("POST", "/api/triggers", body=camel_keys(trigger))


# A `None` stays, since in a change it takes away.
def update_trigger(id: str, changes: Mapping[str, Any]) -> Request:
    return Request("PATCH", f"/api/triggers/{segment(id)}", body=camel_keys(changes))


def remove_trigger(id: str) -> Request:
    return Request("DELETE", f"/api/triggers/{segment(id)}")


def trigger_action(id: str, action: str, body: Mapping[str, Any] | None = None) -> Request:
    return Request("POST", f"/api/triggers/{segment(id)}/{action}", body=body)


def fire_trigger(id: str, input: Any, options: Mapping[str, Any]) -> Request:
    body = options_on_wire(options)
    if input is not None:
        body["input"] = input
    return trigger_action(id, "fire", body)


def schedules(limit: int | None, cursor: str | None) -> Request:
    return Request("GET", "/api/schedules", {"limit": limit, "cursor": cursor})


def backfill(
    id: str, since: Any, until: Any, limit: int | None, forgotten: bool | None
) -> Request:
    body = options_on_wire({"from": since, "to": until, "limit": limit, "forgotten": forgotten})
    return Request("POST", f"/api/schedules/{segment(id)}/backfill", body=body)


def workers() -> Request:
    return Request("GET", "/api/workers")


def drain_worker(id: int, grace_ms: int | None) -> Request:
    body = options_on_wire({"grace_ms": grace_ms})
    return Request("POST", f"/api/workers/{id}/drain", body=body)
