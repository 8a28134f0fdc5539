//! Runners that behave.

use riverrun_protocol::{CancelReason, Frame, JournalEntry, LogLevel};
use riverrun_types::Json;
use serde_json::json;

use crate::harness::{Fake, invocation, invocation_with, within};

#[tokio::test]
async fn handlers_answer_and_many_run_at_once() {
    let fake = Fake::new(|_| ());
    assert_eq!(
        fake.value(json!({"do": "echo", "a": [1]})).await,
        json!({"do": "echo", "a": [1]})
    );
    let runs = (0..200).map(|n| fake.value(json!({"do": "sleep", "ms": n % 7})));
    let values = futures::future::join_all(runs).await;
    assert!(values.iter().all(|value| value == "slept"));
    assert_eq!(fake.runners.status().len(), 1);
    assert_eq!(fake.running(), 0);
}

#[tokio::test]
async fn errors_of_handlers_come_back_as_they_are() {
    let fake = Fake::new(|_| ());
    let error = fake
        .run(&invocation(json!({"do": "fail"})))
        .await
        .unwrap_err();
    assert_eq!(
        (error.code.as_str(), error.retriable),
        ("CARD_DECLINED", Some(false))
    );
    assert_eq!(error.message, "card declined");
    let waits = fake.run(&invocation(json!({"do": "suspend"}))).await;
    let waits = waits.unwrap().suspended.unwrap();
    assert_eq!(waits.kind, "time");
}

#[tokio::test]
async fn frames_and_questions_reach_the_host() {
    let fake = Fake::new(|_| ());
    let asked = invocation(json!({"do": "frames"}));
    fake.run(&asked).await.unwrap();
    let expected = [
        Frame::Log {
            level: LogLevel::Warn,
            message: "hot".to_owned(),
            meta: None,
        },
        Frame::Progress {
            pct: Some(50.0),
            detail: None,
        },
        Frame::Partial {
            path: Some("a".to_owned()),
            value: Json::of(&[1]),
        },
    ];
    assert_eq!(asked.host.frames(), expected);

    let asked = invocation(json!({"do": "ask", "method": "emit", "params": {"type": "x"}}));
    let reply = fake.run(&asked).await.unwrap();
    assert_eq!(
        reply.value.unwrap().get("method").unwrap().as_str(),
        "\"emit\""
    );
    assert_eq!(asked.host.asked.lock()[0].1["type"], "x");

    assert_eq!(fake.value(json!({"do": "askNonsense"})).await, -32601);
    fake.value(json!({"do": "askLate"})).await;
    assert_eq!(fake.written().await, "INVOCATION_ENDED");
}

#[tokio::test]
async fn modules_are_loaded_and_loaded_anew_in_a_new_process() {
    let fake = Fake::new(|_| ());
    let pid = async |revision| {
        let loaded = within(fake.runners.load("a.mjs", revision)).await.unwrap();
        let loaded = loaded.processes;
        assert_eq!(loaded[0].export.as_deref(), Some("default"));
        loaded[0].config.get("pid").unwrap().as_str().to_owned()
    };
    let first = pid(1).await;
    assert_eq!(pid(1).await, first);
    let (running, handle) = fake.occupied().await;
    // What runs goes on in the old process, what starts has the new code.
    assert_ne!(pid(2).await, first);
    assert_eq!(fake.runners.status().len(), 2);
    running.cancel.cancel(CancelReason::User);
    assert!(within(handle).await.unwrap().unwrap_err().is_cancelled());
    let error = within(fake.runners.load("broken", 1)).await.unwrap_err();
    assert_eq!(error.code, "MODULE_SYNTAX");
}

#[tokio::test]
async fn a_heartbeat_speaks_for_all_that_runs() {
    let fake = Fake::new(|_| ());
    let (running, handle) = fake.occupied().await;
    let asked = invocation(json!({"do": "beat"}));
    fake.run(&asked).await.unwrap();
    for host in [&running.host, &asked.host] {
        assert!(host.frames().contains(&Frame::Heartbeat));
    }
    running.cancel.cancel(CancelReason::User);
    assert!(within(handle).await.unwrap().unwrap_err().is_cancelled());
}

#[tokio::test]
async fn a_handler_that_obeys_ends_alone() {
    let fake = Fake::new(|_| ());
    let (running, handle) = fake.occupied().await;
    let pid = fake.value(json!({"do": "pid"})).await;
    running.cancel.cancel(CancelReason::User);
    let error = within(handle).await.unwrap().unwrap_err();
    assert_eq!(
        (error.code.as_str(), error.message.as_str()),
        ("CANCELLED", "user")
    );
    let late = invocation_with(json!({"do": "obey"}), |invoke| invoke.timeout_ms = Some(50));
    assert_eq!(fake.run(&late).await.unwrap_err().code, "TIMEOUT");
    assert_eq!(fake.value(json!({"do": "pid"})).await, pid);
}

#[tokio::test]
async fn an_invocation_that_nobody_waits_for_is_stopped() {
    let fake = Fake::new(|_| ());
    let (_running, handle) = fake.occupied().await;
    handle.abort();
    crate::harness::until(|| fake.running() == 0).await;
    assert_eq!(fake.runners.status().len(), 1);
}

#[tokio::test]
async fn what_is_printed_belongs_to_the_only_job() {
    let fake = Fake::new(|_| ());
    let asked = invocation(json!({"do": "print"}));
    fake.run(&asked).await.unwrap();
    let mut logs = asked.host.logs();
    logs.sort_by_key(|(level, _)| level.as_str());
    let expected = [(LogLevel::Info, "to stdout"), (LogLevel::Warn, "to stderr")];
    assert_eq!(logs, expected.map(|(level, text)| (level, text.to_owned())));
}

#[tokio::test]
async fn children_get_no_more_of_the_environment_than_they_should() {
    let fake = Fake::new(|options| {
        options.environment.pass = vec!["CARGO_PKG_NAME".to_owned()];
    });
    let environment = fake.value(json!({"do": "env"})).await;
    assert_eq!(environment["CARGO_PKG_NAME"], "riverrun-providers");
    assert!(environment["PATH"].is_string() && environment["PID_FILE"].is_string());
    assert!(environment.get("CARGO_MANIFEST_DIR").is_none());
}

#[tokio::test]
async fn work_is_spread_over_a_larger_pool() {
    let fake = Fake::new(|options| options.size = 3);
    fake.runners.warm();
    crate::harness::until(|| fake.runners.status().len() == 3).await;
    let runs = (0..30).map(|_| fake.value(json!({"do": "leak", "mb": 0, "ms": 50})));
    let mut pids = futures::future::join_all(runs).await;
    pids.sort_by_key(|pid| pid.as_u64());
    pids.dedup();
    assert_eq!(pids.len(), 3);
}

#[tokio::test]
async fn a_drained_pool_ends_what_runs_and_takes_no_more() {
    let fake = Fake::new(|_| ());
    let slow = invocation(json!({"do": "sleep", "ms": 200}));
    let handle = fake.begin(&slow);
    crate::harness::until(|| fake.running() == 1).await;
    let pid = fake.runners.status()[0].pid.to_string();
    assert_eq!(
        within(fake.runners.drain(std::time::Duration::from_secs(5))).await,
        0
    );
    assert_eq!(
        within(handle).await.unwrap().unwrap().value,
        Some(Json::from("slept"))
    );
    assert!(!crate::harness::is_alive(&pid));
    assert_eq!(fake.code(json!({"do": "echo"})).await, "CANCELLED");
}

#[tokio::test]
async fn results_and_inputs_have_limits() {
    let fake = Fake::new(|options| options.limits.result_bytes = 1_000);
    assert_eq!(
        fake.code(json!({"do": "large", "bytes": 2_000})).await,
        "RESULT_TOO_LARGE"
    );
    let input = "x".repeat(17 << 20);
    assert_eq!(
        fake.code(json!({"do": "echo", "x": input})).await,
        "INPUT_TOO_LARGE"
    );
    assert_eq!(fake.value(json!({"do": "large", "bytes": 3})).await, "zzz");
    let asked = invocation_with(json!({"do": "echo"}), |invoke| {
        invoke.job.journal.push(JournalEntry {
            op: "memo".to_owned(),
            name: "large".to_owned(),
            nth: None,
            value: Some(Json::from(input.as_str())),
            error: None,
            emits: Vec::new(),
        });
    });
    let refused = fake.run(&asked).await.unwrap_err();
    assert_eq!(refused.code, "JOURNAL_TOO_LARGE");
    let message = &refused.message;
    assert!(message.starts_with("the journal has 178258"), "{message}");
}

#[tokio::test]
async fn replacing_processes_under_load_costs_no_attempt() {
    let fake = Fake::new(|_| ());
    let working = async {
        let run = async |_| {
            for _ in 0..60 {
                assert_eq!(fake.value(json!({"do": "sleep", "ms": 1})).await, "slept");
            }
        };
        futures::future::join_all((0..16).map(run)).await
    };
    let reloading = async {
        for revision in 1..6 {
            within(fake.runners.load("a.mjs", revision)).await.unwrap();
        }
    };
    tokio::join!(working, reloading);
}
