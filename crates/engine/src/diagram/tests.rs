use serde_json::json;

use super::*;
use crate::SchemaIssue;

/// Leads where the built-in handlers lead.
struct Handlers;

impl Catalog for Handlers {
    fn is_known(&self, _: &str) -> bool {
        true
    }

    fn known(&self) -> Vec<String> {
        Vec::new()
    }

    fn config_issues(&self, _: &str, _: &Value) -> Vec<SchemaIssue> {
        Vec::new()
    }

    fn chooses(&self, handler: &str) -> bool {
        matches!(handler, "branch" | "switch")
    }

    fn targets(&self, handler: &str, config: &Value) -> Vec<(String, String)> {
        let paths: Vec<String> = match handler {
            "branch" => vec!["conditions.0.goto".into(), "default".into()],
            "switch" => vec!["cases.yes".into(), "default".into()],
            "parallel" => vec!["branches.0".into(), "branches.1".into()],
            "map" => vec!["step".into()],
            _ => vec![],
        };
        let target = |path: String| {
            let pointer = format!("/{}", path.replace('.', "/"));
            let to = config.pointer(&pointer)?.as_str()?.to_owned();
            Some((path, to))
        };
        paths.into_iter().filter_map(target).collect()
    }
}

fn example() -> FlowDiagram {
    let definition = json!({"id": "order", "version": "1.2.0", "name": "An order", "initialStepId": "who", "steps": {
        "who": {"type": "branch", "config": {"conditions": [{"path": "vip", "op": "eq", "value": true, "goto": "rest"}], "default": "both"}},
        "rest": {"type": "delay", "config": {"ms": 5}, "transitions": {"onResume": "pay"}},
        "both": {"type": "parallel", "config": {"branches": ["loud", "back"]}, "transitions": {"onSuccess": "pay"}},
        "loud": {"type": "transform", "config": {"transform": "upper"}, "transitions": {}},
        "back": {"type": "transform", "config": {"transform": "lower"}},
        "pay": {"type": "http", "name": "pay \"now\"", "config": {"url": "https://x"}, "transitions": {"onSuccess": "again", "onFailure": "sorry"}},
        "again": {"type": "switch", "config": {"path": "left", "cases": {"yes": "who"}, "default": "done"}},
        "sorry": {"type": "log", "transitions": {"onSuccess": "nowhere"}},
        "done": {"type": "map", "config": {"step": "one"}},
        "one": {"type": "log"},
        "lost": {"type": "log"},
    }});
    FlowDiagram::of(&definition, &Handlers)
}

#[test]
fn every_way_is_an_edge() {
    let shown: Vec<String> = example()
        .edges
        .iter()
        .map(|edge| format!("{} -{}-> {}", edge.from, edge.label, edge.to))
        .collect();
    assert_eq!(
        shown,
        [
            "who -vip eq true-> rest",
            "who -otherwise-> both",
            "rest -resumed-> pay",
            "both -branch-> loud",
            "both -branch-> back",
            "both -then-> pay",
            "pay -then-> again",
            "pay -failed-> sorry",
            "again -yes-> who",
            "again -otherwise-> done",
            "done -each-> one",
        ]
    );
}

#[test]
fn a_diagram_is_nodes_and_edges_as_json() {
    let diagram = example();
    let shown = serde_json::to_value(&diagram).unwrap();
    assert_eq!(shown["flow"], "order@1.2.0");
    assert_eq!(
        shown["nodes"][0],
        json!({"id": "who", "type": "step", "handler": "branch", "initial": true})
    );
    assert_eq!(
        shown["nodes"][1],
        json!({"id": "rest", "type": "await-step", "handler": "delay", "await": {"type": "time", "delay": 5}})
    );
    assert_eq!(
        shown["edges"][0],
        json!({"from": "who", "to": "rest", "label": "vip eq true", "type": "choice", "condition": "vip eq true"})
    );
    assert_eq!(
        shown["edges"][2],
        json!({"from": "rest", "to": "pay", "label": "resumed", "type": "await"})
    );
    assert_eq!(
        serde_json::from_value::<FlowDiagram>(shown).unwrap(),
        diagram
    );
}

#[test]
fn mermaid_has_nodes_edges_and_labels() {
    let drawn = example().mermaid();
    for line in [
        "flowchart TD",
        "  start((start)) --> s0",
        "  s0{\"who<br/><i>branch</i>\"}",
        "  s5[\"pay #34;now#34;<br/><i>http</i>\"]",
        "  s0 -->|\"vip eq true\"| s1",
        "  s1 -->|\"resumed\"| s5",
        "  s2 ==>|\"branch\"| s3",
        "  s5 -.->|\"failed\"| s7",
        "  s5 --> s6",
    ] {
        assert!(
            drawn.lines().any(|found| found == line),
            "{line:?} is not in\n{drawn}"
        );
    }
    assert_eq!(
        mermaid::quote("a \"b\" <c>\n#d"),
        "a #34;b#34; #60;c#62; #35;d"
    );
}

#[test]
fn a_drawing_says_every_way() {
    let expected = "\
order@1.2.0  An order

▶ who  branch
├─ vip eq true ─▶ rest
└─ otherwise ───▶ both
● rest  delay ⏱ 5 ms
└─ resumed ─▶ pay
● both  parallel
├─ branch ─▶ loud
├─ branch ─▶ back
└─ then ───▶ pay
    ● loud  transform
    ● back  transform
● pay  http
├─ then ───▶ again
└─ failed ─▶ sorry
● again  switch
├─ yes ───────▶ who ↺
└─ otherwise ─▶ done
● done  map
└─ each ─▶ one
    ● one  log
● sorry  log

nothing leads to:
● lost  log";
    assert_eq!(example().text(), expected);
}

#[test]
fn what_nothing_leads_to_is_drawn_with_its_ways() {
    let definition = json!({"id": "f", "version": "1", "initialStepId": "a", "steps": {
        "a": {"type": "log"},
        "dead": {"type": "log", "transitions": {"onSuccess": "dead2"}},
        "dead2": {"type": "log", "emits": ["ghost"]},
        "sub2": {"type": "log", "subscriptions": [{"eventKind": "ghost"}], "transitions": {"onSuccess": "a"}},
        "waits": {"type": "log", "subscriptions": [{"eventKind": "round"}], "emits": ["round"]},
        "hears": {"type": "log", "subscriptions": [{"eventKind": "outer"}], "emits": ["sent"]},
        "sent": {"type": "log", "await": {"type": "event", "eventKind": "sent"}},
    }});
    let expected = "\
f@1

▶ a  log
● hears  log
│  ◀─ outer enters from outside
└─ sent ─▶ sent

nothing leads to:
● dead  log
│
▼
● dead2  log
│ ghost
▼
● sub2  log
└─ then ─▶ a ↺
● waits  log
└─ round ─▶ waits ↺
● sent  log ⏱ event sent";
    assert_eq!(FlowDiagram::of(&definition, &Handlers).text(), expected);
}

#[test]
fn a_way_that_is_never_taken_is_not_drawn() {
    let definition = json!({"id": "f", "version": "1", "initialStepId": "one", "steps": {
        "one": {"type": "branch", "config": {"conditions": [{"when": "true", "goto": "two"}]},
                "transitions": {"onSuccess": "three", "onFailure": "four"}},
        "two": {"type": "switch", "config": {"path": "x", "cases": {"yes": "four"}}, "transitions": {"onSuccess": "three"}},
        "three": {"type": "log"},
        "four": {"type": "log", "transitions": {"onSuccess": "one"}},
    }});
    let diagram = FlowDiagram::of(&definition, &Handlers);
    let ways: Vec<_> = diagram
        .edges
        .iter()
        .map(|edge| format!("{} -> {}", edge.from, edge.to))
        .collect();
    assert_eq!(
        ways,
        ["one -> two", "one -> four", "two -> four", "four -> one"]
    );
}

#[test]
fn every_part_of_a_drawing_can_be_painted() {
    let flow = json!({"id": "f", "version": "1", "initialStepId": "a", "steps": {
        "a": {"type": "set", "transitions": {"onFailure": "b"}}, "b": {"type": "log"}}});
    let drawn = FlowDiagram::of(&flow, &Handlers).draw(&|ink, text| format!("<{ink:?} {text}>"));
    assert_eq!(
        drawn,
        "<Title f@1>\n\n▶ <Step a>  <Handler set>\n│ <Edge(Failure) failed>\n▼\n● <Step b>  <Handler log>"
    );
}

#[test]
fn nonsense_has_an_empty_diagram_and_control_characters_are_not_drawn() {
    for definition in [
        json!(null),
        json!({"steps": []}),
        json!({"steps": {"a": 1}}),
        json!({"id": "\u{1b}[2J", "steps": {"a\nb\u{7}": {"type": "set\r"}}}),
    ] {
        let diagram = FlowDiagram::of(&definition, &Handlers);
        assert!(diagram.edges.is_empty());
        for drawn in [diagram.text(), diagram.mermaid()] {
            assert!(
                !drawn.chars().any(|c| c.is_control() && c != '\n'),
                "{drawn:?}"
            );
            assert!(!drawn.contains("a\nb"), "{drawn:?}");
        }
    }
}

#[test]
fn ten_thousand_steps_in_a_row_are_drawn() {
    let steps: serde_json::Map<String, Value> = (0..10_000)
        .map(|at| {
            let next = json!({"onSuccess": format!("s{}", at + 1)});
            (
                format!("s{at}"),
                json!({"type": "set", "transitions": next}),
            )
        })
        .collect();
    let flow = json!({"id": "f", "version": "1", "initialStepId": "s0", "steps": steps});
    let drawn = FlowDiagram::of(&flow, &Handlers).text();
    assert_eq!(drawn.lines().count(), 2 + 10_000 + 2 * 9_999);
}

/// The shop of the specification, as its processes make it.
fn shop() -> FlowDiagram {
    let definition = json!({"id": "create-order", "version": "1.0.0", "initialStepId": "create-order", "steps": {
        "create-order": {"type": "process", "config": {"process": "create-order"}, "emits": ["order.created"]},
        "wait-for-payment": {
            "type": "process", "config": {"process": "wait-for-payment"},
            "subscriptions": [{"eventKind": "order.created", "when": "(event, ctx) => event.data.requiresPayment === true",
                               "map": "(event) => ({orderId: event.data.orderId})"}],
            "await": {"type": "event", "eventKind": "payment.confirmed", "where": "(event, ctx) => event.data.orderId === ctx.input.orderId",
                      "timeout": 86_400_000, "onTimeout": "cancel-order"},
            "emits": ["order.paid", "payment.timeout"],
        },
        "fulfill-order": {"type": "process", "config": {"process": "fulfill-order"},
                          "subscriptions": [{"eventKind": "order.paid"}], "emits": ["order.fulfilled"]},
        "cancel-order": {"type": "process", "config": {"process": "cancel-order"}},
    }});
    FlowDiagram::of(&definition, &Handlers)
}

#[test]
fn the_shop_of_the_specification_is_nodes_and_edges() {
    let shown = serde_json::to_value(shop()).unwrap();
    assert_eq!(
        shown["nodes"],
        json!([
            {"id": "create-order", "type": "step", "handler": "process", "initial": true, "emits": ["order.created"]},
            {"id": "wait-for-payment", "type": "await-step", "handler": "process",
             "await": {"type": "event", "eventKind": "payment.confirmed", "timeout": 86_400_000,
                       "condition": "(event, ctx) => event.data.orderId === ctx.input.orderId"},
             "emits": ["order.paid", "payment.timeout"],
             "subscriptions": [{"eventKind": "order.created", "when": "(event, ctx) => event.data.requiresPayment === true"}]},
            {"id": "fulfill-order", "type": "step", "handler": "process", "emits": ["order.fulfilled"],
             "subscriptions": [{"eventKind": "order.paid"}]},
            {"id": "cancel-order", "type": "step", "handler": "process"},
        ])
    );
    assert_eq!(
        shown["edges"],
        json!([
            {"from": "create-order", "to": "wait-for-payment", "label": "order.created", "type": "emit",
             "condition": "(event, ctx) => event.data.requiresPayment === true"},
            {"from": "wait-for-payment", "to": "wait-for-payment", "label": "⏱ payment.confirmed", "type": "await",
             "condition": "(event, ctx) => event.data.orderId === ctx.input.orderId", "timeout": 86_400_000},
            {"from": "wait-for-payment", "to": "fulfill-order", "label": "order.paid", "type": "emit"},
            {"from": "wait-for-payment", "to": "cancel-order", "label": "timeout", "type": "timeout", "timeout": 86_400_000},
        ])
    );
    assert_eq!(
        shown["outside"],
        json!([{"to": "wait-for-payment", "label": "payment.confirmed", "type": "resumes",
                "condition": "(event, ctx) => event.data.orderId === ctx.input.orderId"}])
    );
}

#[test]
fn the_shop_of_the_specification_is_drawn() {
    let drawn = "\
create-order@1.0.0

▶ create-order  process
│ order.created if (event, ctx) => event.data.requiresPaym…
▼
● wait-for-payment  process ⏱ event payment.confirmed, timeout 24h
│  ◀─ payment.confirmed comes from outside if (event, ctx) => event.data.orderId === …
│  ─▶ payment.timeout taken by nobody here
├─ order.paid ──▶ fulfill-order
└─ timeout 24h ─▶ cancel-order
● fulfill-order  process
│  ─▶ order.fulfilled taken by nobody here
● cancel-order  process";
    assert_eq!(shop().text(), drawn);
    let mermaid = "\
flowchart TD
  start((start)) --> s0
  s0[\"create-order<br/><i>process</i>\"]
  s1[\"wait-for-payment<br/><i>process</i><br/>⏱ payment.confirmed<br/>timeout 24h\"]
  s2[\"fulfill-order<br/><i>process</i>\"]
  s3[\"cancel-order<br/><i>process</i>\"]
  s0 -->|\"order.created if (event, ctx) =#62; event.data.requiresPaym…\"| s1
  s1 -->|\"order.paid\"| s2
  s1 -.->|\"timeout 24h\"| s3
  o0([\"payment.confirmed<br/><i>event from outside</i>\"]) -.->|\"if (event, ctx) =#62; event.data.orderId === ctx.input.orderId\"| s1";
    assert_eq!(shop().mermaid(), mermaid);
}

#[test]
fn a_flow_of_both_kinds_is_drawn() {
    let definition = json!({"id": "trip", "version": "1.0.0", "initialStepId": "plan", "steps": {
        "plan": {"type": "set", "config": {"value": 1}, "transitions": {"onSuccess": "book"}},
        "book": {"type": "process", "config": {"process": "book"}, "emits": ["booked", "seat"],
                 "compensation": {"step": "cancel", "on": ["trip.off"]}, "transitions": {"onFailure": "sorry"}},
        "ask": {"type": "process", "config": {"process": "ask"}, "subscriptions": [{"eventKind": "booked"}],
                "await": {"type": "trigger", "triggerType": "user", "timeout": "1h 30m"}, "emits": ["asked"]},
        "both": {"type": "log", "join": "all", "subscriptions": [{"eventKind": "asked"}, {"eventKind": "paid"}],
                 "transitions": {"onSuccess": "nap"}},
        "nap": {"type": "log", "await": {"type": "event", "eventKind": "seat", "match": {"data.id": "input.id", "data.n": {"value": 2}}}},
        "rest": {"type": "log", "await": {"type": "time", "delay": "2h"}, "subscriptions": [{"eventKind": "trip.late"}]},
        "cancel": {"type": "log"},
        "sorry": {"type": "log"},
    }});
    let diagram = FlowDiagram::of(&definition, &Handlers);
    let expected = "\
trip@1.0.0

▶ plan  set
│
▼
● book  process
├─ failed ────────────────────────────────────▶ sorry
├─ booked ────────────────────────────────────▶ ask
├─ seat if data.id = input.id and data.n = 2 ─▶ nap
└─ undo on trip.off ──────────────────────────▶ cancel
● sorry  log
● ask  process ⏱ trigger user, timeout 1h 30m
│  ◀─ user opened from outside
│ asked
▼
● both  log, one of each event
│  ◀─ paid enters from outside
│
▼
● nap  log ⏱ event seat
● cancel  log
● rest  log ⏱ 2h
│  ◀─ trip.late enters from outside";
    assert_eq!(diagram.text(), expected);
    let mermaid = diagram.mermaid();
    for said in ["⏱ trigger user<br/>timeout 1h 30m\"", "⏱ seat\"", "⏱ 2h\""] {
        assert!(mermaid.contains(said), "{mermaid}");
    }
    let shown = serde_json::to_value(&diagram).unwrap();
    assert_eq!(shown["nodes"][3]["join"], "all");
    assert_eq!(
        serde_json::from_value::<FlowDiagram>(shown).unwrap(),
        diagram
    );
}

#[test]
fn milliseconds_are_shown_as_people_say_them() {
    for (ms, said) in [
        (0, "0ms"),
        (250, "250ms"),
        (90_000, "1m 30s"),
        (5_400_000, "1h 30m"),
        (86_400_000, "24h"),
        (1_001, "1s 1ms"),
    ] {
        assert_eq!(label::duration(ms), said);
    }
}

/// Each step emits what every other one takes.
#[test]
fn a_diagram_has_a_bounded_number_of_edges() {
    let step = |n: usize| {
        let step = serde_json::json!({"type": "set", "emits": ["x"], "subscriptions": [{"eventKind": "x"}]});
        (format!("s{n}"), step)
    };
    let steps: serde_json::Map<String, Value> = (0..1_000).map(step).collect();
    let definition =
        serde_json::json!({"id": "f", "version": "1", "initialStepId": "s0", "steps": steps});
    let diagram = FlowDiagram::of(&definition, &Handlers);
    assert_eq!(diagram.edges.len(), 20_000);
    assert_eq!(diagram.left_out, 980_000);
    assert!(diagram.text().ends_with("980000 more edges are not drawn"));
}
