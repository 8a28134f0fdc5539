//! Flows of built-in steps: chains, loops, fan-outs, templates and expressions.

use rand::{RngExt, rngs::StdRng};
use serde_json::{Map, Value, json};

use super::{
    expression::expression,
    pick,
    value::{KEYS, small},
};

pub fn flow(dice: &mut StdRng, round: usize) -> Value {
    let count = match dice.random_range(0..20) {
        0 => dice.random_range(1_000..30_000),
        _ => dice.random_range(1..8),
    };
    let names: Vec<String> = (0..count).map(|n| format!("s{n}")).collect();
    let mut steps = Map::new();
    for (at, name) in names.iter().enumerate() {
        // Large flows are about their number of steps: a small kind of step makes them.
        let mut step = match count > 100 {
            true => json!({"type": "set", "config": {"value": at}}),
            false => step(dice, &names),
        };
        let next = match dice.random_range(0..6) {
            0 => pick(dice, &names).clone(),
            _ => names.get(at + 1).cloned().unwrap_or_default(),
        };
        if !next.is_empty() {
            step["transitions"] = json!({"onSuccess": next});
        }
        steps.insert(name.clone(), step);
    }
    json!({"id": format!("flow-{round}"), "version": "1.0.0", "initialStepId": "s0", "steps": steps})
}

fn step(dice: &mut StdRng, names: &[String]) -> Value {
    let other = pick(dice, names).clone();
    let mut step = match dice.random_range(0..9) {
        0..3 => json!({"type": "set", "config": {"value": template(dice)}}),
        3..5 => json!({"type": "transform", "config": {"transform": expression(dice)}}),
        5 => {
            json!({"type": "map", "config": {"step": other}, "input": {"type": "key", "key": "items"}})
        }
        6 => json!({"type": "branch", "config": {"conditions": [
            {"path": pick(dice, &KEYS), "op": pick(dice, &["eq", "contains", "matches", "in"]),
             "value": small(dice), "goto": other}]}}),
        7 => json!({"type": "log", "config": {"message": text_template(dice)}}),
        _ => {
            json!({"type": "parallel", "config": {"branches": {"one": other, "two": pick(dice, names)}}})
        }
    };
    if dice.random_bool(0.4) {
        step["outputKey"] = json!(pick(dice, &KEYS));
    }
    if dice.random_bool(0.2) {
        step["input"] = json!({"type": "template", "template": template(dice)});
    }
    if dice.random_bool(0.2) {
        step["retry"] = json!({"maxAttempts": dice.random_range(1..4), "backoffMs": 1});
    }
    step
}

fn template(dice: &mut StdRng) -> Value {
    let path = format!("${{{}}}", pick(dice, &KEYS));
    let many = dice.random_range(1..3_000);
    match dice.random_range(0..5) {
        0 => json!(path),
        1 => json!(path.repeat(many)),
        2 => json!(vec![path; many]),
        3 => json!(
            (0..many)
                .map(|n| (format!("k{n}"), json!(path)))
                .collect::<Map<_, _>>()
        ),
        _ => json!([path, path]),
    }
}

fn text_template(dice: &mut StdRng) -> String {
    format!(
        "{} ${{{}}}",
        "x".repeat(dice.random_range(0..50)),
        pick(dice, &KEYS)
    )
    .repeat(dice.random_range(1..500))
}
