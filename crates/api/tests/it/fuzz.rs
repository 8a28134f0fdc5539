//! Whatever comes in, the server answers: never with a mistake of its own, always in one shape.

use axum::{body::Body, http::Request};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use tower::ServiceExt;

use crate::harness::Server;

fn segment() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "(flows|flow|_flow|runs|events|_events|jobs|executions|handlers|docs|errors|schemas|validate|list|tail|stream|state|history|children|start|cancel|pause|resume|rerun|fork|versions|diagram|latest|order|order@1\\.0\\.0|global|nq:global|nq:flow:r1|r1|r2|openapi\\.json)",
        1 => "[a-z0-9:@._~-]{0,12}",
        1 => "(%[0-9a-f]{2}|%zz|%|\\.\\.|[+$&=;]){1,4}",
    ]
}

fn query() -> impl Strategy<Value = String> {
    let key = "(limit|cursor|from|status|flow|version|since|until|order|at|wait|type|types|step|direction|format|stalled|name|prefix|tag|parent|[a-z]{1,4})";
    let value = prop_oneof![
        "(0|1|5|1001|-1|asc|desc|forward|backward|json|mermaid|text|running|completed,failed|true|log|end|1-1|99999999999999999999|2026-01-01T00:00:00Z)",
        "[%a-z0-9+-]{0,8}",
    ];
    proptest::collection::vec((key, value), 0..3).prop_map(|pairs| {
        let pairs = pairs
            .into_iter()
            .map(|(key, value)| format!("{key}={value}"));
        pairs.collect::<Vec<_>>().join("&")
    })
}

fn body() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        3 => "(|\\{\\}|\\[\\]|null|5|\"a\"|\\{\"input\":\\{\"n\":1\\}\\}|\\{\"type\":\"x\",\"data\":\\{\\}\\}|\\[\\{\"type\":\"a\"\\},\\{\"kind\":\"log\"\\}\\]|\\{\"type\":\"state.set\",\"data\":\\{\"key\":\"a\",\"value\":1\\}\\}|\\{\"runId\":\"r2\"\\}|\\{\"at\":\"1-1\"\\}|\\{\"reason\":\"x\"\\}|\\{\"id\":\"f\",\"version\":\"1.0.0\",\"initialStepId\":\"a\",\"steps\":\\{\"a\":\\{\"type\":\"echo\"\\}\\}\\})"
            .prop_map(String::into_bytes),
        1 => "[\\[\\]{}:,\"0-9a-z \\\\]{0,40}".prop_map(String::into_bytes),
        1 => proptest::collection::vec(any::<u8>(), 0..40),
    ]
}

fn content_type() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        4 => Just("application/json"),
        1 => Just("application/yaml"),
        1 => Just("text/plain"),
        1 => Just(";;;"),
    ]
}

/// Method, path, query, headers, content type, body.
type Input = (
    String,
    Vec<String>,
    String,
    Vec<(String, String)>,
    &'static str,
    Vec<u8>,
);

#[test]
fn random_requests_are_answered_in_one_shape() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let server = runtime.block_on(async {
        let server = Server::new().await;
        server.order().await;
        server
            .post("/api/flows/order/start", serde_json::json!({"runId": "r1"}))
            .await
            .expect(201);
        server
    });
    let method = "(GET|GET|POST|POST|DELETE|PUT|PATCH|HEAD|OPTIONS|BREW)";
    let path = proptest::collection::vec(segment(), 0..4);
    let headers = proptest::collection::vec(
        (
            "(last-event-id|idempotency-key|x-request-id|accept-encoding|origin|host|content-length)",
            "[ -~]{0,20}",
        ),
        0..3,
    );
    let input = (method, path, query(), headers, content_type(), body());
    let mut runner = TestRunner::new(Config::with_cases(Config::default().cases.max(1_500)));
    let check = |(method, path, query, headers, content_type, body): Input| {
        let uri = match query.replace("wait=", "w=").as_str() {
            "" => format!("/api/{}", path.join("/")),
            query => format!("/api/{}?{query}", path.join("/")),
        };
        let mut request = Request::builder()
            .method(method.as_str())
            .uri(&uri)
            .header("host", crate::harness::HOST)
            .header("content-type", content_type);
        for (name, value) in headers {
            request = request.header(name, value);
        }
        // What is no request at all never gets past hyper.
        let Ok(request) = request.body(Body::from(body)) else {
            return Ok(());
        };
        runtime.block_on(async {
            let response = server.router.clone().oneshot(request).await.unwrap();
            let status = response.status();
            prop_assert!(!status.is_server_error(), "{method} {uri}: {status}");
            if status.is_success() || method == "HEAD" {
                return Ok(());
            }
            prop_assert!(response.headers().contains_key("x-request-id"));
            let body = axum::body::to_bytes(response.into_body(), 1 << 20)
                .await
                .unwrap();
            let body: serde_json::Value = serde_json::from_slice(&body).map_err(|error| {
                TestCaseError::fail(format!("{method} {uri}: {status} {error}"))
            })?;
            let code = body["error"]["code"].as_str().unwrap_or_default();
            let known = riverrun_types::ErrorCode::parse(code);
            prop_assert_eq!(
                known.and_then(|known| known.status()),
                Some(status.as_u16())
            );
            prop_assert!(body["error"]["message"].is_string());
            Ok(())
        })
    };
    runner.run(&input, check).unwrap();
}
