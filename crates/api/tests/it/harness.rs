//! A server in this process, and a client for it.

use std::{sync::Arc, time::Duration};

use axum::{
    Router,
    body::{Body, Bytes},
    http::{HeaderMap, HeaderValue, Request, StatusCode, header},
};
use http_body_util::BodyExt;
use riverrun_api::ApiOptions;
use riverrun_engine::{Failure, Outcome, SchemaIssue};
use riverrun_expr::{Limits, Sandbox};
use riverrun_runtime::{Action, Call, Effects, Handler, Options, Runtime};
use riverrun_store_sqlite::SqliteStore;
use riverrun_triggers::Triggers;
use riverrun_types::Json;
use serde_json::{Value, json};
use tower::ServiceExt;

/// The host that requests of tests are for unless they say otherwise.
pub const HOST: &str = "localhost:4600";

pub struct Server {
    pub runtime: Runtime,
    pub router: Router,
    pub options: ApiOptions,
}

pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    #[track_caller]
    pub fn expect(self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text());
        self.json()
    }

    #[track_caller]
    pub fn refused(self, status: u16, code: &str) -> Value {
        let body = self.expect(status);
        assert_eq!(body["error"]["code"], code, "{body}");
        body
    }
}

impl Server {
    pub async fn new() -> Self {
        Self::with(ApiOptions::default()).await
    }

    pub async fn with(options: ApiOptions) -> Self {
        Self::open(options, Options::default()).await
    }

    /// One that others reach at this address.
    pub async fn at(public_url: &str) -> Self {
        let options = Options {
            public_url: Some(public_url.to_owned()),
            ..Options::default()
        };
        Self::open(ApiOptions::default(), options).await
    }

    pub async fn open(options: ApiOptions, runtime: Options) -> Self {
        let store = SqliteStore::memory().unwrap();
        let sandbox = Arc::new(Sandbox::new(Limits::default()).unwrap());
        let handlers = [
            Arc::new(Test("note")) as Arc<dyn Handler>,
            Arc::new(Test("fail")),
            Arc::new(Test("wait")),
            Arc::new(Test("go")),
            Arc::new(Test("panic")),
            riverrun_runtime::function(
                "echo",
                |input: Value| async move { Ok::<_, Failure>(input) },
            ),
        ];
        let runtime = Runtime::open(store, sandbox, handlers, runtime)
            .await
            .unwrap();
        let triggers = Triggers::open(&runtime).await.unwrap();
        let router = riverrun_api::router(runtime.clone(), triggers, options.clone());
        Self {
            runtime,
            router,
            options,
        }
    }

    /// Requests that name no host are for this one, as every client says.
    pub async fn send(&self, mut request: Request<Body>) -> Answer {
        let host = HeaderValue::from_static(HOST);
        request.headers_mut().entry(header::HOST).or_insert(host);
        self.send_as_is(request).await
    }

    pub async fn send_as_is(&self, request: Request<Body>) -> Answer {
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        Answer {
            status: parts.status,
            headers: parts.headers,
            body: body.collect().await.unwrap().to_bytes(),
        }
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send(Request::get(path).body(Body::empty()).unwrap())
            .await
    }

    pub async fn post(&self, path: &str, body: Value) -> Answer {
        self.post_text(path, "application/json", body.to_string())
            .await
    }

    pub async fn post_text(&self, path: &str, content_type: &str, body: impl Into<Body>) -> Answer {
        let request = Request::post(path).header("content-type", content_type);
        self.send(request.body(body.into()).unwrap()).await
    }

    pub async fn delete(&self, path: &str) -> Answer {
        self.send(Request::delete(path).body(Body::empty()).unwrap())
            .await
    }

    /// Registers `order`: a note, a step with effects, and an end.
    pub async fn order(&self) {
        self.post("/api/flows", order()).await.expect(201);
    }

    /// A run of a flow that waits for an hour.
    pub async fn waiting_run(&self) -> String {
        let flow = json!({"id": "sleeper", "version": "1.0.0", "initialStepId": "sleep", "steps": {
            "sleep": {"type": "wait", "config": {"ms": 3_600_000}},
        }});
        let answer = self.post("/api/flows", flow).await;
        assert!(answer.status.is_success());
        let answer = self.post("/api/flows/sleeper/start", json!({})).await;
        text(&answer.expect(201)["runId"])
    }

    /// Starts a run of `order` and waits for its end.
    pub async fn ended_run(&self) -> String {
        self.order().await;
        let answer = self
            .post(
                "/api/flows/order/start?wait=10000",
                json!({"input": {"n": 1}}),
            )
            .await;
        text(&answer.expect(200)["runId"])
    }

    /// Listens on a port of its own.
    pub async fn listen(&self) -> String {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let closing = self.options.closing.clone();
        let stop = async move { closing.cancelled().await };
        let stall = self.options.stall_timeout;
        tokio::spawn(riverrun_api::serve(
            listener,
            self.router.clone(),
            stall,
            stop,
        ));
        address.to_string()
    }
}

pub fn order() -> Value {
    json!({
        "id": "order", "version": "1.0.0", "name": "An order", "initialStepId": "price",
        "inputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}},
        "steps": {
            "price": {"type": "note", "config": {"value": 12}, "outputKey": "price",
                      "transitions": {"onSuccess": "pay", "onFailure": "done"}},
            "pay": {"type": "echo", "input": {"type": "full"}, "outputKey": "paid",
                    "transitions": {"onSuccess": "done"}},
            "done": {"type": "note", "config": {"value": true}, "outputKey": "done"},
        }
    })
}

pub fn text(value: &Value) -> String {
    value
        .as_str()
        .unwrap_or_else(|| panic!("{value} is no text"))
        .to_owned()
}

/// Handlers of every sort that the tests need.
struct Test(&'static str);

impl Handler for Test {
    fn kind(&self) -> &str {
        self.0
    }

    fn about(&self) -> &str {
        "For tests."
    }

    fn schema(&self) -> Value {
        match self.0 {
            "note" => json!({"type": "object", "required": ["value"]}),
            "wait" => {
                json!({"type": "object", "required": ["ms"], "properties": {"ms": {"type": "integer"}}})
            }
            _ => json!({"type": "object"}),
        }
    }

    fn effects(&self) -> Effects {
        Effects::None
    }

    fn targets(&self, config: &Value) -> Vec<(String, String)> {
        let goto = config.get("goto").and_then(Value::as_str);
        goto.map(|goto| ("goto".to_owned(), goto.to_owned()))
            .into_iter()
            .collect()
    }

    fn prepare(&self, config: &Value) -> Result<Arc<dyn Action>, Vec<SchemaIssue>> {
        Ok(Arc::new(Step(self.0, config.clone())))
    }
}

struct Step(&'static str, Value);

#[async_trait::async_trait]
impl Action for Step {
    async fn run(&self, call: &Call<'_>) -> Outcome {
        match self.0 {
            "note" => Outcome::success(Json::of(&self.1["value"])),
            "fail" => Outcome::failure("CARD_DECLINED", "the card was declined"),
            "wait" => {
                let time = Duration::from_millis(self.1["ms"].as_u64().unwrap_or_default());
                call.wait(time, "the bank is closed")
            }
            "go" => Outcome::goto(self.1["goto"].as_str().unwrap_or_default()),
            _ => panic!("a step that panics"),
        }
    }
}

/// Asks again until something is so.
pub async fn until<T, F: Future<Output = Option<T>>>(mut ask: impl FnMut() -> F) -> T {
    for _ in 0..1_000 {
        if let Some(found) = ask().await {
            return found;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("it did not come about");
}
