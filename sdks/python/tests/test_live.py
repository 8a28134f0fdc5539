"""The reducer, by tables of events."""

from __future__ import annotations

import copy
import unittest
from typing import Any

import support  # noqa: F401

from riverrun.live import RunView, reduce, reduce_all


def events(*drafts: tuple[Any, ...]) -> list[dict[str, Any]]:
    """`(type, data)` or `(type, data, step, visit)`."""
    made = []
    for index, (type, data, *where) in enumerate(drafts):
        event = {"id": f"5-{index}", "ts": f"t{index}", "type": type, "runId": "r", "flowName": "f"}
        if data is not None:
            event["data"] = data
        if where:
            step, visit = (*where, 1)[:2]
            event["stepName"] = step
            mark = "" if visit == 1 else f"#{visit}"
            event["stepId"] = f"r__{step}{mark}__attempt-1"
            event["attempt"] = 1
        made.append(event)
    return made


START = ("flow.started", {"version": "1", "input": {"a": 1}, "next": "one"})


class Jobs(unittest.TestCase):
    def test_progress(self) -> None:
        reported = {"queue": "q", "progress": {"pct": 50}}
        added, active = ("job.added", {"queue": "q"}), ("job.active", {"queue": "q", "attempt": 1})
        view = reduce_all(events(added, active, ("job.progress", reported)))
        self.assertEqual((view.status, view.progress), ("running", {"pct": 50}))


class States(unittest.TestCase):
    def check(self, expected: object, *drafts: tuple[Any, ...]) -> None:
        self.assertEqual(reduce_all(events(*drafts)).state, expected)

    def test_writes(self) -> None:
        self.check({"a": 1, "b": {"c": 2}}, START, ("state.set", {"key": "b.c", "value": 2}))
        self.check({}, START, ("state.delete", {"key": "a"}))
        self.check({"a": 1}, START, ("state.delete", {"key": "a.b.c"}))
        operations = [{"type": "set", "key": "l", "value": [1]}, {"type": "delete", "key": "a"}]
        self.check({"l": [1]}, START, ("state.batch", {"operations": operations}))
        self.check({"z": 1}, START, ("state.snapshot", {"z": 1}))

    def test_paths_into_lists(self) -> None:
        begin = ("state.set", {"key": "l", "value": [1, 2]})
        self.check({"a": 1, "l": [1, 9]}, START, begin, ("state.set", {"key": "l.1", "value": 9}))
        self.check(
            {"a": 1, "l": [1, 2, 3]}, START, begin, ("state.set", {"key": "l.2", "value": 3})
        )
        self.check({"a": 1, "l": {"7": 3}}, START, begin, ("state.set", {"key": "l.7", "value": 3}))

    def test_inputs(self) -> None:
        self.check({"input": [1]}, ("flow.started", {"input": [1], "next": "one"}))
        self.check({}, ("flow.started", {"input": None, "next": "one"}))

    def test_output_of_a_step(self) -> None:
        done = ("step.completed", {"outputKey": "out", "result": 5}, "one")
        self.check({"a": 1, "out": 5}, START, ("step.started", None, "one"), done)


class Runs(unittest.TestCase):
    def statuses(self, *drafts: tuple[Any, ...]) -> list[str]:
        view, seen = RunView(), []
        for event in events(*drafts):
            view = reduce(view, event)
            seen.append(view.status)
        return seen

    def test_a_run_from_beginning_to_end(self) -> None:
        drafts = (
            START,
            ("step.started", None, "one"),
            ("step.await.time", {"until": "t"}, "one"),
            ("step.resumed", None, "one"),
            ("step.failed", {"error": {"message": "no"}, "nextRetryAt": "t"}, "one"),
            ("step.started", None, "one"),
            ("flow.paused", {}),
            ("flow.resumed", {}),
            ("step.completed", {}, "one"),
            ("flow.completed", {"result": 7}),
        )
        expected = (
            "pending running waiting running waiting running paused running running completed"
        )
        self.assertEqual(self.statuses(*drafts), expected.split())
        view = reduce_all(events(*drafts))
        self.assertEqual((view.result, view.ended_at, view.visits), (7, "t9", ()))

    def test_a_parked_visit_waits_until_it_is_released(self) -> None:
        drafts = (
            START,
            ("step.started", None, "one"),
            ("step.parked", {"code": "QUARANTINED", "message": "x"}, "one"),
            ("step.released", {"reason": "x", "parkedDuration": 1}, "one"),
            ("step.started", None, "one"),
        )
        expected = "pending running waiting waiting running"
        self.assertEqual(self.statuses(*drafts), expected.split())
        released = reduce_all(events(*drafts[:4]))
        self.assertIn(released.steps["one"].status, ("retrying", "pending"))

    def test_branches(self) -> None:
        branches = [{"step": "a"}, {"step": "b"}, {"step": "c"}]
        view = reduce_all(
            events(
                START,
                ("step.started", None, "one"),
                ("step.await.branches", {"branches": branches, "concurrency": 2}, "one"),
                ("step.started", None, "a"),
                ("step.completed", {}, "a"),
            )
        )
        self.assertEqual([visit.key.step for visit in view.visits], ["one", "b", "c"])
        self.assertEqual(view.steps["a"].status, "completed")

    def test_what_a_scoped_branch_writes_stays_there(self) -> None:
        fork = {"branches": [{"step": "a"}], "scoped": True}
        done = ("step.completed", {"outputKey": "x", "result": 1}, "a")
        view = reduce_all(events(START, ("step.await.branches", fork, "one"), done))
        self.assertEqual(view.state, {"a": 1})

    def test_visits(self) -> None:
        view = reduce_all(
            events(
                START,
                ("step.started", None, "one"),
                ("step.completed", {"next": "one"}, "one"),
                ("step.started", None, "one", 2),
            )
        )
        self.assertEqual((view.steps["one"].visits, len(view.visits)), (2, 1))
        self.assertEqual(view.visits[0].key.visit, 2)

    def test_an_event_seen_again_changes_nothing(self) -> None:
        made = events(START, ("state.set", {"key": "n", "value": 1}))
        view = reduce_all(made)
        self.assertIs(reduce(view, made[0]), view)
        self.assertIs(reduce(view, made[1]), view)

    def test_nothing_is_changed_in_place(self) -> None:
        made = events(START, ("state.set", {"key": "b.c", "value": 1}))
        before = copy.deepcopy(made)
        first = reduce(RunView(), made[0])
        kept = copy.deepcopy(first)
        reduce(first, made[1])
        self.assertEqual((first, made), (kept, before))


if __name__ == "__main__":
    unittest.main()
