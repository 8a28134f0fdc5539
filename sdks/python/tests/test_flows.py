"""Several steps, which enter each other by their events."""

from __future__ import annotations

import copy
import types
import unittest
from typing import Any

import support  # noqa: F401

from riverrun import Context, RiverrunError, SyncContext, js, process
from riverrun.testing import later, run_flow

DAY_MS = 86_400_000
REQUIRES = "(event) => event.data.requiresPayment === true"
ORDER = "(event) => ({ orderId: event.data.orderId })"
SAME = "(event, ctx) => event.data.orderId === ctx.input.orderId"


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
        done = run_flow(SHOP, {"id": 7, "total": 50}, events=events)
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
        late = run_flow(SHOP, {"id": 7, "total": 50})
        self.assertEqual(
            [(visit.step, visit.status) for visit in late.visits],
            [
                ("create-order", "completed"),
                ("wait-for-payment", "timeout"),
                ("cancel-order", "completed"),
            ],
        )
        self.assertEqual((late.status, late.elapsed_ms), ("completed", DAY_MS))
        free = run_flow(SHOP, {"id": 7, "total": 0})
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
            triggers=lambda callback: later("2h", {"text": "yes"}),
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
        with self.assertRaisesRegex(RiverrunError, "give entry"):
            run_flow({"a": fails, "b": fails})

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


if __name__ == "__main__":
    unittest.main()
