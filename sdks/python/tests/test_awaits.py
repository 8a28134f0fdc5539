"""Code that waits for events and for callbacks."""

from __future__ import annotations

import unittest
from collections.abc import Callable
from typing import Any

import support  # noqa: F401

from riverrun import Context, RiverrunError, SyncContext
from riverrun.testing import later, run, run_flow, run_step

DAY_MS = 86_400_000


class Awaits(unittest.TestCase):
    def test_events(self) -> None:
        where = "(event) => event.data.by !== input.owner"

        async def approval(input: Any, ctx: Context) -> Any:
            try:
                match = {"data.id": input["id"]}
                event = await ctx.wait.event("approved", match=match, where=where, timeout="2d")
            except RiverrunError as error:
                return [error.code, error.retriable]
            return event["data"]["by"]

        input = {"id": 7, "owner": "ann"}
        events: list[dict[str, Any]] = [
            {"type": "approved", "data": {"id": 8, "by": "bob"}},
            {"type": "approved", "data": {"id": 7, "by": "ann"}},
            {"type": "approved", "data": {"id": 7, "by": "cid"}, "at": "1 day"},
        ]
        timed = run_step(approval, input, events=events)
        self.assertEqual((timed.result(), timed.elapsed_ms), ("cid", DAY_MS))
        late = run_step(approval, input, events=events[:2])
        self.assertEqual(late.result(), ["AWAIT_TIMEOUT", False])
        self.assertEqual((late.awaits[0].outcome, late.elapsed_ms), ("timeout", 2 * DAY_MS))

    def test_lookback(self) -> None:
        def wait(input: Any, ctx: SyncContext) -> Any:
            ctx.wait.time("1h")
            return ctx.wait.event("paid", lookback=input, timeout="1h")["data"]

        events = [{"type": "paid", "data": 5, "at": "30m"}]
        self.assertEqual(run_step(wait, "45m", events=events).result(), 5)
        error = run_step(wait, "10m", events=events).error
        self.assertEqual(getattr(error, "code", None), "AWAIT_TIMEOUT")

    def test_a_visit_looks_back_on_an_event_once(self) -> None:
        def two(input: Any, ctx: SyncContext) -> Any:
            ctx.wait.time("1h")
            first = ctx.wait.event("paid", lookback="2h")
            second = ctx.wait.event("paid", lookback="2h")
            third = ctx.wait.event("paid", lookback="2h", timeout="2h")
            return [first["data"], second["data"], third["data"]]

        events = [{"type": "paid", "data": n, "at": at} for n, at in ((1, "1m"), (1, "1m"))]
        later_one = {"type": "paid", "data": 2, "at": "2h"}
        self.assertEqual(run_step(two, events=[*events, later_one]).result(), [1, 1, 2])

    def test_a_wait_looks_back_to_the_beginning_of_its_run(self) -> None:
        def paid(lookback: str) -> Any:
            async def handler(input: Any, ctx: Context) -> Any:
                await ctx.wait.time("1h")
                event = await ctx.wait.event("paid", lookback=lookback, timeout="1m")
                return event["data"]

            return run_step(handler, events=[{"type": "paid", "data": {"n": 1}, "at": "10s"}])

        self.assertEqual(paid("run").value, {"n": 1})
        self.assertEqual(paid("2h").value, {"n": 1})
        self.assertEqual(getattr(paid("1m").error, "code", None), "AWAIT_TIMEOUT")

    def test_an_event_that_came_before_the_code_waits_is_given_once(self) -> None:
        def waits(input: Any, ctx: SyncContext) -> Any:
            ctx.emit("paid", 1)
            ctx.emit("paid", 2)
            given = []
            for _ in range(input["count"]):
                try:
                    lookback = input.get("lookback")
                    event = ctx.wait.event("paid", timeout=1000, lookback=lookback)
                    given.append(event["data"])
                except RiverrunError as error:
                    given.append(error.code)
            return given

        self.assertEqual(run_step(waits, {"count": 3}).value, [1, 2, "AWAIT_TIMEOUT"])
        none = run_step(waits, {"count": 1, "lookback": "none"})
        self.assertEqual(none.value, ["AWAIT_TIMEOUT"])

    def test_triggers(self) -> None:
        asked: list[Any] = []

        async def in_async(input: Any, ctx: Context) -> Any:
            callback = await ctx.wait.trigger("user", payload={"q": 1}, timeout="7d", many=True)
            await ctx.emit("asked", {"url": callback.url})
            return [await callback.wait(), await callback.wait()]

        def in_sync(input: Any, ctx: SyncContext) -> Any:
            callback = ctx.wait.trigger("user", payload={"q": 1}, timeout="7d", many=True)
            ctx.emit("asked", {"url": callback.url})
            return [callback.wait(), callback.wait()]

        for handler in (in_async, in_sync):
            answers = iter([later("2d", {"yes": True}), "again"])
            done = run_step(
                handler, triggers={"user": lambda callback, a=answers: asked.append(callback) or next(a)}
            )
            self.assertEqual(done.result(), [{"yes": True}, "again"])
            self.assertEqual([wait.waited_ms for wait in done.awaits], [2 * DAY_MS, 0])
            self.assertEqual(done.events, [{"type": "asked", "data": {"url": asked[-1].url}}])
            self.assertEqual(asked[-1].payload, {"q": 1})
            unanswered = run_step(handler)
            self.assertEqual(getattr(unanswered.error, "code", None), "AWAIT_TIMEOUT")

    def test_callbacks_events_from_outside_and_failures_are_as_on_the_server(self) -> None:
        def callback(secret: str | None) -> Callable[[Any, SyncContext], Any]:
            return lambda input, ctx: ctx.wait.trigger("webhook", secret=secret).wait()

        short = run_step(callback("abc"), triggers=lambda trigger: 1).error
        assert isinstance(short, RiverrunError)
        self.assertEqual((short.code, short.retriable), ("INPUT_ERROR", False))
        self.assertEqual(short.message, "the secret of a callback has fewer than 8 bytes")
        self.assertEqual(run_step(callback("long enough"), triggers=lambda trigger: 1).value, 1)
        for body in ("x" * (1 << 20), later("1h", "x" * (1 << 20))):
            with self.assertRaises(RiverrunError) as refused:
                run_step(callback(None), triggers=lambda trigger, body=body: body)
            self.assertEqual(refused.exception.code, "TOO_LARGE")
        found = run_step(lambda input, ctx: ctx.wait.event("paid"), events=[{"type": "paid"}])
        self.assertEqual((found.value["runId"], found.value["flowName"]), ("global", "global"))

        def fails(input: Any) -> None:
            raise ValueError("no")

        async def fails_in_async(input: Any) -> None:
            fails(input)

        for handler in (fails, fails_in_async):
            for done in (run_step(handler), run_flow({"a": handler}), run(handler)):
                self.assertIsInstance(done.error, ValueError)
                self.assertEqual(done.error.code, "HANDLER_ERROR")


if __name__ == "__main__":
    unittest.main()
