"""The test kit, and with it the contexts."""

from __future__ import annotations

import asyncio
import time
import unittest
from typing import Any

import support  # noqa: F401

from riverrun import Cancelled, Context, Job, NewJob, NonRetriableError, SyncContext, queue_worker
from riverrun._failure import describe
from riverrun.testing import LogLine, run, simulated


class Handlers(unittest.TestCase):
    def test_everything_is_recorded(self) -> None:
        async def in_async(input: Any, ctx: Context) -> Any:
            ctx.logger.child(part=1).warn("careful", {"api_key": "x", "n": 2})
            ctx.progress(50, "half")
            ctx.partial([1], path="rows")
            await ctx.emit("paid", {"n": 1})
            await ctx.enqueue("mails", 1, priority=3)
            await ctx.enqueue_many([NewJob(2, queue="mails")])
            await ctx.start("flow", {"x": 1}, delay_ms=5)
            await ctx.checkpoint.save({"page": 2})
            return [await ctx.call("double", 4), await ctx.is_lease_valid()]

        def in_sync(input: Any, ctx: SyncContext) -> Any:
            ctx.logger.child(part=1).warn("careful", {"api_key": "x", "n": 2})
            ctx.progress(50, "half")
            ctx.partial([1], path="rows")
            ctx.emit("paid", {"n": 1})
            ctx.enqueue("mails", 1, priority=3)
            ctx.enqueue_many([NewJob(2, queue="mails")])
            ctx.start("flow", {"x": 1}, delay_ms=5)
            ctx.checkpoint.save({"page": 2})
            return [ctx.call("double", 4), ctx.is_lease_valid()]

        for handler in (in_async, in_sync):
            outcome = run(handler, None, calls={"double": lambda n: n * 2})
            self.assertEqual(outcome.result(), [8, True])
            meta = {"part": 1, "api_key": "[redacted]", "n": 2}
            self.assertEqual(outcome.logs, [LogLine("warn", "careful", meta)])
            self.assertEqual(outcome.progress, [{"pct": 50, "detail": "half"}])
            self.assertEqual(outcome.partials, [{"path": "rows", "value": [1]}])
            self.assertEqual(outcome.events, [{"type": "paid", "data": {"n": 1}}])
            self.assertEqual(
                outcome.enqueued,
                [
                    {"queue": "mails", "data": 1, "options": {"priority": 3}},
                    {"queue": "mails", "data": 2},
                ],
            )
            started = {"flow": "flow", "input": {"x": 1}, "options": {"delayMs": 5}}
            self.assertEqual(outcome.started, [started])
            self.assertEqual(outcome.checkpoint, {"page": 2})

    def test_a_job_knows_whether_it_is_still_leased(self) -> None:
        @queue_worker
        async def in_async(job: Job[int], ctx: Context) -> Any:
            return [await job.is_lease_valid(), ctx.correlation_id() == (ctx.run_id or ctx.job_id)]

        @queue_worker
        def in_sync(job: Job[int], ctx: SyncContext) -> Any:
            return [job.isLeaseValid(), ctx.correlation_id() == (ctx.run_id or ctx.job_id)]

        for handler in (in_async, in_sync):
            self.assertEqual(run(handler, 1, is_lease_valid=False).result(), [False, True])
        with self.assertRaises(RuntimeError):
            Job(id="a", name=None, queue=None, data=1).is_lease_valid()

    def test_an_error_may_say_when_as_in_the_other_language(self) -> None:
        error = ValueError("later")
        error.retryAfter = 1500  # type: ignore[attr-defined]
        self.assertEqual(describe(error)["retryAfterMs"], 1500)

    def test_state(self) -> None:
        async def in_async(input: Any, ctx: Context) -> Any:
            await ctx.state.set("a.b", 1)
            await ctx.state.set_batch({"c": 2, "d": 3})
            await ctx.state.delete("d")
            await ctx.state.patch("n", lambda n: (n or 0) + 1)
            wrote = await ctx.state.patch(lambda state: {"m": state["n"] * 10})
            self.assertIsNone(await ctx.state.patch(lambda state: None))
            return [await ctx.state.get("x", 7), await ctx.state.has("a.b"), wrote]

        def in_sync(input: Any, ctx: SyncContext) -> Any:
            ctx.state.set("a.b", 1)
            ctx.state.set_batch({"c": 2, "d": 3})
            ctx.state.delete("d")
            ctx.state.patch("n", lambda n: (n or 0) + 1)
            wrote = ctx.state.patch(lambda state: {"m": state["n"] * 10})
            self.assertIsNone(ctx.state.patch(lambda state: None))
            return [ctx.state.get("x", 7), ctx.state.has("a.b"), wrote]

        for handler in (in_async, in_sync):
            outcome = run(handler, state={"n": 4})
            self.assertEqual(outcome.result(), [7, True, {"m": 50}])
            self.assertEqual(outcome.state, {"n": 5, "a": {"b": 1}, "c": 2, "m": 50})

    def test_patches_of_the_same_state_do_not_lose_each_other(self) -> None:
        async def handler(input: Any, ctx: Context) -> None:
            async def slowly(n: Any) -> int:
                await asyncio.sleep(1)
                return int(n or 0) + 1

            await asyncio.gather(*(ctx.state.patch("n", slowly) for _ in range(5)))

        self.assertEqual(run(handler).state, {"n": 5})

    def test_the_next_attempt(self) -> None:
        calls = []

        def handler(input: Any, ctx: SyncContext) -> Any:
            paid = ctx.run("charge", lambda: calls.append(1) or ("paid", 1))
            if ctx.attempt == 1:
                raise RuntimeError("lost the connection")
            return paid

        first = run(handler)
        self.assertEqual(str(first.error), "lost the connection")
        second = run(handler, attempt=2, journal=first.journal)
        self.assertEqual((second.value, calls), (["paid", 1], [1]))

    def test_final_errors_are_recorded(self) -> None:
        def charge() -> None:
            raise NonRetriableError("no funds", code="NO_FUNDS")

        async def handler(input: Any, ctx: Context) -> None:
            await ctx.run("charge", charge)

        first = run(handler)
        second = run(handler, journal=first.journal)
        for outcome in (first, second):
            with self.assertRaisesRegex(Exception, "no funds"):
                outcome.result()
        self.assertEqual(second.error.code, "NO_FUNDS")  # type: ignore[union-attr]
        self.assertEqual(len(second.journal), 1)

    def test_workers_get_a_job(self) -> None:
        @queue_worker(queue="mails")
        def worker(job: Job[Any]) -> Any:
            return [job.id, job.data, job.attempt]

        self.assertEqual(run(worker, 5, job_id="j", attempt=2).value, ["j", 5, 2])

    def test_each_job_of_a_batch_has_a_context_of_its_own(self) -> None:
        async def in_async(inputs: Any, ctx: Context) -> Any:
            for at, input in enumerate(inputs):
                await ctx.job(at).state.set("data", input)
                ctx.job(f"job-1-{at}").progress(50)
            ctx.logger.info("of the batch")
            self.assertIs(ctx.job(1), ctx.job("job-1-1"))
            with self.assertRaises(LookupError):
                ctx.job(2)

        def in_sync(inputs: Any, ctx: SyncContext) -> Any:
            for at, input in enumerate(inputs):
                ctx.job(at).state.set("data", input)
                ctx.job(f"job-1-{at}").progress(50)
            ctx.logger.info("of the batch")
            self.assertEqual(ctx.job(1).job_id, "job-1-1")

        for handler in (in_async, in_sync):
            outcome = run(handler, ["a", "b"], batch=True)
            outcome.result()
            reported = [(job.state, len(job.progress), len(job.logs)) for job in outcome.jobs]
            self.assertEqual(reported, [({"data": "a"}, 1, 1), ({"data": "b"}, 1, 0)])

        async def alone(input: Any, ctx: Context) -> Any:
            return ctx.job(0) is ctx

        self.assertIs(run(alone).value, True)

    def test_batches(self) -> None:
        @queue_worker
        def worker(jobs: list[Job[Any]]) -> Any:
            return sum(job.data for job in jobs)

        self.assertEqual(run(worker, [1, 2, 3], batch=True).value, 6)
        self.assertEqual(run(lambda inputs: len(inputs), [1, 2], batch=True).value, 2)

    def test_calls_that_fail(self) -> None:
        async def handler(input: Any, ctx: Context) -> Any:
            return await ctx.call("other")

        self.assertIn("other", str(run(handler).error))
        outcome = run(handler, calls={"other": ValueError("broken")})
        self.assertEqual(str(outcome.error), "broken")


class Time(unittest.TestCase):
    def test_an_hour_takes_no_time(self) -> None:
        async def in_async(input: Any, ctx: Context) -> None:
            await asyncio.sleep(3600)

        def in_sync(input: Any, ctx: SyncContext) -> None:
            time.sleep(3600)

        begun = time.monotonic()
        for handler in (in_async, in_sync):
            self.assertEqual(run(handler).elapsed, 3600)
        self.assertLess(time.monotonic() - begun, 5)

    def test_timers_fire_in_order(self) -> None:
        async def main() -> list[Any]:
            seen: list[Any] = []

            async def at(seconds: float) -> None:
                await asyncio.sleep(seconds)
                seen.append((seconds, asyncio.get_running_loop().time()))

            await asyncio.gather(at(60), at(1), at(30))
            with self.assertRaises(asyncio.TimeoutError):
                await asyncio.wait_for(asyncio.sleep(100), 10)
            return seen

        self.assertEqual(simulated(main()), [(1, 1), (30, 30), (60, 60)])

    def test_threads_are_waited_for(self) -> None:
        wait = time.sleep

        async def main() -> float:
            loop = asyncio.get_running_loop()
            await asyncio.wait_for(asyncio.to_thread(wait, 0.05), None)
            return loop.time()

        self.assertEqual(simulated(main()), 0)

    def test_cancelling(self) -> None:
        async def obeys(input: Any, ctx: Context) -> None:
            await asyncio.sleep(1000)

        async def looks(input: Any, ctx: Context) -> Any:
            await ctx.signal.wait()
            return ctx.signal.reason

        def works(input: Any, ctx: SyncContext) -> None:
            while not ctx.signal.wait(3):
                pass
            ctx.signal.raise_if_set()

        def sleeps(input: Any, ctx: SyncContext) -> None:
            time.sleep(500)
            ctx.signal.raise_if_set()

        outcome = run(obeys, cancel_after=10)
        self.assertIsInstance(outcome.error, asyncio.CancelledError)
        self.assertEqual(outcome.elapsed, 10)
        self.assertEqual(run(looks, cancel_after=10, cancel_reason="timeout").value, "timeout")
        for handler in (works, sleeps):
            self.assertIsInstance(run(handler, cancel_after=10).error, Cancelled)


if __name__ == "__main__":
    unittest.main()
