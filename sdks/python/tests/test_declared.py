"""Awaits in the config of a step."""

from __future__ import annotations

import unittest
from typing import Any

import support  # noqa: F401

from riverrun import Context, RiverrunError, SyncContext, js, process
from riverrun.testing import later, run_flow, run_step

REQUIRES = "(event) => event.data.requiresPayment === true"
ORDER = "(event) => ({ orderId: event.data.orderId })"
SAME = "(event, ctx) => event.data.orderId === ctx.input.orderId"


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


class Declared(unittest.TestCase):
    def test_a_declared_await_is_played_or_given(self) -> None:
        event = {"type": "payment.confirmed", "data": {"orderId": 7, "by": "card"}}
        input = {"orderId": 7}
        played = run_step(wait_for_payment, input, events=[event])
        self.assertEqual((played.value, played.events[0]["data"]["by"]), ({"paid": True}, "card"))
        given = run_step(wait_for_payment, input, awaited=event)
        self.assertEqual((given.value, given.awaits), ({"paid": True}, []))
        self.assertEqual(run_step(wait_for_payment, input).status, "timeout")

    def test_a_declared_match_of_what_is_not_there_fails(self) -> None:
        wait = {"type": "event", "event_kind": "paid", "match": {"data.id": "input.nope"}}
        step = process(step="pay", await_=wait)(lambda: 1)
        done = run_flow([step], {"id": 1})
        self.assertEqual(getattr(done.error, "code", None), "INPUT_ERROR")
        done = run_flow([step], {"nope": None}, events=[{"type": "paid", "data": {"id": None}}])
        self.assertEqual(done.status, "completed")

    def test_a_declared_door_for_several_gives_the_list_of_what_came(self) -> None:
        def tell(input: Any, ctx: SyncContext) -> Any:
            return ctx.awaited

        wait = {"type": "trigger", "trigger_type": "api", "many": 2, "timeout": "1d"}
        callback = process(step="callback", await_=wait)(tell)
        answers = iter([later("2h", 1), later("1h", 2)])
        both = run_flow([callback], triggers={"api": lambda _: next(answers)})
        self.assertEqual((both.visits[0].value, both.elapsed_ms), ([2, 1], 2 * 3_600_000))
        once = iter([7])
        late = run_flow([callback], triggers={"api": lambda _: next(once, None)})
        self.assertEqual(getattr(late.error, "code", None), "AWAIT_TIMEOUT")

    def test_what_had_come_to_a_door_for_several_goes_to_the_step_after_its_timeout(self) -> None:
        def tell(input: Any, ctx: SyncContext) -> Any:
            return ctx.awaited

        wait = {"type": "trigger", "trigger_type": "api", "many": 3, "timeout": "1d"}
        first = {"flow": {"role": "entry"}, "await": {**wait, "on_timeout": "late"}}

        def late(answers: list[Any], **more: Any) -> Any:
            steps = {"callback": (tell, first), "late": (tell, {"flow": {"role": "step"}, **more})}
            left = iter(answers)
            opens = {"api": lambda _: next(left, None)}
            events = [{"type": "more", "data": 1, "at": "3d"}]
            return run_flow(steps, triggers=opens, events=events).visits

        callback, entered = late([later("2h", "b"), later("1h", "a"), later("25h", "c")])
        self.assertEqual((callback.status, callback.awaits[0].value), ("timeout", ["a", "b"]))
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
        text = "(ctx) => [ctx.input.order, ctx.state.total, ctx.runId]"
        for payload in (text, js(text)):
            self.assertEqual(shown(payload), [7, 12.5, "run-1"])
        for broken in ("(ctx) => ctx.input.customer.name", "() => 1n"):
            with self.assertRaisesRegex(RiverrunError, "^payload: ") as caught:
                shown(broken)
            self.assertEqual(caught.exception.code, "INPUT_ERROR")

    def test_a_declared_await_of_the_entry_sees_the_state_that_the_test_gives(self) -> None:
        wait = {"type": "event", "event_kind": "paid", "match": {"data.id": "state.order"}}
        step = process(step="pay", await_=wait)(lambda input, ctx: ctx.awaited["data"]["by"])
        events = [
            {"type": "paid", "data": {"id": 4, "by": "ann"}, "at": "1h"},
            {"type": "paid", "data": {"id": 5, "by": "bob"}, "at": "2h"},
        ]
        done = run_flow([step], {"order": 4, "n": 1}, state={"order": 5}, events=events)
        self.assertEqual((done.error, done.visits[0].value), (None, "bob"))
        self.assertEqual((done.state, done.elapsed_ms), ({"order": 5, "n": 1}, 2 * 3_600_000))
        self.assertEqual(done.visits[0].started_at, "2026-01-01T00:00:00.000Z")


def shown(payload: Any, state: Any = None) -> Any:
    """What the page of a declared callback shows, in a step that an event entered."""

    async def begin(input: Any, ctx: Context) -> None:
        await ctx.emit("asked", {"order": 7, "lines": [{"sku": "ä"}], "note": None})

    seen: list[Any] = []

    def opens(callback: Any) -> str:
        seen.append(callback.payload)
        return "yes"

    callback = {"type": "trigger", "trigger_type": "user", "payload": payload}
    steps = {
        "begin": (begin, {"flow": {"role": "entry"}}),
        "ask": (lambda: None, {"subscriptions": [{"event_kind": "asked"}], "await": callback}),
    }
    given = state or {"total": 12.5, "who": {"name": "Ann"}}
    run_input = {"order": "of the run"}
    done = run_flow(steps, run_input, state=given, triggers=opens)
    if done.error is not None:
        raise done.error
    return seen[0]


if __name__ == "__main__":
    unittest.main()
