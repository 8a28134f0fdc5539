"""The Python SDK of riverrun: handlers, their context, a client and a test kit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._version import VERSION as __version__
from .awaits import SyncTrigger, SyncWaits, Trigger, Waits
from .cancellation import Signal, SyncSignal
from .config import (
    AwaitConfig,
    Batch,
    Compensation,
    DeadLetters,
    Flow,
    FlowConfig,
    JavaScript,
    QueueConfig,
    RateLimit,
    Retry,
    RetryBackoff,
    RetryPolicy,
    Subscription,
    js,
)
from .context import Context, SyncContext
from .define import process, queue_worker
from .errors import (
    Cancelled,
    HttpError,
    NonRetriableError,
    RetryAfter,
    RetryAfterError,
    RiverrunError,
)
from .job import Job
from .logger import Logger
from .options import (
    Enqueued,
    EnqueueOptions,
    Event,
    JobFilter,
    NewJob,
    Page,
    Redriven,
    Started,
    StartOptions,
)
from .state import State, SyncState

if TYPE_CHECKING:
    from .client import AsyncClient, Client
    from .worker import Worker

__all__ = [
    "AsyncClient",
    "AwaitConfig",
    "Batch",
    "Cancelled",
    "Client",
    "Compensation",
    "Context",
    "DeadLetters",
    "EnqueueOptions",
    "Enqueued",
    "Event",
    "Flow",
    "FlowConfig",
    "HttpError",
    "JavaScript",
    "Job",
    "JobFilter",
    "Logger",
    "NewJob",
    "NonRetriableError",
    "Page",
    "QueueConfig",
    "RateLimit",
    "Redriven",
    "Retry",
    "RetryAfter",
    "RetryAfterError",
    "RetryBackoff",
    "RetryPolicy",
    "RiverrunError",
    "Signal",
    "StartOptions",
    "Started",
    "State",
    "Subscription",
    "SyncContext",
    "SyncSignal",
    "SyncState",
    "SyncTrigger",
    "SyncWaits",
    "Trigger",
    "Waits",
    "Worker",
    "__version__",
    "js",
    "process",
    "queue_worker",
]


def __getattr__(name: str) -> Any:
    # A runner does not need the client and the worker, and HTTP and TLS take long to import.
    if name in ("AsyncClient", "Client"):
        from . import client

        return getattr(client, name)
    if name == "Worker":
        from .worker import Worker

        return Worker
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
