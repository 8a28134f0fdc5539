"""Events that handlers emit, and what the server does not store."""

from __future__ import annotations

import unittest
from collections.abc import Callable
from typing import Any

import support  # noqa: F401

from riverrun import Context, SyncContext
from riverrun.testing import run_step


class Emits(unittest.TestCase):
    def test_what_is_emitted_inside_of_a_run_is_not_taken_for_an_emit_outside(self) -> None:
        async def in_async(input: Any, ctx: Context) -> None:
            await ctx.run("inside", lambda: ctx.emit("paid", 1))
            await ctx.emit("paid", 2)
            await ctx.wait.time("1h")
            await ctx.emit("paid", 3)

        def in_sync(input: Any, ctx: SyncContext) -> None:
            ctx.run("inside", lambda: ctx.emit("paid", 1))
            ctx.emit("paid", 2)
            ctx.wait.time("1h")
            ctx.emit("paid", 3)

        for handler in (in_async, in_sync):
            with self.subTest(handler.__name__):
                done = run_step(handler)
                self.assertIsNone(done.error)
                self.assertEqual([event["data"] for event in done.events], [1, 2, 3])

    def test_an_event_may_be_emitted_as_one(self) -> None:
        async def in_async(input: Any, ctx: Context) -> None:
            await ctx.emit({"kind": "paid", "data": 1})
            await ctx.emit({"type": "paid", "data": 2})
            await ctx.wait.time("1h")
            await ctx.emit({"type": "paid"}, 3)

        def in_sync(input: Any, ctx: SyncContext) -> None:
            ctx.emit({"kind": "paid", "data": 1})
            ctx.emit({"type": "paid", "data": 2})
            ctx.wait.time("1h")
            ctx.emit({"type": "paid"}, 3)

        for handler in (in_async, in_sync):
            done = run_step(handler)
            self.assertIsNone(done.error, handler.__name__)
            events = [(event["type"], event["data"]) for event in done.events]
            self.assertEqual(events, [("paid", 1), ("paid", 2), ("paid", 3)])
        nameless = run_step(lambda input, ctx: ctx.emit({"data": 1})).error
        self.assertEqual(getattr(nameless, "code", None), "BAD_EVENT")

    def test_what_only_the_server_says_is_not_emitted(self) -> None:
        reserved: list[tuple[str, Any]] = [
            ("flow.completed", None),
            ("log.info", "x"),
            ("emit", {"topic": "step.failed"}),
            ("emit", {"kind": "trigger.fired"}),
        ]
        for kind, data in reserved:

            def emit(input: Any, ctx: SyncContext, kind: str = kind, data: Any = data) -> None:
                ctx.emit(kind, data)

            with self.subTest(kind):
                self.assertEqual(getattr(run_step(emit).error, "code", None), "RESERVED_TYPE")

        def topic(input: Any, ctx: SyncContext) -> None:
            ctx.emit("emit", {"topic": "order.paid"})

        self.assertEqual(len(run_step(topic).events), 1)

    def test_what_a_run_does_inside_belongs_to_it(self) -> None:
        async def nested(input: Any, ctx: Context) -> Any:
            ids = []
            for n in (1, 2):

                async def order(n: int = n) -> list[str]:
                    await ctx.emit("ordered", n)
                    await ctx.run("inner", lambda: n)
                    return [(await ctx.enqueue("mails", n)).job_id for _ in range(2)]

                ids += await ctx.run("order", order)
            ids.append((await ctx.enqueue("mails", 0)).job_id)
            await ctx.wait.time(1000)
            return ids

        done = run_step(nested)
        self.assertEqual(len(set(done.result())), 5)
        self.assertEqual((len(done.events), len(done.enqueued)), (2, 5))
        ops = [entry["op"] for entry in done.journal]
        inside = ["inRun", "emit", "memo"]
        self.assertEqual(ops, [*inside, *inside, "enqueue", "await"])

    def test_what_the_server_would_not_store_is_refused(self) -> None:
        large = "x" * ((1 << 20) - 1)
        cases: list[tuple[Callable[[Any], Any], str]] = [
            (lambda ctx: ctx.emit("a b", {}), "BAD_EVENT"),
            (lambda ctx: ctx.emit("emit", {"topic": "a b"}), "BAD_EVENT"),
            (lambda ctx: ctx.emit(None), "BAD_EVENT"),
            (lambda ctx: ctx.emit("big", large), "TOO_LARGE"),
            (lambda ctx: ctx.wait.trigger(payload=large), "TOO_LARGE"),
            (lambda ctx: ctx.run("count", lambda: {1}), "RESULT_NOT_JSON"),
            (lambda ctx: ctx.wait.event("paid", matches={}), "INPUT_ERROR"),
            (lambda ctx: ctx.wait.trigger(many_times=True), "INPUT_ERROR"),
            (lambda ctx: large, "RESULT_TOO_LARGE"),
            (lambda ctx: {1}, "RESULT_NOT_JSON"),
        ]
        for handler, code in cases:

            def handled(input: Any, ctx: SyncContext, handler: Any = handler) -> Any:
                return handler(ctx)

            error = run_step(handled).error
            with self.subTest(code):
                found = (getattr(error, "code", None), getattr(error, "retriable", None))
                self.assertEqual(found, (code, False))


if __name__ == "__main__":
    unittest.main()
