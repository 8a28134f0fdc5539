"""Steps of flows: waits, the journal, and the test kit that plays them."""

from __future__ import annotations

import asyncio
import copy
import datetime
import threading
import time
import types
import unittest
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import support

from riverrun import (
    Context,
    Flow,
    NonRetriableError,
    QueueConfig,
    RiverrunError,
    SyncContext,
    js,
    process,
)
from riverrun._failure import rpc_error
from riverrun.testing import later, run, run_flow, run_step

DAY_MS = 86_400_000


class Steps(unittest.TestCase):
    def test_doors_events_from_outside_and_failures_are_as_on_the_server(self) -> None:
        def door(secret: str | None) -> Callable[[Any, SyncContext], Any]:
            return lambda input, ctx: ctx.wait.trigger("webhook", secret=secret).wait()

        short = run_step(door("abc"), triggers=lambda trigger: 1).error
        assert isinstance(short, RiverrunError)
        self.assertEqual((short.code, short.retriable), ("INPUT_ERROR", False))
        self.assertEqual(short.message, "the secret of a door has fewer than 8 bytes")
        self.assertEqual(run_step(door("long enough"), triggers=lambda trigger: 1).value, 1)
        for body in ("x" * (1 << 20), later("1h", "x" * (1 << 20))):
            with self.assertRaises(RiverrunError) as refused:
                run_step(door(None), triggers=lambda trigger, body=body: body)
            self.assertEqual(refused.exception.code, "TOO_LARGE")
        heard = run_step(lambda input, ctx: ctx.wait.event("paid"), events=[{"type": "paid"}])
        self.assertEqual((heard.value["runId"], heard.value["flowName"]), ("global", "global"))

        def fails(input: Any) -> None:
            raise ValueError("no")

        async def fails_in_async(input: Any) -> None:
            fails(input)

        for handler in (fails, fails_in_async):
            for done in (run_step(handler), run_flow({"a": handler}), run(handler)):
                self.assertIsInstance(done.error, ValueError)
                self.assertEqual(done.error.code, "HANDLER_ERROR")

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
            told = rpc_error(done.error)["data"]
            self.assertEqual(told["name"], "Declined", handler.__name__)
            self.assertIn("raise Declined(code)", told["stack"])

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

            runs = [
                ctx.run("charge", lambda run, k=k: charge(k, run.attempt)) for k in range(3)
            ]
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
            done = run_step(handler, "ann", calls={"price": lambda n: n * 100})
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

    def test_events(self) -> None:
        where = "(event) => event.data.by !== input.owner"

        async def approval(input: Any, ctx: Context) -> Any:
            try:
                match = {"data.id": input["id"]}
                event = await ctx.wait.event("approved", match=match, where=where, timeout="2d")
            except RiverrunError as error:
                return [error.code, error.retriable]
            return event["data"]["by"]

        not_owner = {where: lambda event, ctx: event["data"]["by"] != ctx["input"]["owner"]}
        input = {"id": 7, "owner": "ann"}
        events: list[dict[str, Any]] = [
            {"type": "approved", "data": {"id": 8, "by": "bob"}},
            {"type": "approved", "data": {"id": 7, "by": "ann"}},
            {"type": "approved", "data": {"id": 7, "by": "cid"}, "at": "1 day"},
        ]
        timed = run_step(approval, input, events=events, expressions=not_owner)
        self.assertEqual((timed.result(), timed.elapsed_ms), ("cid", DAY_MS))
        late = run_step(approval, input, events=events[:2], expressions=not_owner)
        self.assertEqual(late.result(), ["AWAIT_TIMEOUT", False])
        self.assertEqual((late.awaits[0].outcome, late.elapsed_ms), ("timeout", 2 * DAY_MS))
        with self.assertRaisesRegex(LookupError, "expressions="):
            run_step(approval, input, events=events)

    def test_what_nobody_gives_is_waited_for(self) -> None:
        def stuck(input: Any, ctx: SyncContext) -> Any:
            return ctx.wait.event("never")

        done = run_step(stuck)
        self.assertEqual((done.status, done.awaits[0].outcome), ("waiting", "waiting"))

    def test_lookback(self) -> None:
        def wait(input: Any, ctx: SyncContext) -> Any:
            ctx.wait.time("1h")
            return ctx.wait.event("paid", lookback=input, timeout="1h")["data"]

        events = [{"type": "paid", "data": 5, "at": "30m"}]
        self.assertEqual(run_step(wait, "45m", events=events).result(), 5)
        error = run_step(wait, "10m", events=events).error
        self.assertEqual(getattr(error, "code", None), "AWAIT_TIMEOUT")

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

    def test_triggers(self) -> None:
        asked: list[Any] = []

        async def in_async(input: Any, ctx: Context) -> Any:
            door = await ctx.wait.trigger("user", payload={"q": 1}, timeout="7d", many=True)
            await ctx.emit("asked", {"url": door.url})
            return [await door.wait(), await door.wait()]

        def in_sync(input: Any, ctx: SyncContext) -> Any:
            door = ctx.wait.trigger("user", payload={"q": 1}, timeout="7d", many=True)
            ctx.emit("asked", {"url": door.url})
            return [door.wait(), door.wait()]

        for handler in (in_async, in_sync):
            answers = iter([later("2d", {"yes": True}), "again"])
            done = run_step(
                handler, triggers={"user": lambda door, a=answers: asked.append(door) or next(a)}
            )
            self.assertEqual(done.result(), [{"yes": True}, "again"])
            self.assertEqual([wait.waited_ms for wait in done.awaits], [2 * DAY_MS, 0])
            self.assertEqual(done.events, [{"type": "asked", "data": {"url": asked[-1].url}}])
            self.assertEqual(asked[-1].payload, {"q": 1})
            nobody = run_step(handler)
            self.assertEqual(getattr(nobody.error, "code", None), "AWAIT_TIMEOUT")

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

            def in_sync(input: Any, ctx: SyncContext, done: list[str] = done, name: Any = name) -> None:
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

    def test_jobs_cannot_wait(self) -> None:
        async def in_async(input: Any, ctx: Context) -> None:
            await ctx.wait.event("x")

        def in_sync(input: Any, ctx: SyncContext) -> None:
            ctx.wait.trigger()

        for handler in (in_async, in_sync):
            error: Any = run(handler).error
            self.assertEqual((error.code, error.retriable), ("AWAIT_OUTSIDE_FLOW", False))

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


STEP = {"kind": "step", "runId": "r", "flow": "f", "step": "s", "visit": 1}


class Memoised(unittest.TestCase):
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
            told = 'the handler returned while ctx.wait.event("paid") still waited'
            self.assertEqual([line.level for line in done.logs], ["warn"])
            self.assertIn(told, done.logs[0].message)
        done = run_step(heeds)
        self.assertEqual((done.value, done.logs, len(done.awaits)), ("waited", [], 3))


class Runners(unittest.TestCase):
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


REQUIRES = "(event) => event.data.requiresPayment === true"
ORDER = "(event) => ({ orderId: event.data.orderId })"
SAME = "(event, ctx) => event.data.orderId === ctx.input.orderId"
EXPRESSIONS = {
    REQUIRES: lambda event: event["data"]["requiresPayment"] is True,
    ORDER: lambda event: {"orderId": event["data"]["orderId"]},
    SAME: lambda event, ctx: event["data"]["orderId"] == ctx["input"]["orderId"],
}


@process(step="create-order", queue="orders", emits=["order.created"])
async def create_order(input: Any, ctx: Context) -> None:
    order = {"orderId": input["id"], "requiresPayment": input["total"] > 0}
    await ctx.emit("order.created", order)
    await ctx.state.set("order", input["id"])


@process(
    {
        "step": "wait-for-payment",
        "subscriptions": [
            {"event_kind": "order.created", "when": js(REQUIRES), "map": js(ORDER)},
        ],
        "await": {
            "type": "event",
            "event_kind": "payment.confirmed",
            "where": js(SAME),
            "timeout": "24h",
            "on_timeout": "cancel-order",
        },
    }
)
def wait_for_payment(input: Any, ctx: SyncContext) -> Any:
    ctx.emit("order.paid", {**input, "by": ctx.awaited["data"]["by"]})
    return {"paid": True}


@process(step="fulfill-order", subscriptions=[{"event_kind": "order.paid", "map": ORDER}])
async def fulfill_order(input: Any, ctx: Context) -> None:
    await ctx.wait.time("2 days")
    await ctx.emit("order.fulfilled", input)


@process(step="cancel-order")
def cancel_order(input: Any, ctx: SyncContext) -> None:
    ctx.emit("order.cancelled", input)


SHOP = [create_order, wait_for_payment, fulfill_order, cancel_order]


class Flows(unittest.TestCase):
    def test_a_flow_follows_what_its_steps_emit(self) -> None:
        events = [
            {"type": "payment.confirmed", "data": {"orderId": 8, "by": "eve"}, "at": "1h"},
            {"type": "payment.confirmed", "data": {"orderId": 7, "by": "card"}, "at": "3h"},
        ]
        done = run_flow(SHOP, {"id": 7, "total": 50}, events=events, expressions=EXPRESSIONS)
        self.assertEqual((done.status, done.error), ("completed", None))
        self.assertEqual(
            [(visit.step, visit.status, visit.executions) for visit in done.visits],
            [
                ("create-order", "completed", 1),
                ("wait-for-payment", "completed", 1),
                ("fulfill-order", "completed", 2),
            ],
        )
        self.assertEqual(done.visits[1].input, {"orderId": 7})
        self.assertEqual(done.ended_at, "2026-01-03T03:00:00.000Z")
        self.assertEqual(done.state, {"id": 7, "total": 50, "order": 7})
        unclaimed = [event["type"] for event in done.unclaimed]
        self.assertEqual(unclaimed, ["payment.confirmed", "order.fulfilled"])

    def test_a_timeout_leads_to_its_step_a_condition_to_nobody(self) -> None:
        late = run_flow(SHOP, {"id": 7, "total": 50}, expressions=EXPRESSIONS)
        self.assertEqual(
            [(visit.step, visit.status) for visit in late.visits],
            [
                ("create-order", "completed"),
                ("wait-for-payment", "timeout"),
                ("cancel-order", "completed"),
            ],
        )
        self.assertEqual((late.status, late.elapsed_ms), ("completed", DAY_MS))
        free = run_flow(SHOP, {"id": 7, "total": 0}, expressions=EXPRESSIONS)
        self.assertEqual([visit.step for visit in free.visits], ["create-order"])

    def test_joins(self) -> None:
        async def split(input: Any, ctx: Context) -> None:
            await ctx.emit("left", 1)
            await ctx.emit("left", 2)
            await ctx.wait.time(1000)
            await ctx.emit("right", 3)

        def both(input: Any) -> Any:
            return input

        def each(input: Any, ctx: SyncContext) -> Any:
            return [input, ctx.visit]

        left, right = {"event_kind": "left"}, {"event_kind": "right"}
        module = types.SimpleNamespace(handler=each, config={"subscriptions": [left]})
        steps = {
            "split": split,
            "both": (both, {"join": "all", "subscriptions": [left, right]}),
            "each": module,
        }
        done = run_flow(steps)
        self.assertEqual(
            [(visit.step, visit.value) for visit in done.visits],
            [
                ("split", None),
                ("each", [1, 1]),
                ("each", [2, 2]),
                ("both", {"left": 1, "right": 3}),
            ],
        )

    def test_steps_wait_for_each_other_for_people_and_for_time(self) -> None:
        async def ask(input: Any, ctx: Context) -> Any:
            match = {"data.to": ctx.run_id}
            return (await ctx.wait.event("answered", match=match, timeout="1d"))["data"]["text"]

        async def answer(input: Any, ctx: Context) -> None:
            await ctx.emit("answered", {"to": ctx.run_id, "text": ctx.awaited["text"]})

        steps = [
            (ask, {"flow": {"id": "talk", "role": "entry", "step": "ask"}}),
            (
                answer,
                {
                    "flow": ["other", {"id": "talk", "step": "answer"}],
                    "subscriptions": [{"event_kind": "question"}],
                    "await": {"type": "trigger", "trigger_type": "user"},
                },
            ),
            (
                lambda: {"pause": 5000},
                {
                    "flow": {
                        "id": "talk",
                        "step": "wrap",
                        "subscriptions": [{"event_kind": "answered"}],
                        "await": {"type": "time", "delay": js("(result) => result.pause")},
                    }
                },
            ),
        ]
        done = run_flow(
            steps,
            flow="talk",
            events=[{"type": "question"}],
            triggers=lambda door: later("2h", {"text": "yes"}),
            expressions={"(result) => result.pause": lambda result: result["pause"]},
        )
        self.assertEqual(
            [(visit.step, visit.status, visit.value) for visit in done.visits],
            [
                ("ask", "completed", "yes"),
                ("answer", "completed", None),
                ("wrap", "completed", {"pause": 5000}),
            ],
        )
        self.assertEqual(done.elapsed_ms, 2 * 3_600_000 + 5000)

    def test_failures(self) -> None:
        def begins(input: Any, ctx: SyncContext) -> None:
            ctx.emit("go")

        def fails() -> None:
            raise ValueError("no")

        on_go = {"step": "fails", "subscriptions": [{"event_kind": "go"}]}
        done = run_flow([begins, (fails, on_go)])
        self.assertEqual((done.status, str(done.error)), ("failed", "no"))
        with self.assertRaisesRegex(ValueError, "give entry"):
            run_flow({"a": fails, "b": fails})

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
        heard = (lambda input: input, {"subscriptions": [{"event_kind": "tried"}]})
        done = run_flow({"flaky": (flaky, {"retryPolicy": policy}), "heard": heard}, entry="flaky")
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
        told = []
        failed = set()

        def polls(input: Any, ctx: SyncContext) -> None:
            told.append((ctx.attempt, ctx.max_attempts))
            for n in range(3):
                ctx.run(f"poll-{n}", lambda n=n: n)
                if n not in failed:
                    failed.add(n)
                    raise RuntimeError(f"bad day {n}")
                ctx.wait.time("1 day")

        policy = {"attempts": 2, "backoff": {"type": "fixed", "delayMs": 1000}}
        done = run_step((polls, {"retryPolicy": policy}))
        self.assertEqual((done.status, done.error), ("completed", None))
        self.assertEqual(told, [(1, 2), (2, 2), (2, 3), (3, 3), (3, 4), (4, 4), (4, 5)])

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
        self.assertEqual(failing(ValueError("no"), **fixed, retriableErrors=["ValueError"]), (5, 40))

    def test_a_failed_run_undoes_what_it_did_the_last_first(self) -> None:
        began = time.monotonic()
        done = run_flow(saga(decline))
        self.assertLess(time.monotonic() - began, 1)
        self.assertEqual((done.status, done.elapsed_ms), ("failed", 30 * DAY_MS + 3000))
        self.assertEqual(
            [(visit.step, visit.status, visit.undoes) for visit in done.visits],
            [
                ("book", "completed", None),
                ("charge", "completed", None),
                ("ship", "failed", None),
                ("refund", "completed", ("charge", 1)),
                ("unbook", "completed", ("book", 1)),
            ],
        )
        error = {"code": "CARD_DECLINED", "message": "no money", "stepId": "ship"}
        told = {"step": "charge", "visit": 1, "result": {"charge": "c1"}, "error": error}
        self.assertEqual(done.visits[3].input, told)

    def test_an_undoing_that_fails_is_recorded_and_the_next_goes_on(self) -> None:
        done = run_flow({**saga(decline), "refund": (decline, {"flow": {"role": "step"}})})
        last = [(visit.step, visit.status) for visit in done.visits[3:]]
        self.assertEqual(last, [("refund", "failed"), ("unbook", "completed")])
        self.assertEqual((done.status, str(done.error)), ("failed", "no money"))

    def test_an_event_can_call_for_undoing_too_once(self) -> None:
        async def wait(input: Any, ctx: Context) -> None:
            await ctx.wait.event("delivered")

        events = [
            {"type": "disputed", "at": "1d"},
            {"type": "disputed", "at": "2d"},
            {"type": "delivered", "at": "60d"},
        ]
        done = run_flow(saga(wait), events=events)
        self.assertEqual(done.status, "completed")
        undone = [(visit.step, visit.undoes, visit.value) for visit in done.visits[3:]]
        self.assertEqual(undone, [("refund", ("charge", 1), None)])
        self.assertEqual([event["ts"][:10] for event in done.unclaimed], ["2026-01-03"])

    def test_the_entry_says_whether_a_failure_stops_the_others(self) -> None:
        async def begin(input: Any, ctx: Context) -> int:
            await ctx.emit("go")
            return 1

        async def slow(input: Any, ctx: Context) -> None:
            await ctx.wait.time("1d")

        def steps(on_failure: str) -> dict[str, Any]:
            undo = {"compensation": {"step": "undo"}}
            return {
                "begin": (begin, {"flow": {"role": "entry", "on_failure": on_failure}, **undo}),
                "slow": (slow, {"flow": {"triggers": ["go"]}, **undo}),
                "breaks": (decline, {"subscriptions": [{"event_kind": "go"}]}),
                "undo": (lambda: None, {"flow": {"role": "step"}}),
            }

        stopped = run_flow(steps("stop"))
        statuses = [(visit.step, visit.status) for visit in stopped.visits]
        self.assertEqual(statuses[1:3], [("slow", "cancelled"), ("breaks", "failed")])
        self.assertEqual(stopped.visits[-1].undoes, ("begin", 1))
        self.assertEqual((stopped.status, stopped.elapsed_ms), ("failed", 3000))
        finished = run_flow(steps("finish"))
        undone = [visit.undoes for visit in finished.visits if visit.undoes]
        self.assertEqual(undone, [("slow", 1), ("begin", 1)])
        self.assertEqual((finished.status, finished.elapsed_ms), ("failed", DAY_MS))

    def test_a_flow_without_an_id_is_called_as_its_entry(self) -> None:
        async def create(input: Any, ctx: Context) -> str | None:
            await ctx.emit("made")
            return ctx.flow

        made = [{"event_kind": "made"}]
        steps = [
            (create, {"step": "create-a"}),
            (create, {"step": "create-b"}),
            (lambda input, ctx: ctx.flow, {"step": "shared", "subscriptions": made}),
            (
                lambda input, ctx: ctx.flow,
                {"step": "own", "flow": "create-b", "subscriptions": made},
            ),
        ]
        for flow, expected in (("create-a", ["shared"]), ("create-b", ["shared", "own"])):
            for wanted in ({"flow": flow}, {"entry": flow}):
                done = run_flow(steps, **wanted)
                self.assertEqual([visit.step for visit in done.visits], [flow, *expected])
                self.assertEqual({visit.value for visit in done.visits}, {flow})
        alone = run_flow([steps[0], steps[2]])
        self.assertEqual(alone.visits[1].value, "create-a")

    def test_a_step_that_feeds_itself_meets_the_limit(self) -> None:
        async def loop(input: Any, ctx: Context) -> None:
            await ctx.emit("go")

        def undo(input: Any) -> Any:
            return input["error"]["code"]

        looping = (loop, {"flow": {"role": "entry", "triggers": "go"}})
        done = run_flow({"loop": looping})
        self.assertEqual((done.status, getattr(done.error, "code", None)), ("failed", "MAX_STEPS"))
        self.assertEqual((len(done.visits), done.visits[-1].status), (1001, "cancelled"))
        # What undoes something is never one too many.
        looping[1]["compensation"] = {"step": "undo"}
        done = run_flow({"loop": looping, "undo": (undo, {"flow": {"role": "step"}})})
        undone = [visit for visit in done.visits if visit.undoes]
        self.assertEqual((len(undone), undone[0].value), (1000, "MAX_STEPS"))

    def test_a_declared_door_for_several_gives_the_list_of_what_came(self) -> None:
        def tell(input: Any, ctx: SyncContext) -> Any:
            return ctx.awaited

        wait = {"type": "trigger", "trigger_type": "api", "many": 2, "timeout": "1d"}
        door = process(step="door", await_=wait)(tell)
        answers = iter([later("2h", 1), later("1h", 2)])
        both = run_flow([door], triggers={"api": lambda _: next(answers)})
        self.assertEqual((both.visits[0].value, both.elapsed_ms), ([2, 1], 2 * 3_600_000))
        once = iter([7])
        late = run_flow([door], triggers={"api": lambda _: next(once, None)})
        self.assertEqual(getattr(late.error, "code", None), "AWAIT_TIMEOUT")

    def test_what_had_come_to_a_door_for_several_goes_to_the_step_after_its_timeout(self) -> None:
        def tell(input: Any, ctx: SyncContext) -> Any:
            return ctx.awaited

        wait = {"type": "trigger", "trigger_type": "api", "many": 3, "timeout": "1d"}
        first = {"flow": {"role": "entry"}, "await": {**wait, "on_timeout": "late"}}

        def late(answers: list[Any], **more: Any) -> Any:
            steps = {"door": (tell, first), "late": (tell, {"flow": {"role": "step"}, **more})}
            left = iter(answers)
            opens = {"api": lambda _: next(left, None)}
            events = [{"type": "more", "data": 1, "at": "3d"}]
            return run_flow(steps, triggers=opens, events=events).visits

        door, entered = late([later("2h", "b"), later("1h", "a"), later("25h", "c")])
        self.assertEqual((door.status, door.awaits[0].value), ("timeout", ["a", "b"]))
        self.assertEqual((entered.step, entered.value), ("late", ["a", "b"]))
        self.assertIsNone(late([])[1].value)
        # It waits for its own await all the same.
        _, own = late(["a"], await_={"type": "event", "event_kind": "more"})
        days_ms = 2 * 86_400_000
        self.assertEqual((own.value["type"], own.awaits[0].waited_ms), ("more", days_ms))

    def test_the_payload_of_a_declared_door_has_parts_of_input_and_state(self) -> None:
        for payload, expected in (
            ("${total} for ${input.order} of ${who.name}?", "12.5 for 7 of Ann?"),
            ("${input}", {"order": 7, "lines": [{"sku": "ä"}], "note": None}),
            ("${ input.lines.0.sku }", "ä"),
            ("${input.lines}, ${input.note}${nothing}", '[{"sku":"ä"}], null'),
            (
                {"who": "${who}", "gone": "${nothing}", "${total}": None},
                {"who": {"name": "Ann"}, "${total}": None},
            ),
            ([1, "${nothing}", "$${total}", "${total}"], [1, None, "${total}", 12.5]),
            ("${nothing}", None),
            ("at most => $5", "at most => $5"),
            (None, None),
        ):
            self.assertEqual(shown(payload), expected, payload)

    def test_a_state_with_an_input_of_its_own_hides_that_of_the_step(self) -> None:
        state = {"input": {"order": "kept"}}
        self.assertEqual(shown("${input.order}<${input.lines}>", state=state), "kept<>")

    def test_the_payload_of_a_declared_door_may_be_a_function(self) -> None:
        text = "(ctx) => ctx.input.order + ctx.state.total + ctx.runId"

        def stands_in(ctx: Any) -> list[Any]:
            return [ctx["input"]["order"], ctx["state"]["total"], ctx["runId"]]

        for payload in (text, js(text)):
            self.assertEqual(shown(payload, {text: stands_in}), [7, 12.5, "run-1"])
            with self.assertRaisesRegex(LookupError, "lambda given: …"):
                shown(payload)
        for broken in (lambda ctx: ctx["input"]["customer"], lambda: object()):
            with self.assertRaisesRegex(RiverrunError, "^payload: ") as caught:
                shown(text, {text: broken})
            self.assertEqual(caught.exception.code, "INPUT_ERROR")

    def test_a_visit_that_only_lets_its_time_pass_is_undone(self) -> None:
        async def begin(input: Any, ctx: Context) -> str:
            await ctx.emit("go")
            return "begun"

        async def codes(input: Any, ctx: Context) -> None:
            await ctx.wait.time("1d")

        undo = {"compensation": {"step": "undo"}}

        def nap(delay: Any) -> dict[str, Any]:
            on_go = [{"event_kind": "go"}]
            return {"subscriptions": on_go, "await": {"type": "time", "delay": delay}, **undo}

        steps = {
            "begin": (begin, {"flow": {"role": "entry"}, **undo}),
            "first": (lambda: {"n": 1}, nap("2d")),
            "second": (lambda: {"n": 2}, nap(js("() => 86400000"))),
            "short": (lambda: "short", nap("1s")),
            "codes": (codes, nap(0)),
            "breaks": (decline, {"subscriptions": [{"event_kind": "go"}]}),
            "undo": (lambda: None, {"flow": {"role": "step"}}),
        }
        done = run_flow(steps, expressions={"() => 86400000": lambda: DAY_MS})
        self.assertEqual(
            [(visit.step, visit.status, visit.value) for visit in done.visits[:6]],
            [
                ("begin", "completed", "begun"),
                ("first", "cancelled", None),
                ("second", "cancelled", None),
                ("short", "completed", "short"),
                ("codes", "cancelled", None),
                ("breaks", "failed", None),
            ],
        )
        # They are cancelled last entered first, and undone from the end of that.
        self.assertEqual(
            [(visit.undoes, visit.input["result"]) for visit in done.visits[6:]],
            [
                (("first", 1), {"n": 1}),
                (("second", 1), {"n": 2}),
                (("short", 1), "short"),
                (("begin", 1), "begun"),
            ],
        )
        self.assertEqual((done.status, done.elapsed_ms), ("failed", 3000))

    def test_the_input_of_a_visit_stays_what_it_was_when_it_was_entered(self) -> None:
        seen: list[Any] = []

        async def work(input: Any, ctx: Context) -> None:
            seen.append(copy.deepcopy(input))
            await ctx.state.set("n", 9)
            await ctx.state.set("deep.m", 9)
            await ctx.state.set("input", 9)
            if isinstance(input, dict):
                input["n"] = input["deep"]["m"] = 7
            await ctx.wait.time("1h")
            if len(seen) == 2:
                raise ValueError("once more")

        given: Any = None

        async def first(input: Any, ctx: Context) -> None:
            await work(input, ctx)
            await ctx.emit("next", given)

        steps = {
            "first": (first, {"flow": {"role": "entry"}}),
            "second": (work, {"subscriptions": [{"event_kind": "next"}]}),
        }
        for given in ({"n": 1, "deep": {"m": 1}}, 5, "text", [1], None):
            seen.clear()
            done = run_flow(steps, given)
            self.assertEqual((done.status, len(done.visits[0].retries)), ("completed", 1))
            self.assertEqual([visit.input for visit in done.visits], [given, given])
            # The first is called, after its wait, after its failure; the second is called, and
            # after its wait.
            self.assertEqual(seen, [given] * 5)

    def test_a_declared_match_of_what_is_not_there_fails(self) -> None:
        wait = {"type": "event", "event_kind": "paid", "match": {"data.id": "input.nope"}}
        step = process(step="pay", await_=wait)(lambda: 1)
        done = run_flow([step], {"id": 1})
        self.assertEqual(getattr(done.error, "code", None), "INPUT_ERROR")
        done = run_flow([step], {"nope": None}, events=[{"type": "paid", "data": {"id": None}}])
        self.assertEqual(done.status, "completed")

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

    def test_await_is_a_word_of_python(self) -> None:
        wait = {"type": "time", "delay": "1h"}
        at_the_top = process(step="nap", await_=wait)(lambda: "slept")
        in_a_flow = (lambda: "slept", QueueConfig(flow=[Flow("day", step="nap", await_=wait)]))
        for step in (at_the_top, in_a_flow):
            done = run_step(step)
            self.assertEqual((done.result(), done.elapsed_ms), ("slept", 3_600_000))

    def test_a_declared_await_is_played_or_given(self) -> None:
        event = {"type": "payment.confirmed", "data": {"orderId": 7, "by": "card"}}
        input = {"orderId": 7}
        played = run_step(wait_for_payment, input, events=[event], expressions=EXPRESSIONS)
        self.assertEqual((played.value, played.events[0]["data"]["by"]), ({"paid": True}, "card"))
        given = run_step(wait_for_payment, input, awaited=event)
        self.assertEqual((given.value, given.awaits), ({"paid": True}, []))
        self.assertEqual(run_step(wait_for_payment, input).status, "timeout")


def shown(payload: Any, expressions: Any = None, state: Any = None) -> Any:
    """What whoever opens a declared door is shown, in a step that an event entered."""

    async def begin(input: Any, ctx: Context) -> None:
        await ctx.emit("asked", {"order": 7, "lines": [{"sku": "ä"}], "note": None})

    seen: list[Any] = []

    def opens(door: Any) -> str:
        seen.append(door.payload)
        return "yes"

    door = {"type": "trigger", "trigger_type": "user", "payload": payload}
    steps = {
        "begin": (begin, {"flow": {"role": "entry"}}),
        "ask": (lambda: None, {"subscriptions": [{"event_kind": "asked"}], "await": door}),
    }
    given = state or {"total": 12.5, "who": {"name": "Ann"}}
    run_input = {"order": "of the run"}
    done = run_flow(steps, run_input, state=given, triggers=opens, expressions=expressions)
    if done.error is not None:
        raise done.error
    return seen[0]


def decline(input: Any) -> None:
    raise RiverrunError("no money", code="CARD_DECLINED")


def saga(ship: Any) -> dict[str, Any]:
    """Book, charge, ship; what was done is undone in reverse."""

    async def book(input: Any, ctx: Context) -> dict[str, Any]:
        await ctx.emit("booked")
        return {"seat": 7}

    async def charge(input: Any, ctx: Context) -> dict[str, Any]:
        await ctx.emit("charged")
        return {"charge": "c1"}

    async def refund(input: Any, ctx: Context) -> None:
        await ctx.wait.time("30 days")

    on_booked, on_charged = [{"event_kind": "booked"}], [{"event_kind": "charged"}]
    return {
        "book": (book, {"flow": {"role": "entry"}, "compensation": {"step": "unbook"}}),
        "charge": (
            charge,
            {"subscriptions": on_booked, "compensation": {"step": "refund", "on": "disputed"}},
        ),
        "ship": (ship, {"subscriptions": on_charged}),
        "unbook": (lambda input: input["result"], {"flow": {"role": "step"}}),
        "refund": (refund, {"flow": {"role": "step"}}),
    }


if __name__ == "__main__":
    unittest.main()
