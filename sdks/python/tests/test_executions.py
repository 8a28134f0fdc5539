"""Executions in a runner, as the server sees them."""

from __future__ import annotations

import unittest

import support

STEP = {"kind": "step", "runId": "r", "flow": "f", "step": "s", "visit": 1}


class Executions(unittest.TestCase):
    def test_executions_that_wait_leave_nothing_behind(self) -> None:
        source = """
            import asyncio

            async def handler(input, ctx):
                waiting = asyncio.ensure_future(ctx.wait.time(1000))
                if input == "child":
                    await asyncio.sleep(100)
                elif input == "gather":
                    await asyncio.gather(waiting, asyncio.sleep(100))
                elif input == "swallow":
                    try:
                        await waiting
                    except BaseException:
                        await asyncio.sleep(0)
                        await ctx.emit("late")
                elif input == "timeout":
                    await asyncio.wait_for(waiting, 100)
                elif input == "both":
                    await asyncio.gather(waiting, ctx.wait.time(1))
                elif input == "over":
                    await asyncio.sleep(0)
                    return "over"
        """
        with support.runner() as runner:
            file = runner.write(source)
            for what in ("child", "gather", "swallow", "timeout"):
                answer = runner.invoke(file, what, **STEP)
                self.assertEqual(answer["result"]["suspended"]["type"], "time", what)
            both = runner.invoke(file, "both", **STEP)
            self.assertEqual(both["error"]["data"]["code"], "AWAIT_CONCURRENT")
            runner.send(id=99, method="invoke", params={"file": file, "input": "over", **STEP})
            self.assertIn("ctx.wait.time still waited", runner.next()["params"]["message"])
            self.assertEqual(runner.next()["result"], {"value": "over"})
            self.assertEqual(runner.request("drain", graceMs=0)["result"], {"unfinished": 0})
            self.assertEqual(runner.end(), (0, "", ""))

    def test_a_sync_handler_cannot_swallow_its_wait(self) -> None:
        source = """
            def handler(input, ctx):
                try:
                    ctx.wait.event("paid")
                except BaseException:
                    pass
                if input == "raise":
                    raise ValueError("no")
                if input == "ask":
                    ctx.emit("late")
                ctx.logger.info("late")
                return "swallowed"
        """
        with support.runner() as runner:
            file = runner.write(source)
            for what in ("return", "raise", "ask"):
                wait = {"type": "event", "eventKind": "paid"}
                answer = runner.invoke(file, what, **STEP)
                self.assertEqual(answer.get("result"), {"suspended": wait}, what)

    def test_a_cancel_while_it_waits_for_what_is_under_way(self) -> None:
        source = """
            import asyncio

            async def handler(input, ctx):
                calling = asyncio.ensure_future(ctx.call("slow"))
                await ctx.wait.time(1000)
        """
        with support.runner() as runner:
            file = runner.write(source)
            runner.send(id=90, method="invoke", params={"file": file, **STEP})
            self.assertEqual(runner.next()["method"], "call")
            runner.send(method="cancel", params={"invocation": 90, "reason": "user"})
            self.assertEqual(runner.next()["error"]["data"]["code"], "CANCELLED")


if __name__ == "__main__":
    unittest.main()
