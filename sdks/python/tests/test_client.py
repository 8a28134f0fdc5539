"""The clients against a server that is played by this test."""

from __future__ import annotations

import asyncio
import http.server
import json
import threading
import unittest
from collections.abc import Callable
from typing import Any

import support

from riverrun import AsyncClient, Client, HttpError, NewJob, Redriven, RiverrunError

Answer = tuple[int, Any]


class Server:
    """Answers with what the test says, and remembers what was asked."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, str, Any]] = []
        self.connections = 0
        self.answer: Callable[[str, str, dict[str, str]], Any] = lambda *_: (200, {})
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self) -> None:
                outer.connections += 1
                super().setup()

            def handle_any(self) -> None:
                size = int(self.headers.get("content-length", 0))
                body = json.loads(self.rfile.read(size)) if size else None
                outer.requests.append((self.command, self.path, body))
                headers = {name.lower(): value for name, value in self.headers.items()}
                answer = outer.answer(self.command, self.path, headers)
                if answer is None:
                    self.close_connection = True
                    return
                if isinstance(answer, list):
                    self.stream(answer)
                    return
                status, content = answer
                text = json.dumps(content).encode() if not isinstance(content, bytes) else content
                self.send_response(status)
                self.send_header("content-length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            do_GET = do_POST = do_PATCH = do_DELETE = handle_any

            def stream(self, pieces: list[bytes | None]) -> None:
                """Chunks; `None` breaks the connection before the end."""
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.send_header("transfer-encoding", "chunked")
                self.end_headers()
                for piece in pieces:
                    if piece is None:
                        self.close_connection = True
                        return
                    self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
                self.wfile.write(b"0\r\n\r\n")

            def log_message(self, *_: Any) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class Both(unittest.TestCase):
    """Each test leads the same conversation with both clients."""

    def setUp(self) -> None:
        self.server = Server()
        self.addCleanup(self.server.close)

    def each(self, use: Callable[[Any], Any]) -> list[Any]:
        """What `use` gives for both clients; it is given functions that block."""
        found = []
        with Client(self.server.url, token="secret") as client:
            found.append(use(client))
        client = _Blocking(self.server.url)
        try:
            found.append(use(client))
        finally:
            client.finish()
        return found

    def test_enqueue(self) -> None:
        jobs = {"jobs": [{"jobId": "a", "created": True}]}
        self.server.answer = lambda *_: (201, jobs)

        def use(client: Any) -> None:
            added = client.enqueue(
                "e mails",
                {"first_name": 1},
                name="send",
                delay_ms=5,
                backoff={"type": "fixed", "delay_ms": 1},
                metadata={"my_key": 1},
            )
            self.assertEqual((added.job_id, added.created), ("a", True))

        self.each(use)
        body = {
            "data": {"first_name": 1},
            "name": "send",
            "options": {
                "delayMs": 5,
                "backoff": {"type": "fixed", "delayMs": 1},
                "metadata": {"my_key": 1},
            },
        }
        self.assertEqual(self.server.requests, [("POST", "/api/queues/e%20mails/jobs", body)] * 2)

    def test_enqueue_many(self) -> None:
        jobs = {"jobs": [{"jobId": "a", "created": True}, {"jobId": "b", "created": False}]}
        self.server.answer = lambda *_: (201, jobs)
        new = [NewJob(1, options={"priority": 2}), {"data": 2, "name": "x"}]
        both = self.each(lambda client: client.enqueue_many("q", new))
        self.assertEqual([job.job_id for job in both[0]], ["a", "b"])
        self.assertEqual(both[0], both[1])
        body = {"jobs": [{"data": 1, "options": {"priority": 2}}, {"data": 2, "name": "x"}]}
        self.assertEqual(self.server.requests[0], ("POST", "/api/queues/q/jobs", body))
        with self.assertRaises(RiverrunError):
            Client(self.server.url).enqueue_many("q", [NewJob(1, queue="other")])

    def test_lists(self) -> None:
        self.server.answer = lambda *_: (200, {"items": [{"id": "a"}], "nextCursor": "c"})
        both = self.each(lambda client: client.jobs("q", status=["waiting", "active"], limit=1))
        self.assertEqual(both[0].items, [{"id": "a"}])
        self.assertEqual(both[0].next_cursor, "c")
        self.assertEqual(
            self.server.requests[0][1], "/api/queues/q/jobs?status=waiting%2Cactive&limit=1"
        )

    def test_older_names_of_members_of_queries(self) -> None:
        self.server.answer = lambda *_: (200, {"items": []})
        self.each(lambda client: client.jobs("q", state="failed"))
        self.each(lambda client: client.find_jobs(state="failed"))
        self.each(lambda client: client.events("r", direction="backward"))
        paths = [path for _, path, _ in self.server.requests]
        expected = [
            "/api/queues/q/jobs?status=failed",
            "/api/jobs?status=failed&queue=%2A",
            "/api/runs/r/events?order=backward",
        ]
        self.assertEqual(paths, [path for path in expected for _ in range(2)])
        with self.assertRaisesRegex(RiverrunError, "state is the older name of status"):
            Client(self.server.url).jobs("q", state="failed", status="failed")

    def test_call(self) -> None:
        self.server.answer = lambda *_: (200, {"value": 5})
        self.assertEqual(self.each(lambda client: client.call("p", 1, timeout_ms=9)), [5, 5])
        body = {"process": "p", "input": 1, "timeoutMs": 9}
        self.assertEqual(self.server.requests[0], ("POST", "/api/runner/execute", body))

    def test_frames(self) -> None:
        pieces: list[bytes | None] = [
            b'event: progress\ndata: {"pct": 5}\n\nevent: res',
            b'ult\ndata: {"value": 1}\n\n',
        ]
        self.server.answer = lambda *_: pieces
        frames = [{"type": "progress", "pct": 5}, {"type": "result", "value": 1}]
        both = self.each(lambda client: list(client.call_frames("p")))
        self.assertEqual(both, [frames, frames])

    def test_start_emit_and_wait(self) -> None:
        def answer(method: str, path: str, _: object) -> Any:
            if path.endswith("/start"):
                return 201, {"runId": "r", "status": "running", "created": True}
            if path == "/api/events":
                return 201, {"stream": "nq:flow:r", "ids": ["1-0"]}
            if path.startswith("/api/runs/r/stream?from=end&type="):
                return [b"id: 1-0\n\n", _event(2, "flow.completed")]
            return 200, {"runId": "r", "status": "completed", "state": {}}

        self.server.answer = answer

        def use(client: Any) -> None:
            started = client.start("order", {"id": 1}, idempotency_key="k")
            self.assertEqual((started.run_id, started.status), ("r", "running"))
            self.assertEqual(client.emit("paid", {"n": 1}, run_id="r"), "1-0")
            self.assertEqual(client.wait("r", 5)["status"], "completed")

        self.each(use)
        start, emit = self.server.requests[:2]
        self.assertEqual(start[2], {"input": {"id": 1}, "idempotencyKey": "k"})
        self.assertEqual(emit[2], {"type": "paid", "runId": "r", "data": {"n": 1}})

    def test_triggers_are_opened_and_runs_asked_why(self) -> None:
        self.server.answer = lambda *_: (200, {"status": "waiting"})

        def use(client: Any) -> None:
            self.assertEqual(client.fire("t/1", {"yes": True}), {"status": "waiting"})
            client.fire("t/1")
            self.assertEqual(client.why("r"), {"status": "waiting"})

        self.each(use)
        fired, opened, asked = self.server.requests[:3]
        self.assertEqual(fired, ("POST", "/api/triggers/t%2F1", {"yes": True}))
        self.assertEqual((opened[2], asked[1]), ({}, "/api/runs/r/why"))

    def test_wait_gives_up(self) -> None:
        self.server.answer = lambda *_: (200, {"id": "j", "state": "active"})

        def use(client: Any) -> None:
            with self.assertRaisesRegex(TimeoutError, "job j"):
                client.wait_job("j", 0.05)

        self.each(use)

    def test_a_job_is_waited_for_by_its_stream(self) -> None:
        """Over a lost connection, from where the stream stood, and past an end that was not one."""
        opening = b": riverrun\nretry: 1\nid: 7-0\n\n"
        turns: list[Any] = [
            [opening, None],
            [opening, _event(8, "job.failed"), _event(9, "job.waiting")],
            [opening, _event(10, "job.completed")],
        ]
        left = iter(turns * 2)
        cursors: list[str | None] = []

        def answer(_: str, path: str, headers: dict[str, str]) -> Any:
            if path == "/api/jobs/j":
                return 200, {"id": "j", "state": "completed", "result": 7}
            cursors.append(headers.get("last-event-id"))
            return next(left)

        self.server.answer = answer
        both = self.each(lambda client: client.wait_job("j", 10)["result"])
        self.assertEqual(both, [7, 7])
        self.assertEqual(cursors, [None, "7-0", "9-0"] * 2)
        path = self.server.requests[0][1]
        self.assertTrue(path.startswith("/api/events/job/j/stream?from=end&type="), path)
        self.assertTrue(path.endswith("&follow=until-end"), path)

    def test_a_silent_stream_is_given_up_in_time(self) -> None:
        quiet = threading.Event()
        self.addCleanup(quiet.set)

        def answer(*_: object) -> Any:
            quiet.wait(support.PATIENCE_S)
            return None

        self.server.answer = answer

        def use(client: Any) -> None:
            with self.assertRaisesRegex(TimeoutError, "run r has not ended after 0.05 s"):
                client.wait("r", 0.05)

        self.each(use)

    def test_a_reader_of_a_queue_is_told_what_it_missed(self) -> None:
        missed = b'event: stream.missed\ndata: {"after":"1-0"}\n\n'
        gone = {"error": {"code": "QUEUE_NOT_FOUND", "message": "no queue"}}
        turns: list[Any] = [
            [b"retry: 1\n\n", _event(1, "job.added")],
            [b"retry: 1\n\n", missed, _event(5, "job.active")],
            (404, gone),
        ]
        left = iter(turns * 2)
        self.server.answer = lambda *_: next(left)
        reported: list[Any] = []

        def use(client: Any) -> None:
            with self.assertRaises(HttpError):
                list(client.subscribe("queue/mail", on_missed=reported.append))

        self.each(use)
        self.assertEqual(reported, [{"after": "1-0"}] * 2)
        self.assertEqual(self.server.requests[0][1], "/api/events/queue/mail/stream")

    def test_jobs_and_queues_are_steered(self) -> None:
        def answer(method: str, path: str, _: object) -> Answer:
            if method == "DELETE":
                return 204, b""
            if "/dlq" in path and method == "GET":
                return 200, {"items": [{"id": "a"}], "nextCursor": "c"}
            return 200, {"id": "j", "removed": 2, "redriven": 3}

        self.server.answer = answer

        def use(client: Any) -> None:
            self.assertEqual(client.update_job("j", priority=5, delay_ms=9)["id"], "j")
            self.assertIsNone(client.remove_job("j"))
            client.retry_job("j")
            client.cancel_job("j", "why")
            client.promote_job("j")
            client.pause_queue("q")
            client.resume_queue("q")
            self.assertEqual(client.drain_queue("q", delayed=True), 2)
            self.assertEqual(client.clean_queue("q", status="failed", older_than_ms=5), 2)
            page = client.dead_letters("q", limit=1, filter={"code": "SMTP"})
            self.assertEqual((list(page), page.next_cursor), ([{"id": "a"}], "c"))
            self.assertEqual(client.redrive("q", per_second=9), Redriven(3, False))
            self.assertEqual(client.purge_dead_letters("q", limit=4), 2)

        self.each(use)
        expected = [
            ("PATCH", "/api/jobs/j", {"priority": 5, "delayMs": 9}),
            ("DELETE", "/api/jobs/j", None),
            ("POST", "/api/jobs/j/retry", None),
            ("POST", "/api/jobs/j/cancel", {"reason": "why"}),
            ("POST", "/api/jobs/j/promote", None),
            ("POST", "/api/queues/q/pause", None),
            ("POST", "/api/queues/q/resume", None),
            ("POST", "/api/queues/q/clear", {"delayed": True}),
            ("POST", "/api/queues/q/clean", {"status": "failed", "olderThanMs": 5}),
            ("GET", "/api/queues/q/dlq?code=SMTP&limit=1", None),
            ("POST", "/api/queues/q/dlq/redrive", {"perSecond": 9}),
            ("POST", "/api/queues/q/dlq/purge", {"limit": 4}),
        ]
        self.assertEqual(self.server.requests, expected * 2)

    def test_failures(self) -> None:
        failure = {"error": {"code": "QUEUE_NOT_FOUND", "message": "no", "details": {"a": 1}}}
        self.server.answer = lambda *_: (404, failure)

        def use(client: Any) -> None:
            with self.assertRaises(HttpError) as caught:
                client.queue("q")
            error = caught.exception
            self.assertEqual((error.status, error.code), (404, "QUEUE_NOT_FOUND"))
            self.assertEqual(error.details, {"a": 1})
            self.server.answer = lambda *_: (502, b"<html>bad gateway")
            with self.assertRaises(HttpError) as caught:
                client.queue("q")
            self.assertEqual(caught.exception.code, "HTTP_502")
            self.server.answer = lambda *_: (200, b"<html>hello")
            with self.assertRaises(RiverrunError) as other:
                client.queue("q")
            self.assertEqual(other.exception.code, "NOT_RIVERRUN")
            self.server.answer = lambda *_: (404, failure)

        self.each(use)

    def test_nobody_there(self) -> None:
        self.server.close()

        def use(client: Any) -> None:
            with self.assertRaises(RiverrunError) as caught:
                client.queue("q")
            self.assertEqual(caught.exception.code, "UNREACHABLE")

        self.each(use)

    def test_connections_are_kept(self) -> None:
        self.each(lambda client: [client.queue("q") for _ in range(5)])
        self.assertEqual(self.server.connections, 2)

    def test_the_token_is_sent(self) -> None:
        seen = []
        self.server.answer = lambda _, __, headers: (seen.append(headers), (200, {}))[1]
        self.each(lambda client: client.queue("q"))
        self.assertEqual([headers["authorization"] for headers in seen], ["Bearer secret"] * 2)

    def test_a_stream_goes_on_after_lost_connections(self) -> None:
        """Broken in the middle, then refused, then ended by the server: nothing is lost."""
        opening = b": riverrun\nretry: 1\n\n"
        turns: list[Any] = [
            [opening, _event(1), _event(2)[:10], None],
            (503, {"error": {"code": "SHUTTING_DOWN", "message": "later"}}),
            [opening, _event(2), _event(3)],
            [opening, _event(4, "flow.completed")],
        ]
        left = iter(turns * 2)
        cursors: list[str | None] = []

        def answer(_: str, path: str, headers: dict[str, str]) -> Any:
            cursors.append(headers.get("last-event-id"))
            return next(left)

        self.server.answer = answer
        both = self.each(lambda client: list(client.subscribe("r", until_end=True, after="0-0")))
        for events in both:
            self.assertEqual([event["id"] for event in events], ["1-0", "2-0", "3-0", "4-0"])
        self.assertEqual(cursors, [None, "1-0", "1-0", "3-0"] * 2)
        paths = [path for _, path, _ in self.server.requests[:2]]
        self.assertEqual(paths[0], "/api/runs/r/stream?from=0-0&follow=until-end")
        self.assertEqual(paths[1], "/api/runs/r/stream?follow=until-end")

    def test_events_of_a_kind_go_on_from_their_cursor(self) -> None:
        def numbered(n: int) -> bytes:
            event = {"id": f"{n}-0", "type": "order.paid", "stream": "nq:global", "cursor": str(n)}
            return f"id: {n}\nevent: order.paid\ndata: {json.dumps(event)}\n\n".encode()

        turns: list[Any] = [
            [b": riverrun\nretry: 1\nid: 7\n\n"],
            [numbered(8), b": alive\nid: 20\n\n"],
            (503, {"error": {"code": "SHUTTING_DOWN", "message": "later"}}),
            [numbered(21)],
            (400, {"error": {"code": "BAD_KIND", "message": "enough"}}),
        ]
        left = iter(turns * 2)
        cursors: list[str | None] = []
        seen: list[str] = []

        def answer(_: str, path: str, headers: dict[str, str]) -> Any:
            cursors.append(headers.get("last-event-id"))
            return next(left)

        self.server.answer = answer

        def use(client: Any) -> None:
            with self.assertRaises(HttpError):
                for event in client.on_kind(["order.paid", "flow"], after="5"):
                    seen.append(event["cursor"])

        with Client(self.server.url) as client:
            use(client)
        self.assertEqual(seen, ["8", "21"])
        self.assertEqual(cursors, [None, "7", "20", "20", "21"])
        paths = [path for _, path, _ in self.server.requests[:2]]
        self.assertEqual(paths[0], "/api/events?type=order.paid%2Cflow&from=5")
        self.assertEqual(paths[1], "/api/events?type=order.paid%2Cflow")
        self.server.answer = lambda *_: [numbered(1), numbered(2)]

        async def first() -> str:
            async with AsyncClient(self.server.url) as client:
                async for event in client.on_kind("order.paid"):
                    return str(event["cursor"])
            return ""

        self.assertEqual(asyncio.run(first()), "1")

    def test_a_stream_of_what_has_ended(self) -> None:
        self.server.answer = lambda *_: []
        both = self.each(lambda client: list(client.subscribe("r", until_end=True)))
        self.assertEqual(both, [[], []])

    def test_the_end_is_seen_whatever_the_types(self) -> None:
        self.server.answer = lambda *_: [_event(1, "log.info"), _event(2, "flow.failed")]

        def use(client: Any) -> list[str]:
            events = client.subscribe("nq:flow:r", until_end=True, types=["log"])
            return [event["type"] for event in events]

        self.assertEqual(self.each(use), [["log.info"]] * 2)
        self.assertIn(
            "/api/events/nq:flow:r/tail?type=log%2Cflow.completed", self.server.requests[0][1]
        )

    def test_a_stream_that_is_not_there(self) -> None:
        failure = {"error": {"code": "RUN_NOT_FOUND", "message": "no run"}}
        self.server.answer = lambda *_: (404, failure)

        def use(client: Any) -> None:
            with self.assertRaises(HttpError) as caught:
                list(client.subscribe("job/x"))
            self.assertEqual(caught.exception.code, "RUN_NOT_FOUND")

        self.each(use)


class _Blocking:
    """An `AsyncClient` whose methods block, so that both clients can be used by one test."""

    def __init__(self, url: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._client = AsyncClient(url, token="secret")

    def finish(self) -> None:
        self._loop.run_until_complete(self._client.close())
        self._loop.run_until_complete(asyncio.sleep(0))
        self._loop.close()

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._client, name)

        def call(*args: Any, **options: Any) -> Any:
            result = method(*args, **options)
            if hasattr(result, "__aiter__"):
                return self._loop.run_until_complete(_collected(result))
            return self._loop.run_until_complete(result)

        return call


async def _collected(items: Any) -> list[Any]:
    return [item async for item in items]


def _event(n: int, type: str = "emit") -> bytes:
    event = {"id": f"{n}-0", "type": type, "ts": "t", "runId": "r", "flowName": "f"}
    return b"id: %d-0\nevent: %b\ndata: %b\n\n" % (n, type.encode(), json.dumps(event).encode())


if __name__ == "__main__":
    unittest.main()
