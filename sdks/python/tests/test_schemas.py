"""The test kit holds handlers to the schemas of their configs, as the server does.

Needs jsonschema: `pip install -r sdks/python/requirements-test.txt`, which `make sdks` does.
"""

from __future__ import annotations

import datetime
import json
import types
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

from support import has_pydantic

from riverrun import Context, RiverrunError, SyncContext, process, queue_worker
from riverrun.testing import run, run_flow, run_step
from riverrun.testing.schemas import compile_schema

SHARED = Path(__file__).parents[2] / "conformance" / "schemas.json"

CONFIG: dict[str, Any] = {
    "input_schema": {
        "type": "object",
        "required": ["n"],
        "properties": {"n": {"type": "integer"}},
    },
    "output_schema": {"type": "string"},
    "state": {
        "type": "object",
        "required": ["s", "later"],
        "properties": {"s": {"enum": ["a", "b"]}, "later": {"type": "number"}},
    },
}


async def in_async(input: Any, ctx: Context) -> Any:
    if input["n"] == 2:
        await ctx.state.set("s", "zzz")
    await ctx.state.set("s", "b")
    return 5 if input["n"] == 1 else "done"


def in_sync(input: Any, ctx: SyncContext) -> Any:
    if input["n"] == 2:
        ctx.state.set("s", "zzz")
    ctx.state.set("s", "b")
    return 5 if input["n"] == 1 else "done"


def refused(error: BaseException | None) -> tuple[str | None, list[tuple[str, str]]]:
    assert isinstance(error, RiverrunError), error
    return error.code, [(one["path"], one["rule"]) for one in error.details["issues"]]


class Schemas(unittest.TestCase):
    def test_schemas_mean_what_they_mean_to_the_server(self) -> None:
        for row in json.loads(SHARED.read_text()):
            found = compile_schema(row["schema"], "inputSchema")(row["value"])
            pairs = sorted([one["path"], one["rule"]] for one in found)
            self.assertEqual(pairs, sorted(row["issues"]), row["schema"])

    def test_what_breaks_its_schema_is_refused_as_on_the_server(self) -> None:
        for handler in (in_async, in_sync):
            bad = run((handler, CONFIG), {"n": "x"}).error
            self.assertEqual(refused(bad), ("INPUT_INVALID", [("n", "type")]))
            self.assertRegex(str(bad), r'^the input breaks the schema at "n": ')
            self.assertIs(bad.retriable, False)  # type: ignore[union-attr]

            broken = run((handler, CONFIG), {"n": 1})
            self.assertEqual(refused(broken.error), ("OUTPUT_INVALID", [("", "type")]))
            self.assertRegex(str(broken.error), "^the result breaks the output schema: ")
            self.assertIsNone(broken.value)

            state = run((handler, CONFIG), {"n": 2})
            self.assertEqual(refused(state.error), ("STATE_INVALID", [("s", "enum")]))
            self.assertRegex(str(state.error), '^the write breaks the state\'s schema at "s": ')
            self.assertEqual(state.state, {})

            good = run((handler, CONFIG), {"n": 3})
            self.assertEqual((good.result(), good.state), ("done", {"s": "b"}))
            self.assertEqual(run((handler, CONFIG), {"n": 1}, schemas=False).result(), 5)

    def test_configs_are_found_where_they_stand(self) -> None:
        marked = process(**CONFIG)(lambda input: 5)
        module = types.SimpleNamespace(handler=in_sync, config=CONFIG)
        for executable in (marked, module, queue_worker(CONFIG)(lambda job: 5)):
            self.assertEqual(refused(run(executable, {}).error)[0], "INPUT_INVALID")

    def test_a_state_that_was_wrong_before_may_be_written_on(self) -> None:
        def handler(input: Any, ctx: SyncContext) -> None:
            ctx.state.set("n", 1)

        schema = {"properties": {"s": {"enum": ["a"]}, "n": {"type": "number"}}}
        outcome = run((handler, {"state": schema}), state={"s": "old"})
        self.assertIsNone(outcome.error)

    def test_each_job_of_a_batch_is_checked_in_and_out(self) -> None:
        config = {
            "batch": {"size": 5},
            "input_schema": {"type": "number"},
            "output_schema": {"type": "string"},
        }
        bad = run((lambda jobs: [], config), [1, "x"], batch=True).error
        self.assertRegex(str(bad), "^the input of job 1 breaks the schema: ")
        broken = run((lambda jobs: ["a", 5], config), [1, 2], batch=True).error
        self.assertRegex(str(broken), "^the result of job 1 breaks the output schema: ")
        self.assertIsNone(run((lambda jobs: "for all", config), [1, 2], batch=True).error)
        failed = ValueError("not this one")
        one = run((lambda jobs: ["a", failed], config), [1, 2], batch=True)
        self.assertEqual(one.result(), ["a", failed])

    def test_a_schema_that_is_none_is_told_and_so_is_one_that_leads_elsewhere(self) -> None:
        with self.assertRaisesRegex(RiverrunError, "config.inputSchema is no JSON Schema"):
            run((lambda: 1, {"input_schema": {"type": "bogus"}}))
        elsewhere = {"$ref": "https://example.org/order.json"}
        error = run((lambda: 1, {"input_schema": elsewhere})).error
        self.assertRegex(str(error), r"under \$defs")

    def test_without_jsonschema_it_says_what_to_install(self) -> None:
        with mock.patch.dict("sys.modules", {"jsonschema": None}):
            with self.assertRaisesRegex(ModuleNotFoundError, r"pip install 'riverrun\[test\]'"):
                run((in_sync, CONFIG), {"n": 1})
            self.assertEqual(run((in_sync, CONFIG), {"n": 1}, schemas=False).result(), 5)
            self.assertEqual(run(lambda: 5).result(), 5)

    def test_steps_are_held_to_their_schemas_and_the_run_to_the_state_of_its_entry(self) -> None:
        async def first(input: Any, ctx: Context) -> Any:
            await ctx.emit("went", {"n": input})
            return input

        def second(input: Any, ctx: SyncContext) -> None:
            ctx.state.set("s", input["n"])

        def state(type: str) -> dict[str, Any]:
            return {"properties": {"s": {"type": type}}}

        steps = {
            "first": (
                first,
                {
                    "flow": {"role": "entry"},
                    "output_schema": {"type": "number"},
                    "state": state("number"),
                },
            ),
            "second": (
                second,
                {
                    "subscriptions": [{"event_kind": "went"}],
                    "input_schema": {"properties": {"n": {"maximum": 5}}},
                    "state": state("string"),
                },
            ),
        }

        def ended(input: Any) -> list[tuple[str, str | None, int]]:
            visits = run_flow(steps, input).visits
            return [(one.status, getattr(one.error, "code", None), one.attempt) for one in visits]

        self.assertEqual(ended(3), [("completed", None, 1), ("completed", None, 1)])
        self.assertEqual(ended(7), [("completed", None, 1), ("failed", "INPUT_INVALID", 1)])
        self.assertEqual(ended("x")[0][1], "OUTPUT_INVALID")
        alone = run_step(steps["second"], {"n": 3})
        self.assertEqual(refused(alone.error), ("STATE_INVALID", [("s", "type")]))
        self.assertIsNone(run_step(steps["second"], {"n": 9}, schemas=False).error)


@unittest.skipUnless(has_pydantic(), "pydantic is not installed: pip install pydantic")
class Models(unittest.TestCase):
    def test_a_model_is_the_schema_that_the_server_gets(self) -> None:
        from pydantic import BaseModel, Field

        class Order(BaseModel):
            n: int
            at: datetime.datetime | None = None

        class Receipt(BaseModel):
            total: int = Field(serialization_alias="sum")

        config = {"input_schema": Order, "output_schema": Receipt, "state": Order}

        def handler(input: Any, ctx: SyncContext) -> Any:
            ctx.state.set("n", input["n"])
            return {"sum": 5} if input["n"] == 1 else {"total": 5}

        # The server does not make numbers of texts, as the model would.
        bad = run((handler, config), {"n": "1"}).error
        self.assertEqual(refused(bad), ("INPUT_INVALID", [("n", "type")]))
        self.assertIsNone(run((handler, config), {"n": 1, "at": "2026-01-01T00:00:00Z"}).error)
        broken = run((handler, config), {"n": 2}).error
        self.assertEqual(refused(broken), ("OUTPUT_INVALID", [("sum", "required")]))


if __name__ == "__main__":
    unittest.main()
