//! Runners that do not behave: each costs its own invocations an attempt, and nothing else.

use std::time::{Duration, Instant};

use riverrun_protocol::{CancelReason, Frame};
use serde_json::{Value, json};

use crate::harness::{Fake, invocation, invocation_with, is_alive, until, within};

/// Does something bad in a pool of two where somebody else works in the other process, and says
/// what error it got. Afterwards both go on.
async fn costs(input: Value) -> riverrun_protocol::WorkError {
    costs_with(input, |_| ()).await
}

async fn costs_with(
    input: Value,
    change: impl FnOnce(&mut riverrun_providers::RunnerOptions),
) -> riverrun_protocol::WorkError {
    let fake = Fake::new(|options| {
        options.size = 2;
        change(options);
    });
    fake.runners.warm();
    until(|| fake.runners.status().len() == 2).await;
    let (bystander, handle) = {
        let asked = invocation(json!({"do": "obey"}));
        let handle = fake.begin(&asked);
        until(|| fake.running() == 1).await;
        (asked, handle)
    };
    let bad = invocation_with(input, |invoke| invoke.timeout_ms = Some(1_000));
    let error = fake.run(&bad).await.unwrap_err();
    assert!(!handle.is_finished(), "somebody else was harmed");
    for _ in 0..4 {
        assert_eq!(fake.value(json!({"do": "large", "bytes": 1})).await, "z");
    }
    bystander.cancel.cancel(CancelReason::User);
    assert!(within(handle).await.unwrap().unwrap_err().is_cancelled());
    assert_ne!(error.retriable, Some(false));
    error
}

#[tokio::test]
async fn a_child_that_exits() {
    let error = costs(json!({"do": "exit", "code": 3})).await;
    assert_eq!(error.code, "RUNNER_DIED");
    assert!(error.message.contains("exit code 3"), "{}", error.message);
    let error = costs(json!({"do": "die"})).await;
    assert!(
        error.message.contains("the last words"),
        "{}",
        error.message
    );
}

#[tokio::test]
async fn a_child_that_is_killed() {
    let error = costs(json!({"do": "kill"})).await;
    assert_eq!(error.code, "WORKER_LOST");
    assert!(
        error.message.contains("signal 9 (SIGKILL)"),
        "{}",
        error.message
    );
}

#[tokio::test]
async fn a_child_that_hangs() {
    assert_eq!(costs(json!({"do": "block"})).await.code, "RUNNER_HUNG");
}

#[tokio::test]
async fn a_child_that_freezes_is_ended_long_before_the_time_of_its_handlers() {
    let fake = Fake::new(|options| {
        options.size = 2;
        options.silent = Some(Duration::from_millis(1_500));
    });
    fake.runners.warm();
    until(|| fake.runners.status().len() == 2).await;
    let (bystander, beside) = fake.occupied().await;
    let endless = invocation_with(json!({"do": "block"}), |invoke| {
        invoke.timeout_ms = Some(3_600_000);
    });
    let error = fake.run(&endless).await.unwrap_err();
    assert_eq!(error.code, "RUNNER_FROZEN");
    assert!(
        error.message.contains("said nothing for 1500 ms"),
        "{}",
        error.message
    );
    assert_ne!(error.retriable, Some(false));
    // The other has said nothing for as long, but answers when it is asked.
    assert!(!beside.is_finished(), "somebody else was harmed");
    for _ in 0..4 {
        assert_eq!(fake.value(json!({"do": "large", "bytes": 1})).await, "z");
    }
    bystander.cancel.cancel(CancelReason::User);
    assert!(within(beside).await.unwrap().unwrap_err().is_cancelled());
}

#[tokio::test]
async fn a_child_that_ignores_sigterm() {
    assert_eq!(costs(json!({"do": "stubborn"})).await.code, "RUNNER_HUNG");
}

#[tokio::test]
async fn a_child_that_writes_garbage() {
    assert_eq!(costs(json!({"do": "garbage"})).await.code, "PROTOCOL_ERROR");
}

#[tokio::test]
async fn a_child_that_writes_an_endless_line() {
    let error = costs_with(json!({"do": "long"}), |options| {
        options.limits.message_bytes = 100_000;
    });
    let error = error.await;
    assert_eq!(error.code, "PROTOCOL_ERROR");
    assert!(error.message.contains("100000 bytes"), "{}", error.message);
}

#[tokio::test]
async fn a_child_that_closes_its_pipes() {
    assert_eq!(
        costs(json!({"do": "closeMessages"})).await.code,
        "PROTOCOL_ERROR"
    );
}

#[tokio::test]
async fn a_child_that_no_longer_listens() {
    let error = costs(json!({"do": "closeInput"})).await;
    assert!(
        ["PROTOCOL_ERROR", "RUNNER_HUNG"].contains(&error.code.as_str()),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_child_that_holds_far_too_much_memory() {
    let error = costs_with(json!({"do": "leak", "mb": 400, "ms": 5_000}), |options| {
        options.memory_hard_bytes = 250 << 20;
    });
    let error = error.await;
    assert_eq!(error.code, "RUNNER_MEMORY");
    assert!(
        error.message.contains("more than 250 MiB"),
        "{}",
        error.message
    );
}

#[tokio::test]
async fn a_child_that_holds_too_much_memory_ends_what_it_runs_and_is_replaced() {
    let fake = Fake::new(|options| options.memory_soft_bytes = 250 << 20);
    let leaked = fake
        .value(json!({"do": "leak", "mb": 300, "ms": 300}))
        .await;
    assert_ne!(fake.value(json!({"do": "pid"})).await, leaked);
    until(|| !is_alive(&leaked.to_string())).await;
}

#[tokio::test]
async fn answers_that_nobody_waits_for_do_no_harm() {
    let fake = Fake::new(|_| ());
    let pid = fake.value(json!({"do": "pid"})).await;
    assert_eq!(fake.value(json!({"do": "twice"})).await, "first");
    assert_eq!(fake.value(json!({"do": "unknown"})).await, "mine");
    assert_eq!(fake.value(json!({"do": "pid"})).await, pid);
}

#[tokio::test]
async fn a_child_that_floods_its_output_is_logged_in_part() {
    let fake = Fake::new(|_| ());
    let asked = invocation(json!({"do": "flood", "lines": 50_000}));
    fake.run(&asked).await.unwrap();
    let other = fake.value(json!({"do": "large", "bytes": 1})).await;
    assert_eq!(other, "z");
    assert!(
        asked.host.logs().len() < 10_000,
        "{}",
        asked.host.logs().len()
    );
}

#[tokio::test]
async fn a_neighbour_of_a_handler_that_hangs_its_child_is_run_again_for_free() {
    let fake = Fake::new(|_| ());
    let beside = invocation_with(json!({"do": "obey"}), |invoke| {
        invoke.process = "other".to_owned();
    });
    let handle = fake.begin(&beside);
    until(|| fake.running() == 1).await;
    let bad = invocation_with(json!({"do": "block"}), |invoke| {
        invoke.timeout_ms = Some(200)
    });
    assert_eq!(fake.run(&bad).await.unwrap_err().code, "RUNNER_HUNG");
    let error = within(handle).await.unwrap().unwrap_err();
    assert_eq!(error.code, "RUNNER_ENDED");
    assert!(error.message.contains("deeds"), "{}", error.message);
}

#[tokio::test]
async fn who_kills_a_child_is_found_and_nobody_else_pays() {
    let fake = Fake::new(|_| ());
    let of = |job: &str, input: Value| {
        invocation_with(input, |invoke| {
            invoke.job.job_id = Some(job.to_owned());
        })
    };
    let beside = of("beside", json!({"do": "sleep", "ms": 10_000}));
    let handle = fake.begin(&beside);
    until(|| fake.running() == 1).await;
    let bad = of("bad", json!({"do": "exit", "code": 3}));
    // The cause is not known yet.
    assert_eq!(fake.run(&bad).await.unwrap_err().code, "RUNNER_ENDED");
    let error = within(handle).await.unwrap().unwrap_err();
    assert_eq!(error.code, "RUNNER_ENDED");
    assert!(error.message.contains("exit code 3"), "{}", error.message);
    // Each by itself: one is acquitted, the other pays, again and again.
    let (other, running) = fake.occupied().await;
    let shared = fake.value(json!({"do": "pid"})).await;
    let alone = fake.run(&of("beside", json!({"do": "pid"}))).await.unwrap();
    assert_ne!(alone.value.unwrap().value(), shared);
    until(|| fake.runners.status().len() == 1).await;
    for _ in 0..3 {
        assert_eq!(fake.run(&bad).await.unwrap_err().code, "RUNNER_DIED");
    }
    assert!(!running.is_finished(), "somebody else was harmed");
    let again = fake.run(&of("beside", json!({"do": "pid"}))).await.unwrap();
    assert_eq!(again.value.unwrap().value(), shared);
    other.cancel.cancel(CancelReason::User);
    assert!(within(running).await.unwrap().unwrap_err().is_cancelled());
}

#[tokio::test]
async fn what_a_blocked_child_has_not_begun_is_run_by_another() {
    let fake = Fake::new(|_| ());
    let bad = invocation_with(json!({"do": "block"}), |invoke| {
        invoke.timeout_ms = Some(500)
    });
    let hung = fake.begin(&bad);
    let is_blocking = |frame: &Frame| matches!(frame, Frame::Log { .. });
    bad.host.until(is_blocking).await;
    let call = invocation_with(json!({"do": "large", "bytes": 1}), |invoke| {
        invoke.kind = "call".to_owned();
        invoke.job.job_id = None;
    });
    let reply = fake.run(&call).await.unwrap();
    assert_eq!(reply.value.unwrap().value(), "z");
    assert_eq!(within(hung).await.unwrap().unwrap_err().code, "RUNNER_HUNG");
}

/// A handler that waits for ever, and others in the same process that do not.
#[tokio::test]
async fn a_handler_that_ignores_its_cancellation_harms_nobody_beside_it() {
    let fake = Fake::new(|_| ());
    let (beside, handle) = fake.occupied().await;
    let pid = fake.value(json!({"do": "pid"})).await;
    let bad = invocation_with(json!({"do": "ignore"}), |invoke| {
        invoke.timeout_ms = Some(50)
    });
    assert_eq!(fake.run(&bad).await.unwrap_err().code, "RUNNER_HUNG");
    assert!(!handle.is_finished());
    // New work goes to a new process, and the old one ends when it has nothing else to do.
    assert_ne!(fake.value(json!({"do": "pid"})).await, pid);
    assert!(is_alive(&pid.to_string()));
    beside.cancel.cancel(CancelReason::User);
    assert_eq!(within(handle).await.unwrap().unwrap_err().message, "user");
    until(|| !is_alive(&pid.to_string())).await;
}

#[tokio::test]
async fn what_a_child_has_started_ends_with_it() {
    let fake = Fake::new(|_| ());
    let bad = invocation(json!({"do": "grandchild"}));
    let handle = fake.begin(&bad);
    let grandchild = fake.written().await;
    assert!(is_alive(&grandchild));
    bad.cancel.cancel(CancelReason::User);
    assert_eq!(within(handle).await.unwrap().unwrap_err().code, "CANCELLED");
    until(|| !is_alive(&grandchild)).await;
}

#[tokio::test]
async fn a_child_that_outlives_its_input_is_ended() {
    let fake = Fake::mode("lingers", |_| ());
    let pid = fake.value(json!({"do": "pid"})).await.to_string();
    within(fake.runners.drain(Duration::from_millis(100))).await;
    assert!(!is_alive(&pid));
}

#[tokio::test]
async fn a_pool_that_is_dropped_leaves_no_process() {
    let fake = Fake::new(|_| ());
    let pid = fake.value(json!({"do": "pid"})).await.to_string();
    drop(fake);
    until(|| !is_alive(&pid)).await;
}

async fn cannot_start(mode: &str) -> (String, String) {
    let fake = Fake::mode(mode, |options| options.start = Duration::from_secs(1));
    let error = fake
        .run(&invocation(json!({"do": "echo"})))
        .await
        .unwrap_err();
    assert!(error.retry_after_ms.is_some());
    (error.code.into(), error.message)
}

#[tokio::test]
async fn children_that_cannot_start_are_reported() {
    let (code, message) = cannot_start("crash").await;
    assert_eq!(code, "RUNNER_START");
    assert!(
        message.contains("exit code 9") && message.contains("cannot even begin"),
        "{message}"
    );
    let (code, message) = cannot_start("mute").await;
    assert_eq!(code, "RUNNER_START");
    assert!(
        message.contains("did not answer within 1000 ms"),
        "{message}"
    );
    assert_eq!(cannot_start("old").await.0, "PROTOCOL_VERSION");
}

#[tokio::test]
async fn a_crash_loop_slows_down() {
    let fake = Fake::mode("crash", |options| {
        options.backoff_min = Duration::from_secs(60)
    });
    let begun = Instant::now();
    let asked = invocation(json!({"do": "echo"}));
    let waits = tokio::time::timeout(Duration::from_secs(2), fake.run(&asked)).await;
    // The second start is far away, so this waits rather than spins.
    assert!(waits.is_err() && begun.elapsed() >= Duration::from_secs(2));
}

#[tokio::test]
async fn a_program_that_is_not_there_is_named() {
    let fake = Fake::new(|options| {
        let command = vec!["/nowhere/at/all".into()];
        options.program = riverrun_providers::Program::Command(command);
    });
    let error = fake
        .run(&invocation(json!({"do": "echo"})))
        .await
        .unwrap_err();
    assert_eq!(error.code, "RUNNER_START");
    assert!(
        error.message.contains("/nowhere/at/all"),
        "{}",
        error.message
    );
}

#[tokio::test]
async fn a_module_that_never_loads_is_given_up() {
    let fake = Fake::new(|options| options.load = Duration::from_millis(200));
    let error = within(fake.runners.load("endless", 1)).await.unwrap_err();
    assert_eq!(error.code, "RUNNER_HUNG");
    assert_eq!(fake.value(json!({"do": "large", "bytes": 1})).await, "z");
}

#[tokio::test]
async fn a_module_that_blocks_or_kills_its_runner_harms_no_other() {
    for (file, code) in [
        ("blocking", "RUNNER_HUNG"),
        ("endless", "RUNNER_HUNG"),
        ("deadly", "RUNNER_DIED"),
    ] {
        let fake = Fake::new(|options| options.load = Duration::from_secs(2));
        let (bad, first, second) = tokio::join!(
            within(fake.runners.load(file, 1)),
            within(fake.runners.load("a.mjs", 1)),
            within(fake.runners.load("b.mjs", 1)),
        );
        assert_eq!(bad.err().map(|error| error.code).as_deref(), Some(code));
        for good in [first, second] {
            let good = good.unwrap();
            assert_eq!(good.processes.len(), 1, "{file}");
        }
        assert_eq!(fake.value(json!({"do": "large", "bytes": 1})).await, "z");
    }
}

#[tokio::test]
async fn a_child_that_dies_again_and_again_is_replaced_again_and_again() {
    let fake = Fake::new(|_| ());
    for _ in 0..5 {
        assert_eq!(fake.code(json!({"do": "kill"})).await, "WORKER_LOST");
    }
    assert_eq!(fake.value(json!({"do": "large", "bytes": 1})).await, "z");
}
