//! An executable for each job.

use std::{sync::Arc, time::Duration};

use riverrun_contract::Provider;
use riverrun_protocol::{CancelReason, Frame, LogLevel, Reply, WorkError};
use riverrun_providers::{External, ExternalOptions};
use serde_json::{Value, json};

use crate::harness::{Asked, invocation, invocation_with, is_alive, until, within};

fn shell(script: &str) -> Arc<External> {
    let options = ExternalOptions {
        cancel_grace: Duration::from_millis(300),
        ..ExternalOptions::default()
    };
    let command = ["sh", "-c", script].map(Into::into).to_vec();
    Arc::new(External::new(command, options))
}

async fn run(script: &str, asked: &Asked) -> Result<Reply, WorkError> {
    within(shell(script).invoke(asked.invocation.clone())).await
}

async fn value(script: &str, input: Value) -> Value {
    let reply = run(script, &invocation(input)).await.unwrap();
    reply.value.map_or(Value::Null, |value| value.value())
}

async fn code(script: &str) -> String {
    run(script, &invocation(Value::Null))
        .await
        .unwrap_err()
        .code
        .into()
}

#[tokio::test]
async fn the_job_is_in_the_environment_and_on_standard_input() {
    let said = value(
        r#"echo "[\"$RIVERRUN_JOB_ID\",\"$RIVERRUN_HANDLER\",$RIVERRUN_ATTEMPT,$RIVERRUN_INPUT,$(cat)]""#,
        json!({"a": 1}),
    );
    assert_eq!(said.await, json!(["job-1", "deeds", 1, {"a": 1}, {"a": 1}]));
}

#[tokio::test]
async fn a_large_input_is_in_a_file_that_goes_away() {
    let large = json!("x".repeat(100_000));
    let script = r#"test -z "$RIVERRUN_INPUT" && wc -c < "$RIVERRUN_INPUT_FILE" && echo "\"$RIVERRUN_INPUT_FILE\"""#;
    let file = value(script, large.clone()).await;
    assert!(!std::path::Path::new(file.as_str().unwrap()).exists());
    assert_eq!(
        value(r#"wc -c < "$RIVERRUN_INPUT_FILE""#, large).await,
        100_002
    );
}

#[tokio::test]
async fn the_last_word_on_fd_3_counts() {
    let asked = invocation(Value::Null);
    let script = r#"
        echo '{"method":"progress","params":{"pct":50}}' >&3
        echo 7
        echo '{"result":{"value":1}}' >&3
        printf '{"result":{"value":2}}' >&3
        echo trouble >&2
    "#;
    let reply = run(script, &asked).await.unwrap();
    assert_eq!(reply.value.unwrap().as_str(), "2");
    assert!(asked.host.frames().contains(&Frame::Progress {
        pct: Some(50.0),
        detail: None
    }));
    let logs = asked.host.logs();
    assert!(logs.contains(&(LogLevel::Info, "7".to_owned())));
    assert!(logs.contains(&(LogLevel::Warn, "trouble".to_owned())));
    let twice = |(level, line): &(LogLevel, String)| {
        *level == LogLevel::Warn && line.contains("the last one counts")
    };
    assert_eq!(logs.iter().filter(|log| twice(log)).count(), 1, "{logs:?}");
    assert_eq!(
        code(r#"echo '{"error":{"code":"CARD","message":"no"}}' >&3"#).await,
        "CARD"
    );
    assert_eq!(code("echo nonsense >&3; sleep 100").await, "PROTOCOL_ERROR");
}

#[tokio::test]
async fn what_a_step_waited_for_is_in_the_environment() {
    let awaiting = |awaited: Value| {
        invocation_with(Value::Null, |invoke| {
            invoke.awaited = Some(riverrun_types::Json::of(&awaited));
        })
    };
    let small = awaiting(json!({"yes": true}));
    let reply = run(r#"echo "$RIVERRUN_AWAITED""#, &small).await.unwrap();
    assert_eq!(reply.value.unwrap().value(), json!({"yes": true}));
    let large = awaiting(json!("x".repeat(100_000)));
    let script = r#"test -z "$RIVERRUN_AWAITED" && wc -c < "$RIVERRUN_AWAITED_FILE""#;
    let reply = run(script, &large).await.unwrap();
    assert_eq!(reply.value.unwrap().value(), 100_002);
    let without = invocation(Value::Null);
    let reply = run(r#"echo "\"${RIVERRUN_AWAITED-none}\"""#, &without).await;
    assert_eq!(reply.unwrap().value.unwrap().value(), "none");
}

#[tokio::test]
async fn an_executable_emits_over_fd_3_and_its_invalid_lines_are_logged() {
    let asked = invocation_with(Value::Null, |invoke| {
        let emitted =
            json!([{"op": "emit", "name": "made"}, {"op": "memo", "name": "sent", "value": 1}]);
        invoke.job.journal = serde_json::from_value(emitted).unwrap();
    });
    // The last ones are still in the pipe when it has ended.
    let script = r#"
        emit() { echo "{\"method\":\"emit\",\"params\":{\"type\":\"$1\",\"data\":$2}}" >&3; }
        emit made 1
        emit made 2
        emit sent 3
        echo '{"method":"bogus"}' >&3
        for n in $(seq 500); do emit many $n; done
    "#;
    run(script, &asked).await.unwrap();
    let emitted = asked.host.asked.lock().clone();
    let first: Vec<_> = emitted
        .iter()
        .take(3)
        .map(|(method, params)| {
            (
                method.as_str(),
                params["type"].as_str().unwrap(),
                params["data"].clone(),
            )
        })
        .collect();
    assert_eq!(
        first,
        [
            ("emit", "made", json!(2)),
            ("emit", "sent", json!(3)),
            ("emit", "many", json!(1))
        ]
    );
    assert_eq!(emitted.len(), 502);
    let is_warning =
        |(level, line): &(LogLevel, String)| *level == LogLevel::Warn && line.contains("bogus");
    assert_eq!(
        asked
            .host
            .logs()
            .iter()
            .filter(|log| is_warning(log))
            .count(),
        1
    );
}

#[tokio::test]
async fn an_emit_that_is_refused_ends_the_executable() {
    let script = r#"echo '{"method":"emit","params":{"type":"flow.failed"}}' >&3; sleep 100; echo '{"result":{}}' >&3"#;
    assert_eq!(code(script).await, "RESERVED_TYPE");
}

#[tokio::test]
async fn the_last_line_of_standard_output_is_the_result_if_it_is_json() {
    let asked = invocation(Value::Null);
    let reply = run("echo one; echo 2; echo '{\"three\":3}'", &asked)
        .await
        .unwrap();
    assert_eq!(reply.value.unwrap().as_str(), "{\"three\":3}");
    let expected = ["one", "2"].map(|line| (LogLevel::Info, line.to_owned()));
    assert_eq!(asked.host.logs(), expected);
    let asked = invocation(Value::Null);
    assert_eq!(run("echo 1; echo done", &asked).await.unwrap().value, None);
    assert_eq!(asked.host.logs().len(), 2);
    let large = format!(
        "printf '\"'; head -c {} /dev/zero | tr '\\0' x; echo '\"'",
        100_000
    );
    assert_eq!(
        value(&large, Value::Null).await.as_str().unwrap().len(),
        100_000
    );
}

#[tokio::test]
async fn a_last_line_over_the_limit_is_reported_with_its_size() {
    // A text, an object and a list.
    for (before, fill, after) in [
        ("\"", "x", "\""),
        ("{\"a\":\"", "x", "\"}"),
        ("[\"", "x", "\"]"),
    ] {
        let script = format!(
            "echo first; printf '%s' '{before}'; head -c 3000000 /dev/zero | tr '\\0' '{fill}'; echo '{after}'"
        );
        let error = run(&script, &invocation(Value::Null)).await.unwrap_err();
        assert_eq!(error.code, "RESULT_TOO_LARGE", "{before}");
        let bytes = 3_000_000 + before.len() + after.len();
        let said = format!("{bytes} bytes");
        assert!(error.message.contains(&said), "{}", error.message);
    }
    // One that is cut in the middle of a number.
    let script = "printf '['; seq -s, 1 300000 | tr -d '\\n'; echo ']'";
    assert_eq!(code(script).await, "RESULT_TOO_LARGE");
    // A long line that is no value is a line of a log still.
    let script = "head -c 3000000 /dev/zero | tr '\\0' x";
    assert_eq!(value(script, Value::Null).await, Value::Null);
}

#[tokio::test]
async fn exit_codes_and_signals_fail_the_job() {
    let error = run("echo why >&2; exit 3", &invocation(Value::Null))
        .await
        .unwrap_err();
    assert_eq!(error.code, "EXIT_3");
    assert!(error.message.contains("exit code 3") && error.message.contains("why"));
    assert_eq!(code("kill -9 $$").await, "EXIT_SIGKILL");
    assert_eq!(
        code("echo '{\"result\":{\"value\":1}}' >&3; exit 4").await,
        "EXIT_4"
    );
    let missing = External::new(vec!["/nowhere".into()], ExternalOptions::default());
    let error = missing
        .invoke(invocation(Value::Null).invocation)
        .await
        .unwrap_err();
    assert_eq!(error.code, "RUNNER_START");
}

#[tokio::test]
async fn time_is_over_for_the_whole_group() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid");
    let script = format!(
        "trap '' TERM; sleep 100 & echo $! > {}; wait; wait",
        file.display()
    );
    let asked = invocation_with(Value::Null, |invoke| invoke.timeout_ms = Some(300));
    assert_eq!(run(&script, &asked).await.unwrap_err().code, "TIMEOUT");
    let pid = std::fs::read_to_string(&file).unwrap().trim().to_owned();
    until(|| !is_alive(&pid)).await;
}

#[tokio::test]
async fn an_executable_that_holds_too_much_memory_is_ended_with_its_group() {
    let options = ExternalOptions {
        memory_bytes: 100 << 20,
        memory_interval: Duration::from_millis(50),
        ..ExternalOptions::default()
    };
    // What leaks is not the executable itself, but something that it has started.
    let script =
        "node -e 'const held = Buffer.alloc(200 << 20, 1); setTimeout(() => held, 60000)' &
        wait";
    let command = ["/bin/sh", "-c", script].map(Into::into).to_vec();
    let asked = invocation(json!(null));
    let external = External::new(command, options);
    let ended = external.invoke(asked.invocation.clone());
    let error = within(ended).await.unwrap_err();
    assert_eq!(error.code, "RUNNER_MEMORY");
    assert!(
        error.message.contains("more than 100 MiB"),
        "{}",
        error.message
    );
}

#[tokio::test]
async fn output_of_an_executable_is_read_up_to_the_last_line() {
    let asked = invocation(json!(null));
    run("seq 1 10000", &asked).await.unwrap();
    // The last one is its result.
    assert_eq!(asked.host.logs().len(), 9_999);
}

#[tokio::test]
async fn a_cancelled_job_may_end_in_order() {
    let asked = invocation(Value::Null);
    let script = r#"trap 'echo "\"tidied\""; exit 0' TERM; echo begun; sleep 100 & wait"#;
    let provider = shell(script);
    let invocation_ = asked.invocation.clone();
    let handle = tokio::spawn(async move { provider.invoke(invocation_).await });
    asked
        .host
        .until(|frame| matches!(frame, Frame::Log { .. }))
        .await;
    asked.cancel.cancel(CancelReason::User);
    let reply = within(handle).await.unwrap().unwrap();
    assert_eq!(reply.value.unwrap().as_str(), "\"tidied\"");

    let asked = invocation(Value::Null);
    let provider = shell("echo begun; sleep 100");
    let invocation_ = asked.invocation.clone();
    let handle = tokio::spawn(async move { provider.invoke(invocation_).await });
    asked
        .host
        .until(|frame| matches!(frame, Frame::Log { .. }))
        .await;
    asked.cancel.cancel(CancelReason::User);
    assert!(within(handle).await.unwrap().unwrap_err().is_cancelled());
}

#[tokio::test]
async fn a_job_that_nobody_waits_for_ends() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid");
    let provider = shell(&format!("echo $$ > {}; sleep 100", file.display()));
    let asked = invocation(Value::Null);
    let handle = tokio::spawn(async move { provider.invoke(asked.invocation).await });
    until(|| std::fs::read_to_string(&file).is_ok_and(|text| text.ends_with('\n'))).await;
    handle.abort();
    let pid = std::fs::read_to_string(&file).unwrap().trim().to_owned();
    until(|| !is_alive(&pid)).await;
}

#[tokio::test]
async fn a_last_line_that_is_broken_json_is_no_success() {
    for line in [r#"{"a": 1"#, r#"["a", }"#, r"{'a': 1}"] {
        let script = format!("cat <<'END'\n{line}\nEND");
        let error = run(&script, &invocation(Value::Null)).await.unwrap_err();
        assert_eq!(error.code, "OUTPUT_INVALID", "{line}");
        assert!(error.message.contains(line), "{}", error.message);
    }
    // What was only printed, or was not the last, is a log.
    for script in [
        "echo '[info] ready'",
        "echo '[2024-01-01] ready'",
        "echo '{ready'; echo done",
        "echo",
    ] {
        assert_eq!(value(script, Value::Null).await, Value::Null, "{script}");
    }
    assert_eq!(value("echo '{ready'; echo 7", Value::Null).await, 7);
    assert_eq!(code("echo '{ready'; exit 4").await, "EXIT_4");
}

#[tokio::test]
async fn an_interpreter_that_is_missing_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    for (name, line, missing) in [
        ("direct", "#!/nowhere/perl6 -w", "/nowhere/perl6"),
        (
            "by-env",
            "#!/usr/bin/env no-such-language",
            "no-such-language",
        ),
    ] {
        let file = folder.path().join(name);
        std::fs::write(&file, format!("{line}\nsay 1\n")).unwrap();
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o755)).unwrap();
        let external = External::new(vec![file.into()], ExternalOptions::default());
        let asked = invocation(Value::Null);
        let error = within(external.invoke(asked.invocation.clone())).await;
        let error = error.unwrap_err();
        assert_eq!(error.code, "RUNTIME_MISSING");
        assert!(error.message.contains(missing), "{}", error.message);
    }
}
