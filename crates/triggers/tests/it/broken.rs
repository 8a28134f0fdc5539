//! Triggers that are kept and cannot be used: seen, refused, and got rid of.

use riverrun_store::{Change, Commit, NewTrigger, NextDue};
use riverrun_triggers::{HookRequest, ManualFire, Origin, Synced, Triggers};
use riverrun_types::Json;
use serde_json::{Value, json};

use crate::given::*;

/// A hook whose secret is in a variable that this environment does not have.
fn signed(origin: &str) -> Value {
    let signature = json!({"header": "x-sign", "secretEnv": "RIVERRUN_NO_SUCH_SECRET"});
    json!({
        "id": "h", "type": "http", "flow": "order", "origin": origin,
        "config": {"path": "/orders/:id", "signature": signature},
    })
}

/// The triggers of a server that comes up again without that variable.
async fn without_secret(given: &Given, origin: &str) -> Triggers {
    let new = NewTrigger {
        id: "h".into(),
        version: 1,
        kind: "http".into(),
        enabled: true,
        definition: Json::of(&signed(origin)),
        route: Some("POST /orders/{p1}".into()),
        due: NextDue::At(None),
        now_ms: 1,
    };
    let commit = Commit {
        changes: vec![Change::Trigger(Box::new(new))],
        ..Commit::default()
    };
    given.runtime.base().commit(commit).await.unwrap();
    Triggers::open(&given.runtime).await.unwrap()
}

fn post() -> HookRequest {
    HookRequest {
        method: "POST".to_owned(),
        path: "/orders/7".to_owned(),
        ..HookRequest::default()
    }
}

#[tokio::test]
async fn one_without_its_secret_is_seen_and_starts_nothing() {
    let given = Given::new().await;
    let triggers = without_secret(&given, "api").await;
    assert_eq!(triggers.ids(), ["h"]);
    let listed = triggers.list(None, 10, None).await.unwrap().items;
    let shown = triggers.show("h").await.unwrap();
    for shown in [&listed[0], &shown].map(|shown| Json::of(shown).value()) {
        assert_eq!(shown["broken"]["code"], "TRIGGER_INVALID", "{shown:#}");
        let message = shown["broken"]["message"].as_str().unwrap();
        assert!(message.contains("RIVERRUN_NO_SUCH_SECRET"), "{message}");
        assert_eq!(shown["path"], "/hooks/orders/:id");
    }
    assert_eq!(code(triggers.hook(post())), "TRIGGER_BROKEN");
    let fired = triggers.fire("h", ManualFire::default()).await;
    assert_eq!(code(fired), "TRIGGER_BROKEN");
    // Its path is its own until it goes.
    let other = json!({
        "id": "i", "type": "http", "flow": "order", "config": {"path": "/orders/:order"},
    });
    let refused = triggers
        .put(other.clone(), Origin::Api)
        .await
        .err()
        .unwrap();
    assert_eq!(refused.code(), "TRIGGER_ROUTE_TAKEN");
    let said = refused.to_string();
    assert!(said.contains("POST /orders/:order"), "{said}");
    triggers.remove("h").await.unwrap();
    assert_eq!(code(triggers.hook(post())), "NOT_FOUND");
    triggers.put(other, Origin::Api).await.unwrap();
}

#[tokio::test]
async fn one_that_cannot_be_used_is_switched_off_and_mended() {
    let given = Given::new().await;
    let triggers = without_secret(&given, "api").await;
    assert!(!triggers.enable("h", true).await.unwrap().changed);
    let off = triggers.enable("h", false).await.unwrap();
    assert!(off.changed && !off.trigger.is_enabled());
    assert_eq!(off.trigger.version(), 2);
    assert_eq!(code(triggers.enable("h", true).await), "TRIGGER_BROKEN");
    assert_eq!(code(triggers.hook(post())), "TRIGGER_BROKEN");
    let mended = json!({"config": {"signature": null}});
    let mended = triggers.patch("h", mended).await.unwrap();
    // Fields that the patch does not name stay as they are.
    assert!(!mended.created && !mended.trigger.is_enabled());
    triggers.enable("h", true).await.unwrap();
    triggers.hook(post()).unwrap();
    let shown = Json::of(&triggers.show("h").await.unwrap()).value();
    assert_eq!(shown.get("broken"), None);
}

#[tokio::test]
async fn one_whose_file_is_gone_goes() {
    let given = Given::new().await;
    let triggers = without_secret(&given, "project").await;
    let outcomes = triggers.sync_project(Vec::new()).await;
    let outcomes: Vec<_> = outcomes
        .into_iter()
        .map(|(id, done)| (id, done.ok()))
        .collect();
    assert_eq!(outcomes, [("h".to_owned(), Some(Synced::Removed))]);
    assert!(triggers.ids().is_empty());
}

#[tokio::test]
async fn one_of_a_file_is_kept_without_its_secret() {
    let given = Given::new().await;
    let mut file = signed("api");
    file.as_object_mut().unwrap().remove("origin");
    // A request that creates one gets the error at once.
    assert_eq!(given.refused(file.clone()).await, "TRIGGER_INVALID");
    let sync = async || {
        let outcomes = given.triggers.sync_project(vec![file.clone()]).await;
        outcomes.into_iter().next().unwrap().1.unwrap()
    };
    assert_eq!(sync().await, Synced::Changed);
    let shown = given.shown("h").await;
    assert_eq!(shown["broken"]["code"], "TRIGGER_INVALID", "{shown:#}");
    assert_eq!(code(given.triggers.hook(post())), "TRIGGER_BROKEN");
    // However often a server comes up without it.
    assert_eq!(sync().await, Synced::Same);
    assert_eq!(given.shown("h").await["version"], 1);
}

#[tokio::test]
async fn what_is_wrong_with_a_file_beside_its_secret_is_refused() {
    let given = Given::new().await;
    let mut file = signed("api");
    file["flow"] = json!("absent");
    let outcomes = given.triggers.sync_project(vec![file]).await;
    let (_, refused) = outcomes.into_iter().next().unwrap();
    assert_eq!(code(refused), "FLOW_NOT_FOUND");
}
