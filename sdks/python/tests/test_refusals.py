"""What the server refuses, a test finds: limits, kinds, callbacks, words."""

from __future__ import annotations

import datetime
import unittest
from typing import Any

import support  # noqa: F401

from riverrun import RiverrunError, js
from riverrun.testing import later, run, run_flow, run_step

ENTRY = {"flow": {"role": "entry"}}


def nothing() -> int:
    return 1


class Refusals(unittest.TestCase):
    def refused(self, code: str, pattern: str, steps: Any, **options: Any) -> None:
        with self.assertRaisesRegex(RiverrunError, pattern) as caught:
            run_flow(steps, **options)
        self.assertEqual(caught.exception.code, code)

    def test_max_awaits(self) -> None:
        async def wait(_: Any, ctx: Any) -> None:
            while True:
                await ctx.wait.time("1h")

        def blocking(_: Any, ctx: Any) -> None:
            while True:
                ctx.wait.time("1h")

        for handler in (wait, blocking):
            config = {"flow": {"id": "f", "limits": {"max_awaits": 50}}}
            done = run_step((handler, config))
            assert isinstance(done.error, RiverrunError)
            self.assertEqual(
                (done.status, done.error.code, len(done.awaits), done.executions, done.attempt),
                ("failed", "MAX_AWAITS", 50, 51, 1),
            )
            self.assertRegex(str(done.error), r"waited 50 times.*limits\.maxAwaits")

    def test_max_steps(self) -> None:
        async def again(_: Any, ctx: Any) -> None:
            await ctx.emit("again")

        def steps(limits: Any) -> Any:
            flow = {"role": "entry", "limits": limits}
            return {"again": (again, {"flow": flow, "subscriptions": [{"event_kind": "again"}]})}

        few = run_flow(steps({"max_steps": 10}))
        assert isinstance(few.error, RiverrunError)
        done = [visit for visit in few.visits if visit.status == "completed"]
        self.assertEqual((few.error.code, len(done)), ("MAX_STEPS", 10))
        self.assertRegex(str(few.error), r"made 10 steps.*limits\.maxSteps")
        self.refused(
            "FLOW_INVALID",
            "limits.maxSteps: 0 is less than the minimum of 1",
            steps({"max_steps": 0}),
        )

    def test_kinds_of_the_server(self) -> None:
        kinds = "flow.completed step.failed job.added job.mine log.warn state.set emit progress"
        for kind in kinds.split():
            done = run_step(lambda _, ctx, kind=kind: ctx.wait.event(kind))
            self.assertEqual((done.status, done.error.code), ("failed", "BAD_KIND"), kind)
            received = (nothing, {**ENTRY, "subscriptions": [{"event_kind": kind}]})
            self.refused("FLOW_INVALID", "is written by riverrun itself", {"listener": received})
        for kind in ("order.flow", "flows", "state.mine"):
            done = run_step(lambda _, ctx, kind=kind: ctx.wait.event(kind))
            self.assertEqual(done.status, "waiting", kind)
        bad = run_step(lambda _, ctx: ctx.wait.event("two words"))
        self.assertEqual(bad.error.code, "INPUT_ERROR")

    def test_a_door_is_used_once(self) -> None:
        def twice(many: bool) -> Any:
            async def handler(_: Any, ctx: Any) -> Any:
                callback = await ctx.wait.trigger(many=many)
                return [await callback.wait(), await callback.wait()]

            return handler

        once = run_step(twice(False), triggers=lambda trigger: "in")
        self.assertEqual((once.status, once.executions), ("failed", 2))
        self.assertEqual(once.error.code, "INPUT_ERROR")
        self.assertRegex(str(once.error), "was used")
        self.assertEqual(run_step(twice(True), triggers=lambda _: "in").value, ["in", "in"])

    def test_the_time_of_a_door_runs_from_when_it_was_made(self) -> None:
        def late(_: Any, ctx: Any) -> Any:
            callback = ctx.wait.trigger(timeout="3h")
            ctx.wait.time("2h")
            return callback.wait()

        done = run_step(late, triggers=lambda _: later("90m", "in"))
        self.assertEqual((done.error.code, done.elapsed_ms), ("AWAIT_TIMEOUT", 3 * 3_600_000))
        self.assertEqual(run_step(late, triggers=lambda _: later("30m", "in")).value, "in")

    def test_ten_years(self) -> None:
        far = datetime.datetime(2040, 1, 1, tzinfo=datetime.timezone.utc)
        for wait in (
            lambda ctx: ctx.wait.time("4000 days"),
            lambda ctx: ctx.wait.time(far),
            lambda ctx: ctx.wait.event("x", timeout="4000 days"),
            lambda ctx: ctx.wait.trigger(timeout="4000 days").wait(),
        ):
            done = run_step(lambda _, ctx, wait=wait: wait(ctx))
            self.assertEqual((done.error.code, done.error.retriable), ("INPUT_ERROR", False))
            self.assertRegex(str(done.error), "ten years")
        declared = (nothing, {**ENTRY, "await": {"type": "time", "delay": "4000 days"}})
        self.refused("FLOW_INVALID", r"steps\.wait\.await\.delay: .*ten years", {"wait": declared})

    def test_a_flow_leads_to_steps_that_there_are(self) -> None:
        def steps(**config: Any) -> Any:
            undo = (nothing, {"flow": {"role": "step"}})
            return {"book": (nothing, {**ENTRY, **config}), "unbook": undo}

        lost = steps(compensation={"step": "unbok"})
        self.refused("FLOW_INVALID", 'compensation.step: there is no step "unbok"', lost)
        late = steps(await_={"type": "event", "event_kind": "x", "on_timeout": "late"})
        self.refused("FLOW_INVALID", 'onTimeout: there is no step "late"', late)
        many = steps(await_={"type": "trigger", "many": 1})
        self.refused("FLOW_INVALID", r"await\.many: 1 is less than the minimum of 2", many)
        open_end = steps(await_={"type": "trigger", "payload": {"ask": ["order ${input.id"]}})
        never = r'steps\.book\.await\.payload: \$\{ is never closed in "order \$\{input\.id"'
        self.refused("FLOW_INVALID", never, open_end)
        no_path = steps(await_={"type": "trigger", "payload": "${a..b}"})
        self.refused("FLOW_INVALID", r'\$\{a\.\.b\} in "\$\{a\.\.b\}" is not a path', no_path)
        self.assertEqual(run_flow(steps(compensation={"step": "unbook"})).status, "completed")

    def test_a_declared_await_has_the_fields_of_its_type(self) -> None:
        def reported(**declared: Any) -> Any:
            with self.assertRaises(RiverrunError) as caught:
                run_flow({"wait": (nothing, {**ENTRY, "await": declared})})
            self.assertEqual(caught.exception.code, "FLOW_INVALID")
            issues = caught.exception.details["issues"]
            return [(issue["path"], issue["message"]) for issue in issues]

        event = {"eventKind": "x", "where": "true", "match": {"data.a": 1}, "lookback": 5}
        callback = {"triggerType": "api", "payload": 1, "secretEnv": "SECRET", "many": 2}
        for type, fields in (
            ("event", ["delay", *callback]),
            ("trigger", ["delay", *event]),
            ("time", [*event, *callback]),
        ):
            paths = [path for path, _ in reported(type=type, delay=5, **event, **callback)]
            self.assertEqual(sorted(paths), sorted(f"steps.wait.await.{one}" for one in fields))
        [(path, message)] = reported(type="trigger", trigger_type="user", secret_env="SECRET")
        self.assertEqual(path, "steps.wait.await.secretEnv")
        self.assertRegex(message, "^a person who answers on a page signs nothing")
        wait = {"type": "time", "delay": 5, "match": None}
        done = run_flow({"wait": (nothing, {**ENTRY, "await": wait})})
        self.assertEqual(done.status, "completed")

    def test_a_declared_match_says_which_part_of_the_event_equals_what(self) -> None:
        def pay(match: Any) -> Any:
            wait = {"type": "event", "event_kind": "paid", "match": match}
            return {"pay": (lambda _, ctx: ctx.awaited["data"], {**ENTRY, "await": wait})}

        def reported(match: Any) -> Any:
            with self.assertRaises(RiverrunError) as caught:
                run_flow(pay(match))
            self.assertEqual(caught.exception.code, "FLOW_INVALID")
            issues = caught.exception.details["issues"]
            return [(issue["path"], issue["message"]) for issue in issues]

        for text in ("order.id", "inputs.id", "state", "", "5"):
            message = (
                f'"{text}" is no path into input or state, such as "input.{text}": '
                f'for the text itself write {{"value": "{text}"}}'
            )
            expected = [("steps.pay.await.match.data.id", message)]
            self.assertEqual(reported({"data.id": text}), expected)
        for path in ("id", "orderId", "Data.id"):
            head = path.split(".")[0]
            message = (
                f'no event has "{head}": what was emitted stands below data, as in "data.{path}"'
            )
            expected = [(f"steps.pay.await.match.{path}", message)]
            self.assertEqual(reported({path: "input"}), expected)

        last = {"id": 5, "by": None, "as": "input"}
        events = [
            {"type": "paid", "data": "other"},
            {"type": "paid", "data": "a"},
            {"type": "paid", "data": last, "correlationId": "c"},
        ]
        taken = run_flow(pay({"data": "input"}), "a", events=events).visits[0].value
        self.assertEqual(taken, "a")
        for match in (
            {"data.id": "input.id"},
            {"data.id": "state.order"},
            {"data.as": {"value": "input"}},
            {"data.id": 5, "data.by": None},
            {"correlationId": {"value": "c"}},
        ):
            done = run_flow(pay(match), {"id": 5}, events=events, state={"order": 5})
            self.assertEqual(done.visits[0].value, last, match)

    def test_a_word_that_is_no_setting(self) -> None:
        def refused(pattern: str, **config: Any) -> None:
            self.refused("PROCESS_INVALID", pattern, {"a": (nothing, {**ENTRY, **config})})

        refused("concurency: is not a setting; did you mean concurrency?", concurency=3)
        refused("zzz: is not a setting$", zzz=3)
        refused("limits: is not a setting", limits={"max_steps": 3})
        refused("flow.limit: is not a setting; did you mean limits?", flow={"limit": {}})
        policy = {"attempts": 3, "backoff": {"typ": "fixed", "delay_ms": 1}}
        refused(r"retryPolicy\.backoff\.typ: .*mean type?", retry_policy=policy)
        limits = (nothing, {"flow": {"role": "entry", "limits": {"max_step": 1}}})
        here = 'limits: there is no "maxStep" here; did you mean maxSteps?'
        self.refused("FLOW_INVALID", here, {"a": limits})
        with self.assertRaises(RiverrunError):
            run((nothing, {"retries": 3}))

    def test_a_where_that_raises_passes_the_event_over(self) -> None:
        text = "(event) => event.data.by.length > 2"

        async def wait(_: Any, ctx: Any) -> Any:
            return await ctx.wait.event("paid", where=text, timeout="1d")

        events = [
            {"type": "paid", "data": {}, "at": "1h"},
            {"type": "paid", "data": {}, "at": "2h"},
            {"type": "paid", "data": {"by": "card"}, "at": "3h"},
        ]
        done = run_step(wait, events=events)
        self.assertEqual(done.value["data"], {"by": "card"})
        self.assertEqual(
            [(one.code, one.step) for one in done.warnings], [("EXPRESSION_ERROR", "test")]
        )
        where = (
            "^the where of the await of event paid: .*cannot read property 'length' of undefined"
        )
        self.assertRegex(done.warnings[0].message, where)

    def test_a_when_or_a_map_that_raises_enters_nothing(self) -> None:
        async def begin(_: Any, ctx: Any) -> None:
            await ctx.emit("made", {})
            await ctx.emit("made", {"by": "ann"})

        def listener(**subscription: Any) -> Any:
            received = {"event_kind": "made", **subscription}
            return (lambda input: input, {"subscriptions": [received]})

        ann = "(event) => event.data.by.length === 3"
        first = "(event) => event.data.by.slice(0, 1)"
        steps = {"begin": (begin, ENTRY), "when": listener(when=ann), "map": listener(map=first)}
        done = run_flow(steps)
        values = [(visit.step, visit.value) for visit in done.visits[1:]]
        self.assertEqual(values, [("when", {"by": "ann"}), ("map", "a")])
        self.assertEqual([one.step for one in done.warnings], ["when", "map"])
        self.assertRegex(done.warnings[0].message, 'subscription 0 of step "when": .*cannot read')

    def test_a_delay_that_cannot_be_told_fails_the_step(self) -> None:
        for delay in ("(result) => result.a.b", "() => '90s'", "() => -1"):
            config = {"flow": "f", "await": {"type": "time", "delay": js(delay)}}
            self.assertEqual(run_step((lambda: {}, config)).error.code, "INPUT_ERROR", delay)

    def test_options_of_waits_are_checked_before_the_server_is_asked(self) -> None:
        moment = datetime.datetime(2026, 1, 3, tzinfo=datetime.timezone.utc)
        cases: list[tuple[str, Any, str]] = [
            ("trigger", {"many": 2}, r"^many must be True or False; .*config.*, is 2$"),
            ("trigger", {"type": "robot"}, "^type must be 'webhook', 'user' or 'api', is 'robot'$"),
            ("trigger", {"secret": 7}, "^secret must be a text, is 7$"),
            ("trigger", {"timeout": {}}, "^timeout must be .* or a datetime, is {}$"),
            ("event", {"kind": "x", "timeout": True}, "^timeout must be .*, is True$"),
            ("event", {"kind": "x", "timeout": 1e300}, r"^timeout must be .*, is 1e\+300$"),
            (
                "event",
                {"kind": "x", "lookback": moment},
                "^lookback must be 'run', .*, is datetime",
            ),
            ("event", {"kind": {}}, "needs the kind of event"),
            ("time", {"until": True}, "^wait.time must be .*, is True$"),
        ]
        for wait, options, pattern in cases:

            def blocking(_: Any, ctx: Any) -> Any:
                return getattr(ctx.wait, wait)(**options)

            async def in_async(_: Any, ctx: Any) -> Any:
                return await getattr(ctx.wait, wait)(**options)

            for handler in (blocking, in_async):
                done = run_step(handler)
                error = done.error
                assert isinstance(error, RiverrunError), error
                found = (error.code, error.retriable, done.executions)
                self.assertEqual(found, ("INPUT_ERROR", False, 1), options)
                self.assertRegex(str(error), pattern)

    def test_a_timeout_may_be_a_date(self) -> None:
        for day, expected_ms in ((3, 2 * 86_400_000), (1, 0)):
            until = datetime.datetime(2026, 1, day, tzinfo=datetime.timezone.utc)
            for wait in (
                lambda ctx, until=until: ctx.wait.event("x", timeout=until),
                lambda ctx, until=until: ctx.wait.trigger(timeout=until).wait(),
            ):
                done = run_step(lambda _, ctx, wait=wait: wait(ctx))
                self.assertEqual(done.error.code, "AWAIT_TIMEOUT")
                self.assertEqual(done.elapsed_ms, expected_ms)


if __name__ == "__main__":
    unittest.main()
