"""A step through its waits."""

from __future__ import annotations

import asyncio
import datetime
import threading
import time
import unittest
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import support  # noqa: F401

from riverrun import Context, Flow, QueueConfig, SyncContext, process
from riverrun.testing import run, run_step

DAY_MS = 86_400_000


class Steps(unittest.TestCase):
    def test_a_month_passes_at_once(self) -> None:
        charges: list[int] = []

        async def in_async(input: Any, ctx: Context) -> Any:
            charge = await ctx.run("charge", lambda: charges.append(1) or len(charges))
            await ctx.emit("charged", {"user": input})
            await ctx.enqueue("mails", {"to": input})
            await ctx.wait.time("30 days")
            price = await ctx.call("price", charge)
            await asyncio.sleep(3600)
            await ctx.wait.time(datetime.datetime(2026, 2, 1, tzinfo=datetime.timezone.utc))
            return [charge, price, time.time()]

        def in_sync(input: Any, ctx: SyncContext) -> Any:
            charge = ctx.run("charge", lambda: charges.append(1) or len(charges))
            ctx.emit("charged", {"user": input})
            ctx.enqueue("mails", {"to": input})
            ctx.wait.time(datetime.timedelta(days=30))
            price = ctx.call("price", charge)
            time.sleep(3600)
            ctx.wait.time("2026-02-01T00:00:00Z")
            return [charge, price, time.time()]

        begun = time.monotonic()
        for handler in (in_async, in_sync):
            charges.clear()
            step = (handler, {"timeout_ms": 2 * 3_600_000})
            done = run_step(step, "ann", calls={"price": lambda n: n * 100})
            # The hour is slept again by the execution after it.
            at = datetime.datetime(2026, 2, 1, 1, tzinfo=datetime.timezone.utc).timestamp()
            self.assertEqual(done.result(), [1, 100, at])
            self.assertEqual((done.status, done.executions), ("completed", 3))
            self.assertEqual((len(charges), len(done.events), len(done.calls)), (1, 1, 1))
            self.assertEqual(done.enqueued[0]["options"], {"jobId": "run-1.test.1.mails.1"})
            waits = [(wait.began_at, wait.ended_at, wait.outcome) for wait in done.awaits]
            self.assertEqual(
                waits,
                [
                    ("2026-01-01T00:00:00.000Z", "2026-01-31T00:00:00.000Z", "time"),
                    ("2026-01-31T01:00:00.000Z", "2026-02-01T00:00:00.000Z", "time"),
                ],
            )
            self.assertEqual(done.elapsed_ms, 31 * DAY_MS + 3_600_000)
            ops = [entry["op"] for entry in done.journal]
            self.assertEqual(ops, ["memo", "emit", "enqueue", "await", "call", "await"])
        self.assertLess(time.monotonic() - begun, 5)

    def test_what_nobody_gives_is_waited_for(self) -> None:
        def stuck(input: Any, ctx: SyncContext) -> Any:
            return ctx.wait.event("never")

        done = run_step(stuck)
        self.assertEqual((done.status, done.awaits[0].outcome), ("waiting", "waiting"))

    def test_what_is_no_time_is_refused(self) -> None:
        def wait(input: Any, ctx: SyncContext) -> None:
            ctx.wait.time(input)

        durations = {1500: 1500, "90s": 90_000, "1h30m": 5_400_000, "1 week, 1 day": 8 * DAY_MS}
        for text, ms in {**durations, "PT5M": 300_000, "P1DT1H": DAY_MS + 3_600_000}.items():
            self.assertEqual(run_step(wait, text).elapsed_ms, ms, text)
        for bad in ("soon", "", "5 months", "1h later", -1):
            error: Any = run_step(wait, bad).error
            self.assertEqual((error.code, error.retriable), ("INPUT_ERROR", False), bad)

        def predicate(input: Any, ctx: SyncContext) -> None:
            ctx.wait.event("x", where=lambda event: True)  # type: ignore[arg-type]

        self.assertEqual(getattr(run_step(predicate).error, "code", None), "INPUT_ERROR")

    def test_nothing_counts_after_a_wait(self) -> None:
        seen: list[str] = []

        def swallows(input: Any, ctx: SyncContext) -> str:
            try:
                ctx.wait.time(1000)
                seen.append("after")
            except BaseException:
                seen.append("caught")
            finally:
                ctx.logger.info("cleaned up")
            return "returned"

        done = run_step(swallows)
        self.assertEqual((done.result(), done.executions), ("returned", 2))
        self.assertEqual(seen, ["caught", "after"])
        self.assertEqual(len(done.logs), 1)

        def tidies(input: Any, ctx: SyncContext) -> None:
            try:
                ctx.wait.time(1000)
            finally:
                ctx.state.patch("ended", lambda n: (n or 0) + 1)

        self.assertEqual(run_step(tidies).state, {"ended": 1})

    def test_threads_of_a_sync_handler_are_waited_for(self) -> None:
        began = threading.Event()

        def work(input: Any, ctx: SyncContext) -> Any:
            def slow() -> str:
                began.set()
                threading.Event().wait(0.05)
                return "slow"

            with ThreadPoolExecutor(1) as pool:
                slowly = pool.submit(ctx.run, "slow", slow)
                began.wait()
                ctx.wait.time(1000)
                return slowly.result()

        done = run_step(work)
        self.assertEqual(done.result(), "slow")
        self.assertEqual([entry["op"] for entry in done.journal], ["memo", "await"])

    def test_side_by_side_is_legal_for_all_but_waits(self) -> None:
        async def work(input: Any, ctx: Context) -> Any:
            async def part(name: str) -> Any:
                return await ctx.run(name, lambda: ctx.call("slow", name))

            all = await asyncio.gather(*map(part, "abc"))
            await ctx.wait.time(1000)
            again = await asyncio.gather(*map(part, "ca"))
            await ctx.wait.time(1000)
            return [*all, *again]

        done = run_step(work, calls={"slow": lambda name: name})
        self.assertEqual(done.result(), list("abcca"))
        self.assertEqual(len(done.calls), 5)

        async def both(input: Any, ctx: Context) -> Any:
            return await asyncio.gather(ctx.wait.time(1), ctx.wait.event("x"))

        error: Any = run_step(both).error
        self.assertEqual(error.code, "AWAIT_CONCURRENT")

    def test_a_wait_that_nobody_awaits_is_told(self) -> None:
        async def forgets(input: Any, ctx: Context) -> str:
            if input == "then waits":
                await ctx.wait.time("1h")
            ctx.wait.event("paid")
            return "forgot"

        async def heeds(input: Any, ctx: Context) -> str:
            await asyncio.create_task(ctx.wait.time("1h"))
            await asyncio.gather(ctx.wait.time("1h"))
            await asyncio.wait_for(ctx.wait.time("1h"), 100)
            return "waited"

        for input in (None, "then waits"):
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                done = run_step(forgets, input)
            self.assertEqual((done.status, done.value), ("completed", "forgot"))
            reported = 'the handler returned while ctx.wait.event("paid") still waited'
            self.assertEqual([line.level for line in done.logs], ["warn"])
            self.assertIn(reported, done.logs[0].message)
        done = run_step(heeds)
        self.assertEqual((done.value, done.logs, len(done.awaits)), ("waited", [], 3))

    def test_words_that_mean_nothing_are_refused_where_code_waits(self) -> None:
        for wait in (
            lambda on: on.event("x", match="data.id"),
            lambda on: on.event("x", where=7),
            lambda on: on.event(""),
            lambda on: on.time(None),
        ):

            def waits(input: Any, ctx: SyncContext, wait: Any = wait) -> None:
                wait(ctx.wait)

            error = run_step(waits).error
            self.assertEqual(getattr(error, "code", None), "INPUT_ERROR", error)

        def misspelt(input: Any, ctx: SyncContext) -> None:
            ctx.wait.event("x", timout=5)  # type: ignore[arg-type]

        self.assertEqual(getattr(run_step(misspelt).error, "code", None), "INPUT_ERROR")

    def test_jobs_cannot_wait(self) -> None:
        async def in_async(input: Any, ctx: Context) -> None:
            await ctx.wait.event("x")

        def in_sync(input: Any, ctx: SyncContext) -> None:
            ctx.wait.trigger()

        for handler in (in_async, in_sync):
            error: Any = run(handler).error
            self.assertEqual((error.code, error.retriable), ("AWAIT_OUTSIDE_FLOW", False))

    def test_await_is_a_word_of_python(self) -> None:
        wait = {"type": "time", "delay": "1h"}
        at_the_top = process(step="nap", await_=wait)(lambda: "slept")
        in_a_flow = (lambda: "slept", QueueConfig(flow=[Flow("day", step="nap", await_=wait)]))
        for step in (at_the_top, in_a_flow):
            done = run_step(step)
            self.assertEqual((done.result(), done.elapsed_ms), ("slept", 3_600_000))


if __name__ == "__main__":
    unittest.main()
