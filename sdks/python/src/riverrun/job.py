"""The job that a queue worker is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from ._json import Record

__all__ = ["Job"]

Data = TypeVar("Data")


@dataclass
class Job(Record, Generic[Data]):
    """A job as `@queue_worker` handlers get it."""

    id: str | None
    name: str | None
    queue: str | None
    data: Data
    attempt: int = 1
    max_attempts: int = 1
    enqueued_at: str | None = None
    #: What an earlier attempt saved. In a batch each job has its own.
    checkpoint: Any = None

    def leased_by(self, ask: Callable[[], Any]) -> None:
        self._is_lease_valid = ask

    def is_lease_valid(self) -> Any:
        """Whether the job is still this worker's: as `ctx.is_lease_valid`, awaited where that is."""
        ask: Callable[[], Any] | None = getattr(self, "_is_lease_valid", None)
        if ask is None:
            raise RuntimeError("a job has a lease only while its handler runs")
        return ask()

    #: As the TypeScript SDK names it.
    isLeaseValid = is_lease_valid  # noqa: N815

    def to_wire(self) -> dict[str, Any]:
        wire = super().to_wire()
        wire["data"] = self.data
        return wire

    @classmethod
    def from_wire(
        cls, params: Mapping[str, Any], data: Data, queue: str | None = None
    ) -> Job[Data]:
        return cls(
            id=params.get("jobId"),
            name=params.get("name"),
            queue=params.get("queue") or queue,
            data=data,
            attempt=params.get("attempt") or 1,
            max_attempts=params.get("maxAttempts") or 1,
            enqueued_at=params.get("enqueuedAt"),
            checkpoint=params.get("checkpoint"),
        )
