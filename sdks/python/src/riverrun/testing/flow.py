"""A run of a flow in memory.

What steps emit enters the steps that subscribe to it, and waits jump the clock, until nothing is
active, and what a failed run did is undone. A step that fails is tried again as its retry policy
says, after a backoff that jumps the clock too.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from .._failure import describe
from ..errors import RiverrunError
from .awaits import wanted_values
from .given import (
    ExpressionError,
    Expressions,
    GivenEvent,
    Triggers,
    arrival_ms,
    date_ms,
    evaluate,
    iso,
    matches,
    milliseconds,
    opened,
    seen,
)
from .outcome import through_json
from .payload import shown_payload
from .plan import Executable, PlannedStep, expression_of, plan, with_checks
from .refusals import (
    LONGEST_MS,
    check_flow,
    refused_wait,
    too_many_awaits,
    too_many_steps,
    used_door,
)
from .retry import retry_delay_ms
from .server import MadeTrigger, Store
from .undo import Undo, Undoing, reason
from .visit import Clock, Visit, VisitRun, Wait

#: How far a run may go on the server where its flow says nothing else.
_USUAL = {"maxSteps": 1000, "maxAwaits": 10_000}

Event = dict[str, Any]
#: Called with how a wait has ended, and with what it has brought.
Done = Callable[[str, Any], None]


@dataclass(frozen=True)
class FlowWarning:
    """Something that the run says in its stream, as `log.warn`."""

    code: str
    message: str
    step: str


@dataclass
class FlowRun:
    """What came of a run. `waiting`: something waits for what nobody gave."""

    status: Literal["completed", "failed", "waiting"]
    error: BaseException | None
    visits: list[VisitRun]
    #: What was emitted, and what came from outside.
    events: list[Event]
    #: Events that entered no step and that nobody waited for.
    unclaimed: list[Event]
    state: dict[str, Any]
    started_at: str
    ended_at: str
    elapsed_ms: int
    #: Expressions that raised something: what each was to judge was passed over.
    warnings: list[FlowWarning] = field(default_factory=list)


def run_flow(
    steps: Sequence[Executable] | Mapping[str, Executable],
    input: Any = None,
    *,
    flow: str | None = None,
    entry: str | None = None,
    events: Sequence[GivenEvent] = (),
    triggers: Triggers | None = None,
    expressions: Expressions | None = None,
    start: datetime.datetime | str | float = "2026-01-01T00:00:00Z",
    state: Mapping[str, Any] | None = None,
    calls: Mapping[str, Any] | None = None,
    run_id: str = "run-1",
    schemas: bool = True,
) -> FlowRun:
    """Runs the steps of a flow: handlers with a decorator, pairs of a handler and its config, or
    modules. `expressions` gives a Python function for each JavaScript text in their configs. Inputs,
    results and state are held against the schemas of the configs, unless `schemas` is false.
    """
    planned = plan(steps, flow, entry)
    check_flow(planned.flow, planned.steps)
    with_checks(planned.steps, planned.entry, schemas)
    simulation = Simulation(
        planned.flow,
        planned.steps,
        input,
        events,
        triggers,
        expressions,
        start,
        {**_begun(input), **(state or {})},
        calls,
        run_id,
        planned.entry,
    )
    simulation.enter(planned.entry, input)
    return simulation.play()


@dataclass
class _Due:
    at_ms: int
    act: Callable[[], None]


@dataclass(eq=False)
class _Open:
    """A wait for an event that has not come."""

    visit: Visit
    kind: str
    fits: Callable[[Event], bool]
    settle: Callable[[Event], None]


@dataclass
class _Held:
    """An event that a join keeps until there is one of each."""

    step: str
    kind: str
    input: Any = field(default=None)


def _begun(input: Any) -> dict[str, Any]:
    """The state that a run begins with: an object is the state itself, any other value its `input`."""
    if input is None:
        return {}
    read = through_json(input)
    return read if isinstance(read, dict) else {"input": read}


class Simulation:
    def __init__(
        self,
        flow: str,
        steps: Mapping[str, PlannedStep],
        input: Any,
        events: Sequence[GivenEvent],
        triggers: Triggers | None,
        expressions: Expressions | None,
        start: datetime.datetime | str | float,
        state: Mapping[str, Any] | None,
        calls: Mapping[str, Any] | None,
        run_id: str,
        entry: PlannedStep,
    ) -> None:
        self.visits: list[Visit] = []
        self.clock = Clock(date_ms(start))
        self.store = Store(through_json(dict(state or {})))
        self._flow = flow
        self._steps = steps
        self._input = through_json(input)
        self._triggers = triggers
        self._expressions = expressions or {}
        self._calls = calls or {}
        self._run_id = run_id
        self._agenda: list[_Due] = []
        self._open: list[_Open] = []
        self._held: list[_Held] = []
        self._events: list[Event] = []
        self._unclaimed: list[Event] = []
        # Visits so far, without those that undo something.
        self._begun = 0
        self._error: BaseException | None = None
        # The error, as a step that undoes something is told of it.
        self._reason: dict[str, Any] | None = None
        self._on_failure = entry.on_failure
        self._limits = {**_USUAL, **(entry.limits or {})}
        self._warnings: list[FlowWarning] = []
        self._undoing = Undoing()
        # Given events that come as soon as somebody waits for them.
        self._ready = [event for event in events if event.get("at") is None]
        for event in events:
            at_ms = arrival_ms(event, self.clock.start_ms)
            if at_ms is not None:
                self._plan(at_ms, lambda event=event: self._give(event))  # type: ignore[misc]

    def enter(self, step: PlannedStep, input: Any) -> Visit:
        number = sum(visit.step is step for visit in self.visits) + 1
        about = {"runId": self._run_id, "flow": self._flow, "correlationId": self._run_id}
        visit = Visit(step, number, input, about, self._calls, self.store, self.clock)
        self.visits.append(visit)
        self._plan(self.clock.now, lambda: self._begin(visit))
        return visit

    def play(self) -> FlowRun:
        # What comes when nothing is active comes too late: the run has ended.
        while self._is_active() or self._goes_on():
            is_due = bool(self._agenda) and self._agenda[0].at_ms <= self.clock.now
            if not is_due and self._take_ready():
                continue
            if not self._agenda:
                break
            due = self._agenda.pop(0)
            self.clock.jump(due.at_ms)
            due.act()
        return self._report()

    def _is_active(self) -> bool:
        return any(visit.is_active for visit in self.visits)

    def _goes_on(self) -> bool:
        """Nothing is active any more: the run undoes one thing more, or has ended."""
        if self._error is None:
            return False
        self._undoing.has_begun = True
        undo = self._undoing.last()
        if undo is not None:
            self._undo(undo)
        return undo is not None

    def _plan(self, at_ms: int, act: Callable[[], None]) -> _Due:
        due = _Due(at_ms, act)
        later = (n for n, other in enumerate(self._agenda) if other.at_ms > at_ms)
        self._agenda.insert(next(later, len(self._agenda)), due)
        return due

    # A visit

    def _begin(self, visit: Visit) -> None:
        if not visit.is_active:
            return
        # What undoes something is never one too many.
        if visit.run.undoes is None:
            if self._begun >= self._limits["maxSteps"]:
                self._stop()
                return
            self._begun += 1
        declared = visit.step.awaits
        if declared is None or declared["type"] == "time" or visit.awaited is not None:
            self._execute(visit)
            return

        def done(outcome: str, value: Any) -> None:
            if outcome == "timeout":
                self._too_late(visit, declared, value)
            else:
                visit.awaited, visit.so_far = value, None
                self._execute(visit)

        timeout = declared.get("timeout")
        timeout_ms = None if timeout is None else milliseconds("timeout", timeout)
        if declared["type"] == "trigger":
            ctx = {"input": visit.run.input, "state": self.store.state, "runId": self._run_id}
            try:
                payload = shown_payload(declared.get("payload"), self._expressions, ctx)
            except RiverrunError as error:
                self._fail(visit, error)
                return
            made = self.store.make_trigger(declared.get("triggerType") or "webhook", payload)
            self._await_trigger(visit, made, timeout_ms, done, declared.get("many"))
        else:
            ctx = {"input": visit.run.input, "state": self.store.state}
            try:
                match = wanted_values(declared.get("match") or {}, ctx)
            except RiverrunError as error:
                self._fail(visit, error)
                return
            lookback = declared.get("lookback") or 0
            lookback_ms = None if lookback == "run" else milliseconds("lookback", lookback)
            fits = self._declared(match, declared.get("where"), visit)
            kind = declared["eventKind"]
            self._await_event(visit, kind, fits, lookback_ms, timeout_ms, done)

    def _execute(self, visit: Visit) -> None:
        before = len(visit.run.events)
        wait = visit.execute()
        for emitted in visit.run.events[before:]:
            event = seen(emitted, self.clock.now, len(self._events))
            about = {"runId": self._run_id, "flowName": self._flow, "stepName": visit.step.name}
            self._arrive({**event, **about})
        if wait is not None:
            self._suspend(visit, wait)
        elif visit.run.error is not None:
            self._failed(visit, visit.run.error)
        else:
            self._after_handler(visit)

    def _failed(self, visit: Visit, error: BaseException) -> None:
        """An attempt failed: the step is tried again later, or has failed."""
        policy = visit.step.retry_policy
        delay_ms = retry_delay_ms(policy, describe(error), visit.failures + 1)
        if delay_ms is None:
            self._fail(visit, error)
            return
        visit.failed(error, delay_ms)
        self._plan(self.clock.now + delay_ms, lambda: self._again(visit))

    def _again(self, visit: Visit) -> None:
        if visit.is_active:
            self._execute(visit)

    def _suspend(self, visit: Visit, wait: Wait) -> None:
        type = wait["type"]
        if type == "retry":
            after_ms = min(retry["retryAfterMs"] for retry in visit.retries())
            self._plan(self.clock.now + after_ms, lambda: self._again(visit))
            return
        name = str(wait.get("eventKind") or wait.get("triggerId") or "time")
        until_ms = self._until(wait)
        refused = self._refused(visit, wait, until_ms)
        if refused is not None:
            self._fail(visit, refused)
            return

        def done(outcome: str, value: Any) -> None:
            if outcome == "timeout":
                visit.settle(name, error=_timed_out(type))
            else:
                if type == "trigger":
                    self.store.doors[name].is_used = True
                visit.settle(name, value=value)
            self._execute(visit)

        timeout_ms = None if until_ms is None else max(0, until_ms - self.clock.now)
        if type == "time":
            self._await_time(visit, until_ms or 0, done)
        elif type == "trigger":
            self._await_trigger(visit, self.store.triggers[wait["triggerId"]], timeout_ms, done)
        else:
            # Code is given what came since the run began, unless it says otherwise.
            lookback_ms = 0 if wait.get("lookback") == "none" else wait.get("lookbackMs")
            fits = self._said(wait, visit)
            self._await_event(visit, wait["eventKind"], fits, lookback_ms, timeout_ms, done)

    def _until(self, wait: Wait) -> int | None:
        """When a wait of code is over at the latest. A door's time runs from when it was made."""
        if wait["type"] == "trigger":
            expires_ms = self.store.doors[wait["triggerId"]].expires_ms
            return None if expires_ms is None else round(expires_ms)
        if wait.get("resumeAt") is not None:
            return date_ms(wait["resumeAt"])
        after_ms = wait.get("afterMs" if wait["type"] == "time" else "timeoutMs")
        return None if after_ms is None else self.clock.now + int(after_ms)

    def _refused(self, visit: Visit, wait: Wait, until_ms: int | None) -> RiverrunError | None:
        door = self.store.doors.get(wait.get("triggerId") or "")
        is_over = until_ms is not None and until_ms <= self.clock.now
        if door is not None and door.is_used and not door.is_for_many and not is_over:
            return used_door()
        limit = self._limits["maxAwaits"]
        too_many = too_many_awaits(limit) if visit.awaits_over >= limit else None
        return refused_wait(wait, until_ms, self.clock.now) or too_many

    def _after_handler(self, visit: Visit) -> None:
        declared = visit.step.awaits
        if declared is None or declared["type"] != "time":
            self._complete(visit)
            return
        delay = declared["delay"]
        if isinstance(delay, Mapping):
            problem = "the delay is not a number of milliseconds up to ten years"
            try:
                delay = evaluate(delay["$function"], self._expressions, visit.run.value)
            except ExpressionError as error:
                delay, problem = None, str(error)
            if type(delay) not in (int, float) or not 0 <= delay <= LONGEST_MS:
                self._fail(visit, RiverrunError(problem, code="INPUT_ERROR", retriable=False))
                return
        visit.has_returned = True
        until_ms = self.clock.now + milliseconds("delay", delay)
        self._await_time(visit, until_ms, lambda outcome, value: self._complete(visit))

    def _complete(self, visit: Visit) -> None:
        visit.end("completed")
        self._undoing.finished(visit)

    def _too_late(self, visit: Visit, declared: Mapping[str, Any], so_far: Any) -> None:
        name = declared.get("onTimeout")
        if name is None:
            error = _timed_out(declared["type"])
            refusal = RiverrunError(error["message"], code=error["code"], retriable=False)
            self._fail(visit, refusal)
            return
        visit.end("timeout")
        self.enter(self._steps[name], visit.run.input).so_far = so_far

    def _fail(self, visit: Visit, error: BaseException) -> None:
        """The first failure is the run's; one while it undoes things is only recorded."""
        visit.run.error = error
        visit.end("failed")
        if self._error is None:
            self._error, self._reason = error, reason(error, visit.step.name)
        if self._on_failure != "finish" and not self._undoing.has_begun:
            self._cancel_all()

    def _stop(self) -> None:
        """The run has made as many visits as it may: it fails, whatever its steps say."""
        self._error = too_many_steps(self._limits["maxSteps"])
        self._reason = reason(self._error)
        self._cancel_all()

    def _cancel_all(self) -> None:
        """Cancels what is active, the last entered first.

        What only lets its time pass has done its work, which is undone.
        """
        for visit in reversed(self.visits):
            if visit.is_active:
                self._open = [open for open in self._open if open.visit is not visit]
                if visit.has_returned:
                    self._undoing.finished(visit)
                visit.end("cancelled")

    def _undo(self, undo: Undo) -> None:
        run = undo.visit.run
        visit = self.enter(self._steps[undo.by], undo.input(self._reason))
        visit.run.undoes = (run.step, run.visit)

    # Waits

    def _await_time(self, visit: Visit, until_ms: int, done: Done) -> None:
        finish = self._wait(visit, "time", "time", done)
        self._plan(until_ms, lambda: finish("time", None))

    def _await_trigger(
        self,
        visit: Visit,
        trigger: MadeTrigger,
        timeout_ms: int | None,
        done: Done,
        many: int | None = None,
    ) -> None:
        """With `many` it is opened so often, and gives the list of what came, also of what came
        before its time was over.
        """
        finish = self._wait(visit, "trigger", trigger.id, done)
        answers: list[tuple[Any, int]] = []
        while len(answers) < (many or 1):
            answer = opened(self._triggers, trigger)
            if answer is None:
                break
            answers.append(answer)
        answers.sort(key=lambda answer: answer[1])
        after_ms = answers[-1][1] if len(answers) == (many or 1) else None
        if after_ms is not None and (timeout_ms is None or after_ms <= timeout_ms):
            payloads = [payload for payload, _ in answers]
            value = payloads if many else payloads[0]
            self._plan(self.clock.now + after_ms, lambda: finish("trigger", value))
        elif timeout_ms is not None:
            in_time = [payload for payload, after_ms in answers if after_ms <= timeout_ms]
            so_far = in_time if many and in_time else None
            self._plan(self.clock.now + timeout_ms, lambda: finish("timeout", so_far))

    def _await_event(
        self,
        visit: Visit,
        kind: str,
        fits: Callable[[Event], bool],
        lookback_ms: int | None,
        timeout_ms: int | None,
        done: Done,
    ) -> None:
        finish = self._wait(visit, "event", kind, done)
        # All that there is was seen by this run, since it began.
        since_ms = 0 if lookback_ms is None else self.clock.now - lookback_ms
        # What code waits for is given to the run once, and is not what entered the step.
        is_code = visit.run.executions > 0
        visits = self.visits if is_code else [visit]
        for event in self._events if lookback_ms != 0 else ():
            if any(wait.value is event for one in visits for wait in one.run.awaits):
                continue
            if is_code and visit.entered_by is event:
                continue
            if event["kind"] == kind and date_ms(event["ts"]) >= since_ms and fits(event):
                self._plan(self.clock.now, lambda event=event: finish("event", event))  # type: ignore[misc]
                return
        timeout: _Due | None = None

        def settle(event: Event) -> None:
            self._open.remove(mine)
            self._plan(self.clock.now, lambda: finish("event", event))
            if timeout is not None:
                self._agenda.remove(timeout)

        def expire() -> None:
            if mine in self._open:
                self._open.remove(mine)
            finish("timeout", None)

        mine = _Open(visit, kind, fits, settle)
        self._open.append(mine)
        if timeout_ms is not None:
            timeout = self._plan(self.clock.now + timeout_ms, expire)

    def _wait(self, visit: Visit, type: str, name: str, done: Done) -> Done:
        """Notes that a wait has begun; gives what is to be called when it is over."""
        wait = visit.began(type, name)
        began_ms = self.clock.now

        def finish(outcome: str, value: Any) -> None:
            if not visit.is_active:
                return
            wait.ended_at, wait.waited_ms = iso(self.clock.now), self.clock.now - began_ms
            wait.outcome, wait.value = outcome, value  # type: ignore[assignment]
            done(outcome, value)

        return finish

    # Events

    def _take_ready(self) -> bool:
        """Gives the first ready event that is waited for, or else that enters or undoes a step."""
        for takers in (self._open_for, self._entered, self._undoes):
            for given in self._ready:
                if takers(seen(given, self.clock.now, len(self._events))):
                    self._ready.remove(given)
                    self._give(given)
                    return True
        return False

    def _give(self, event: GivenEvent) -> None:
        self._arrive(seen(event, self.clock.now, len(self._events)))

    def _arrive(self, event: Event) -> None:
        open, entered = self._open_for(event), self._entered(event)
        undone = self._undoing.called_by(event["kind"])
        self._events.append(event)
        if not open and not entered and not undone:
            self._unclaimed.append(event)
        for one in open:
            one.settle(event)
        for step, input in entered:
            self._enter_by(step, event, input)
        for undo in undone:
            self._undo(undo)

    def _undoes(self, event: Event) -> bool:
        return self._undoing.is_called_by(event["kind"])

    def _open_for(self, event: Event) -> list[_Open]:
        return [open for open in self._open if open.kind == event["kind"] and open.fits(event)]

    def _entered(self, event: Event) -> list[tuple[PlannedStep, Any]]:
        found: list[tuple[PlannedStep, Any]] = []
        # A run that undoes what it did begins nothing new.
        for step in () if self._undoing.has_begun else self._steps.values():
            for number, subscription in enumerate(step.subscriptions):
                if subscription["eventKind"] != event["kind"]:
                    continue
                when, map = (expression_of(subscription.get(name)) for name in ("when", "map"))
                try:
                    if when is not None and not self._evaluate(when, event, self._input):
                        continue
                    data = event["data"]
                    input = data if map is None else self._evaluate(map, event, self._input)
                except ExpressionError as error:
                    self._warn(step, f'subscription {number} of step "{step.name}": {error}')
                    continue
                found.append((step, input))
                # It enters a step once: by the first that holds.
                break
        return found

    def _enter_by(self, step: PlannedStep, event: Event, input: Any) -> None:
        kind = event["kind"]
        if step.join != "all":
            self.enter(step, input).entered_by = event
            return
        self._held.append(_Held(step.name, kind, input))
        firsts = {
            held.kind: held for held in reversed(self._held) if held.step == step.name
        }  # the oldest of each
        kinds = dict.fromkeys(one["eventKind"] for one in step.subscriptions)
        if all(kind in firsts for kind in kinds):
            for kind in kinds:
                self._held = [held for held in self._held if held is not firsts[kind]]
            self.enter(step, {kind: firsts[kind].input for kind in kinds})

    def _said(self, wait: Wait, visit: Visit) -> Callable[[Event], bool]:
        def fits(event: Event) -> bool:
            match = through_json(wait.get("match") or {})
            return matches(match, event) and self._where(wait.get("where"), event, visit)

        return fits

    def _declared(
        self, match: Mapping[str, Any], where: Any, visit: Visit
    ) -> Callable[[Event], bool]:
        def fits(event: Event) -> bool:
            return matches(match, event) and self._where(expression_of(where), event, visit)

        return fits

    def _where(self, where: str | None, event: Event, visit: Visit) -> bool:
        """What a condition says of an event. If it raises, the event is passed over."""
        try:
            return where is None or bool(self._evaluate(where, event, visit.run.input))
        except ExpressionError as error:
            self._warn(visit.step, f"the where of the await of event {event['kind']}: {error}")
            return False

    def _warn(self, step: PlannedStep, message: str) -> None:
        warning = FlowWarning("EXPRESSION_ERROR", message, step.name)
        if warning not in self._warnings:
            self._warnings.append(warning)

    def _evaluate(self, expression: str, event: Event, input: Any) -> Any:
        ctx = {"runId": self._run_id, "flowName": self._flow, "input": input}
        return evaluate(expression, self._expressions, event, {**ctx, "state": self.store.state})

    def _report(self) -> FlowRun:
        for visit in self.visits:
            visit.run.ended_at = visit.run.ended_at or iso(self.clock.now)
            visit.run.state = self.store.state
        ended: Literal["completed", "failed"] = "failed" if self._error else "completed"
        return FlowRun(
            status="waiting" if self._is_active() else ended,
            error=self._error,
            visits=[visit.run for visit in self.visits],
            events=self._events,
            unclaimed=self._unclaimed,
            state=self.store.state,
            started_at=iso(self.clock.start_ms),
            ended_at=iso(self.clock.now),
            elapsed_ms=self.clock.now - self.clock.start_ms,
            warnings=self._warnings,
        )


def _timed_out(type: str) -> dict[str, Any]:
    return {"code": "AWAIT_TIMEOUT", "message": f"the {type} did not come in time"}
