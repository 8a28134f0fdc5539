"""The context that a handler is given: `Context` in async handlers, `SyncContext` in sync ones.

Both have the same members. What is durable (`state`, `emit`, `run`, `call`, `enqueue`, `start`,
`checkpoint`) is awaited in the one and blocks in the other, `wait` ends the execution of a step
until what it waits for has come; what is shown on the way (`logger`, `progress`, `partial`) never
waits.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _json
from ._channel import Channel, JobChannel
from ._execution import Execution, SyncExecution, job_id
from ._failure import revive
from ._journal import Journal
from ._naming import camel_keys
from ._outcomes import Doing, Outcomes, RunTry, SyncOutcomes, called
from .awaits import SyncWaits, Waits
from .cancellation import Signal, SyncSignal
from .errors import NonRetriableError
from .logger import Logger
from .options import Enqueued, NewJob, Started, with_options
from .state import State, SyncState

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .options import EnqueueOptions, StartOptions

__all__ = ["Checkpoint", "Context", "RunTry", "SyncCheckpoint", "SyncContext"]

#: How an operation is tried again: a policy, a number of attempts, or `False` for one.
Retry = Mapping[str, Any] | int | bool


@dataclass
class Checkpoint:
    """The data that was saved last, by this or an earlier attempt of the job, and `save`."""

    _channel: Channel
    #: `None` if nothing was saved.
    data: Any

    async def save(self, data: Any) -> None:
        """Stores data for the next attempt, in case this one fails."""
        await self._channel.ask("checkpoint", {"data": data})
        self.data = data


@dataclass
class SyncCheckpoint:
    """The data that was saved last, by this or an earlier attempt of the job, and `save`."""

    _channel: Channel
    #: `None` if nothing was saved.
    data: Any

    def save(self, data: Any) -> None:
        """Stores data for the next attempt, in case this one fails."""
        self._channel.ask_blocking("checkpoint", {"data": data})
        self.data = data


class _Invoked:
    """The common part of both contexts."""

    __slots__ = ("_channel", "_journal", "_logger", "_params", "_state")

    def __init__(self, channel: Channel, params: Mapping[str, Any]) -> None:
        self._channel = channel
        self._params = params
        self._logger: Logger | None = None
        self._journal: Journal | None = None

    @property
    def kind(self) -> str:
        """`job`, `call` or `step`."""
        return str(self._params.get("kind") or "job")

    @property
    def job_id(self) -> str | None:
        """Of the job that runs; `None` in a call."""
        return self._params.get("jobId")

    @property
    def queue_name(self) -> str | None:
        return self._params.get("queue")

    @property
    def run_id(self) -> str | None:
        return self._params.get("runId")

    @property
    def process(self) -> str | None:
        return self._params.get("process")

    @property
    def flow(self) -> str | None:
        return self._params.get("flow")

    @property
    def step(self) -> str | None:
        return self._params.get("step")

    @property
    def visit(self) -> int | None:
        """Of a step: the number of this visit, from 1."""
        return self._params.get("visit")

    @property
    def awaited(self) -> Any:
        """Of a step: the result of the await in its config, an event or the body of a request."""
        return self._params.get("awaited")

    @property
    def config(self) -> Any:
        """Of a step whose type is the name of the process: its `config`; else an empty dict."""
        config = self._params.get("config")
        return {} if config is None else config

    @property
    def attempt(self) -> int:
        """Counts from 1."""
        return self._params.get("attempt") or 1

    @property
    def max_attempts(self) -> int:
        return self._params.get("maxAttempts") or 1

    @property
    def timeout_ms(self) -> int | None:
        """How long this attempt may take."""
        return self._params.get("timeoutMs")

    @property
    def tenant_id(self) -> str | None:
        return self._params.get("tenantId")

    def correlation_id(self) -> str | None:
        """What this run and all that it led to have in common."""
        params = self._params
        return params.get("correlationId") or params.get("runId") or params.get("jobId")

    def causation_id(self) -> str | None:
        """The event or job that led to this one."""
        return self._params.get("causationId")

    @property
    def logger(self) -> Logger:
        if self._logger is None:
            self._logger = Logger(self._channel)
        return self._logger

    def progress(self, pct: float | None = None, detail: Any = None) -> None:
        """Shows how far the work is, from 0 to 100."""
        self._channel.notify("progress", _present(pct=pct, detail=detail))

    def partial(self, value: Any, path: str | None = None) -> None:
        """Shows a part of the result before the end."""
        self._channel.notify("partial", {**_present(path=path), "value": value})

    def _place(self, which: int | str) -> int:
        """Where a job stands among those of the invocation."""
        jobs = self._params.get("jobs") or [self._params]
        if isinstance(which, int):
            at = which if 0 <= which < len(jobs) else None
        else:
            ids = (at for at, job in enumerate(jobs) if job.get("jobId") == which)
            at = next(ids, None)
        if at is None:
            raise LookupError(f"this invocation has no job {which!r}; it has {len(jobs)}")
        return at

    def _of_job(self, at: int) -> tuple[Channel, dict[str, Any]]:
        """What the context of one job of a batch is made of."""
        job = self._params["jobs"][at]
        params = {**self._params, **job}
        del params["jobs"]
        return JobChannel(self._channel, job.get("jobId")), params

    def _recorded(self, name: str) -> tuple[Mapping[str, Any] | None, int]:
        # Of a job: the record for the next use of the name, and which use that is.
        if self._journal is None:
            self._journal = Journal(self._params.get("journal") or ())
        record = self._journal.take("memo", name)
        if record is not None and record.get("error") is not None:
            raise revive(record["error"])
        return record, self._journal.uses("memo", name)


class Context(_Invoked):
    """The context of an async handler."""

    __slots__ = ("_checkpoint", "_jobs", "_outcomes", "_signal", "execution")

    def __init__(self, channel: Channel, params: Mapping[str, Any], signal: Signal) -> None:
        #: Of a step, which is executed again and again with what it did before.
        self.execution = Execution(channel, params, signal) if params.get("kind") == "step" else None
        super().__init__(self.execution or channel, params)
        self._signal = signal
        self._state: State | None = None
        self._checkpoint: Checkpoint | None = None
        self._outcomes = Outcomes(self._channel.ask, signal)
        self._jobs: dict[int, Context] = {}

    @property
    def signal(self) -> Signal:
        """Set when the invocation is asked to stop."""
        return self._signal

    @property
    def state(self) -> State:
        if self._state is None:
            self._state = State(self._channel, self.execution)
        return self._state

    @property
    def checkpoint(self) -> Checkpoint:
        """What one attempt of the job leaves for the next."""
        if self._checkpoint is None:
            self._checkpoint = Checkpoint(self._channel, self._params.get("checkpoint"))
        return self._checkpoint

    @property
    def wait(self) -> Waits:
        """Waits that cost nothing, in a step of a flow."""
        return Waits(self.execution, self.kind)

    def job(self, which: int | str) -> Context:
        """The context of one job of a batch, by its place in the list or by its id.

        What is said and asked there belongs to that job alone. What is said on the context of the
        batch itself belongs to its first job.
        """
        at = self._place(which)
        if self._params.get("jobs") is None:
            return self
        if at not in self._jobs:
            self._jobs[at] = Context(*self._of_job(at), self._signal)
        return self._jobs[at]

    async def run(
        self,
        name: str,
        function: Callable[..., Any | Awaitable[Any]],
        *,
        retry: Retry | None = None,
        timeout_ms: int | None = None,
    ) -> Any:
        """Runs a part of the work once: later attempts get what was recorded.

        What it gives back has been through JSON, so that it is the same on replay. When the function
        raises it is called again by itself, with backoff, as `retry` says: as the process's
        `retry` where absent, a number of attempts, `False` for one, or
        `{"attempts": 5, "backoff": {"type": "fixed", "delay_ms": 1000}}`. Only its final error is
        raised here, and it is recorded: a later attempt gets the same. A try that takes longer than
        `timeout_ms` fails with `TIMEOUT`. A function that takes an argument gets the try, with its
        `attempt` and its `signal`.
        """
        settings = _settings(name, retry, timeout_ms)

        async def work(attempt: RunTry) -> Any:
            value = called(function, attempt)
            return _as_json(name, await value if inspect.isawaitable(value) else value)

        if self.execution is not None:
            return await self.execution.run(name, work, **settings)
        record, nth = self._recorded(name)
        if record is not None:
            return record.get("value")
        return await self._outcomes.of(Doing("memo", name, nth, **settings), work)

    def patched(self, id: str) -> bool:
        """Whether code that was changed takes its new path.

        False in a step that was already past this point when the change came, so that old runs keep
        the path that they began; true in all others.
        """
        return True if self.execution is None else self.execution.patched(id)

    async def emit(self, type: str | Mapping[str, Any], data: Any = None) -> str:
        """Appends an event to the stream of the run; gives its id.

        `{"type": …, "data": …}` may stand for both. The id is empty in a step of a flow: there the
        event is stored with what the step does next, at the latest with its end.
        """

        event = _emitted(type, data)

        async def ask() -> Any:
            return (await self._channel.ask("emit", event)).get("id")

        if self.execution is None:
            return str(await ask() or "")
        return str(await self.execution.emit(event["type"], ask) or "")

    async def call(
        self,
        process: str,
        input: Any = None,
        *,
        timeout_ms: int | None = None,
        retry: Retry | None = None,
    ) -> Any:
        """Runs another process at once and gives its result. In a step it is retried like `run`."""
        params = {"process": process, "input": input, **_present(timeoutMs=timeout_ms)}

        async def ask(_: str = "", attempt: RunTry | None = None) -> Any:
            return (await self._channel.ask("call", params)).get("value")

        if self.execution is None:
            return await ask()
        settings = _settings(process, retry, None)
        return await self.execution.recorded("call", process, ask, **settings)

    async def enqueue(
        self,
        queue: str,
        data: Any = None,
        *,
        name: str | None = None,
        **options: Unpack[EnqueueOptions],
    ) -> Enqueued:
        """Adds a job to a queue."""
        params = with_options({"queue": queue, "data": data}, name, options)

        async def ask(id: str = "", attempt: RunTry | None = None) -> Any:
            return await self._channel.ask("enqueue", _with_id(params, id))

        step = self.execution
        if step is None:
            return _jobs(await ask())[0]
        return _jobs(await step.recorded("enqueue", queue, ask, retry=False))[0]

    async def enqueue_many(self, jobs: Sequence[NewJob]) -> list[Enqueued]:
        """Adds several jobs, to one queue or many: all of them or none."""
        wires = [job.to_wire() for job in jobs]

        async def ask(id: str = "", attempt: RunTry | None = None) -> Any:
            return await self._channel.ask("enqueue", {"jobs": _with_ids(wires, id)})

        step = self.execution
        if step is None:
            return _jobs(await ask())
        return _jobs(await step.recorded("enqueue", _queues(wires), ask, retry=False))

    async def start(self, flow: str, input: Any = None, **options: Unpack[StartOptions]) -> Started:
        """Starts a run of a flow."""

        async def ask(id: str = "", attempt: RunTry | None = None) -> Any:
            return await self._channel.ask("start", _started(flow, input, options, id))

        step = self.execution
        return Started.from_wire(
            await (ask() if step is None else step.recorded("start", flow, ask, retry=False))
        )

    async def is_lease_valid(self) -> bool:
        """Whether what this attempt does still counts. For long work, before a side effect."""
        return bool((await self._channel.ask("lease", {}))["valid"])


class SyncContext(_Invoked):
    """The context of a sync handler: each handler has a thread, and calls block it."""

    __slots__ = ("_checkpoint", "_jobs", "_outcomes", "_signal", "execution")

    def __init__(self, channel: Channel, params: Mapping[str, Any], signal: SyncSignal) -> None:
        #: Of a step, which is executed again and again with what it did before.
        self.execution = SyncExecution(channel, params, signal) if params.get("kind") == "step" else None
        super().__init__(self.execution or channel, params)
        self._signal = signal
        self._state: SyncState | None = None
        self._checkpoint: SyncCheckpoint | None = None
        self._outcomes = SyncOutcomes(self._channel.ask_blocking, signal)
        self._jobs: dict[int, SyncContext] = {}

    @property
    def signal(self) -> SyncSignal:
        """Set when the invocation is asked to stop."""
        return self._signal

    @property
    def state(self) -> SyncState:
        if self._state is None:
            self._state = SyncState(self._channel, self.execution)
        return self._state

    @property
    def checkpoint(self) -> SyncCheckpoint:
        """What one attempt of the job leaves for the next."""
        if self._checkpoint is None:
            self._checkpoint = SyncCheckpoint(self._channel, self._params.get("checkpoint"))
        return self._checkpoint

    @property
    def wait(self) -> SyncWaits:
        """Waits that cost nothing, in a step of a flow."""
        return SyncWaits(self.execution, self.kind)

    def job(self, which: int | str) -> SyncContext:
        """The context of one job of a batch; see `Context.job`."""
        at = self._place(which)
        if self._params.get("jobs") is None:
            return self
        if at not in self._jobs:
            self._jobs[at] = SyncContext(*self._of_job(at), self._signal)
        return self._jobs[at]

    def run(
        self,
        name: str,
        function: Callable[..., Any],
        *,
        retry: Retry | None = None,
        timeout_ms: int | None = None,
    ) -> Any:
        """Runs a part of the work once; see `Context.run`.

        A try that takes longer than `timeout_ms` cannot be stopped: it goes on in a thread beside
        the next try, and its `signal` is set.
        """
        settings = _settings(name, retry, timeout_ms)

        def work(attempt: RunTry) -> Any:
            return _as_json(name, called(function, attempt))

        if self.execution is not None:
            return self.execution.run(name, work, **settings)
        record, nth = self._recorded(name)
        if record is not None:
            return record.get("value")
        return self._outcomes.of(Doing("memo", name, nth, **settings), work)

    def patched(self, id: str) -> bool:
        """Whether code that was changed takes its new path; see `Context.patched`."""
        return True if self.execution is None else self.execution.patched(id)

    def emit(self, type: str | Mapping[str, Any], data: Any = None) -> str:
        """Appends an event to the stream of the run; see `Context.emit`."""

        event = _emitted(type, data)

        def ask() -> Any:
            return self._channel.ask_blocking("emit", event).get("id")

        if self.execution is None:
            return str(ask() or "")
        return str(self.execution.emit(event["type"], ask) or "")

    def call(
        self,
        process: str,
        input: Any = None,
        *,
        timeout_ms: int | None = None,
        retry: Retry | None = None,
    ) -> Any:
        """Runs another process at once and gives its result. In a step it is retried like `run`."""
        params = {"process": process, "input": input, **_present(timeoutMs=timeout_ms)}

        def ask(_: str = "", attempt: RunTry | None = None) -> Any:
            return self._channel.ask_blocking("call", params).get("value")

        if self.execution is None:
            return ask()
        return self.execution.recorded("call", process, ask, **_settings(process, retry, None))

    def enqueue(
        self,
        queue: str,
        data: Any = None,
        *,
        name: str | None = None,
        **options: Unpack[EnqueueOptions],
    ) -> Enqueued:
        """Adds a job to a queue."""
        params = with_options({"queue": queue, "data": data}, name, options)

        def ask(id: str = "", attempt: RunTry | None = None) -> Any:
            return self._channel.ask_blocking("enqueue", _with_id(params, id))

        step = self.execution
        if step is None:
            return _jobs(ask())[0]
        return _jobs(step.recorded("enqueue", queue, ask, retry=False))[0]

    def enqueue_many(self, jobs: Sequence[NewJob]) -> list[Enqueued]:
        """Adds several jobs, to one queue or many: all of them or none."""
        wires = [job.to_wire() for job in jobs]

        def ask(id: str = "", attempt: RunTry | None = None) -> Any:
            return self._channel.ask_blocking("enqueue", {"jobs": _with_ids(wires, id)})

        step = self.execution
        if step is None:
            return _jobs(ask())
        return _jobs(step.recorded("enqueue", _queues(wires), ask, retry=False))

    def start(self, flow: str, input: Any = None, **options: Unpack[StartOptions]) -> Started:
        """Starts a run of a flow."""

        def ask(id: str = "", attempt: RunTry | None = None) -> Any:
            return self._channel.ask_blocking("start", _started(flow, input, options, id))

        step = self.execution
        if step is None:
            return Started.from_wire(ask())
        return Started.from_wire(step.recorded("start", flow, ask, retry=False))

    def is_lease_valid(self) -> bool:
        """Whether what this attempt does still counts. For long work, before a side effect."""
        return bool(self._channel.ask_blocking("lease", {})["valid"])


def _present(**params: Any) -> dict[str, Any]:
    return {name: value for name, value in params.items() if value is not None}


def _emitted(type: Any, data: Any) -> dict[str, Any]:
    if isinstance(type, Mapping):
        # `kind` is the same under its older name.
        type, data = type.get("kind", type.get("type")), type.get("data", data)
    if not isinstance(type, str) or not type:
        raise NonRetriableError("emit needs the type of the event", code="BAD_EVENT")
    return {"type": type, **_present(data=data)}


def _jobs(answer: Mapping[str, Any]) -> list[Enqueued]:
    return [Enqueued.from_wire(job) for job in answer["jobs"]]


#: What the retry policy of an operation has, in both forms.
_RETRY = [
    *"maxAttempts backoffMs backoffMultiplier maxBackoffMs retryOn jitter".split(),
    *"attempts backoff retriableErrors".split(),
]


def _settings(name: str, retry: Any, timeout_ms: Any) -> dict[str, Any]:
    # A setting that is none would be found out only when the run fails.
    def invalid(problem: str) -> NonRetriableError:
        return NonRetriableError(f"run({json.dumps(name)}): {problem}", code="INPUT_ERROR")

    is_number = isinstance(timeout_ms, (int, float)) and not isinstance(timeout_ms, bool)
    if timeout_ms is not None and not (is_number and timeout_ms > 0):
        raise invalid(f"timeout_ms must be a positive number, is {timeout_ms!r}")
    if isinstance(retry, Mapping):
        retry = camel_keys(retry)
        words = [key for key in retry if key not in _RETRY]
        if words:
            known = "max_attempts, backoff_ms, backoff_multiplier, max_backoff_ms, retry_on and jitter"
            raise invalid(f"retry has no setting {words[0]!r}: it has {known}")
    elif retry is not None and retry is not False:
        if not isinstance(retry, int) or isinstance(retry, bool) or retry < 1:
            raise invalid("retry must be False, a number of attempts or a policy")
    return {"retry": retry, "timeout_ms": timeout_ms}


def _as_json(name: str, value: Any) -> Any:
    # What a replay would give back for a value.
    try:
        return _json.decode(_json.encode(value))
    except (TypeError, ValueError) as error:
        message = f"what run({json.dumps(name)}) gave is not JSON: {error}"
        raise NonRetriableError(message, code="RESULT_NOT_JSON") from error


def _with_ids(jobs: Sequence[dict[str, Any]], id: str) -> list[dict[str, Any]]:
    if len(jobs) == 1:
        return [_with_id(jobs[0], id)]
    return [_with_id(job, id and f"{id}/{number}") for number, job in enumerate(jobs, 1)]


def _with_id(job: dict[str, Any], id: str) -> dict[str, Any]:
    # A job that is added again by a later execution is then the same job.
    options = job.get("options") or {}
    named = ("jobId", "idempotencyKey", "dedupe", "throttle", "debounce")
    if not id or any(name in options for name in named):
        return job
    return {**job, "options": {**options, "jobId": job_id(id)}}


def _queues(jobs: Sequence[Mapping[str, Any]]) -> str:
    return ",".join(dict.fromkeys(job.get("queue") or "" for job in jobs))


def _started(flow: str, input: Any, options: Mapping[str, Any], id: str) -> dict[str, Any]:
    if id and "idempotency_key" not in options and "run_id" not in options:
        options = {**options, "idempotency_key": id}
    return with_options({"flow": flow, "input": input}, None, options)
