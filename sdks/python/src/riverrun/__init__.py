"""The Python SDK of riverrun: handlers, their context, a client and a test kit."""

from __future__ import annotations

from ._version import VERSION as __version__
from .cancellation import Signal, SyncSignal
from .config import (
    Batch,
    DeadLetters,
    Flow,
    JavaScript,
    QueueConfig,
    RateLimit,
    RetryBackoff,
    RetryPolicy,
    js,
)
from .context import Context, SyncContext
from .define import process, queue_worker
from .errors import Cancelled, NonRetriableError, RetryAfter, RetryAfterError, RiverrunError
from .job import Job
from .logger import Logger
from .options import Enqueued, EnqueueOptions, NewJob, Page, Started, StartOptions
from .state import State, SyncState

__all__ = [
    "Batch",
    "Cancelled",
    "Context",
    "DeadLetters",
    "EnqueueOptions",
    "Enqueued",
    "Flow",
    "JavaScript",
    "Job",
    "Logger",
    "NewJob",
    "NonRetriableError",
    "Page",
    "QueueConfig",
    "RateLimit",
    "RetryAfter",
    "RetryAfterError",
    "RetryBackoff",
    "RetryPolicy",
    "RiverrunError",
    "Signal",
    "StartOptions",
    "Started",
    "State",
    "SyncContext",
    "SyncSignal",
    "SyncState",
    "__version__",
    "js",
    "process",
    "queue_worker",
]
