//! Inputs: small ones, long strings and lists, deep nesting, and bytes that are no JSON.

use rand::{Rng, RngExt, rngs::StdRng};
use serde_json::{Map, Value, json};

use super::pick;

/// The keys that generated flows and schemas speak of.
pub const KEYS: [&str; 6] = ["a", "b", "c", "items", "text", "n"];

/// An input of any size up to some megabytes.
pub fn any(dice: &mut StdRng) -> Value {
    let mut input = Map::new();
    for key in KEYS {
        if dice.random_bool(0.7) {
            input.insert(key.to_owned(), member(dice));
        }
    }
    Value::Object(input)
}

fn member(dice: &mut StdRng) -> Value {
    match dice.random_range(0..12) {
        0 => Value::Null,
        1 => json!(dice.random::<i64>()),
        2 => json!(dice.random::<f64>() * 1e300),
        3 => text(dice, 40),
        4 => text(dice, 1_000_000),
        5 => json!(vec![dice.random::<u8>(); dice.random_range(0..200_000)]),
        6 => json!(vec![text(dice, 20); dice.random_range(0..20_000)]),
        7 => deep(dice.random_range(1..120)),
        8 => json!(vec![
            json!({"a": {"b": 1}, "c": true});
            dice.random_range(0..5_000)
        ]),
        9 => json!(
            (0..dice.random_range(0..5_000))
                .map(|n| (format!("k{n}"), json!(n)))
                .collect::<Map<_, _>>()
        ),
        10 => json!((0..dice.random_range(0..2_000)).collect::<Vec<u32>>()),
        _ => small(dice),
    }
}

pub fn small(dice: &mut StdRng) -> Value {
    match dice.random_range(0..5) {
        0 => json!(true),
        1 => json!(dice.random_range(-5..5)),
        2 => text(dice, 8),
        3 => json!([1, "two", null]),
        _ => json!({"a": 1, "b": {"c": [2]}}),
    }
}

/// A text of one repeated unit, which patterns and searches are slow on.
fn text(dice: &mut StdRng, most: usize) -> Value {
    let unit = *pick(
        dice,
        &["a", "ab", "é", "\u{1F300}", "\\", "\"", "${a}", " "],
    );
    json!(unit.repeat(dice.random_range(0..most.max(2)) / unit.len()))
}

fn deep(levels: usize) -> Value {
    (0..levels).fold(json!(1), |inner, level| match level % 2 {
        0 => json!({"a": inner}),
        _ => json!([inner]),
    })
}

/// Bytes that are not what a route expects.
pub fn garbage(dice: &mut StdRng) -> Vec<u8> {
    match dice.random_range(0..6) {
        0 => "[".repeat(dice.random_range(1..1_000_000)).into_bytes(),
        1 => {
            let mut bytes = vec![0; dice.random_range(0..10_000)];
            dice.fill_bytes(&mut bytes);
            bytes
        }
        2 => format!(
            "{{{}\"z\":1}}",
            "\"a\":1,".repeat(dice.random_range(1..100_000))
        )
        .into_bytes(),
        3 => format!("\"{}\"", "\\u0061".repeat(dice.random_range(1..500_000))).into_bytes(),
        4 => format!("[{}1]", "1e999,".repeat(dice.random_range(1..1_000))).into_bytes(),
        _ => any(dice).to_string().into_bytes(),
    }
}
