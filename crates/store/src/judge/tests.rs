//! The rules on rows in memory. `named` checks everywhere that the rules read only named rows.

#![allow(clippy::unwrap_used)]

use std::ops::ControlFlow;

use riverrun_types::{
    Draft, EventType, Json, Millis, Name, RunId, RunStatus, StreamName, event::EventContext,
};

use super::*;
use crate::{
    Advance, Append, AwaitRecord, Awaited, Expect, Fire, FlowRecord, JobLease, JobState, Life,
    Matcher, NewAwait, NewTrigger, NextDue, Note, Once, Projection, RunTaskChange, Settle, Settled,
    Signal, Steer,
};

/// Has one row of each kind for every key.
struct OneOfEach {
    run: Option<RunRow>,
    trigger: TriggerRow,
}

fn job_row() -> JobRow {
    JobRow {
        place: 1,
        queue: 1,
        lane: 0,
        state: JobState::Active,
        name: NameHold::None,
        cancel: Cancel::No,
        is_large: false,
        has_stream: false,
    }
}

impl Read for OneOfEach {
    type Error = Refused;
}

impl RunRows for OneOfEach {
    const INSERT_REFUSES: bool = false;

    fn run(&mut self, _id: &RunId) -> Result<Option<RunRow>, Refused> {
        Ok(self.run)
    }

    fn run_task(&mut self, _run: &RunId) -> Result<Option<RunTask>, Refused> {
        Ok(Some(RunTask {
            at_ms: 0,
            token: Some(1),
            is_woken: false,
        }))
    }
}

impl StreamRows for OneOfEach {
    fn stream(&mut self, _name: &StreamName) -> Result<Option<StreamRow>, Refused> {
        Ok(None)
    }

    fn job_life(&mut self, _id: &str) -> Result<Option<Life>, Refused> {
        Ok(None)
    }
}

impl KeyRows for OneOfEach {
    fn run_with_key(&mut self, _key: &RunKey<'_>) -> Result<Option<RunId>, Refused> {
        Ok(None)
    }

    fn has_event_key(&mut self, _key: &Name) -> Result<bool, Refused> {
        Ok(false)
    }

    fn flow(&mut self, _id: &Name, _version: &Name) -> Result<Option<Json>, Refused> {
        Ok(None)
    }
}

impl JobRows for OneOfEach {
    fn job_under(&mut self, _lease: &JobLease) -> Result<Option<JobRow>, Refused> {
        Ok(Some(job_row()))
    }

    fn job(&mut self, _id: &RunId) -> Result<Option<JobRow>, Refused> {
        Ok(Some(job_row()))
    }

    fn queue_of_job(&mut self, _id: &RunId) -> Result<Option<Name>, Refused> {
        Ok(None)
    }

    fn lease_end(&mut self, _token: u64) -> Result<Option<Millis>, Refused> {
        Ok(None)
    }
}

impl AwaitRows for OneOfEach {
    fn await_by(&mut self, _id: &Name) -> Result<Option<AwaitRecord>, Refused> {
        Ok(None)
    }

    fn has_unjudged(&mut self, _id: &Name, _judged: u64) -> Result<bool, Refused> {
        Ok(false)
    }

    fn each_emitted(
        &mut self,
        _kind: &Name,
        _from_ms: Millis,
        _visit: impl FnMut(Option<Name>, Json) -> ControlFlow<()>,
    ) -> Result<(), Refused> {
        Ok(())
    }
}

impl TriggerRows for OneOfEach {
    fn trigger(&mut self, _id: &Name) -> Result<TriggerRow, Refused> {
        Ok(self.trigger)
    }

    fn trigger_of_route(&mut self, _route: &Name) -> Result<Option<Name>, Refused> {
        Ok(Some("t1".into()))
    }
}

/// Judges the changes of one commit: returns the number of writes, or the code of the error.
fn judged(changes: Vec<Change>) -> Result<usize, &'static str> {
    let commit = Commit {
        changes,
        ..Commit::default()
    };
    let mut rows = OneOfEach {
        run: Some(RunRow {
            place: 7,
            status: RunStatus::Running,
            len: 3,
            turn: 2,
            last_ms: 50,
        }),
        trigger: TriggerRow {
            version: 1,
            due_ms: None,
            exists: true,
        },
    };
    match super::commit(&mut rows, &commit) {
        Ok(verdict) => Ok(verdict.writes.len()),
        Err(Refused(error)) => Err(error.code().as_str()),
    }
}

fn context() -> EventContext {
    EventContext {
        run_id: "r1".into(),
        flow_name: "f".into(),
        tenant_id: None,
    }
}

fn advance(turn: u64, status: RunStatus) -> Change {
    Change::Advance(Box::new(Advance {
        run: RunId::new("r1"),
        context: context(),
        expect: Expect::Turn(turn),
        projection: Projection {
            status,
            wake_ms: None,
            ended_ms: None,
            error: None,
        },
        events: [Draft::new(60, EventType::LogInfo)].into(),
        task: RunTaskChange::Park { at_ms: 90 },
        snapshot: None,
    }))
}

fn append(stream: StreamName, len: u64) -> Change {
    Change::Append(Append {
        stream,
        context: context(),
        expect: Expect::Len(len),
        events: [Draft::new(60, EventType::LogInfo)].into(),
    })
}

fn lease() -> JobLease {
    JobLease {
        id: RunId::new("j1"),
        queue: "mail".into(),
        attempt: 1,
        place: 1,
        token: 5,
    }
}

fn settle(outcome: Settled) -> Change {
    Change::from(Settle {
        if_expired: true,
        ..Settle::new(&lease(), outcome, 100)
    })
}

fn steer(steer: Steer) -> Change {
    Change::Steer {
        job: RunId::new("j1"),
        steer,
        now_ms: 100,
    }
}

fn await_event(id: &str) -> Change {
    Change::Await(Box::new(NewAwait {
        id: id.into(),
        run: RunId::new("r1"),
        step: "s".into(),
        visit: 1,
        tenant: None,
        created_ms: 100,
        expires_ms: None,
        what: Awaited::Event {
            kind: "paid".into(),
            matcher: Matcher::Any,
            lookback_ms: Some(50),
        },
        given: Vec::new(),
    }))
}

fn fire(id: &str) -> Change {
    Change::Fire(Box::new(Fire {
        id: id.into(),
        value: Json::null(),
        now_ms: 100,
        most: None,
    }))
}

fn trigger(id: &str, version: u64, route: Option<&str>) -> Change {
    Change::Trigger(Box::new(NewTrigger {
        id: id.into(),
        version,
        kind: "http".into(),
        enabled: true,
        definition: Json::null(),
        route: route.map(Name::from),
        due: NextDue::Keep,
        now_ms: 100,
    }))
}

fn once() -> Change {
    Change::Once(Box::new(Once {
        key: "k".into(),
        places: vec![0],
        now_ms: 100,
    }))
}

fn flow() -> Change {
    Change::Register(FlowRecord {
        id: "f".into(),
        version: "1".into(),
        definition: Json::null(),
        created_ms: 100,
    })
}

#[test]
fn later_changes_see_earlier_ones_and_only_named_rows_are_read() {
    let running = RunStatus::Running;
    let signal = Change::Signal(Box::new(Signal {
        kind: "paid".into(),
        event: Json::null(),
        place: None,
        tenant: None,
        now_ms: 100,
        stream: StreamName::flow(&RunId::new("r1")),
        has_subscriber: false,
    }));
    let run = StreamName::flow(&RunId::new("r1"));
    let own = StreamName::job(&RunId::new("j1"));
    let completed = || Settled::Completed {
        result: Json::null(),
    };
    let note = || Change::from(Note::new(&lease(), 100));
    let cancel = || steer(Steer::Cancel { reason: None });
    let release = || settle(Settled::Released);
    let retry = || steer(Steer::Retry { at_ms: 0 });
    let untrigger = Change::Untrigger {
        id: "t1".into(),
        version: 1,
        now_ms: 100,
    };
    let check = |changes: Vec<Change>, expected: Result<usize, &str>| {
        let shown = format!("{changes:?}");
        assert_eq!(judged(changes), expected, "{shown}");
    };
    // Runs and streams.
    check(vec![advance(2, running), advance(3, running)], Ok(6));
    check(
        vec![advance(2, running), advance(2, running)],
        Err("CONFLICT"),
    );
    check(
        vec![advance(2, RunStatus::Failed), advance(3, running)],
        Err("RUN_ENDED"),
    );
    check(vec![append(run.clone(), 3), append(run.clone(), 4)], Ok(4));
    check(
        vec![append(run.clone(), 3), append(run, 3)],
        Err("CONFLICT"),
    );
    check(vec![append(own.clone(), 0), append(own.clone(), 1)], Ok(2));
    check(
        vec![append(own.clone(), 0), append(own, 0)],
        Err("CONFLICT"),
    );
    check(vec![Change::Delete(RunId::new("r1"))], Err("RUN_NOT_ENDED"));
    // Keys.
    check(vec![once(), once()], Err("EVENT_EXISTS"));
    check(vec![flow(), flow()], Err("FLOW_KEPT"));
    // Jobs: an outcome counts once, and not after the lease was taken away.
    check(vec![note(), settle(completed())], Ok(2));
    check(
        vec![settle(completed()), settle(completed())],
        Err("JOB_LOST"),
    );
    check(vec![settle(completed()), note()], Err("JOB_LOST"));
    check(vec![settle(completed()), retry()], Ok(2));
    check(vec![release(), retry()], Err("JOB_STATE"));
    check(vec![cancel(), release(), retry()], Ok(3));
    check(
        vec![
            steer(Steer::Park {
                error: Json::null(),
            }),
            release(),
        ],
        Err("JOB_LOST"),
    );
    // Awaits.
    check(vec![await_event("a"), fire("a")], Ok(2));
    check(vec![await_event("a"), signal, fire("a")], Err("AWAIT_USED"));
    check(
        vec![await_event("a"), await_event("a")],
        Err("AWAIT_EXISTS"),
    );
    check(
        vec![await_event("a"), Change::Unawait("a".into()), fire("a")],
        Err("AWAIT_NOT_FOUND"),
    );
    // Triggers: a route is free once its trigger is removed or has another one.
    check(vec![trigger("t1", 1, None)], Err("TRIGGER_MOVED"));
    check(
        vec![trigger("t2", 2, Some("/a"))],
        Err("TRIGGER_ROUTE_TAKEN"),
    );
    check(vec![untrigger, trigger("t2", 2, Some("/a"))], Ok(2));
    check(
        vec![trigger("t1", 2, Some("/b")), trigger("t2", 2, Some("/b"))],
        Err("TRIGGER_ROUTE_TAKEN"),
    );
    check(
        vec![trigger("t1", 2, Some("/b")), trigger("t2", 2, Some("/a"))],
        Ok(2),
    );
}
