"""What a failed run did is undone."""

from __future__ import annotations

import time
import unittest
from typing import Any

import support  # noqa: F401

from riverrun import Context, RiverrunError, js
from riverrun.testing import run_flow

DAY_MS = 86_400_000


class Compensation(unittest.TestCase):
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
        reported = {"step": "charge", "visit": 1, "result": {"charge": "c1"}, "error": error}
        self.assertEqual(done.visits[3].input, reported)

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
        done = run_flow(steps)
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
