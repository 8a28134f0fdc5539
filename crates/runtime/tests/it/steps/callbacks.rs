//! Callbacks that are resumed from outside.

use hmac::{Hmac, KeyInit, Mac};
use riverrun_store::EventQuery;
use riverrun_types::{Json, RunId, RunStatus, StreamName};
use serde_json::{Value, json};
use sha2::Sha256;

use super::{World, flow, input, step, with};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_callback_is_resumed_once_from_outside() {
    use riverrun_runtime::CallbackAnswer;
    let callback_answer = |payload: Value| CallbackAnswer {
        payload: Json::of(&payload),
        body: b"",
        signature: None,
        source: "test",
    };
    let world = World::new().await;
    world.put_waiting("ask", |call| {
        let callback =
            json!({"type": "user", "payload": {"for": input(call)}, "timeoutMs": 60_000});
        json!({"type": "trigger", "callback": callback})
    });
    world.register(flow(json!({"a": step("ask")}))).await;
    let run = world.start("f", json!({"who": "ann"})).await;
    world.until(&run, RunStatus::Waiting).await;
    let callbacks = world.store.awaits_of(&run).await.unwrap();
    let id = callbacks[0].id.clone();
    let callback = world.runtime.awaits().callback(&id).await.unwrap();
    assert_eq!(
        callback.callback.payload.unwrap().value(),
        json!({"for": {"who": "ann"}})
    );
    world
        .runtime
        .awaits()
        .resume_callback(&id, callback_answer(json!({"ok": true})))
        .await
        .unwrap();
    assert_eq!(world.result(&run).await["value"], json!({"ok": true}));
    let again = world
        .runtime
        .awaits()
        .resume_callback(&id, callback_answer(json!(1)))
        .await;
    assert_eq!(again.unwrap_err().code(), "AWAIT_USED");
    let unknown = world
        .runtime
        .awaits()
        .resume_callback("0000", callback_answer(json!(1)))
        .await;
    assert_eq!(unknown.unwrap_err().code(), "AWAIT_NOT_FOUND");
    let query = EventQuery::forward(0, 9);
    let stream = StreamName::new("trigger", &id);
    let events = world.store.events(&stream, &query).await.unwrap();
    let kinds: Vec<_> = events.iter().map(|event| event.kind.to_string()).collect();
    assert_eq!(kinds, ["trigger.registered", "trigger.fired"]);
    assert!(
        events
            .iter()
            .all(|event| event.correlation_id.as_deref() == Some(run.as_str()))
    );
}

/// The page of a declared callback shows its payload.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_payload_of_a_declared_callback_sees_input_and_state() {
    let world = World::new().await;
    world.put("decide", Value::Null, script!(|call| Ok(input(&call))));
    let run_input = json!({"order": 7, "by": "ann", "total": 9});
    for (name, payload, shown) in [
        ("plain", json!({"a": [1]}), json!({"a": [1]})),
        (
            "template",
            json!({"order": "${input.order}", "text": "#${input.order} of ${by}", "gone": "${no}"}),
            json!({"order": 7, "text": "#7 of ann"}),
        ),
        (
            "function",
            json!("(ctx) => ({ order: ctx.input.order, dear: ctx.state.total > 5 })"),
            json!({"order": 7, "dear": true}),
        ),
    ] {
        let callback =
            json!({"await": {"type": "trigger", "triggerType": "user", "payload": payload}});
        let mut asks = flow(json!({"a": with(step("decide"), callback)}));
        asks["id"] = json!(name);
        asks["steps"]["a"]["input"] = json!({"type": "keys", "keys": ["order"]});
        world.register(asks).await;
        let run = world.start(name, run_input.clone()).await;
        world.until(&run, RunStatus::Waiting).await;
        let callbacks = world.store.awaits_of(&run).await.unwrap();
        let callback = world
            .runtime
            .awaits()
            .callback(&callbacks[0].id)
            .await
            .unwrap();
        assert_eq!(callback.callback.payload.unwrap().value(), shown, "{name}");
    }
    let throws = json!({"await": {"type": "trigger", "payload": "ctx => ctx.input.gone.away"}});
    let mut broken = flow(json!({"a": with(step("decide"), throws)}));
    broken["id"] = json!("throws");
    world.register(broken).await;
    let run = world.start("throws", run_input).await;
    let error = world.end(&run).await.loaded.state.error.clone().unwrap();
    assert_eq!(error.code, "INPUT_ERROR");
    assert!(error.message.starts_with("payload: "), "{}", error.message);
}

/// An empty secret, as of a variable that is not set, signs nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_secret_that_can_be_guessed_is_refused() {
    let world = World::new().await;
    world.put_waiting(
        "ask",
        |_| json!({"type": "trigger", "callback": {"type": "webhook", "secret": ""}}),
    );
    world.register(flow(json!({"a": step("ask")}))).await;
    let run = world.start("f", json!({})).await;
    let error = world.end(&run).await.loaded.state.error.clone().unwrap();
    assert_eq!(error.code, "INPUT_ERROR");
    assert!(error.message.contains("8 bytes"), "{}", error.message);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_callback_for_a_person_is_created_without_a_secret() {
    let world = World::new().await;
    world.put_waiting(
        "ask",
        |_| json!({"type": "trigger", "callback": {"type": "user", "secret": "long enough"}}),
    );
    world.register(flow(json!({"a": step("ask")}))).await;
    let run = world.start("f", json!({})).await;
    let error = world.end(&run).await.loaded.state.error.clone().unwrap();
    assert_eq!(error.code, "INPUT_ERROR");
    assert!(
        error.message.contains("webhook or api"),
        "{}",
        error.message
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_declared_callback_is_signed_and_accepts_as_many_as_it_says() {
    let world = World::new().await;
    world.put(
        "decide",
        Value::Null,
        script!(|call| Ok(json!(call.invoke.awaited))),
    );
    // Whoever runs tests sets this one.
    let name = "CARGO_MANIFEST_DIR";
    let secret = std::env::var(name).unwrap();
    let callbacks =
        json!({"await": {"type": "trigger", "secretEnv": name, "many": 2, "timeout": 200}});
    world
        .register(flow(json!({"a": with(step("decide"), callbacks)})))
        .await;
    let callback = async |run: &RunId| world.store.awaits_of(run).await.unwrap().remove(0).id;
    let open = async |id: &str, body: &str, signature: Option<String>| {
        let callback_answer = riverrun_runtime::CallbackAnswer {
            payload: Json::of(&serde_json::from_str::<Value>(body).unwrap()),
            body: body.as_bytes(),
            signature: signature.as_deref(),
            source: "api",
        };
        let opened = world
            .runtime
            .awaits()
            .resume_callback(id, callback_answer)
            .await;
        opened.map_or_else(|error| error.code().to_string(), |_| "opened".to_owned())
    };
    let signed = |body: &str| {
        let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
        mac.update(body.as_bytes());
        let bytes = mac.finalize().into_bytes();
        Some(data_encoding::HEXLOWER.encode(&bytes))
    };
    let run = world.start("f", json!({})).await;
    world.until(&run, RunStatus::Waiting).await;
    let id = callback(&run).await;
    assert_eq!(open(&id, "1", None).await, "SIGNATURE_INVALID");
    assert_eq!(open(&id, "1", signed("2")).await, "SIGNATURE_INVALID");
    assert_eq!(open(&id, "1", signed("1")).await, "opened");
    assert_eq!(open(&id, "2", signed("2")).await, "opened");
    assert_eq!(open(&id, "3", signed("3")).await, "AWAIT_USED");
    assert_eq!(world.result(&run).await, json!([1, 2]));
    // One of two is not enough, and its time runs out all the same.
    let run = world.start("f", json!({})).await;
    world.until(&run, RunStatus::Waiting).await;
    let id = callback(&run).await;
    assert_eq!(open(&id, "1", signed("1")).await, "opened");
    let view = world.end(&run).await;
    assert_eq!(
        view.loaded.state.error.as_ref().unwrap().code,
        "AWAIT_TIMEOUT"
    );
    assert_eq!(open(&id, "2", signed("2")).await, "AWAIT_EXPIRED");
    // The step that is entered then is given the one.
    let awaits = json!({"type": "trigger", "many": 2, "timeout": 200, "onTimeout": "late"});
    let late =
        json!({"a": with(step("decide"), json!({ "await": awaits })), "late": step("decide")});
    world
        .register(with(flow(late), json!({"id": "late"})))
        .await;
    let run = world.start("late", json!({})).await;
    world.until(&run, RunStatus::Waiting).await;
    let id = callback(&run).await;
    assert_eq!(open(&id, "1", None).await, "opened");
    assert_eq!(world.result(&run).await, json!([1]));
    // While it waits for more it says so.
    let two = json!({"await": {"type": "trigger", "many": 2}});
    let two = flow(json!({"a": with(step("decide"), two)}));
    world.register(with(two, json!({"id": "two"}))).await;
    let run = world.start("two", json!({})).await;
    world.until(&run, RunStatus::Waiting).await;
    let id = callback(&run).await;
    assert_eq!(open(&id, "1", None).await, "opened");
    let why = serde_json::to_value(world.runtime.reasons().why(&run).await.unwrap()).unwrap();
    assert_eq!(why["reasons"][0]["opened"], 1, "{why}");
    assert_eq!(why["reasons"][0]["firedAt"], Value::Null, "{why}");
    let summary = why["summary"].as_str().unwrap();
    assert!(summary.contains(", opened 1 of 2 times"), "{why}");
    // However many come at once, what is accepted is what it is given.
    let all = (0..12).map(|n| {
        let (id, open) = (&id, &open);
        async move { (n, open(id, &n.to_string(), None).await) }
    });
    let all = futures::future::join_all(all).await;
    let opened = all.iter().filter(|(_, answer)| answer == "opened");
    let opened: Vec<i32> = opened.map(|(n, _)| *n).collect();
    let [one] = opened[..] else {
        panic!("one more is accepted: {all:?}");
    };
    assert_eq!(world.result(&run).await, json!([1, one]));
    // One that was closed before all had come was not used up.
    let run = world.start("two", json!({})).await;
    world.until(&run, RunStatus::Waiting).await;
    let id = callback(&run).await;
    assert_eq!(open(&id, "1", None).await, "opened");
    world.runtime.runs().cancel(&run, None).await.unwrap();
    assert_eq!(open(&id, "2", None).await, "AWAIT_CLOSED");
    // A missing variable is an error before the callback can be used.
    let unset = json!({"await": {"type": "trigger", "secretEnv": "RIVERRUN_NO_SUCH_SECRET"}});
    let mut unset = flow(json!({"a": with(step("decide"), unset)}));
    unset["id"] = json!("unset");
    world.register(unset).await;
    let run = world.start("unset", json!({})).await;
    let view = world.end(&run).await;
    let error = view.loaded.state.error.clone().unwrap();
    assert!(
        error.message.contains("RIVERRUN_NO_SUCH_SECRET"),
        "{error:?}"
    );
}
