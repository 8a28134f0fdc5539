"""The README's examples run."""

from __future__ import annotations

import pathlib
import re
import time
import unittest
from typing import Any

import support  # noqa: F401

from riverrun import NonRetriableError, RetryAfter
from riverrun.testing import later, run, run_step

README = pathlib.Path(__file__).resolve().parent.parent / "README.md"


class Examples(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        block = r"^(<!-- not run: [^\n]*-->\n)?```python\n(.*?)^```"
        blocks = re.findall(block, README.read_text(), re.M | re.S)
        cls.spaces: list[dict[str, Any]] = []
        for mark, source in blocks:
            code = compile(source, str(README), "exec")
            cls.spaces.append({})
            if not mark:
                exec(code, cls.spaces[-1])

    def test_the_handler(self) -> None:
        outcome = run(self.spaces[0]["handler"], {"url": "u"}, checkpoint=1)
        self.assertEqual(outcome.result(), {"width": 640})
        self.assertEqual((len(outcome.progress), outcome.checkpoint), (2, 2))

    def test_the_example_of_the_guide_on_waits(self) -> None:
        page = README.parent.parent.parent / "docs/guides/waits.md"
        example = re.search(r"^```python\n(# processes.*?)^```", page.read_text(), re.M | re.S)
        assert example is not None
        space: dict[str, Any] = {}
        exec(compile(example[1], str(page), "exec"), space)
        done = run_step(
            space["handler"],
            {"id": "7", "total": 50},
            triggers={"user": lambda callback: later("2 days", {"approved": True, "comment": ""})},
            events=[
                {"type": "payment.confirmed", "data": {"orderId": "7", "by": "card"}, "at": "5d"}
            ],
        )
        self.assertEqual(done.result(), {"approved": True, "by": "card"})
        self.assertEqual((done.executions, len(done.enqueued)), (4, 1))

    def test_the_example_of_the_guide_on_testing(self) -> None:
        page = README.parent.parent.parent / "docs/guides/testing.md"
        example = re.search(r"^```python\n(# test_trip.*?)^```", page.read_text(), re.M | re.S)
        assert example is not None
        began = time.monotonic()
        exec(compile(example[1], str(page), "exec"), {})
        self.assertLess(time.monotonic() - began, 1)

    def test_the_worker(self) -> None:
        send = self.spaces[1]["send"]
        outcome = run(send, {"to": "a@b"})
        self.assertEqual((outcome.result(), outcome.state), ("sent to a@b", {"sent": 1}))
        self.assertIsInstance(run(send, {"to": "no address"}).error, NonRetriableError)
        self.assertIsInstance(run(send, {"to": "a@b", "busy": True}).error, RetryAfter)


if __name__ == "__main__":
    unittest.main()
