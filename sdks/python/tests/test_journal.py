"""What earlier executions of a visit recorded."""

from __future__ import annotations

import unittest
from typing import Any

import support  # noqa: F401

from riverrun import Context, SyncContext
from riverrun.testing import run_step


class Journal(unittest.TestCase):
    def test_code_that_changes_its_mind_is_found_out(self) -> None:
        executions: list[int] = []

        def changed(input: Any, ctx: SyncContext) -> None:
            executions.append(1)
            ctx.run(f"charge-{len(executions)}", lambda: None)
            ctx.wait.time(1000)

        error: Any = run_step(changed).error
        self.assertEqual((error.code, error.retriable), ("JOURNAL_MISMATCH", False))
        self.assertIn('Recorded: memo "charge-1", await "time"', error.message)
        self.assertIn('Done: memo "charge-2".', error.message)
        self.assertEqual(error.details["missing"][0], {"op": "memo", "name": "charge-1"})

    def test_nothing_is_done_after_a_wait_that_no_longer_fits(self) -> None:
        for plain in (True, False):
            done: list[str] = []

            def name(done: list[str] = done) -> str:
                return "two" if "one" not in done else "zwei"

            def in_sync(
                input: Any, ctx: SyncContext, done: list[str] = done, name: Any = name
            ) -> None:
                ctx.run(name(), lambda: done.append("one"))
                ctx.wait.time(1000)
                ctx.run("three", lambda: done.append("three"))

            async def in_async(
                input: Any, ctx: Context, done: list[str] = done, name: Any = name
            ) -> None:
                await ctx.run(name(), lambda: done.append("one"))
                await ctx.wait.time(1000)
                await ctx.run("three", lambda: done.append("three"))

            error = run_step(in_sync if plain else in_async).error
            self.assertEqual(getattr(error, "code", None), "JOURNAL_MISMATCH")
            self.assertEqual(done, ["one"])

    def test_an_emit_that_is_no_longer_made_before_a_wait_is_missed(self) -> None:
        executions = 0

        async def changed(input: Any, ctx: Context) -> None:
            nonlocal executions
            executions += 1
            if executions < 3:
                await ctx.emit("ordered")
            await ctx.wait.time(1000)
            await ctx.run("order", lambda: ctx.emit("ordered"))
            await ctx.wait.time(1000)

        error: Any = run_step(changed).error
        self.assertEqual((error.code, executions), ("JOURNAL_MISMATCH", 3))
        self.assertEqual(error.details["missing"], [{"op": "emit", "name": "ordered"}])

    def test_state_is_read_and_written_once(self) -> None:
        async def count(input: Any, ctx: Context) -> Any:
            n = await ctx.state.patch("n", lambda n: (n or 0) + 1)
            m = await ctx.state.get("m", 0)
            await ctx.state.set("m", m + 1)
            if not await ctx.state.has("mailed"):
                patch = ctx.state.patch
                await ctx.run("mail", lambda: patch("mails", lambda mails: (mails or 0) + 1))
                await ctx.state.set_batch({"mailed": True})
            await ctx.state.patch(lambda everything: None)
            await ctx.wait.time(1000)
            between = await ctx.state.get("m")
            await ctx.wait.time(1000)
            await ctx.state.delete("n")
            return [n, m, between]

        def count_blocking(input: Any, ctx: SyncContext) -> Any:
            n = ctx.state.patch("n", lambda n: (n or 0) + 1)
            m = ctx.state.get("m", 0)
            ctx.state.set("m", m + 1)
            if not ctx.state.has("mailed"):
                patch = ctx.state.patch
                ctx.run("mail", lambda: patch("mails", lambda mails: (mails or 0) + 1))
                ctx.state.set_batch({"mailed": True})
            ctx.state.patch(lambda everything: None)
            ctx.wait.time(1000)
            between = ctx.state.get("m")
            ctx.wait.time(1000)
            ctx.state.delete("n")
            return [n, m, between]

        for handler in (count, count_blocking):
            with self.subTest(handler.__name__):
                done = run_step(handler)
                self.assertIsNone(done.error)
                self.assertEqual(done.value, [1, 0, 1])
                self.assertEqual(done.state, {"m": 1, "mails": 1, "mailed": True})


if __name__ == "__main__":
    unittest.main()
