"""Both clients know every route of the server."""

from __future__ import annotations

import asyncio
import pathlib
import re
import unittest
from typing import Any

import support  # noqa: F401

from riverrun import AsyncClient, Client

ROOT = pathlib.Path(__file__).resolve().parents[3]
DOCUMENT = ROOT / "crates/api/tests/it/snapshots/it__openapi__the_document_lists_every_route.snap"

#: For browsers, other programs and people, or the same as another route.
NOT_FOR_CLIENTS = re.compile(
    r"^(GET /(api/(docs|openapi|schemas|handlers|executions)|approve|healthz|readyz|metrics|$))"
    r"|/ws$|^POST /approve/|^[A-Z]+ /hooks/|^GET /api/flows/\{\}/runs|^POST /api/flows/\{\}/runs"
    r"|^POST /api/flows/triggers|^POST /api/runs/import|^GET /api/runs/\{\}/(jobs|awaits)"
    r"|^GET /api/events/\{\}/(list|\{\})$"
    # For jobs that no path can name.
    r"|^DELETE /api/jobs$"
    # on_kind follows it.
    r"|^GET /api/events$"
)

#: A use of each method, and what it asks for.
USES: list[tuple[str, Any]] = [
    ("POST /api/queues/{}/jobs", lambda c: c.enqueue("q", 1, create=True)),
    ("POST /api/queues/{}/jobs", lambda c: c.enqueue_many("q", [{"data": 1}])),
    ("GET /api/jobs/{}", lambda c: c.job("j")),
    ("GET /api/queues/{}/jobs", lambda c: c.jobs("q", tag="t", name="n", key="k")),
    ("GET /api/jobs", lambda c: c.find_jobs(tag="t")),
    ("GET /api/jobs", lambda c: c.run_jobs(stalled=True)),
    ("POST /api/jobs/{}/retry", lambda c: c.retry_job("j")),
    ("POST /api/jobs/{}/cancel", lambda c: c.cancel_job("j", "no")),
    ("POST /api/jobs/{}/promote", lambda c: c.promote_job("j")),
    ("PATCH /api/jobs/{}", lambda c: c.update_job("j", priority=1)),
    ("DELETE /api/jobs/{}", lambda c: c.remove_job("j")),
    ("GET /api/queues", lambda c: c.queues()),
    ("GET /api/queues/{}", lambda c: c.queue("q")),
    ("POST /api/queues/{}/pause", lambda c: c.pause_queue("q")),
    ("POST /api/queues/{}/resume", lambda c: c.resume_queue("q")),
    ("POST /api/queues/{}/clear", lambda c: c.clear_queue("q")),
    ("POST /api/queues/{}/clean", lambda c: c.clean_queue("q", filter={"tag": "t"})),
    ("GET /api/queues/{}/dlq", lambda c: c.dead_letters("q")),
    ("POST /api/queues/{}/dlq/redrive", lambda c: c.redrive("q", filter={"code": "X"})),
    ("POST /api/queues/{}/dlq/purge", lambda c: c.purge_dead_letters("q")),
    ("POST /api/runner/execute", lambda c: c.call("p", call_id="c", persist_frames=False)),
    ("POST /api/flows/{}/start", lambda c: c.start("f")),
    ("POST /api/flows/{}/start", lambda c: c.start_and_wait("f", timeout=1)),
    ("GET /api/runs/{}", lambda c: c.run("r")),
    ("GET /api/runs", lambda c: c.runs(flow="f", status=["failed"], order="asc")),
    ("GET /api/runs/{}/state", lambda c: c.state("r", "1-0")),
    ("GET /api/runs/{}/history", lambda c: c.history("r")),
    ("GET /api/stories/{}", lambda c: c.story("o-1", limit=10)),
    ("GET /api/events/unheard", lambda c: c.unheard()),
    ("GET /api/awaits", lambda c: c.awaits()),
    ("GET /api/runs/{}/children", lambda c: c.children("r")),
    ("GET /api/runs/{}/events", lambda c: c.events("r", order="desc")),
    ("GET /api/events/{}", lambda c: c.events("nq:global")),
    ("GET /api/runs/{}/why", lambda c: c.why("r")),
    ("POST /api/triggers/{}", lambda c: c.fire("t", {"a": 1}, secret="s")),
    ("POST /api/runs/{}/cancel", lambda c: c.cancel("r")),
    ("POST /api/runs/{}/pause", lambda c: c.pause("r", "lunch")),
    ("POST /api/runs/{}/resume", lambda c: c.resume("r")),
    ("POST /api/runs/{}/rerun", lambda c: c.rerun("r", {"a": 1}, latest=True)),
    ("POST /api/runs/{}/fork", lambda c: c.fork("r", at="1-0")),
    ("DELETE /api/runs/{}", lambda c: c.delete_run("r")),
    ("POST /api/events", lambda c: c.emit("x")),
    ("POST /api/events/{}/{}", lambda c: c.append("webhook", "w", [{"type": "x"}])),
    ("GET /api/processes", lambda c: c.processes()),
    ("GET /api/version", lambda c: c.version()),
    ("GET /api/flows", lambda c: c.flows.list()),
    ("GET /api/flows/{}", lambda c: c.flows.get("f", version="1.0.0")),
    ("GET /api/flows/{}/versions", lambda c: c.flows.versions("f")),
    ("POST /api/flows", lambda c: c.flows.register({"id": "f"})),
    ("POST /api/flows/validate", lambda c: c.flows.validate({"id": "f"})),
    ("GET /api/flows/{}/diagram", lambda c: c.flows.diagram("f")),
    ("GET /api/triggers", lambda c: c.triggers.list(type="http")),
    ("GET /api/triggers/{}", lambda c: c.triggers.get("t")),
    ("POST /api/triggers", lambda c: c.triggers.create({"id": "t", "config": {"every_ms": 1}})),
    ("PATCH /api/triggers/{}", lambda c: c.triggers.update("t", {"input_map": None})),
    ("DELETE /api/triggers/{}", lambda c: c.triggers.remove("t")),
    ("POST /api/triggers/{}/enable", lambda c: c.triggers.enable("t")),
    ("POST /api/triggers/{}/disable", lambda c: c.triggers.disable("t")),
    ("POST /api/triggers/{}/fire", lambda c: c.triggers.fire("t", 1, source="me")),
    ("GET /api/triggers/{}/history", lambda c: c.triggers.history("t")),
    ("GET /api/triggers/{}/stats", lambda c: c.triggers.stats("t")),
    ("GET /api/schedules", lambda c: c.schedules.list()),
    ("POST /api/schedules/{}/backfill", lambda c: c.schedules.backfill("t", 0, 1)),
    ("GET /api/workers", lambda c: c.workers.list()),
    ("POST /api/workers/{}/drain", lambda c: c.workers.drain(1)),
]

#: Streams are followed with `subscribe`.
FOLLOWED = {
    "GET /api/runs/{}/stream",
    "GET /api/events/{}/{}/stream",
    "GET /api/events/{}/tail",
}

ANSWER = {
    "items": [],
    "jobs": [{"jobId": "j"}],
    "ids": ["1-0"],
    "removed": 0,
    "redriven": 0,
    "runId": "r",
    "endedAt": "now",
}


class Recorder:
    """Stands in for the connections."""

    def __init__(self) -> None:
        self.asked: list[Any] = []

    def send(self, request: Any) -> Any:
        self.asked.append(request)
        return ANSWER


class AsyncRecorder(Recorder):
    async def send(self, request: Any) -> Any:
        return super().send(request)


def with_recorder(client: Any, recorder: Recorder) -> Any:
    for part in (client, client.flows, client.triggers, client.schedules, client.workers):
        part._http = recorder
    return client


class Routes(unittest.TestCase):
    def setUp(self) -> None:
        lines = DOCUMENT.read_text().split("---\n", 2)[2].splitlines()
        self.routes = {line.partition(" — ")[0] for line in lines if " — " in line}

    def matching(self, shape: str) -> set[str]:
        plain = re.compile(re.escape(shape).replace(r"\{\}", r"\{\w+\}") + "$")
        return {route for route in self.routes if plain.match(route)}

    def test_every_route_has_a_method(self) -> None:
        known: set[str] = set()
        for shape in {shape for shape, _ in USES} | FOLLOWED:
            found = self.matching(shape)
            self.assertTrue(found, f"the server has no {shape}")
            known |= found
        missing = [
            route
            for route in sorted(self.routes - known)
            if not NOT_FOR_CLIENTS.search(re.sub(r"\{\w+\}", "{}", route))
        ]
        self.assertEqual(missing, [])

    def test_both_clients_ask_the_same(self) -> None:
        recorder, other = Recorder(), AsyncRecorder()
        blocking = with_recorder(Client("http://127.0.0.1:1"), recorder)

        async def awaited() -> None:
            client = with_recorder(AsyncClient("http://127.0.0.1:1"), other)
            for _, use in USES:
                await use(client)

        for shape, use in USES:
            use(blocking)
            request = recorder.asked[-1]
            method, path = shape.split(" ")
            self.assertEqual(request.method, method, shape)
            self.assertRegex(request.path, "^" + path.replace("{}", "[^/]+") + "$")
        asyncio.run(awaited())
        self.assertEqual(recorder.asked, other.asked)

    def test_names_are_translated_but_for_the_users_own(self) -> None:
        recorder = Recorder()
        client = with_recorder(Client("http://127.0.0.1:1"), recorder)
        schema = {"properties": {"my_name": {}}}
        client.triggers.create({"id": "t", "config": {"max_body_bytes": 1, "body_schema": schema}})
        config = recorder.asked[-1].body["config"]
        self.assertEqual(config, {"maxBodyBytes": 1, "bodySchema": schema})
        client.triggers.update("t", {"input_map": None})
        self.assertEqual(recorder.asked[-1].body, {"inputMap": None})
        client.enqueue("q", 1, idempotency={"key": "k", "window_ms": 5})
        options = recorder.asked[-1].body["options"]
        self.assertEqual(options, {"idempotency": {"key": "k", "windowMs": 5}})
        client.fire("t", {"a": "ü"}, secret="s")
        self.assertRegex(
            recorder.asked[-1].headers["x-riverrun-signature"], "^sha256=[0-9a-f]{64}$"
        )


if __name__ == "__main__":
    unittest.main()
