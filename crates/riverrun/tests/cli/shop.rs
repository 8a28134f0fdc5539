//! `examples/shop` to every one of its endings, with the real binary, Node and Python.

use std::{collections::BTreeSet, path::Path};

use serde_json::{Value, json};

use crate::support::{Project, Server, shown, until};

/// How long the example waits for payments and for approvals, in its own words.
const DAY: &str = "24 * 60 * 60 * 1000";
const WEEK: &str = "'7d'";

/// The example in a folder of its own, as it is.
fn example() -> Project {
    hurried(&[])
}

/// The example, with some of its times cut short.
fn hurried(times: &[&str]) -> Project {
    let project = Project::new();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    std::fs::create_dir(project.path("processes")).unwrap();
    let shop = examples.join("shop");
    for name in ["riverrun.toml", "package.json"] {
        std::fs::copy(shop.join(name), project.path(name)).unwrap();
    }
    let mut cut = 0;
    for entry in std::fs::read_dir(shop.join("processes")).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_file() {
            let mut text = std::fs::read_to_string(entry.path()).unwrap();
            for time in times {
                cut += text.matches(time).count();
                text = text.replace(time, "300");
            }
            let to = project.path("processes").join(entry.file_name());
            std::fs::write(to, text).unwrap();
        }
    }
    assert_eq!(cut, times.len(), "each time stands in one place");
    project
}

const DEV: [&str; 3] = ["dev", "--listen", "127.0.0.1:0"];

fn start(server: &Server<'_>, flow: &str, input: &Value) -> String {
    let started = server.json(&["run", flow, "-d", &input.to_string()]);
    started["runId"].as_str().unwrap().to_owned()
}

fn pay(server: &Server<'_>, order: &str) {
    let data = json!({"orderId": order, "by": "card"}).to_string();
    server.ok(&["emit", "payment.confirmed", "-d", &data]);
}

fn events(server: &Server<'_>, run: &str) -> Vec<Value> {
    let events = server.json(&["runs", "events", run]);
    let items = events["items"].as_array().or(events.as_array());
    items.unwrap().clone()
}

/// The callback for which a run waits or waited.
fn callback(events: &[Value]) -> String {
    let mut events = events.iter();
    let waits = events.find(|event| event["type"] == "step.await.trigger");
    let id = waits.unwrap()["data"]["triggerId"].as_str();
    id.unwrap().to_owned()
}

#[test]
fn every_ending_in_the_readme_is_shown_and_the_other_way_round() {
    let readme = include_str!("../../../../examples/shop/README.md");
    let named = readme.lines().filter(|line| line.starts_with("| "));
    let named = named.filter_map(|row| row.strip_suffix("` |")?.rsplit_once('`'));
    let named: BTreeSet<&str> = named.map(|(_, name)| name).collect();
    let here = include_str!("shop.rs").lines();
    let tests = here.filter_map(|line| line.strip_prefix("fn a")?.split_once("() {"));
    let tests: Vec<String> = tests.map(|(name, _)| format!("a{name}")).collect();
    let tests: BTreeSet<&str> = tests.iter().map(String::as_str).collect();
    assert_eq!(named, tests);
}

#[test]
fn an_order_is_paid_and_sent() {
    let project = example();
    let server = project.start(&DEV);
    let run = start(
        &server,
        "create-order",
        &json!({"orderId": "o-1", "total": 20}),
    );
    let other = start(
        &server,
        "create-order",
        &json!({"orderId": "o-2", "total": 5}),
    );
    until(&server, &run, "waiting");
    until(&server, &other, "waiting");
    pay(&server, "o-1");
    let ended = until(&server, &run, "completed");
    let result = json!({"fulfilled": "o-1", "parcel": "parcel-o-1"});
    assert_eq!(ended["result"], result);
    assert_eq!(ended["steps"]["wait-for-payment"]["visits"], 1);
    assert_eq!(shown(&server, &other)["status"], "waiting");
    // A payment counts for the order that it came for, not for the next of the same id.
    let again = start(
        &server,
        "create-order",
        &json!({"orderId": "o-1", "total": 20}),
    );
    until(&server, &again, "waiting");
    pay(&server, "o-1");
    until(&server, &again, "completed");
    // What costs nothing waits for no payment.
    let free = start(
        &server,
        "create-order",
        &json!({"orderId": "o-3", "total": 0}),
    );
    let ended = until(&server, &free, "completed");
    assert_eq!(ended["steps"].get("wait-for-payment"), None);
    assert_eq!(ended["result"]["fulfilled"], "o-3");
}

#[test]
fn an_order_that_is_not_paid_in_time_is_cancelled() {
    let project = hurried(&[DAY]);
    let server = project.start(&DEV);
    let run = start(
        &server,
        "create-order",
        &json!({"orderId": "o-1", "total": 20}),
    );
    let ended = until(&server, &run, "completed");
    assert_eq!(ended["result"], json!({"cancelled": "o-1"}));
    assert_eq!(ended["state"]["cancelled"], true);
    assert_eq!(ended["steps"]["wait-for-payment"]["status"], "timeout");
}

#[test]
fn an_order_that_cannot_be_sent_is_undone() {
    let project = example();
    let server = project.start(&DEV);
    let order = json!({"orderId": "o-1", "total": 20, "address": "nowhere"});
    let run = start(&server, "create-order", &order);
    until(&server, &run, "waiting");
    pay(&server, "o-1");
    let ended = until(&server, &run, "failed");
    assert_eq!(ended["steps"]["cancel-order"]["status"], "completed");
    assert_eq!(ended["state"]["cancelled"], true);
    assert!(
        ended["error"]["message"]
            .as_str()
            .unwrap()
            .contains("no such address")
    );
}

#[test]
fn a_subscription_waits_with_the_same_step_and_survives_the_server() {
    let project = example();
    let server = project.start(&DEV);
    let input = json!({"customer": "ann", "price": 9});
    let run = start(&server, "create-subscription", &input);
    until(&server, &run, "waiting");
    server.kill();
    let server = project.start(&DEV);
    assert_eq!(shown(&server, &run)["status"], "waiting");
    pay(&server, "sub-ann");
    let ended = until(&server, &run, "completed");
    assert_eq!(ended["result"], json!({"active": "sub-ann"}));
    assert_eq!(
        ended["state"],
        json!({"customer": "ann", "price": 9, "active": true})
    );
}

#[test]
fn a_subscription_that_is_not_paid_in_time_is_cancelled() {
    let project = hurried(&[DAY]);
    let server = project.start(&DEV);
    let input = json!({"customer": "ann", "price": 9});
    let run = start(&server, "create-subscription", &input);
    let ended = until(&server, &run, "completed");
    assert_eq!(ended["result"], json!({"cancelled": "sub-ann"}));
    assert_eq!(ended["state"]["cancelled"], true);
    assert_eq!(ended["steps"]["wait-for-payment"]["status"], "timeout");
    // A payment that comes too late changes nothing.
    pay(&server, "sub-ann");
    let ended = shown(&server, &run);
    assert_eq!(ended["steps"].get("activate-subscription"), None);
    assert_eq!(ended["state"].get("active"), None);
}

#[test]
fn a_refund_that_nobody_decides_fails_and_pays_nothing() {
    let project = hurried(&[WEEK]);
    let server = project.start(&DEV);
    let run = start(&server, "refund", &json!({"orderId": "o-1", "amount": 5}));
    let ended = until(&server, &run, "failed");
    assert_eq!(ended["error"]["code"], "AWAIT_TIMEOUT");
    assert_eq!(ended["error"]["stepId"], "wait-for-approval");
    let waited = &ended["steps"]["wait-for-approval"];
    assert_eq!(
        (&waited["status"], &waited["visits"]),
        (&json!("failed"), &json!(1))
    );
    assert_eq!(ended["steps"].get("process-refund"), None);
    // The page says now that it is too late.
    let callback = callback(&events(&server, &run));
    server
        .run(&["fire", &callback, "-d", r#"{"approved":true}"#])
        .refused(2, &["AWAIT_EXPIRED"]);
}

#[test]
fn a_refund_is_decided_by_a_person() {
    let project = example();
    let server = project.start(&DEV);
    for (answer, expected) in [
        (
            "approve",
            json!({"refunded": 5, "transfer": "transfer-o-1"}),
        ),
        ("reject", json!({"approved": false})),
    ] {
        let run = start(&server, "refund", &json!({"orderId": "o-1", "amount": 5}));
        until(&server, &run, "waiting");
        let events = events(&server, &run);
        let id = callback(&events);
        // The link that is mailed leads to this server.
        let link = format!("{}/approve/{id}", server.url);
        let mailed = json!(format!("please decide: {link}"));
        assert!(
            events
                .iter()
                .any(|event| event["data"]["message"] == mailed),
            "{events:#?}"
        );
        let why = server.json(&["runs", "why", &run]);
        assert_eq!(why["reasons"][0]["url"], link, "{why:#}");
        let page = asked(&server.url, "GET", &id, "");
        assert!(page.contains("Approve") && page.contains("o-1"), "{page}");
        asked(
            &server.url,
            "POST",
            &id,
            &format!("answer={answer}&comment=fine"),
        );
        server
            .run(&["fire", &id, "-d", "{}"])
            .refused(2, &["AWAIT_USED", "try: riverrun tail trigger/"]);
        let ended = until(&server, &run, "completed");
        assert_eq!(ended["result"], expected);
    }
}

/// The page of a person's decision.
fn asked(url: &str, method: &str, id: &str, form: &str) -> String {
    use std::io::{Read, Write};
    let host = url.trim_start_matches("http://");
    let mut stream = std::net::TcpStream::connect(host).unwrap();
    let request = format!(
        "{method} /approve/{id} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\ncontent-type: application/x-www-form-urlencoded\r\ncontent-length: {}\r\n\r\n{form}",
        form.len()
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    answer
}
