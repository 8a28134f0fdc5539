"""Simulated time while handlers sleep, and the engine that has the clock."""

from __future__ import annotations

import asyncio
import os
import time
import unittest
from typing import Any
from unittest import mock

import support  # noqa: F401

from riverrun import Context, RiverrunError, SyncContext
from riverrun.testing import run, run_flow, run_step

START_S = 1_767_225_600
ON_GO = {"subscriptions": [{"event_kind": "go"}]}


async def begin(input: Any, ctx: Context) -> None:
    await ctx.emit("go")


class Time(unittest.TestCase):
    def test_handlers_that_sleep_at_once_go_on_in_the_order_of_their_times(self) -> None:
        seen: list[tuple[str, float]] = []

        def note(name: str) -> None:
            seen.append((name, time.time() - START_S))

        async def slow(input: Any) -> None:
            await asyncio.sleep(3)
            note("slow")

        async def fast(input: Any) -> None:
            await asyncio.sleep(1)
            note("fast")
            await asyncio.sleep(1.5)
            note("fast again")

        def blocking(input: Any) -> None:
            time.sleep(2)
            note("blocking")

        def waiting(input: Any, ctx: SyncContext) -> None:
            self.assertFalse(ctx.signal.wait(0.5))
            note("waiting")

        handlers = {"slow": slow, "blocking": blocking, "fast": fast, "waiting": waiting}
        steps = {name: (handler, ON_GO) for name, handler in handlers.items()}
        done = run_flow({"begin": begin, **steps})
        self.assertEqual((done.error, done.elapsed_ms), (None, 3000))
        names = ["waiting", "fast", "blocking", "fast again", "slow"]
        self.assertEqual(seen, list(zip(names, [0.5, 1, 2, 2.5, 3], strict=True)))

    def test_what_happens_outside_comes_in_time_while_a_handler_sleeps(self) -> None:
        async def slow(input: Any) -> None:
            await asyncio.sleep(3)

        def blocking(input: Any) -> None:
            time.sleep(3)

        async def waits(input: Any, ctx: Context) -> None:
            await ctx.wait.event("paid")
            await ctx.wait.time("500ms")

        for sleeper in (slow, blocking):
            steps = {"begin": begin, "sleeps": (sleeper, ON_GO), "waits": (waits, ON_GO)}
            done = run_flow(steps, events=[{"type": "paid", "at": "1s"}])
            self.assertEqual((done.error, done.elapsed_ms), (None, 3000))
            [waited] = [visit for visit in done.visits if visit.step == "waits"]
            ended = [wait.ended_at for wait in waited.awaits]
            self.assertEqual(ended, ["2026-01-01T00:00:01.000Z", "2026-01-01T00:00:01.500Z"])

    def test_a_call_lasts_as_long_as_what_it_calls(self) -> None:
        async def price(input: Any) -> Any:
            await asyncio.sleep(2)
            return input * 10

        async def asks(input: Any, ctx: Context) -> Any:
            return [await asyncio.wait_for(ctx.call("price", 7), 5), time.time() - START_S]

        def asks_blocking(input: Any, ctx: SyncContext) -> Any:
            return [ctx.call("price", 7), time.time() - START_S]

        for handler in (asks, asks_blocking):
            steps = {"asks": (handler, {"flow": {"role": "entry"}}), "price": (price, ON_GO)}
            done = run_flow(steps)
            self.assertEqual((done.error, done.visits[0].value), (None, [70, 2]))

    def test_a_handler_that_sleeps_too_long_is_timed_out(self) -> None:
        async def sleeps(input: Any) -> None:
            await asyncio.sleep(10)

        def blocks(input: Any, ctx: SyncContext) -> None:
            ctx.signal.wait()
            ctx.signal.raise_if_set()

        for handler in (sleeps, blocks):
            policy = {"attempts": 1}
            done = run_step((handler, {"timeout_ms": 5000, "retry_policy": policy}))
            self.assertEqual(getattr(done.error, "code", None), "TIMEOUT")
            self.assertEqual(done.elapsed_ms, 5000)

    def test_time_is_what_it_was_after_a_run(self) -> None:
        before = (time.time, time.sleep)
        run_step(lambda input: 1)
        self.assertEqual((time.time, time.sleep), before)


class Engines(unittest.TestCase):
    def test_without_the_binary_it_says_what_to_do(self) -> None:
        from riverrun.testing import engine

        def missing(**env: str) -> str:
            with mock.patch.dict(os.environ, env), mock.patch.object(engine, "_shared", None):
                if "RIVERRUN_BINARY" not in env:
                    del os.environ["RIVERRUN_BINARY"]
                with self.assertRaises(RiverrunError) as caught:
                    run_step(lambda: 1)
                self.assertEqual(run(lambda: 1).value, 1)
            self.assertEqual(caught.exception.code, "RUNTIME_MISSING")
            return str(caught.exception)

        named = missing(RIVERRUN_BINARY="/not/there")
        self.assertIn("RIVERRUN_BINARY names /not/there, which cannot be executed", named)
        on_path = missing(PATH="/not/there")
        self.assertIn("there is no riverrun on the PATH: install riverrun, or set", on_path)

    def test_a_test_that_gives_up_a_run_leaves_the_next_one_alone(self) -> None:
        def gives_up(callback: Any) -> Any:
            raise AssertionError("no such callback")

        def waits(input: Any, ctx: SyncContext) -> Any:
            return ctx.wait.trigger("user").wait()

        with self.assertRaisesRegex(AssertionError, "no such callback"):
            run_step(waits, triggers=gives_up)
        self.assertEqual(run_step(waits, triggers=lambda callback: "yes").value, "yes")


if __name__ == "__main__":
    unittest.main()
