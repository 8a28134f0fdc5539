"""A test kit: run a handler without a server, with time that jumps.

    from riverrun.testing import run

    def test_it_charges_once():
        outcome = run(handler, {"order": 7}, calls={"charge": lambda input: "paid"})
        assert outcome.value == "paid"
        assert outcome.state == {"status": "done"}
        assert outcome.elapsed >= 60        # it slept for a minute, the test did not

The handler gets the same context as in a worker. What it does is recorded in the outcome.
`run_step` plays a step of a flow through all of its waits, `run_flow` several steps together.
"""

from __future__ import annotations

from .flow import FlowRun, FlowWarning, run_flow
from .given import Later, MadeTrigger, later
from .loop import SimulatedLoop, simulated
from .outcome import LogLine, Outcome, RunRetry
from .run import run
from .step import StepRun, run_step
from .visit import SimulatedAwait, SimulatedRetry, VisitRun

__all__ = [
    "FlowRun",
    "FlowWarning",
    "Later",
    "LogLine",
    "MadeTrigger",
    "Outcome",
    "RunRetry",
    "SimulatedAwait",
    "SimulatedLoop",
    "SimulatedRetry",
    "StepRun",
    "VisitRun",
    "later",
    "run",
    "run_flow",
    "run_step",
    "simulated",
]
