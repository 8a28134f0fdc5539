use std::collections::HashMap;

use riverrun_contract::{Away, Holder};
use riverrun_engine::{
    AwaitFor, Awaiting, Branch, BranchStatus, Branches, InBranch, RunState, StepSummary, Visit,
    VisitKey, Wait,
};
use riverrun_protocol::WorkError;
use riverrun_store::{JobRecord, QueueRecord, RateWindow};
use riverrun_types::{Gather, QueueLimits, Rate, RunStatus, State};
use serde_json::{Value, json};

use super::{
    facts::{Facts, JobFacts, Taker},
    judge::{self, of_job, of_visit},
    *,
};

const NOW: Millis = 1_000_000;

fn key(step: &str, visit: u32) -> VisitKey {
    VisitKey {
        step: Name::from(step),
        visit,
    }
}

fn visit(step: &str, status: VisitStatus, wait: Option<Wait>) -> Visit {
    Visit {
        key: key(step, 1),
        status,
        attempt: 1,
        failures: 0,
        losses: 0,
        branch: None,
        caught: None,
        since_ms: NOW - 10,
        wait,
        input: None,
        awaited: None,
        so_far: None,
        journal: Vec::new(),
        entered_by: None,
        retries: Vec::new(),
        undoes: None,
        found: None,
        around: Vec::new(),
    }
}

fn state(visits: Vec<Visit>) -> RunState {
    let mut state = RunState::new();
    state.status = RunStatus::Running;
    state.visits = Json::of(&visits).read().unwrap();
    state
}

fn record(state: JobState) -> JobRecord {
    JobRecord {
        id: RunId::new("j"),
        queue: Name::from("q"),
        name: None,
        state,
        data: Json::null(),
        priority: 0,
        key: None,
        attempt: 0,
        created_ms: NOW - 100,
        at_ms: None,
        started_ms: None,
        ended_ms: None,
        cancelling: false,
        options: None,
        progress: None,
        checkpoint: None,
        result: None,
        error: None,
        owner: None,
        until_ms: None,
    }
}

/// A job that waits with nothing against it.
fn waiting() -> JobFacts {
    JobFacts {
        job: Some(record(JobState::Waiting)),
        queue: QueueRecord {
            name: Name::from("q"),
            waiting: 1,
            oldest_ms: Some(NOW - 100),
            ..QueueRecord::default()
        },
        ahead: Some(0),
        active_of_key: None,
        process: None,
        taker: Some(Taker {
            concurrency: 4,
            limits: QueueLimits::default(),
            room: None,
        }),
        broken: None,
        holder: None,
    }
}

fn kind(cause: &Cause) -> String {
    let shown = serde_json::to_value(cause).unwrap();
    shown["kind"].as_str().unwrap().to_owned()
}

#[test]
fn a_job_has_one_reason_the_most_telling() {
    let check = |change: &dyn Fn(&mut JobFacts), expected: Option<(&str, Option<Millis>)>| {
        let mut facts = waiting();
        change(&mut facts);
        let found = of_job(&facts, NOW);
        if let Some(found) = &found {
            let is_paused = matches!(found.cause, Cause::QueuePaused { .. });
            assert!(
                !is_paused || found.since.is_none(),
                "nobody knows since when"
            );
        }
        let found = found.map(|found| (kind(&found.cause), found.until));
        let expected = expected.map(|(kind, until)| (kind.to_owned(), until));
        assert_eq!(found, expected);
    };
    let limits = |change: &dyn Fn(&mut QueueLimits)| {
        let mut limits = QueueLimits::default();
        change(&mut limits);
        move |facts: &mut JobFacts| facts.taker.as_mut().unwrap().limits = limits
    };
    let one_at_once = limits(&|limits| limits.concurrency = Some(1));
    let rated = limits(&|limits| {
        limits.rate = Some(Rate {
            max: 2,
            window_ms: 50,
        });
    });
    let batched = limits(&|limits| {
        limits.gather = Some(Gather {
            count: 3,
            wait_ms: 500,
        });
    });
    let begun = |from_ms, begun| Some(RateWindow { from_ms, begun });

    check(&|facts| facts.job = None, None);
    check(&|_| {}, Some(("queued", None)));
    check(&|facts| facts.taker = None, Some(("no-worker", None)));
    check(
        &|facts| {
            facts.queue.paused = true;
            facts.taker = None;
        },
        Some(("queue-paused", None)),
    );
    check(&one_at_once, Some(("queued", None)));
    check(
        &|facts| {
            one_at_once(facts);
            facts.queue.active = 1;
        },
        Some(("concurrency", None)),
    );
    check(&|facts| facts.queue.active = 4, Some(("concurrency", None)));
    let one_of_a_key = limits(&|limits| limits.per_key = Some(1));
    for (active, expected) in [(0, "queued"), (1, "concurrency")] {
        check(
            &|facts| {
                one_of_a_key(facts);
                facts.job.as_mut().unwrap().key = Some(Name::from("ada"));
                facts.active_of_key = Some(active);
            },
            Some((expected, None)),
        );
    }
    check(
        &|facts| {
            facts.queue.active = 4;
            facts.taker.as_mut().unwrap().room = Some(true);
        },
        Some(("queued", None)),
    );
    check(
        &|facts| facts.taker.as_mut().unwrap().room = Some(false),
        Some(("no-room", None)),
    );
    check(
        &|facts| {
            rated(facts);
            facts.queue.rate = begun(NOW - 20, 2);
        },
        Some(("rate-limit", Some(NOW + 30))),
    );
    for (ahead, until) in [(1, NOW + 30), (2, NOW + 80), (3, NOW + 80), (4, NOW + 130)] {
        check(
            &|facts| {
                rated(facts);
                facts.queue.rate = begun(NOW - 20, 2);
                facts.ahead = Some(ahead);
            },
            Some(("rate-limit", Some(until))),
        );
    }
    for over in [begun(NOW - 20, 1), begun(NOW - 50, 2), None] {
        check(
            &|facts| {
                rated(facts);
                facts.queue.rate = over;
            },
            Some(("queued", None)),
        );
    }
    check(&batched, Some(("gathering", Some(NOW + 400))));
    check(
        &|facts| {
            batched(facts);
            facts.queue.waiting = 3;
        },
        Some(("queued", None)),
    );
    check(
        &|facts| {
            let mut job = record(JobState::Delayed);
            job.at_ms = Some(NOW + 5);
            facts.job = Some(job);
        },
        Some(("delayed", Some(NOW + 5))),
    );
    check(
        &|facts| {
            let mut job = record(JobState::Delayed);
            (job.at_ms, job.attempt) = (Some(NOW + 5), 1);
            job.error = Some(Json::of(&json!({"code": "SMTP"})));
            facts.job = Some(job);
        },
        Some(("backoff", Some(NOW + 5))),
    );
    // Its time has come, and no claim has happened since.
    check(
        &|facts| {
            let mut job = record(JobState::Delayed);
            job.at_ms = Some(NOW);
            facts.job = Some(job);
            facts.queue.paused = true;
        },
        Some(("queue-paused", None)),
    );
    for (until_ms, expected) in [(NOW + 1, "running"), (NOW, "lease-expired")] {
        check(
            &|facts| {
                let mut job = record(JobState::Active);
                job.until_ms = Some(until_ms);
                facts.job = Some(job);
            },
            Some((expected, None)),
        );
    }
    let holder = |away| {
        let (id, name) = (7, "w".to_owned());
        Some(Holder { id, name, away })
    };
    let away = Away {
        since_ms: NOW - 5,
        until_ms: NOW + 25,
    };
    for (away, expected) in [
        (None, ("running", None)),
        (Some(away), ("worker-away", Some(NOW + 25))),
    ] {
        check(
            &|facts| {
                facts.job = Some(record(JobState::Active));
                facts.holder = holder(away);
            },
            Some(expected),
        );
    }
    check(
        &|facts| {
            facts.taker = None;
            facts.broken = Some(WorkError::new("MODULE_ERROR", "no such file"));
        },
        Some(("process-broken", None)),
    );
    check(
        &|facts| facts.job = Some(record(JobState::Failed)),
        Some(("ended", None)),
    );
}

#[test]
fn a_visit_has_one_reason() {
    let check = |visit: Visit, facts: &Facts, expected: Value| {
        let mut state = state(vec![visit.clone()]);
        let failure = Failure::new("HTTP_ERROR", "503");
        let summary: StepSummary = serde_json::from_value(
            json!({"status": "retrying", "visits": 1, "attempt": 1, "error": failure}),
        )
        .unwrap();
        state.steps.insert(Name::from("a"), summary);
        let found = of_visit(&state, facts, &visit, NOW);
        let found = found.map(|found| {
            let mut shown = serde_json::to_value(&found.cause).unwrap();
            if let Some(until) = found.until {
                shown["untilMs"] = json!(until - NOW);
            }
            shown
        });
        assert_eq!(found.unwrap_or_default(), expected);
    };
    let none = Facts::default();
    let awaits = |what, until_ms| {
        Some(Wait::Await(Awaiting {
            id: Name::from("w1"),
            what,
            until_ms,
            in_code: false,
        }))
    };
    let fired = Facts {
        fired: HashMap::from([(Name::from("w1"), 0)]),
        ..Facts::default()
    };
    let event = || AwaitFor::Event {
        event_kind: Name::from("paid"),
        condition: Some(Json::of(&json!({"match": {"data.id": 1}}))),
    };
    use VisitStatus::{Pending, Retrying, Running, Waiting};
    check(
        visit(
            "a",
            Waiting,
            Some(Wait::Time {
                until_ms: NOW + 5,
                reason: Some("delay".to_owned()),
                output: None,
                next: None,
            }),
        ),
        &none,
        json!({"kind": "await-time", "reason": "delay", "untilMs": 5}),
    );
    check(
        visit("a", Waiting, awaits(AwaitFor::Time, Some(NOW + 6))),
        &none,
        json!({"kind": "await-time", "awaitId": "w1", "untilMs": 6}),
    );
    check(
        visit("a", Waiting, awaits(event(), None)),
        &none,
        json!({"kind": "await-event", "awaitId": "w1", "eventKind": "paid", "condition": {"match": {"data.id": 1}}}),
    );
    check(
        visit("a", Waiting, awaits(event(), None)),
        &fired,
        json!({"kind": "await-event", "awaitId": "w1", "eventKind": "paid", "condition": {"match": {"data.id": 1}}, "firedAt": "1970-01-01T00:00:00.000Z"}),
    );
    let trigger_type = TriggerType::User;
    check(
        visit(
            "a",
            Waiting,
            awaits(AwaitFor::Trigger { trigger_type }, Some(NOW + 7)),
        ),
        &none,
        json!({"kind": "await-trigger", "awaitId": "w1", "triggerType": "user", "url": "/approve/w1", "untilMs": 7}),
    );
    for (wanted, expected) in [(Some(2), json!(2)), (None, Value::Null)] {
        let once = Facts {
            opened: HashMap::from([(Name::from("w1"), (1, wanted))]),
            ..Facts::default()
        };
        let mut said = json!({"kind": "await-trigger", "awaitId": "w1", "triggerType": "user", "url": "/approve/w1", "opened": 1, "wanted": expected});
        if wanted.is_none() {
            said.as_object_mut().unwrap().remove("wanted");
        }
        let callback = awaits(AwaitFor::Trigger { trigger_type }, None);
        check(visit("a", Waiting, callback), &once, said);
    }
    let until_ms = NOW + 8;
    let mut backoff = visit("a", Retrying, Some(Wait::Backoff { until_ms }));
    backoff.failures = 1;
    check(
        backoff.clone(),
        &none,
        json!({"kind": "backoff", "error": Failure::new("HTTP_ERROR", "503"), "untilMs": 8}),
    );
    backoff.wait = Some(Wait::Backoff { until_ms: NOW });
    check(backoff, &none, json!({"kind": "ready"}));
    check(visit("a", Running, None), &none, json!({"kind": "running"}));
    check(visit("a", Pending, None), &none, json!({"kind": "ready"}));
    let busy = Facts {
        busy: true,
        ..Facts::default()
    };
    check(
        visit("a", Pending, None),
        &busy,
        json!({"kind": "ready", "busy": true}),
    );
    let mut job = record(JobState::Delayed);
    job.at_ms = Some(NOW + 9);
    let delayed = JobFacts {
        job: Some(job),
        ..waiting()
    };
    let facts = Facts {
        jobs: HashMap::from([(key("a", 1), delayed)]),
        ..Facts::default()
    };
    let until_ms = Some(NOW + 9);
    let shown = json!({"id": "j", "queue": "q", "state": "delayed"});
    check(
        visit("a", Pending, Some(Wait::Job { until_ms })),
        &facts,
        json!({"kind": "delayed", "job": shown, "untilMs": 9}),
    );
    check(
        visit("a", Retrying, Some(Wait::Job { until_ms })),
        &facts,
        json!({"kind": "backoff", "job": shown, "error": Failure::new("HTTP_ERROR", "503"), "untilMs": 9}),
    );
    // One that was not looked at has no reason.
    check(
        visit("a", Pending, Some(Wait::Job { until_ms: None })),
        &none,
        Value::Null,
    );
    let run = RunId::new("child");
    let flow = Name::from("inner");
    check(
        visit("a", Waiting, Some(Wait::Run { run, flow })),
        &none,
        json!({"kind": "child", "childId": "child", "childFlow": "inner"}),
    );
}

#[test]
fn a_run_says_its_reasons_in_the_order_in_which_they_matter() {
    let branch = || Branch {
        step: Name::from("inner"),
        status: BranchStatus::Active,
        scope: State::default().into(),
        result: None,
        error: None,
    };
    let fork = Wait::Branches(Branches {
        branches: vec![branch(), branch()],
        concurrency: 0,
        fail_fast: false,
        as_list: false,
        scoped: false,
        entered: 2,
        ended: 1,
        failed: 0,
        result_bytes: 0,
    });
    let mut inner = visit("inner", VisitStatus::Running, None);
    inner.branch = Some(InBranch {
        of: key("fork", 1),
        index: 1,
    });
    let until_ms = NOW + 50;
    let mut state = state(vec![
        visit("fork", VisitStatus::Waiting, Some(fork)),
        inner,
        visit(
            "slow",
            VisitStatus::Retrying,
            Some(Wait::Backoff { until_ms }),
        ),
        visit("next", VisitStatus::Pending, None),
    ]);
    let why = |state: &RunState, facts: &Facts| {
        let (run, flow) = (RunId::new("r"), Name::from("f"));
        judge::run(&run, &flow, state, facts, NOW)
    };
    let kinds = |why: &Why| -> Vec<String> {
        let kinds = why.reasons.iter().map(|reason| kind(&reason.cause));
        kinds.collect()
    };
    let facts = Facts {
        paused: Some((0, Some("lunch".to_owned()))),
        unseen: 3,
        ..Facts::default()
    };
    let why_of = why(&state, &facts);
    assert_eq!(kinds(&why_of), ["backoff", "running", "ready", "branches"]);
    assert!(why_of.moving);
    assert_eq!(
        why_of.summary,
        "step slow: attempt 1 failed, and is tried again, since 1970-01-01T00:16:39.990Z, until 1970-01-01T00:16:40.050Z (and 6 more)"
    );
    let shown = serde_json::to_value(&why_of).unwrap();
    assert_eq!(
        shown["reasons"][3],
        json!({
            "kind": "branches", "total": 2, "ended": 1, "failed": 0,
            "active": [{"index": 1, "step": "inner", "visit": 1, "status": "running"}],
            "step": "fork", "visit": 1, "attempt": 1, "status": "waiting", "since": "1970-01-01T00:16:39.990Z",
            "summary": "step fork: waits for its branches: 1 of 2 have ended, 1 are active, since 1970-01-01T00:16:39.990Z",
        })
    );
    assert_eq!(shown["more"], 3);

    // Active visits of a paused run are still shown, and those that go on when it is resumed.
    state.paused = true;
    state.status = RunStatus::Paused;
    let why_of = why(&state, &facts);
    assert_eq!(
        kinds(&why_of),
        ["paused", "backoff", "running", "ready", "branches"]
    );
    assert!(matches!(
        why_of.reasons[3].cause,
        Cause::Ready { held: true, .. }
    ));
    assert!(
        why_of
            .summary
            .starts_with("paused (lunch), since 1970-01-01T00:00:00.000Z")
    );

    state.paused = false;
    state.not_before = Some(NOW + 1);
    assert_eq!(kinds(&why(&state, &facts))[0], "not-before");

    state.status = RunStatus::Completed;
    state.ended_ms = Some(5);
    let why_of = why(&state, &Facts::default());
    assert_eq!(kinds(&why_of), ["ended"]);
    assert_eq!(
        (why_of.moving, why_of.summary.as_str()),
        (false, "nothing: it has ended at 1970-01-01T00:00:00.005Z")
    );

    let why_of = why(&self::state(Vec::new()), &Facts::default());
    assert_eq!(kinds(&why_of), ["ready"]);
}

#[test]
fn every_cause_reads_as_a_line() {
    let job = || AtJob {
        id: RunId::new("j"),
        queue: Name::from("q"),
        state: JobStateName(JobState::Waiting),
        ahead: Some(3),
        queue_paused: false,
        owner: None,
        lease_until: None,
        worker: None,
        cancelling: false,
    };
    let active = || AtJob {
        ahead: None,
        owner: Some(Name::from("w7")),
        cancelling: true,
        ..job()
    };
    let held = || AtJob {
        worker: Some(AtWorker {
            id: 7,
            name: "gpu".to_owned(),
        }),
        ..active()
    };
    let paused = || AtJob {
        ahead: None,
        queue_paused: true,
        ..job()
    };
    let process = Some(Name::from("pay"));
    for (cause, line) in [
        (
            Cause::QueuePaused { job: job() },
            "queue q is paused (job j, 3 before it)",
        ),
        (
            Cause::NoWorker {
                job: job(),
                process,
            },
            "nobody here runs process pay, for queue q (job j, 3 before it)",
        ),
        (
            Cause::Concurrency {
                job: AtJob {
                    ahead: Some(1_000),
                    ..job()
                },
                key: None,
                limit: 2,
                active: 2,
            },
            "queue q runs 2 jobs of 2 at once (job j, 1000 or more before it)",
        ),
        (
            Cause::Concurrency {
                job: job(),
                key: Some(Name::from("ada")),
                limit: 1,
                active: 1,
            },
            "queue q runs 1 jobs of key ada of 1 at once (job j, 3 before it)",
        ),
        (
            Cause::Queued {
                job: AtJob {
                    ahead: Some(0),
                    ..job()
                },
            },
            "waits in queue q (job j, next)",
        ),
        (
            Cause::Running {
                job: Some(active()),
            },
            "runs in queue q on w7, to be stopped (job j)",
        ),
        (
            Cause::Parked {
                code: "QUARANTINED".into(),
                message: "why".into(),
                details: None,
                release: "riverrun runs resume r".into(),
            },
            "parked (QUARANTINED: why); to release it: riverrun runs resume r",
        ),
        (
            Cause::WorkerAway { job: held() },
            "worker gpu (7) has it and is away: unless it is back in time, somebody else gets it (job j)",
        ),
        (
            Cause::Running { job: Some(held()) },
            "runs in queue q on worker gpu (7), to be stopped (job j)",
        ),
        (
            Cause::ProcessBroken {
                job: job(),
                process: Some(Name::from("pay")),
                error: Json::of(&json!({"code": "MODULE_ERROR", "message": "no"})),
            },
            "process pay of queue q does not load (MODULE_ERROR: no) (job j, 3 before it)",
        ),
        (
            Cause::LeaseExpired { job: active() },
            "its worker w7 has missed its heartbeats and loses the job (job j)",
        ),
        (
            Cause::Backoff {
                error: Some(Json::of(&json!({"code": "X", "message": "no"}))),
                job: None,
                operation: None,
            },
            "the last attempt failed (X: no), and is tried again",
        ),
        (
            Cause::Backoff {
                error: Some(Json::of(&json!({"code": "X", "message": "no"}))),
                job: None,
                operation: Some(AtOperation {
                    op: Name::from("memo"),
                    name: Name::from("reserve"),
                    nth: Some(2),
                    attempt: 3,
                }),
            },
            "try 3 of ctx.run(\"reserve\") #2 failed (X: no); it is retried",
        ),
        (
            Cause::Backoff {
                error: None,
                job: Some(paused()),
                operation: None,
            },
            "the last attempt failed, and is tried again, though queue q is paused",
        ),
        (
            Cause::Delayed { job: paused() },
            "delayed in queue q (job j, whose queue is paused)",
        ),
    ] {
        assert_eq!(words::sentence(&cause, None, None, None), line);
    }
}

/// With `onFailure: finish` a run that has failed goes on with what is active.
#[test]
fn a_run_that_will_fail_says_so() {
    let mut state = state(vec![visit("a", VisitStatus::Running, None)]);
    state.error = Some(Failure::new("LOST", "at sea"));
    let why = |state: &RunState| {
        let facts = Facts::default();
        judge::run(&RunId::new("r"), &Name::from("f"), state, &facts, NOW).failing
    };
    assert_eq!(why(&state).as_deref(), Some("LOST"));
    state.compensating = true;
    assert_eq!(why(&state), None);
}
