"""Failed attempts of steps, and of operations of their code."""

from __future__ import annotations

import asyncio
import threading
import unittest
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import support  # noqa: F401

from riverrun import Context, NonRetriableError, RiverrunError, SyncContext
from riverrun._failure import rpc_error
from riverrun.testing import run_flow, run_step


class Retries(unittest.TestCase):
    def test_what_fails_is_tried_again_by_itself(self) -> None:
        async def one_at_a_time(input: Any, ctx: Context) -> Any:
            turn = asyncio.Semaphore(1)

            def charge(k: int, attempt: int) -> int:
                if k == 0 and attempt == 1:
                    raise RuntimeError("busy")
                return k

            async def charged(k: int) -> int:
                async with turn:
                    return int(await ctx.run("charge", lambda run: charge(k, run.attempt)))

            return await asyncio.gather(*[charged(k) for k in range(2)])

        done = run_step(one_at_a_time)
        self.assertEqual((done.value, done.attempt), ([0, 1], 1), done.error)
        self.assertEqual([one.attempt for one in done.run_retries], [1])

    def test_what_runs_side_by_side_under_one_name_gets_its_own_answer(self) -> None:
        charges: list[int] = []

        def charged(k: int, attempt: int) -> int:
            if k == 0 and attempt == 1:
                raise RuntimeError("declined")
            charges.append(k)
            return k

        async def in_async(input: Any, ctx: Context) -> Any:
            async def charge(k: int, attempt: int) -> int:
                await asyncio.sleep(3 - k)
                return charged(k, attempt)

            runs = [ctx.run("charge", lambda run, k=k: charge(k, run.attempt)) for k in range(3)]
            results = await asyncio.gather(*runs, return_exceptions=True)
            failed = [one for one in results if isinstance(one, Exception)]
            if failed:
                raise failed[0]
            await ctx.wait.time(1000)
            return results

        def in_sync(input: Any, ctx: SyncContext) -> Any:
            begun = [threading.Event() for _ in range(3)]
            ended = [threading.Event() for _ in range(3)]

            def charge(k: int, attempt: int) -> int:
                begun[k].set()
                if k < 2:
                    ended[k + 1].wait(5)
                return charged(k, attempt)

            def run(k: int) -> int:
                try:
                    return ctx.run("charge", lambda run: charge(k, run.attempt))
                finally:
                    begun[k].set()
                    ended[k].set()

            # One begins after the other, and the last ends first. A function that is not called
            # again says nothing, and its answer comes after those that were recorded before it.
            with ThreadPoolExecutor(3) as pool:
                futures = []
                for k in range(3):
                    futures.append(pool.submit(run, k))
                    begun[k].wait(0.5)
            results = [future.result() for future in futures]
            ctx.wait.time(1000)
            return results

        for handler in (in_async, in_sync):
            charges.clear()
            retry = {"attempts": 2, "backoff": {"delayMs": 1}}
            done = run_step((handler, {"retryPolicy": retry}))
            self.assertIsNone(done.error, handler.__name__)
            self.assertEqual(done.value, [0, 1, 2], handler.__name__)
            self.assertEqual(charges, [2, 1, 0], handler.__name__)

    def test_a_transient_error_of_a_run_does_not_enter_the_code(self) -> None:
        ledger: list[str] = []

        def reserve(attempt: int, failures: int) -> None:
            ledger.append(f"reserve {attempt}")
            if attempt <= failures:
                raise RuntimeError("busy")

        def in_sync(input: Any, ctx: SyncContext) -> str:
            ctx.run("charge", lambda: ledger.append("charge"))
            try:
                ctx.run("reserve", lambda run: reserve(run.attempt, input))
            except RiverrunError:
                ctx.run("refund", lambda: ledger.append("refund"))
                raise
            ctx.wait.time("1 day")
            return "shipped"

        async def in_async(input: Any, ctx: Context) -> str:
            await ctx.run("charge", lambda: ledger.append("charge"))
            try:
                await ctx.run("reserve", lambda run: reserve(run.attempt, input))
            except RiverrunError:
                await ctx.run("refund", lambda: ledger.append("refund"))
                raise
            await ctx.wait.time("1 day")
            return "shipped"

        policy = {"attempts": 3, "backoff": {"type": "exponential", "delayMs": 4000}}
        tries = ["charge", "reserve 1", "reserve 2", "reserve 3"]
        for handler in (in_sync, in_async):
            once = run_step((handler, {"retryPolicy": policy}), 2)
            self.assertEqual((once.value, once.attempt, once.executions), ("shipped", 1, 3))
            self.assertEqual(ledger, tries, handler.__name__)
            retries = [(one.name, one.attempt, one.delay_ms) for one in once.run_retries]
            self.assertEqual(retries, [("reserve", 1, 4000), ("reserve", 2, 8000)])
            ledger.clear()
            never = run_step((handler, {"retryPolicy": policy}), 9)
            self.assertEqual((never.status, never.attempt), ("failed", 1))
            self.assertEqual(str(never.error), "busy")
            self.assertEqual(ledger, [*tries, "refund"], handler.__name__)
            ledger.clear()

    def test_a_try_has_its_own_time(self) -> None:
        policy = {"attempts": 2, "backoff": {"type": "fixed", "delay_ms": 1}}

        def in_sync(input: Any, ctx: SyncContext) -> Any:
            def slow(run: Any) -> int:
                if run.attempt == 1:
                    run.signal.wait(10)
                return int(run.attempt)

            return ctx.run("slow", slow, timeout_ms=20, retry=policy)

        async def in_async(input: Any, ctx: Context) -> Any:
            async def slow(run: Any) -> int:
                if run.attempt == 1:
                    await asyncio.sleep(10)
                return int(run.attempt)

            return await ctx.run("slow", slow, timeout_ms=20, retry=policy)

        for handler in (in_sync, in_async):
            done = run_step(handler)
            self.assertEqual(done.value, 2, (handler.__name__, done.error))
            self.assertEqual([one.error["code"] for one in done.run_retries], ["TIMEOUT"])
        for bad in ({"retry": {"atempts": 2}}, {"retry": 0}, {"timeout_ms": -1}):
            wrong: Any = run_step(lambda input, ctx, bad=bad: ctx.run("x", int, **bad)).error
            self.assertEqual(wrong.code, "INPUT_ERROR", bad)

    def test_what_a_run_raises_is_the_same_before_a_wait_and_after_it(self) -> None:
        class Declined(Exception):
            def __init__(self, code: Any) -> None:
                super().__init__("card declined")
                self.code = code
                self.status = 402
                self.request = object()

        seen: list[tuple[Any, ...]] = []

        def decline(code: Any) -> None:
            raise Declined(code)

        def look(error: Any) -> None:
            members = (error.name, error.message, error.code, error.status, error.stack)
            seen.append((type(error), hasattr(error, "request"), *members))

        async def in_async(input: Any, ctx: Context) -> None:
            for code in ("DECLINED", 7, None):
                try:
                    await ctx.run("charge", lambda code=code: decline(code))
                except RiverrunError as error:
                    look(error)
            await ctx.wait.time(1000)
            await ctx.run("late", lambda: decline(7))

        def in_sync(input: Any, ctx: SyncContext) -> None:
            for code in ("DECLINED", 7, None):
                try:
                    ctx.run("charge", lambda code=code: decline(code))
                except RiverrunError as error:
                    look(error)
            ctx.wait.time(1000)
            ctx.run("late", lambda: decline(7))

        for handler in (in_async, in_sync):
            seen.clear()
            done = run_step(handler)
            self.assertEqual(seen[:3], seen[3:6], handler.__name__)
            self.assertEqual([one[4] for one in seen[:3]], ["DECLINED", 7, "HANDLER_ERROR"])
            self.assertEqual(seen[0][:4], (RiverrunError, False, "Declined", "card declined"))
            self.assertEqual(seen[0][5], 402)
            self.assertIn("decline(code)", seen[0][6])
            reported = rpc_error(done.error)["data"]
            self.assertEqual(reported["name"], "Declined", handler.__name__)
            self.assertIn("raise Declined(code)", reported["stack"])

    def test_a_step_that_fails_is_tried_again_in_simulated_time(self) -> None:
        calls = []

        async def flaky(input: Any, ctx: Context) -> Any:
            paid = await ctx.run("pay", lambda: calls.append("pay") or len(calls))
            await ctx.emit("tried", ctx.attempt)
            if ctx.attempt < 3:
                raise RiverrunError(f"attempt {ctx.attempt} of {ctx.max_attempts}", code="BUSY")
            await ctx.wait.time("1h")
            return paid

        backoff = {"type": "exponential", "delayMs": 60_000, "maxDelayMs": 90_000}
        policy = {"attempts": 4, "backoff": backoff}
        after = (lambda input: input, {"subscriptions": [{"event_kind": "tried"}]})
        done = run_flow({"flaky": (flaky, {"retryPolicy": policy}), "after": after}, entry="flaky")
        visit = done.visits[0]
        self.assertEqual((done.status, visit.value, visit.attempt), ("completed", 1, 3))
        self.assertEqual((visit.executions, visit.error, calls), (4, None, ["pay"]))
        self.assertEqual(
            [(one.attempt, str(one.error), one.failed_at, one.delay_ms) for one in visit.retries],
            [
                (1, "attempt 1 of 4", "2026-01-01T00:00:00.000Z", 60_000),
                (2, "attempt 2 of 4", "2026-01-01T00:01:00.000Z", 90_000),
            ],
        )
        self.assertEqual(done.elapsed_ms, 150_000 + 3_600_000)
        # What was emitted before the failure is not emitted again.
        self.assertEqual([one.value for one in done.visits[1:]], [1])

    def test_attempts_are_counted_from_the_last_wait_on(self) -> None:
        reported = []
        failed = set()

        def polls(input: Any, ctx: SyncContext) -> None:
            reported.append((ctx.attempt, ctx.max_attempts))
            for n in range(3):
                ctx.run(f"poll-{n}", lambda n=n: n)
                if n not in failed:
                    failed.add(n)
                    raise RuntimeError(f"bad day {n}")
                ctx.wait.time("1 day")

        policy = {"attempts": 2, "backoff": {"type": "fixed", "delayMs": 1000}}
        done = run_step((polls, {"retryPolicy": policy}))
        self.assertEqual((done.status, done.error), ("completed", None))
        self.assertEqual(reported, [(1, 2), (2, 2), (2, 3), (3, 3), (3, 4), (4, 4), (4, 5)])

    def test_what_is_not_tried_again_fails_at_once(self) -> None:
        def failing(error: Exception, **policy: Any) -> tuple[int, int]:
            def fails() -> None:
                raise error

            done = run_step((fails, {"retryPolicy": policy} if policy else {}))
            self.assertEqual((done.status, done.error), ("failed", error))
            return done.attempt, done.elapsed_ms

        fixed = {"attempts": 5, "backoff": {"type": "fixed", "delayMs": 10}}
        self.assertEqual(failing(ValueError("no")), (3, 3000))
        self.assertEqual(failing(ValueError("no"), attempts=1), (1, 0))
        self.assertEqual(failing(ValueError("no"), **fixed), (5, 40))
        self.assertEqual(failing(NonRetriableError("no"), **fixed), (1, 0))
        self.assertEqual(failing(RiverrunError("no", retry_after_ms=700), attempts=2), (2, 700))
        self.assertEqual(failing(ValueError("no"), **fixed, retriableErrors=["BUSY"]), (1, 0))
        self.assertEqual(
            failing(ValueError("no"), **fixed, retriableErrors=["ValueError"]), (5, 40)
        )


def decline(input: Any) -> None:
    raise RiverrunError("no money", code="CARD_DECLINED")


if __name__ == "__main__":
    unittest.main()
