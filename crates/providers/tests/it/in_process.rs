//! Functions of this program.

use std::time::Duration;

use riverrun_contract::Provider;
use riverrun_protocol::{CancelReason, WorkError};
use riverrun_providers::{Context, InProcess};
use riverrun_types::Json;
use serde_json::{Value, json};

use crate::harness::{invocation, invocation_with, within};

#[tokio::test]
async fn a_function_answers_and_talks_to_the_host() {
    let provider = InProcess::new(async |input: Json, context: Context| {
        context.progress(50.0, None);
        context.emit("seen", &input).await?;
        let refused = context.set("accuracy", &1).await.unwrap_err();
        Ok(Json::of(&json!({"input": input, "refused": refused.code})))
    });
    let asked = invocation(json!([1]));
    let reply = provider.invoke(asked.invocation.clone()).await.unwrap();
    let expected = json!({"input": [1], "refused": "STATE_INVALID"});
    assert_eq!(reply.value.unwrap().value(), expected);
    assert_eq!(asked.host.frames().len(), 1);
    assert_eq!(
        asked.host.asked.lock()[0],
        ("emit".to_owned(), json!({"type": "seen", "data": [1]}))
    );
}

#[tokio::test]
async fn errors_and_panics_are_the_invocations_own() {
    let fails = InProcess::new(async |_, _| Err(WorkError::new("CARD", "declined")));
    let error = fails
        .invoke(invocation(Value::Null).invocation)
        .await
        .unwrap_err();
    assert_eq!(error.code, "CARD");
    let panics = InProcess::new(async |input: Json, _| match input.is_null() {
        true => panic!("out of {}", "luck"),
        false => Ok(input),
    });
    let error = panics
        .invoke(invocation(Value::Null).invocation)
        .await
        .unwrap_err();
    assert_eq!(error.code, "HANDLER_PANIC");
    assert!(error.message.contains("out of luck"));
    assert!(panics.invoke(invocation(json!(1)).invocation).await.is_ok());
}

#[tokio::test]
async fn a_function_is_asked_to_stop_and_dropped_if_it_does_not() {
    let obeys = InProcess::new(async |_, context: Context| {
        let reason = context.cancelled().await;
        assert_eq!(reason, CancelReason::User);
        Ok(Json::from("tidied"))
    });
    let asked = invocation(Value::Null);
    asked.cancel.cancel(CancelReason::User);
    let reply = within(obeys.invoke(asked.invocation)).await.unwrap();
    assert_eq!(reply.value, Some(Json::from("tidied")));

    let ignores = InProcess::new(async |_, _| std::future::pending().await)
        .cancel_grace(Duration::from_millis(50));
    let late = invocation_with(Value::Null, |invoke| invoke.timeout_ms = Some(20));
    let error = within(ignores.invoke(late.invocation)).await.unwrap_err();
    assert_eq!(error.code, "TIMEOUT");
    let asked = invocation(Value::Null);
    asked.cancel.cancel(CancelReason::LeaseLost);
    assert!(
        within(ignores.invoke(asked.invocation))
            .await
            .unwrap_err()
            .is_cancelled()
    );
}
