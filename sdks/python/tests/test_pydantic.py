"""What pydantic adds, where the user has it."""

from __future__ import annotations

import unittest

from support import has_pydantic, runner

ORDER = """
from __future__ import annotations
import dataclasses
from typing_extensions import TypedDict
from pydantic import BaseModel
from riverrun import *

class Line(BaseModel):
    sku: str
    count: int

class Order(BaseModel):
    id: int
    lines: list[Line] = []
"""


@unittest.skipUnless(has_pydantic(), "pydantic is not installed: pip install pydantic")
class Models(unittest.TestCase):
    def config(self, source: str) -> dict[str, object]:
        with runner() as it:
            answer = it.load(it.write(ORDER + source))
            return answer["result"]["processes"][0]["config"]  # type: ignore[no-any-return]

    def test_models_become_schemas(self) -> None:
        config = self.config(
            "config = QueueConfig(input_schema=Order, output_schema=list[int], state=Line)\n"
            "def handler(): pass"
        )
        self.assertEqual(config["inputSchema"]["required"], ["id"])  # type: ignore[index]
        self.assertIn("Line", config["inputSchema"]["$defs"])  # type: ignore[index]
        self.assertEqual(config["outputSchema"], {"items": {"type": "integer"}, "type": "array"})
        self.assertEqual(config["state"]["required"], ["sku", "count"])  # type: ignore[index]

    def test_types_become_schemas(self) -> None:
        config = self.config(
            "class Data(TypedDict):\n    first_name: str\n"
            "@dataclasses.dataclass\nclass Out:\n    n: int\n"
            "config = {'input_schema': Data, 'outputSchema': Out}\n"
            "def handler(): pass"
        )
        self.assertEqual(config["inputSchema"]["required"], ["first_name"])  # type: ignore[index]
        self.assertEqual(config["outputSchema"]["required"], ["n"])  # type: ignore[index]

    def test_a_model_as_config(self) -> None:
        config = self.config(
            "class Config(BaseModel):\n    queue: str\n    timeout_ms: int | None = None\n"
            "config = Config(queue='q', timeout_ms=5)\n"
            "def handler(): pass"
        )
        self.assertEqual(config, {"queue": "q", "timeoutMs": 5})

    def test_inputs_are_made_into_models(self) -> None:
        handlers = (
            "def handler(order: Order): return order.lines[0].count + 1",
            "async def handler(order: Order, ctx): return order.lines[0].count + 1",
            "@queue_worker\ndef h(job: Job[Order]): return job.data.lines[0].count + 1",
            "@dataclasses.dataclass\nclass D:\n    id: int\n    lines: list[Line]\n"
            "def handler(order: D): return order.lines[0].count + 1",
        )
        for source in handlers:
            with self.subTest(source), runner() as it:
                file = it.write(ORDER + source)
                value = {"id": 1, "lines": [{"sku": "a", "count": 2}]}
                self.assertEqual(it.invoke(file, value).get("result"), {"value": 3})

    def test_inputs_that_do_not_fit(self) -> None:
        with runner() as it:
            file = it.write(ORDER + "def handler(order: Order): return 1")
            error = it.invoke(file, {"id": "x", "lines": [{"sku": "a"}]})["error"]
            data = error["data"]
            self.assertEqual((data["code"], data["retriable"]), ("INPUT_INVALID", False))
            self.assertIn("input.id", error["message"])
            issues = [(issue["path"], issue["rule"]) for issue in data["details"]["issues"]]
            self.assertEqual(issues, [("id", "int_parsing"), ("lines.0.count", "missing")])

    def test_in_a_batch_an_input_that_does_not_fit_costs_its_job_alone(self) -> None:
        with runner() as it:
            source = "async def handler(lines: list[Line]): return [line.count for line in lines]"
            jobs = [{"input": {"sku": "a", "count": n}} for n in (1, "many", 3)]
            answer = it.request("invoke", file=it.write(ORDER + source), jobs=jobs)
            first, second, third = answer["result"]["results"]
            self.assertEqual((first, third), ({"value": 1}, {"value": 3}))
            self.assertEqual(second["error"]["code"], "INPUT_INVALID")

    def test_results_may_be_models(self) -> None:
        with runner() as it:
            file = it.write(ORDER + "def handler(): return [Line(sku='a', count=1)]")
            self.assertEqual(it.invoke(file)["result"], {"value": [{"sku": "a", "count": 1}]})


class WithoutPydantic(unittest.TestCase):
    def test_what_needs_it_says_so(self) -> None:
        hidden = "import sys\nsys.modules['pydantic'] = None\nimport dataclasses\n"
        source = hidden + "@dataclasses.dataclass\nclass A:\n    n: int\n"
        for rest in ("config = {'state': A}\ndef handler(): pass", "def handler(a: A): pass"):
            with runner() as it:
                error = it.load(it.write(source + rest))["error"]
                self.assertEqual(error["data"]["code"], "MODULE_ERROR")
                self.assertIn("pip install pydantic", error["message"])


if __name__ == "__main__":
    unittest.main()
