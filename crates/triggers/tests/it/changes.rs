//! Triggers as data: made, changed, switched, fired by hand, removed.

use riverrun_triggers::{ManualFire, Origin, Synced};
use riverrun_types::Json;
use serde_json::{Value, json};

use crate::given::*;

fn manual(id: &str) -> Value {
    json!({"id": id, "type": "manual", "flow": "order"})
}

#[tokio::test]
async fn every_change_is_a_version_and_stands_in_the_stream() {
    let given = Given::new().await;
    let first = given.put(manual("t")).await;
    assert_eq!(
        (&first["version"], &first["enabled"]),
        (&json!(1), &json!(true))
    );
    // The same again is no change.
    let same = given.triggers.put(manual("t"), Origin::Api).await.unwrap();
    assert!(!same.changed && !same.created);
    let mut other = manual("t");
    other["description"] = json!("by hand");
    assert_eq!(given.put(other).await["version"], 2);
    let put = given
        .triggers
        .patch("t", json!({"tags": ["a"], "version": 2}))
        .await;
    assert_eq!(put.unwrap().trigger.version(), 3);
    let late = given
        .triggers
        .patch("t", json!({"tags": [], "version": 2}))
        .await;
    assert_eq!(code(late), "TRIGGER_MOVED");
    assert_eq!(
        given
            .triggers
            .enable("t", false)
            .await
            .unwrap()
            .trigger
            .version(),
        4
    );
    assert!(!given.triggers.enable("t", false).await.unwrap().changed);
    // Who does not speak of it leaves it disabled.
    let put = given
        .triggers
        .patch("t", json!({"description": null}))
        .await
        .unwrap();
    assert!(!put.trigger.is_enabled());
    let shown = given.shown("t").await;
    assert_eq!(
        (&shown["version"], &shown["tags"]),
        (&json!(5), &json!(["a"]))
    );
    assert_eq!(shown.get("description"), None);
    given.triggers.remove("t").await.unwrap();
    assert_eq!(code(given.triggers.show("t").await), "TRIGGER_NOT_FOUND");
    let events = given.events("t").await;
    let versions: Vec<Value> = events
        .iter()
        .map(|event| event.data.as_ref().unwrap().value()["version"].clone())
        .collect();
    assert_eq!(
        versions,
        [json!(1), json!(2), json!(3), json!(4), json!(5), json!(5)]
    );
    assert_eq!(events.last().unwrap().kind.as_str(), "trigger.cancelled");
    // One that comes back goes on counting.
    assert_eq!(given.put(manual("t")).await["version"], 6);
}

/// A member that no trigger has is an error, whatever its value.
#[tokio::test]
async fn a_change_of_an_unknown_member_is_refused() {
    let given = Given::new().await;
    given
        .put(
            json!({"id": "e", "type": "event", "flow": "order", "tags": ["a"],
        "config": {"kind": "paid", "when": "event.data.total > 1"}}),
        )
        .await;
    for change in [
        json!({"colour": null}),
        json!({"colour": "red"}),
        json!({"config": {"colour": null}}),
        json!({"config": {"colour": "red"}}),
    ] {
        let refused = given.triggers.patch("e", change.clone()).await;
        assert_eq!(code(refused), "TRIGGER_INVALID", "{change}");
    }
    for change in [
        json!({"tags": null}),
        json!({"tenantId": null, "version": null}),
        json!({"config": {"when": null}}),
        // A setting of another type of trigger.
        json!({"config": {"cron": null}}),
    ] {
        let changed = given.triggers.patch("e", change.clone()).await;
        assert!(changed.is_ok(), "{change}");
    }
    let shown = given.shown("e").await;
    assert_eq!(shown["config"], json!({"kind": "paid"}));
    assert_eq!(shown.get("tags"), None);
}

#[tokio::test]
async fn what_cannot_be_a_trigger_is_refused() {
    let given = Given::new().await;
    let with = |key: &str, value: Value| {
        let mut definition = manual("t");
        definition[key] = value;
        definition
    };
    let http =
        |config: Value| json!({"id": "h", "type": "http", "flow": "order", "config": config});
    for (definition, code) in [
        (with("flow", json!("absent")), "FLOW_NOT_FOUND"),
        (with("flowVersion", json!("9.0.0")), "FLOW_NOT_FOUND"),
        (with("colour", json!("red")), "TRIGGER_INVALID"),
        (with("id", json!(".")), "TRIGGER_INVALID"),
        (with("id", json!("..")), "TRIGGER_INVALID"),
        (with("inputMap", json!("1")), "TRIGGER_INVALID"),
        (with("idempotencyKey", json!("1 +")), "TRIGGER_INVALID"),
        (with("contextKey", json!("a..b")), "TRIGGER_INVALID"),
        (with("config", json!({"x": 1})), "TRIGGER_INVALID"),
        (http(json!({})), "TRIGGER_INVALID"),
        (
            http(json!({"path": "/x", "method": "BREW"})),
            "TRIGGER_INVALID",
        ),
        (http(json!({"path": "/hooks/x"})), "TRIGGER_INVALID"),
        (
            http(json!({"path": "/x", "bodySchema": {"type": 7}})),
            "TRIGGER_INVALID",
        ),
        (
            json!({"id": "s", "type": "schedule", "flow": "order", "config": {"cron": "x"}}),
            "CRON_INVALID",
        ),
        (
            json!({"id": "s", "type": "schedule", "flow": "order", "config": {"cron": "0 0 30 2 *"}}),
            "CRON_INVALID",
        ),
        (
            json!({"id": "s", "type": "schedule", "flow": "order",
            "config": {"cron": "* * * * *", "timezone": "Nowhere"}}),
            "TIME_ZONE_UNKNOWN",
        ),
        (
            json!({"id": "s", "type": "schedule", "flow": "order",
            "config": {"at": "2020-01-01T00:00:00Z", "startAt": "2021-01-01T00:00:00Z"}}),
            "TRIGGER_INVALID",
        ),
        (
            json!({"id": "e", "type": "event", "flow": "order", "config": {"when": "1"}}),
            "TRIGGER_INVALID",
        ),
    ] {
        assert_eq!(
            given.refused(definition.clone()).await,
            code,
            "{definition}"
        );
    }
    given.put(manual("t")).await;
    assert_eq!(
        code(given.triggers.create(manual("t")).await),
        "TRIGGER_EXISTS"
    );
    assert_eq!(
        code(given.triggers.patch("t", json!({"id": "u"})).await),
        "TRIGGER_INVALID"
    );
}

#[tokio::test]
async fn a_run_says_which_trigger_started_it() {
    let given = Given::new().await;
    let mut definition = manual("t");
    definition["metadata"] = json!({"team": "x"});
    definition["tags"] = json!(["nightly"]);
    definition["tenantId"] = json!("acme");
    definition["input"] = json!({"n": 1});
    given.put(definition).await;
    let fire = ManualFire {
        source: Some("support".to_owned()),
        request_id: Some("r-1".to_owned()),
        ..ManualFire::default()
    };
    let started = given.triggers.fire("t", fire).await.unwrap();
    let view = given.run(&started).await;
    assert_eq!(state(&view)["n"], 1);
    let record = &view.loaded.record;
    assert_eq!(record.tags, ["nightly".into()]);
    assert_eq!(record.tenant.as_deref(), Some("acme"));
    let metadata = record.metadata.as_ref().unwrap().value();
    assert_eq!(metadata["team"], "x");
    let origin = &metadata["trigger"];
    assert!(origin["receivedAt"].is_i64());
    for (key, value) in [
        ("id", json!("t")),
        ("type", json!("manual")),
        ("version", json!(1)),
        ("source", json!("support")),
        ("requestId", json!("r-1")),
    ] {
        assert_eq!(origin[key], value);
    }
    let fired = given.events("t").await.pop().unwrap();
    assert_eq!(fired.kind.as_str(), "trigger.fired");
    assert_eq!(fired.correlation_id.as_deref(), Some(started.run.as_str()));
    assert_eq!(
        given.shown("t").await["stats"]["lastRunId"],
        json!(started.run)
    );
}

#[tokio::test]
async fn firing_by_hand_is_idempotent_and_failures_are_seen() {
    let given = Given::new().await;
    given
        .put(json!({"id": "t", "type": "manual", "flow": "strict"}))
        .await;
    let fire = |input: Value| ManualFire {
        input: Some(Json::of(&input)),
        idempotency_key: Some("k".to_owned()),
        ..ManualFire::default()
    };
    assert_eq!(
        code(given.triggers.fire("t", fire(json!({}))).await),
        "INPUT_INVALID"
    );
    let first = given
        .triggers
        .fire("t", fire(json!({"n": 1})))
        .await
        .unwrap();
    let again = given
        .triggers
        .fire("t", fire(json!({"n": 2})))
        .await
        .unwrap();
    assert!(first.created && !again.created);
    assert_eq!(first.run, again.run);
    assert_eq!(
        given.kinds("t").await,
        [
            "trigger.registered",
            "trigger.failed",
            "trigger.fired",
            "trigger.fired"
        ]
    );
    let stats = &given.shown("t").await["stats"];
    assert_eq!((&stats["fired"], &stats["failed"]), (&json!(2), &json!(1)));
    assert_eq!(stats["lastError"]["code"], "INPUT_INVALID");
    given.triggers.enable("t", false).await.unwrap();
    assert_eq!(
        code(given.triggers.fire("t", fire(json!({"n": 1}))).await),
        "TRIGGER_DISABLED"
    );
    assert_eq!(
        code(given.triggers.fire("u", fire(json!({}))).await),
        "TRIGGER_NOT_FOUND"
    );
}

#[tokio::test]
async fn a_change_says_what_it_means_or_is_refused() {
    let given = Given::new().await;
    let event = json!({
        "id": "e", "type": "event", "flow": "order", "inputMap": "1", "config": {"kind": "k"},
    });
    given.put(event).await;
    let origin = json!({"origin": "project"});
    let refused = given.triggers.patch("e", origin).await;
    assert_eq!(code(refused), "TRIGGER_INVALID");
    for (change, map) in [
        (json!({"config": {"map": "2"}}), json!("2")),
        (json!({"map": "3", "origin": "api"}), json!("3")),
        (json!({"config": {"map": null}}), Value::Null),
    ] {
        given.triggers.patch("e", change.clone()).await.unwrap();
        assert_eq!(given.shown("e").await["inputMap"], map, "{change}");
    }
}

#[tokio::test]
async fn triggers_of_a_project_follow_its_files() {
    let given = Given::new().await;
    given.put(manual("by-hand")).await;
    let sync = async |files: Vec<Value>| {
        let outcomes = given.triggers.sync_project(files).await;
        let outcomes = outcomes
            .into_iter()
            .map(|(id, done)| (id, done.map_err(|error| error.code().as_str())));
        outcomes.collect::<Vec<_>>()
    };
    let one = |id: &str, synced| (id.to_owned(), Ok(synced));
    assert_eq!(
        sync(vec![manual("a"), manual("b")]).await,
        [one("a", Synced::Changed), one("b", Synced::Changed)]
    );
    assert_eq!(
        sync(vec![manual("a"), manual("b")]).await,
        [one("a", Synced::Same), one("b", Synced::Same)]
    );
    // What an operator switched off stays off.
    given.triggers.enable("a", false).await.unwrap();
    assert_eq!(
        sync(vec![manual("a")]).await,
        [one("a", Synced::Same), one("b", Synced::Removed)]
    );
    assert_eq!(given.shown("a").await["enabled"], false);
    // A file that is wrong changes nothing, and two of one id are one too many.
    let mut wrong = manual("a");
    wrong["flow"] = json!("absent");
    assert_eq!(
        sync(vec![wrong]).await,
        [("a".to_owned(), Err("FLOW_NOT_FOUND"))]
    );
    assert_eq!(
        sync(vec![manual("a"), manual("a")]).await,
        [
            one("a", Synced::Same),
            ("a".to_owned(), Err("TRIGGER_EXISTS"))
        ]
    );
    // The one that is there stays, wherever the other stands.
    let mut other = manual("a");
    other["tags"] = json!(["other"]);
    let refused = || ("a".to_owned(), Err("TRIGGER_EXISTS"));
    assert_eq!(
        sync(vec![other.clone(), manual("a")]).await,
        [refused(), one("a", Synced::Same)]
    );
    let mut third = manual("a");
    third["tags"] = json!(["third"]);
    assert_eq!(sync(vec![other, third]).await, [refused(), refused()]);
    assert_eq!(given.shown("a").await.get("tags"), None);
    assert_eq!(sync(Vec::new()).await, [one("a", Synced::Removed)]);
    assert_eq!(given.shown("by-hand").await["origin"], "api");
}

#[tokio::test]
async fn files_are_checked_without_making_a_trigger() {
    let given = Given::new().await;
    let with = |id: &str, kind: &str, config: Value| json!({"id": id, "type": kind, "flow": "order", "config": config});
    let mut lost = manual("lost");
    lost["flow"] = json!("absent");
    let secret = json!({"header": "x", "secretEnv": "RIVERRUN_NO_SUCH_SECRET"});
    let files = vec![
        manual("fine"),
        manual("fine"),
        lost,
        with("pace", "schedule", json!({"cron": "61 * * * *"})),
        with("never", "schedule", json!({"cron": "0 0 30 2 *"})),
        // Its secret is where it will run.
        with(
            "signed",
            "http",
            json!({"path": "/a/:b", "signature": secret}),
        ),
        with("same", "http", json!({"path": "/a/:c"})),
        with("kind", "event", json!({"kind": "job.added"})),
    ];
    let checked = given.triggers.check_project(files);
    let outcomes: Vec<_> = checked
        .iter()
        .map(|(id, done)| {
            (
                id.as_str(),
                done.as_ref().map_err(|error| error.code().as_str()),
            )
        })
        .collect();
    assert_eq!(
        outcomes,
        [
            ("fine", Ok(&())),
            ("fine", Err("TRIGGER_EXISTS")),
            ("lost", Err("FLOW_NOT_FOUND")),
            ("pace", Err("CRON_INVALID")),
            ("never", Err("CRON_INVALID")),
            ("signed", Ok(&())),
            ("same", Err("TRIGGER_ROUTE_TAKEN")),
            ("kind", Err("BAD_KIND")),
        ]
    );
    assert!(given.triggers.ids().is_empty());
}

#[tokio::test]
async fn the_history_is_bounded_and_comes_in_pages() {
    let given = Given::new().await;
    given.put(manual("t")).await;
    for _ in 0..1_010 {
        given
            .triggers
            .fire("t", ManualFire::default())
            .await
            .unwrap();
    }
    let mut seen = Vec::new();
    let mut cursor = None;
    loop {
        let page = given
            .triggers
            .history("t", 300, cursor.as_deref())
            .await
            .unwrap();
        seen.extend(page.items.iter().map(|event| event.id.seq));
        if page.items.is_empty() || page.next.is_none() {
            break;
        }
        cursor = page.next;
    }
    let expected: Vec<u64> = (11..=1_010).rev().collect();
    assert_eq!(seen, expected);
    assert_eq!(given.shown("t").await["stats"]["fired"], 1_010);
    assert_eq!(
        code(given.triggers.history("t", 1, Some("x")).await),
        "BAD_CURSOR"
    );
    assert_eq!(
        code(given.triggers.history("u", 1, None).await),
        "TRIGGER_NOT_FOUND"
    );
}

#[tokio::test]
async fn triggers_are_listed_by_type_in_pages() {
    let given = Given::new().await;
    for id in ["c", "a", "b"] {
        given.put(manual(id)).await;
    }
    given.put(json!({"id": "aa", "type": "schedule", "flow": "order", "config": {"cron": "0 0 * * *"}})).await;
    let list = async |kind, cursor: Option<&str>| {
        let page = given.triggers.list(kind, 2, cursor).await.unwrap();
        let ids: Vec<String> = page.items.iter().map(|item| item.id().to_owned()).collect();
        (ids, page.next)
    };
    let (ids, next) = list(None, None).await;
    assert_eq!(ids, ["a", "aa"]);
    let (ids, next) = list(None, next.as_deref()).await;
    assert_eq!((ids, next), (vec!["b".to_owned(), "c".to_owned()], None));
    let (ids, _) = list(Some(riverrun_triggers::Kind::Schedule), None).await;
    assert_eq!(ids, ["aa"]);
}

#[tokio::test]
async fn what_another_instance_changes_is_known_here() {
    let given = Given::new().await;
    let other = riverrun_triggers::Triggers::open(&given.runtime)
        .await
        .unwrap();
    given.put(manual("t")).await;
    let known = other.until_known("t", true);
    tokio::time::timeout(LONG, known).await.unwrap();
    other.fire("t", ManualFire::default()).await.unwrap();
    given.triggers.remove("t").await.unwrap();
    let gone = other.until_known("t", false);
    tokio::time::timeout(LONG, gone).await.unwrap();
}
