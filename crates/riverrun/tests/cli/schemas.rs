//! Schemas and definitions that are small to write and large to evaluate.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::support::{Project, Server, ask};

/// Levels of which each applies the next one twice.
fn doubling(levels: usize) -> Value {
    let next = |level: usize| json!({"$ref": format!("#/$defs/l{}", level + 1)});
    let mut defs: serde_json::Map<String, Value> = (0..levels)
        .map(|level| {
            (
                format!("l{level}"),
                json!({"allOf": [next(level), next(level)]}),
            )
        })
        .collect();
    defs.insert(format!("l{levels}"), json!({"type": "object"}));
    json!({"$ref": "#/$defs/l0", "$defs": defs})
}

fn many_choices() -> Value {
    json!({"properties": {"rows": {"items": {"anyOf": [
        {"type": "string"}, {"type": "object", "required": ["a"]}, {"enum": ["x", "y"]},
    ]}}}})
}

fn flow(id: &str, schema: Value) -> Value {
    json!({
        "id": id, "version": "1.0.0", "initialStepId": "a", "inputSchema": schema,
        "limits": {"maxStateBytes": 64 << 20},
        "steps": {"a": {"type": "set", "config": {"value": 1}}},
    })
}

/// A server that must answer within a second, whatever else it is asked.
fn watched(test: impl FnOnce(&Server<'_>)) {
    let project = Project::new();
    project.write("riverrun.toml", "[limits]\nbody_bytes = 33554432\n");
    project.write(
        "processes/take.mjs",
        &format!(
            "export const config = {{ inputSchema: {} }}\nexport default async () => 1\n",
            many_choices()
        ),
    );
    let server = project.serve();
    let over = Arc::new(AtomicBool::new(false));
    let url = server.url.clone();
    // Ends the watching where the test fails, too.
    struct Over(Arc<AtomicBool>);
    impl Drop for Over {
        fn drop(&mut self) {
            self.0.store(true, Ordering::SeqCst);
        }
    }
    std::thread::scope(|scope| {
        let ends = Over(over.clone());
        let watching = scope.spawn(|| {
            let mut slowest = Duration::ZERO;
            while !over.load(Ordering::SeqCst) {
                let begun = Instant::now();
                let (status, body) = ask(&url, "GET", "/healthz", "");
                assert_eq!(status, 200, "{body}");
                slowest = slowest.max(begun.elapsed());
                std::thread::sleep(Duration::from_millis(20));
            }
            slowest
        });
        test(&server);
        drop(ends);
        let slowest = watching.join().unwrap();
        assert!(slowest < Duration::from_secs(1), "{slowest:?}");
    });
    server.signal("-TERM");
    assert_eq!(server.ended(), 0);
}

/// What the server needed at most.
#[cfg(target_os = "linux")]
fn peak_kb(server: &Server<'_>) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.unwrap()
        .trim()
        .trim_end_matches(" kB")
        .parse()
        .unwrap()
}

#[test]
#[cfg(target_os = "linux")]
fn bodies_full_of_mistakes_are_answered_shortly() {
    watched(|server| {
        let (status, body) = server.ask(
            "POST",
            "/api/flows",
            &flow("rows", many_choices()).to_string(),
        );
        assert_eq!(status, 201, "{body}");
        let trigger = json!({
            "id": "hook", "type": "http", "flowId": "rows",
            "config": {"path": "/rows", "bodySchema": many_choices()},
        });
        let (status, body) = server.ask("POST", "/api/triggers", &trigger.to_string());
        assert_eq!(status, 201, "{body}");
        for bytes in [900_000, 2 << 20, 10 << 20] {
            let rows = format!("[{}1]", "1,".repeat(bytes / 2));
            for (path, body) in [
                (
                    "/api/flows/rows/start",
                    format!("{{\"input\":{{\"rows\":{rows}}}}}"),
                ),
                ("/hooks/rows", format!("{{\"rows\":{rows}}}")),
                (
                    "/api/queue/take/jobs",
                    format!("{{\"data\":{{\"rows\":{rows}}}}}"),
                ),
            ] {
                let (status, answer) = server.ask("POST", path, &body);
                // Hooks take less than other routes.
                if path == "/hooks/rows" && body.len() > 1 << 20 {
                    assert_eq!(status, 413, "{path}: {answer:.300}");
                    continue;
                }
                assert_eq!(status, 422, "{path}: {answer:.300}");
                assert!(answer.len() < 64 << 10, "{path}: {} bytes", answer.len());
                let answer: Value = serde_json::from_str(&answer).unwrap();
                let issues = answer["error"]["details"]["issues"].as_array().unwrap();
                // A longer list is not evaluated at all.
                if bytes > 1_000_000 {
                    assert_eq!(issues.len(), 1, "{path}");
                    assert_eq!(issues[0]["rule"], "SCHEMA_TOO_COMPLEX", "{path}");
                    continue;
                }
                assert_eq!(issues.len(), 100, "{path}");
                assert_eq!(issues[99]["path"], "rows.99", "{path}");
            }
        }
        // The body, its values and the answer; not a kilobyte for each number.
        let peak = peak_kb(server);
        assert!(peak < 1 << 20, "{peak} kB");
    });
}

#[test]
fn schemas_that_double_are_refused_when_they_are_registered() {
    watched(|server| {
        let refused = |status: u16, body: &str| {
            assert!(matches!(status, 200 | 422), "{status} {body}");
            assert!(body.contains("SCHEMA_TOO_COMPLEX"), "{body}");
        };
        for levels in [20, 40, 1_000] {
            let definition = flow("double", doubling(levels)).to_string();
            for path in ["/api/flows", "/api/flows/validate"] {
                let (status, body) = server.ask("POST", path, &definition);
                refused(status, &body);
            }
            let trigger = json!({
                "id": "double", "type": "http", "flowId": "quick",
                "config": {"path": "/double", "bodySchema": doubling(levels)},
            });
            let (status, body) = server.ask("POST", "/api/triggers", &trigger.to_string());
            refused(status, &body);
        }
        let mut state = flow("state", json!({}));
        state["stateSchema"] = doubling(40);
        let (status, body) = server.ask("POST", "/api/flows", &state.to_string());
        refused(status, &body);
        // A few levels are nothing unusual.
        let (status, body) =
            server.ask("POST", "/api/flows", &flow("few", doubling(5)).to_string());
        assert_eq!(status, 201, "{body}");
        let (status, body) = server.ask("POST", "/api/flows/few/start", "{\"input\":{}}");
        assert_eq!(status, 201, "{body}");
    });
}

/// One value costs little, but every level of it is evaluated twice as often as the one above.
#[test]
fn schemas_that_double_with_the_depth_of_a_value_are_counted_before_they_are_evaluated() {
    watched(|server| {
        let next = |level: usize| json!({"$ref": format!("#/$defs/d{}", level - 1)});
        let twice = |level: usize| {
            let below = next(level);
            [
                json!({"allOf": [{"items": below}, {"items": below}]}),
                json!({"prefixItems": [below], "allOf": [{"items": below}], "contains": below}),
                json!({"items": below, "contains": below}),
            ]
        };
        for form in 0..3 {
            let mut defs = serde_json::Map::new();
            defs.insert("d0".to_owned(), json!({"type": "string"}));
            for level in 1..=30 {
                defs.insert(format!("d{level}"), twice(level)[form].clone());
            }
            let id = format!("deep{form}");
            let schema = json!({"$defs": defs, "$ref": "#/$defs/d30"});
            let (status, body) = server.ask("POST", "/api/flows", &flow(&id, schema).to_string());
            assert_eq!(status, 201, "{body}");
            let value = (0..30).fold(json!("x"), |value, _| json!([value]));
            let body = json!({ "input": value }).to_string();
            let (status, answer) = server.ask("POST", &format!("/api/flows/{id}/start"), &body);
            assert_eq!(status, 422, "{answer}");
            assert!(answer.contains("SCHEMA_TOO_COMPLEX"), "{answer}");
        }
    });
}

/// Long sources are parsed by processes that are killed when that takes too long.
#[test]
fn definitions_that_take_long_to_compile_hold_up_nobody() {
    watched(|server| {
        let names: Vec<String> = (0..4_000).map(|n| format!("a{n:x}")).collect();
        let names = names.join(",");
        let nested = "()=>".repeat(150);
        let source = format!("()=>{{let {names};return {nested}[{names}]}}");
        let step = json!({"type": "transform", "config": {"transform": source}});
        let steps: serde_json::Map<String, Value> =
            (0..3).map(|n| (format!("s{n}"), step.clone())).collect();
        let definition = json!({
            "id": "slow", "version": "1.0.0", "initialStepId": "s0", "steps": steps,
        });
        let (status, body) = server.ask("POST", "/api/flows", &definition.to_string());
        assert_eq!(status, 422, "{body:.300}");
    });
}

/// Every number is held against three hundred choices, which takes longer than a request may.
#[test]
fn the_time_limit_of_a_request_holds_while_something_computes() {
    let project = Project::new();
    project.write(
        "riverrun.toml",
        "[limits]\nbody_bytes = 33554432\nrequest_timeout = '1s'\n",
    );
    let server = project.serve();
    let mut choices: Vec<Value> = (0..300).map(|n| json!({"minimum": n + 100})).collect();
    choices.push(json!({"maximum": 50}));
    let schema = json!({"properties": {"rows": {"items": {"oneOf": choices}}}});
    let (status, body) = server.ask("POST", "/api/flows", &flow("slow", schema).to_string());
    assert_eq!(status, 201, "{body}");
    let rows = "1,".repeat(140_000);
    let rows = format!("{{\"input\":{{\"rows\":[{rows}1]}}}}");
    let (status, body) = server.ask("POST", "/api/flows/slow/start", &rows);
    assert_eq!(status, 504, "{body:.300}");
    assert!(body.contains("REQUEST_TIMEOUT"), "{body:.300}");
    let (status, _) = server.ask("GET", "/healthz", "");
    assert_eq!(status, 200);
    server.signal("-TERM");
    assert_eq!(server.ended(), 0);
}
