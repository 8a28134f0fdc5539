"""One execution of a step's code.

From the top to its end, or to a wait whose answer is not known yet. What the code does is recorded,
and what earlier executions recorded is not done again.
"""

from __future__ import annotations

from .common import Wait
from .ids import job_id
from .in_tasks import Execution
from .in_threads import SyncExecution

__all__ = ["Execution", "SyncExecution", "Wait", "job_id"]
