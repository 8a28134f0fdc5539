//! Requests that start runs.

use bytes::Bytes;
use riverrun_triggers::{HookRequest, Hooked, Result};
use serde_json::{Value, json};

use crate::given::*;

fn request(method: &str, path: &str) -> HookRequest {
    HookRequest {
        method: method.to_owned(),
        path: path.to_owned(),
        request_id: Some("req-1".to_owned()),
        ..HookRequest::default()
    }
}

impl Given {
    async fn hook(&self, config: Value, more: Value) {
        let mut definition = json!({"id": "h", "type": "http", "flow": "order", "config": config});
        for (key, value) in more.as_object().unwrap() {
            definition[key] = value.clone();
        }
        self.put(definition).await;
    }

    async fn take(&self, request: HookRequest, body: impl Into<Bytes>) -> Result<Hooked> {
        let hook = self.triggers.hook(request)?;
        hook.take(&self.triggers, body.into()).await
    }

    /// The input of the run that a request starts.
    async fn input(&self, request: HookRequest, body: &'static str) -> Value {
        let hooked = self.take(request, body).await.unwrap();
        self.run(&hooked.started).await.state().input.value()
    }
}

#[tokio::test]
async fn a_request_becomes_the_input() {
    let given = Given::new().await;
    given
        .hook(json!({"method": "put", "path": "/orders/:id"}), json!({}))
        .await;
    let mut put = request("PUT", "/orders/a%20b");
    put.query = Some("x=1&x=2&y=".to_owned());
    put.headers = [
        ("content-type", "application/json; charset=utf-8"),
        ("authorization", "Bearer secret"),
        ("cookie", "session=secret"),
        ("x-kind", "test"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into();
    let hooked = given
        .take(put, r#"{"n": 12345678901234567890123, "runId": "mine"}"#)
        .await
        .unwrap();
    let view = given.run(&hooked.started).await;
    // Nothing is rounded, and a body sets no ids.
    let input = view.state().input.as_str();
    assert!(input.contains("12345678901234567890123"), "{input}");
    assert_ne!(view.loaded.record.id.as_str(), "mine");
    let mut input = view.state().input.value();
    input["body"]["n"] = json!(0);
    assert_eq!(
        input,
        json!({
            "method": "PUT", "path": "/hooks/orders/a%20b", "params": {"id": "a b"},
            "query": {"x": ["1", "2"], "y": ""},
            "headers": {"content-type": "application/json; charset=utf-8", "x-kind": "test"},
            "body": {"n": 0, "runId": "mine"},
        })
    );
    let origin = origin(&view.loaded.record);
    assert_eq!(origin["source"], "PUT /hooks/orders/:id");
    assert_eq!(
        (&origin["type"], &origin["requestId"]),
        (&json!("http"), &json!("req-1"))
    );
}

#[tokio::test]
async fn a_request_is_mapped_or_lands_at_a_path() {
    let given = Given::new().await;
    given.hook(json!({"path": "/a"}), json!({"inputMap": "(req, trigger) => ({sum: req.body.a + req.body.b, by: trigger.id})"})).await;
    assert_eq!(
        given
            .input(request("POST", "/a"), r#"{"a": 1, "b": 2}"#)
            .await,
        json!({"sum": 3, "by": "h"})
    );
    given
        .hook(json!({"path": "/a", "contextKey": "order.body"}), json!({}))
        .await;
    assert_eq!(
        given.input(request("POST", "/a"), r#"{"a": 1}"#).await,
        json!({"order": {"body": {"a": 1}}})
    );
    given
        .hook(
            json!({"path": "/a", "contextKey": "who"}),
            json!({"inputMap": "request.body.name"}),
        )
        .await;
    assert_eq!(
        given
            .input(request("POST", "/a"), r#"{"name": "Ada"}"#)
            .await,
        json!({"who": "Ada"})
    );
    // A form is an object, a text a text.
    let mut form = request("POST", "/a");
    form.headers.push((
        "content-type".to_owned(),
        "application/x-www-form-urlencoded".to_owned(),
    ));
    assert_eq!(
        given.input(form, "name=Ada+L.").await,
        json!({"who": "Ada L."})
    );
}

#[tokio::test]
async fn a_bad_request_starts_nothing() {
    let given = Given::new().await;
    let schema = json!({"type": "object", "required": ["n"]});
    given
        .hook(
            json!({"path": "/a", "bodySchema": schema, "maxBodyBytes": 100}),
            json!({"inputMap": "request.body.n.x.y"}),
        )
        .await;
    let post = || request("POST", "/a");
    assert_eq!(code(given.take(post(), "{").await), "BAD_JSON");
    assert_eq!(code(given.take(post(), vec![0xff]).await), "BAD_JSON");
    assert_eq!(code(given.take(post(), "{}").await), "INPUT_INVALID");
    assert_eq!(code(given.take(post(), "").await), "INPUT_INVALID");
    assert_eq!(
        code(given.take(post(), r#"{"n": 1}"#).await),
        "TRIGGER_EXPRESSION"
    );
    let mut image = post();
    image
        .headers
        .push(("content-type".to_owned(), "image/png".to_owned()));
    assert_eq!(code(given.take(image, "x").await), "UNSUPPORTED_MEDIA_TYPE");
    assert_eq!(
        given.triggers.hook(post()).ok().unwrap().max_body_bytes(),
        100
    );
    assert_eq!(
        code(given.triggers.hook(request("POST", "/b"))),
        "NOT_FOUND"
    );
    assert_eq!(
        code(given.triggers.hook(request("GET", "/a"))),
        "METHOD_NOT_ALLOWED"
    );
    given.triggers.enable("h", false).await.unwrap();
    assert_eq!(code(given.triggers.hook(post())), "TRIGGER_DISABLED");
    given.triggers.remove("h").await.unwrap();
    assert_eq!(code(given.triggers.hook(post())), "NOT_FOUND");
    assert!(given.runs().await.is_empty());
    let failed = given.kinds("h").await;
    assert_eq!(
        failed
            .iter()
            .filter(|kind| *kind == "trigger.failed")
            .count(),
        6
    );
}

#[tokio::test]
async fn a_parameter_that_is_no_text_is_refused() {
    let given = Given::new().await;
    given.hook(json!({"path": "/a/:id"}), json!({})).await;
    let refused = given.triggers.hook(request("POST", "/a/%FF"));
    assert_eq!(code(refused), "BAD_REQUEST");
    let input = given.input(request("POST", "/a/%C3%A9"), "").await;
    assert_eq!(input["params"]["id"], "é");
}

#[tokio::test]
async fn a_key_by_expression_starts_one_run() {
    let given = Given::new().await;
    given
        .hook(
            json!({"path": "/a"}),
            json!({"idempotencyKey": "request.headers['x-id']", "contextKey": "body"}),
        )
        .await;
    let post = |id: Option<&str>| {
        let mut post = request("POST", "/a");
        post.headers
            .extend(id.map(|id| ("x-id".to_owned(), id.to_owned())));
        post
    };
    let first = given.take(post(Some("1")), "{}").await.unwrap().started;
    let again = given.take(post(Some("1")), "{}").await.unwrap().started;
    assert_eq!((first.created, again.created), (true, false));
    assert_eq!(first.run, again.run);
    for id in [Some("2"), None, None] {
        assert!(given.take(post(id), "{}").await.unwrap().started.created);
    }
    assert_eq!(given.runs().await.len(), 4);
}

#[tokio::test]
async fn only_who_knows_the_secret_starts_runs() {
    let given = Given::new().await;
    let signature = json!({"header": "X-Sign", "secret": "It's a Secret to Everybody"});
    given
        .hook(json!({"path": "/a", "signature": signature}), json!({}))
        .await;
    let post = |signature: &str| {
        let mut post = request("POST", "/a");
        post.headers
            .push(("x-sign".to_owned(), signature.to_owned()));
        post.headers
            .push(("content-type".to_owned(), "text/plain".to_owned()));
        post
    };
    let right = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
    let input = given.input(post(right), "Hello, World!").await;
    assert_eq!(input["body"], "Hello, World!");
    assert_eq!(input["headers"].get("x-sign"), None);
    assert_eq!(
        code(given.take(post(right), "Hello, World?").await),
        "SIGNATURE_INVALID"
    );
    assert_eq!(
        code(given.take(request("POST", "/a"), "{}").await),
        "SIGNATURE_INVALID"
    );
    assert_eq!(given.runs().await.len(), 1);
    // An unsigned request causes no write.
    assert_eq!(
        given.kinds("h").await,
        ["trigger.registered", "trigger.fired"]
    );
    // The secret is not shown, and what is shown can be sent back.
    let shown = given.shown("h").await;
    assert_eq!(shown["config"]["signature"]["secret"], "[redacted]");
    let stream = format!("{:?}", given.events("h").await);
    assert!(!stream.contains("Secret to"), "{stream}");
    let changes = json!({"description": "new", "config": shown["config"]});
    given.triggers.patch("h", changes).await.unwrap();
    given.take(post(right), "Hello, World!").await.unwrap();
}

#[tokio::test]
async fn two_triggers_do_not_share_a_route() {
    let given = Given::new().await;
    given.hook(json!({"path": "/orders/:id"}), json!({})).await;
    let other = |path: &str, method: &str| json!({"id": "i", "type": "http", "flow": "order", "config": {"path": path, "method": method}});
    assert_eq!(
        given.refused(other("/orders/:order", "POST")).await,
        "TRIGGER_ROUTE_TAKEN"
    );
    given.put(other("/orders/:order", "GET")).await;
    given.put(other("/orders/new", "POST")).await;
    let of = |path: &str| {
        let given = &given;
        let request = request("POST", path);
        async move {
            let started = given.take(request, "").await.unwrap().started;
            let view = given.run(&started).await;
            origin(&view.loaded.record)["id"].clone()
        }
    };
    assert_eq!(of("/orders/new").await, "i");
    assert_eq!(of("/orders/7").await, "h");
}
