use std::time::Duration;

use riverrun_types::{Retry, flow::canonical_retry};
use serde_json::json;

use super::*;

fn read(config: Value) -> Result<ProcessConfig, Vec<ConfigIssue>> {
    ProcessConfig::read(&Json::of(&config), "file-name")
}

#[test]
fn a_process_without_config_is_a_queue_worker_named_by_its_file() {
    let config = read(Value::Null).ok().unwrap();
    assert_eq!(
        (config.run_mode, &*config.queue),
        (RunMode::Queue, "file-name")
    );
    assert_eq!(config.policy.retry.max_attempts, 3);
    assert_eq!((config.concurrency, config.limits.concurrency), (16, None));
}

#[test]
fn every_setting_is_read() {
    let config = read(json!({
        "runMode": "queue", "queue": {"name": "mail", "concurrency": 4}, "keyConcurrency": 1,
        "rateLimit": {"max": 10, "durationMs": 1000},
        "retryPolicy": {"attempts": 5, "backoff": {"type": "fixed", "delayMs": 250},
            "onFail": "drop", "retriableErrors": ["SMTP"]},
        "dlq": {"queue": "dead"}, "timeoutMs": 900,
        "idempotencyKey": {"$function": "(input) => input.id"}, "idempotencyWindowMs": 7,
        "key": "input.tenant", "batch": {"size": 20, "waitMs": 50},
        "inputSchema": {"type": "object"}, "outputSchema": true, "state": {"type": "object"},
    }))
    .ok()
    .unwrap();
    assert_eq!(&*config.queue, "mail");
    // So that a batch can be filled.
    assert_eq!(
        (config.limits.concurrency, config.concurrency),
        (Some(20), 20)
    );
    assert_eq!(
        config.limits.rate,
        Some(Rate {
            max: 10,
            window_ms: 1_000
        })
    );
    assert_eq!(
        config.limits.gather,
        Some(Gather {
            count: 20,
            wait_ms: 50
        })
    );
    let Policy {
        retry,
        on_fail,
        dead_queue,
        timeout,
    } = config.policy;
    assert_eq!(
        (
            retry.max_attempts,
            retry.backoff_multiplier,
            retry.max_backoff_ms
        ),
        (5, 1.0, 250)
    );
    assert_eq!(retry.retry_on, Some(vec!["SMTP".to_owned()]));
    assert_eq!(
        (on_fail, dead_queue.as_deref()),
        (OnFail::Drop, Some("dead"))
    );
    assert_eq!(timeout, Some(Duration::from_millis(900)));
    let idempotency = config.idempotency.unwrap();
    assert!(matches!(idempotency.from, KeyFrom::Expr(_)));
    assert_eq!(idempotency.window, Some(Duration::from_millis(7)));
    let paced = json!({"throttle": {"windowMs": 5, "key": "input.user"}, "concurrency": 4});
    let paced = read(paced).ok().unwrap();
    assert!(paced.throttle.unwrap().key.is_some());
    assert_eq!((paced.limits.concurrency, paced.concurrency), (Some(4), 4));
}

#[test]
fn every_issue_is_reported_at_once() {
    let issues = read(json!({
        "queue": "a b", "concurrency": 0, "rateLimit": {"max": 0, "durationMs": 1},
        "batch": {"size": 0, "waitMs": -1}, "timeoutMs": 0, "inputSchema": {"type": 7},
        "idempotencyKey": "input.(", "dlq": {"queue": ""}, "retryPolicy": {"attempts": 0},
        "debounce": {"delayMs": 1, "key": ")"},
    }))
    .err()
    .unwrap();
    let paths: Vec<&str> = issues.iter().map(|issue| issue.path.as_str()).collect();
    assert_eq!(
        paths,
        [
            "retryPolicy.attempts",
            "queue",
            "concurrency",
            "rateLimit",
            "batch.size",
            "batch.waitMs",
            "timeoutMs",
            "debounce",
            "dlq.queue",
            "inputSchema",
            "idempotencyKey",
            "debounce.key"
        ]
    );
}

#[test]
fn all_issues_within_a_retry_policy_are_reported() {
    let issues = read(json!({"retryPolicy": {
        "attempts": 0, "onFail": "explode", "retriableErrors": 7, "atempts": 1,
        "backoff": {"type": "sideways", "delayMs": -1, "jitter": "much", "delay_ms": 5},
    }}));
    let mut paths: Vec<String> = issues.err().unwrap().into_iter().map(|i| i.path).collect();
    paths.sort();
    assert_eq!(
        paths,
        [
            "retryPolicy.atempts",
            "retryPolicy.attempts",
            "retryPolicy.backoff.delayMs",
            "retryPolicy.backoff.delay_ms",
            "retryPolicy.backoff.jitter",
            "retryPolicy.backoff.type",
            "retryPolicy.onFail",
            "retryPolicy.retriableErrors",
        ]
    );
    let none = read(json!({"retryPolicy": {"backoff": {}}})).err().unwrap();
    assert_eq!(none[0].path, "retryPolicy.backoff.delayMs");
    let short = json!({"retryPolicy": {"backoff": {"delay": 5, "capMs": 9}}});
    assert_eq!(read(short).ok().unwrap().policy.retry.max_backoff_ms, 9);
}

#[test]
fn a_retry_policy_may_have_the_form_of_flows() {
    let flows = json!({"retry": {"maxAttempts": 5, "backoffMs": 100, "backoffMultiplier": 3,
        "maxBackoffMs": 900, "retryOn": ["E"], "jitter": 0.5, "onFail": "drop"}});
    let policy = read(flows).ok().unwrap().policy;
    assert_eq!(policy.on_fail, OnFail::Drop);
    let expected = Retry {
        max_attempts: 5,
        backoff_ms: 100,
        backoff_multiplier: 3.0,
        max_backoff_ms: 900,
        retry_on: Some(vec!["E".to_owned()]),
        jitter: 0.5,
    };
    assert_eq!(policy.retry, expected);
    // Both forms of the same policy mean the same.
    for policy in [
        json!({"attempts": 4, "backoff": {"type": "fixed", "delayMs": 250}}),
        json!({"attempts": 4, "backoff": {"delayMs": 250, "maxDelayMs": 1_000, "jitter": 0.1}}),
        json!({"attempts": 4, "backoff": {"delayMs": 90_000}}),
        json!({"attempts": 4, "retriableErrors": ["E"]}),
    ] {
        let policy = json!({ "retryPolicy": policy });
        let mut canonical = policy.as_object().cloned().unwrap();
        canonical_retry(&mut canonical);
        assert!(canonical.contains_key("retry"), "{canonical:?}");
        let retry = read(Value::Object(canonical)).ok().unwrap().policy;
        assert_eq!(read(policy).ok().unwrap().policy, retry);
    }
    let both = json!({"retry": {"maxAttempts": 2}, "retryPolicy": {"attempts": 2}});
    assert_eq!(read(both).err().unwrap()[0].path, "retryPolicy");
    let wrong = json!({"retry": {"maxAttempts": 0, "backoffMultiplier": 0, "attempts": 1}});
    let paths: Vec<String> = read(wrong)
        .err()
        .unwrap()
        .into_iter()
        .map(|i| i.path)
        .collect();
    let expected = [
        "retry.maxAttempts",
        "retry.backoffMultiplier",
        "retry.attempts",
    ];
    assert_eq!(paths, expected);
}

#[test]
fn invalid_values_are_reported_by_their_setting() {
    let issues = read(json!({
        "retryPolicy": {"attempts": "many"}, "rateLimit": {"max": 1, "durationMS": 1},
        "concurency": 2, "queue": 7, "runMode": "sideways", "zzz": 1, "key": 4,
    }))
    .err()
    .unwrap();
    let reported: Vec<(&str, &str)> = issues
        .iter()
        .map(|issue| (issue.path.as_str(), issue.message.as_str()))
        .collect();
    assert_eq!(
        reported,
        [
            ("runMode", "must be queue, flow or call, not \"sideways\""),
            (
                "queue",
                "must be the name of a queue, or {name, concurrency}, not 7"
            ),
            (
                "rateLimit.durationMS",
                "there is no `durationMS` here, only max and durationMs; did you mean durationMs?"
            ),
            (
                "retryPolicy.attempts",
                "must be a whole number from 0 to 4294967295, not \"many\""
            ),
            (
                "key",
                "must be a function, an expression as text, or 'auto'"
            ),
            ("concurency", "is not a setting; did you mean concurrency?"),
            ("zzz", "is not a setting"),
        ]
    );
    let issues = read(json!([1])).err().unwrap();
    assert_eq!(issues[0].path, "config");
}

#[test]
fn what_flows_and_sdks_read_is_accepted() {
    let config = read(json!({
        "flow": {"id": "f", "role": "entry", "step": "a"}, "step": "a", "emits": ["x"],
        "subscriptions": [{"eventKind": "x"}], "await": {"type": "time"}, "join": "all",
        "compensation": {"step": "b", "on": "c"}, "triggers": "t", "onFailure": "b",
        "description": "what it does", "name": "A", "version": "1", "id": "a", "logger": {},
        "persistFrames": false, "concurrency": null,
    }));
    assert!(config.is_ok());
}
