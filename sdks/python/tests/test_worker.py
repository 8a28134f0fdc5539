"""Workers inside of an application, against the real server."""

from __future__ import annotations

import asyncio
import http.server
import re
import signal
import subprocess
import sys
import threading
import unittest
from typing import Any

import support
from server import ROOT, Proxy, Server

from riverrun import (
    Context,
    Job,
    NonRetriableError,
    RiverrunError,
    SyncContext,
    Worker,
    process,
    queue_worker,
)

PATIENCE_S = 30.0
FAST = ("--set", "lease=3s")


class Workers(unittest.TestCase):
    def server(self, *args: str) -> Server:
        server = Server(*args)
        self.addCleanup(server.close)
        return server

    def work(self, server: Server, processes: dict[str, Any], **options: Any) -> Worker:
        worker = Worker(processes, url=options.pop("url", server.url), **options)
        worker.start()

        def end() -> None:
            worker.stop(0)
            worker.join(PATIENCE_S)

        self.addCleanup(end)
        return worker

    def test_an_application_serves_queues_calls_and_steps_itself(self) -> None:
        @queue_worker(input_schema={"type": "object", "required": ["width"]}, concurrency=4)
        async def resize(job: Job[dict[str, Any]], ctx: Context) -> dict[str, Any]:
            ctx.logger.info("resizing", password="x")
            ctx.progress(50)
            await ctx.state.set("width", job.data["width"])
            return {
                "width": await ctx.state.get("width"),
                "once": await ctx.run("once", lambda: 1),
                "valid": await job.is_lease_valid(),
            }

        def greet(name: str) -> str:
            return f"Hello, {name}!"

        @process(batch={"size": 10, "wait_ms": 50})
        def add(numbers: list[int], ctx: SyncContext) -> list[int]:
            return [n + 1 for n in numbers]

        def broken() -> None:
            raise NonRetriableError("no", code="BROKEN")

        def nap(input: Any, ctx: SyncContext) -> dict[str, Any]:
            ctx.emit("napping", input)
            ctx.wait.time(10)
            return {"slept": ctx.step}

        server = self.server()
        client = server.client
        offered = {
            "resize": resize,
            "greet": (greet, {"run_mode": "call"}),
            "add": add,
            "broken": broken,
            "nap": nap,
        }
        worker = self.work(server, offered, name="app", tags=["web"], concurrency=3)
        self.assertTrue(worker.is_connected)
        (shown,) = client.workers.list()
        self.assertEqual((shown["name"], shown["tags"], shown["window"]), ("app", ["web"], 3))
        self.assertEqual(shown["processes"], sorted(offered))
        self.assertIn("python", shown["sdk"])

        job = client.enqueue("resize", {"width": 640})
        done = client.wait_job(job.job_id, PATIENCE_S)
        self.assertEqual(done["result"], {"width": 640, "once": 1, "valid": True})
        events = client.events(f"nq:job:{job.job_id}")
        log = next(event for event in events if event["type"] == "log.info")
        self.assertEqual(log["data"]["message"], "resizing")
        self.assertNotIn("'x'", repr(log["data"]))
        with self.assertRaisesRegex(RiverrunError, "width"):
            client.enqueue("resize", {})

        self.assertEqual(client.call("greet", "Ann"), "Hello, Ann!")
        added = client.enqueue_many("add", [{"data": 1}, {"data": 2}])
        results = [client.wait_job(job.job_id, PATIENCE_S)["result"] for job in added]
        self.assertEqual(results, [2, 3])
        failed = client.wait_job(client.enqueue("broken").job_id, PATIENCE_S)
        self.assertEqual((failed["state"], failed["error"]["code"]), ("failed", "BROKEN"))

        step = {"type": "process", "config": {"process": "nap"}, "transitions": {"onSuccess": None}}
        client.flows.register(
            {"id": "day", "version": "1.0.0", "initialStepId": "nap", "steps": {"nap": step}}
        )
        run = client.start_and_wait("day", {"tired": True}, timeout=PATIENCE_S)
        self.assertEqual((run["status"], run["result"]), ("completed", {"slept": "nap"}))

    def test_the_steps_of_an_application_make_a_flow(self) -> None:
        async def order(input: Any, ctx: Context) -> None:
            await ctx.emit("ordered", {"n": input["n"] + 1})

        def ship(input: Any) -> dict[str, Any]:
            return {"shipped": input["n"]}

        def shop(kind: str) -> dict[str, Any]:
            begins = {"id": "shop", "role": "entry", "step": "order", "emits": ["ordered"]}
            ships = {"id": "shop", "step": "ship", "subscriptions": [{"event_kind": kind}]}
            return {"order": (order, {"flow": begins}), "ship": (ship, {"flow": ships})}

        server = self.server()
        worker = self.work(server, shop("ordered"), name="one")
        made = [{"id": "shop", "version": "1.0.0"}]
        self.assertEqual(worker.welcome, {"workerId": 1, "flows": made})
        run = server.client.start_and_wait("shop", {"n": 6}, timeout=PATIENCE_S)
        self.assertEqual((run["status"], run["result"]), ("completed", {"shipped": 7}))
        other = self.work(server, shop("paid"), name="two")
        faults = (other.welcome or {})["faults"]
        self.assertEqual([fault["code"] for fault in faults], ["FLOW_CONFLICT"])

    def test_what_runs_is_cancelled_when_the_server_says_so(self) -> None:
        begun = threading.Semaphore(0)
        reasons: list[str | None] = []

        async def hold(input: Any, ctx: Context) -> None:
            begun.release()
            await ctx.signal.wait()
            reasons.append(ctx.signal.reason)
            ctx.signal.raise_if_set()

        def hold_thread(input: Any, ctx: SyncContext) -> None:
            begun.release()
            ctx.signal.wait()
            reasons.append(ctx.signal.reason)
            ctx.signal.raise_if_set()

        server = self.server()
        self.work(server, {"hold": hold, "hold-thread": hold_thread})
        for queue in ("hold", "hold-thread"):
            job = server.client.enqueue(queue)
            self.assertTrue(begun.acquire(timeout=PATIENCE_S))
            server.client.cancel_job(job.job_id, "enough")
            ended = server.client.wait_job(job.job_id, PATIENCE_S)
            self.assertEqual(ended["state"], "cancelled")
        self.assertEqual(reasons, ["user", "user"])

    def test_a_connection_that_breaks_costs_nothing(self) -> None:
        server = self.server()
        proxy = Proxy(server.url)
        self.addCleanup(proxy.close)
        begun, go, back = threading.Event(), threading.Event(), threading.Semaphore(0)
        attempts: list[int] = []

        def hold(input: Any, ctx: SyncContext) -> int:
            attempts.append(ctx.attempt)
            begun.set()
            go.wait(PATIENCE_S)
            # Asked while there is no server: it waits, and is done once.
            ctx.emit("woken", {"attempt": ctx.attempt})
            return ctx.attempt

        def reopen() -> None:
            proxy.is_open = True

        self.work(
            server, {"hold": hold}, url=proxy.url, on_connect=back.release, on_disconnect=reopen
        )
        self.assertTrue(back.acquire(timeout=PATIENCE_S))
        job = server.client.enqueue("hold")
        self.assertTrue(begun.wait(PATIENCE_S))
        proxy.cut()
        go.set()
        self.assertTrue(back.acquire(timeout=PATIENCE_S))
        done = server.client.wait_job(job.job_id, PATIENCE_S)
        self.assertEqual((done["state"], done["result"], attempts), ("completed", 1, [1]))
        events = server.client.events(f"nq:job:{job.job_id}")
        self.assertEqual(sum(event["type"] == "woken" for event in events), 1)

    def test_a_server_that_restarts_is_worked_for_again(self) -> None:
        server = self.server(*FAST)
        back = threading.Semaphore(0)
        self.work(server, {"echo": lambda input: input}, on_connect=back.release)
        for round in (1, 2):
            self.assertTrue(back.acquire(timeout=PATIENCE_S))
            job = server.client.enqueue("echo", round)
            self.assertEqual(server.client.wait_job(job.job_id, PATIENCE_S)["result"], round)
            if round == 1:
                server.restart()

    def test_what_runs_over_the_crash_of_a_server_is_stopped_and_tried_again(self) -> None:
        server = self.server(*FAST)
        begun, stopped = threading.Event(), threading.Event()
        reasons: list[str | None] = []

        async def hold(input: Any, ctx: Context) -> int:
            if begun.is_set():
                return ctx.attempt
            begun.set()
            await ctx.signal.wait()
            reasons.append(ctx.signal.reason)
            stopped.set()
            ctx.signal.raise_if_set()
            return 0

        self.work(server, {"hold": hold})
        backoff: Any = {"type": "fixed", "delay_ms": 10}
        job = server.client.enqueue("hold", backoff=backoff)
        self.assertTrue(begun.wait(PATIENCE_S))
        server.restart(signal.SIGKILL)
        self.assertTrue(stopped.wait(PATIENCE_S))
        self.assertEqual(reasons, ["lease-lost"])
        self.assertEqual(server.client.wait_job(job.job_id, PATIENCE_S)["state"], "completed")

    def test_stop_takes_no_more_ends_what_runs_and_leaves(self) -> None:
        server = self.server()
        begun, go = threading.Event(), threading.Event()
        calls: list[Any] = []

        def hold(input: Any) -> str:
            calls.append(input)
            begun.set()
            go.wait(PATIENCE_S)
            return "done"

        worker = self.work(server, {"hold": hold}, concurrency=1)
        first = server.client.enqueue("hold", 1)
        self.assertTrue(begun.wait(PATIENCE_S))
        second = server.client.enqueue("hold", 2)
        worker.stop()
        worker.join(0.1)
        self.assertEqual(worker.running, 1)
        go.set()
        worker.join(PATIENCE_S)
        self.assertEqual(server.client.wait_job(first.job_id, PATIENCE_S)["result"], "done")
        self.assertEqual(server.client.job(second.job_id)["state"], "waiting")
        self.assertEqual((calls, server.client.workers.list()), ([1], []))

    def test_it_works_in_a_loop_that_is_there_and_the_server_lets_it_go(self) -> None:
        server = self.server()
        loops: list[Any] = []

        async def where() -> str:
            loops.append(asyncio.get_running_loop())
            return "here"

        async def app() -> None:
            async with Worker({"where": (where, {"run_mode": "call"})}, url=server.url) as worker:
                call = asyncio.to_thread(server.client.call, "where")
                self.assertEqual(await call, "here")
                self.assertIs(loops[0], asyncio.get_running_loop())
                (shown,) = server.client.workers.list()
                await asyncio.to_thread(server.client.workers.drain, shown["id"])
                assert worker._task is not None
                await worker._task
            self.assertFalse(worker.is_connected)

        asyncio.run(asyncio.wait_for(app(), PATIENCE_S))

    def test_sigterm_drains_a_program(self) -> None:
        server = self.server()
        program = f"""
import time
from riverrun import Worker

def slow():
    print("begun", flush=True)
    time.sleep(0.5)
    return "done"

Worker({{"slow": slow}}, url={server.url!r}).run()
print("drained", flush=True)
"""
        child = subprocess.Popen(
            [sys.executable, "-c", program],
            stdout=subprocess.PIPE,
            env={"PYTHONPATH": str(support.SOURCE)},
        )
        self.addCleanup(child.kill)
        assert child.stdout is not None
        job = server.client.enqueue("slow", create=True)
        self.assertEqual(child.stdout.readline(), b"begun\n")
        child.send_signal(signal.SIGTERM)
        out, _ = child.communicate(timeout=PATIENCE_S)
        self.assertEqual((child.returncode, out), (0, b"drained\n"))
        ended = server.client.wait_job(job.job_id, PATIENCE_S)
        self.assertEqual((ended["state"], ended["result"]), ("completed", "done"))

    def test_the_example_of_the_page_works(self) -> None:
        server = self.server()
        page = (ROOT / "docs/guides/worker-in-an-application.md").read_text()
        example = re.search(r"^```python\n(# app.py.*?)^```", page, re.M | re.S)
        assert example is not None
        space: dict[str, Any] = {"__name__": "app"}
        exec(example[1].replace("http://127.0.0.1:4600", server.url), space)
        with space["worker"]:
            job = server.client.enqueue("resize", {"width": 640})
            done = server.client.wait_job(job.job_id, PATIENCE_S)
            self.assertEqual(done["result"], {"width": 640})
            self.assertEqual(server.client.call("greet", "Ann"), "Hello, Ann!")
        self.assertEqual(server.client.workers.list(), [])

    def test_a_worker_that_cannot_begin_says_why(self) -> None:
        server = self.server()

        class Hello(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200)
                self.end_headers()
                self.wfile.write(b"hello")

            def log_message(self, *_: Any) -> None:
                pass

        other = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hello)
        threading.Thread(target=other.serve_forever, args=(0.01,), daemon=True).start()
        self.addCleanup(other.server_close)
        self.addCleanup(other.shutdown)
        echo = {"echo": lambda input: input}
        for expected, url, processes in (
            ("UNREACHABLE", "http://127.0.0.1:1", echo),
            ("NO_PROCESSES", server.url, {}),
            ("HANDLER_NOT_FOUND", server.url, {"a": 1}),
            ("PROCESS_INVALID", server.url, {"a": (lambda: 1, {"concurency": 3})}),
            ("NOT_FOUND", f"{server.url}/elsewhere", echo),
            ("NOT_RIVERRUN", f"http://127.0.0.1:{other.server_port}", echo),
        ):
            with self.assertRaises(RiverrunError) as refused:
                Worker(processes, url=url).start()
            self.assertEqual(refused.exception.code, expected)
        with self.assertRaises(ValueError):
            Worker(echo, concurrency=0)

    def test_large_inputs_and_results_pass_and_many_at_once(self) -> None:
        server = self.server()
        offered = {"size": lambda input: len(input["text"]), "echo": lambda input: input}
        self.work(server, offered, concurrency=64)
        job = server.client.enqueue("size", {"text": "ü" * 300_000})
        self.assertEqual(server.client.wait_job(job.job_id, PATIENCE_S)["result"], 300_000)
        jobs = server.client.enqueue_many("echo", [{"data": n} for n in range(200)])
        results = [server.client.wait_job(job.job_id, PATIENCE_S)["result"] for job in jobs]
        self.assertEqual(results, list(range(200)))


if __name__ == "__main__":
    unittest.main()
