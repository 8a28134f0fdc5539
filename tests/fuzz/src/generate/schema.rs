//! JSON Schemas: small trees, chains that double, recursion, patterns that backtrack.

use rand::{RngExt, rngs::StdRng};
use serde_json::{Map, Value, json};

use super::{pick, value::KEYS};

pub fn schema(dice: &mut StdRng) -> Value {
    let mut root = node(dice, 4);
    let mut defs = Map::new();
    // Each level refers to the next several times, in place or along the value.
    let levels = dice.random_range(1..60);
    let width = dice.random_range(1..4);
    let keyword = *pick(dice, &["allOf", "anyOf", "oneOf"]);
    for level in 0..levels {
        let next = json!({"$ref": format!("#/$defs/l{}", level + 1)});
        defs.insert(format!("l{level}"), json!({keyword: vec![next; width]}));
    }
    defs.insert(format!("l{levels}"), node(dice, 1));
    let tree = json!({"$ref": "#/$defs/tree"});
    let inner = match dice.random_range(0..3) {
        0 => json!({"anyOf": [tree, tree]}),
        1 => json!({"items": tree, "additionalProperties": {"oneOf": [tree, {"type": "string"}]}}),
        _ => json!({"properties": {"a": {"allOf": [tree, tree]}}, "items": {"not": tree}}),
    };
    defs.insert("tree".to_owned(), inner);
    if let Value::Object(root) = &mut root {
        root.insert("$defs".to_owned(), Value::Object(defs));
    }
    root
}

fn node(dice: &mut StdRng, depth: usize) -> Value {
    if depth == 0 {
        return leaf(dice);
    }
    let mut inner = || node(dice, depth - 1);
    let (one, two, three) = (inner(), inner(), inner());
    match dice.random_range(0..14) {
        0 => json!({"properties": {"a": one, "b": two, "items": three}, "required": KEYS}),
        1 => json!({"items": {"anyOf": [one, two, three]}}),
        2 => json!({"additionalProperties": one}),
        3 => json!({"allOf": [one, two]}),
        4 => json!({"oneOf": [one, two, three]}),
        5 => json!({"not": one}),
        6 => json!({"if": one, "then": two, "else": three}),
        7 => json!({"patternProperties": {"^(a+)+$": one, "k": two}}),
        8 => json!({"contains": one, "minContains": 2, "uniqueItems": true}),
        9 => json!({"prefixItems": [one, two], "unevaluatedItems": false}),
        10 => {
            json!({"properties": {"items": {"uniqueItems": true, "items": one}}, "unevaluatedProperties": two})
        }
        11 => json!({"propertyNames": one, "dependentSchemas": {"a": two}}),
        12 => json!({"$ref": "#/$defs/l0", "properties": {"c": one}}),
        _ => json!({"$ref": "#/$defs/tree", "items": one}),
    }
}

fn leaf(dice: &mut StdRng) -> Value {
    match dice.random_range(0..10) {
        0 => json!({"type": "string", "pattern": "^(a|a)*(?=b)\\1$"}),
        1 => json!({"pattern": "^(a+)+$"}),
        2 => json!({"type": "integer", "multipleOf": 1e-300}),
        3 => json!({"enum": (0..dice.random_range(1..500)).collect::<Vec<u32>>()}),
        4 => json!({"const": {"a": [1]}}),
        5 => json!({"type": ["null", "object"]}),
        6 => json!({"minLength": 10, "maxLength": 5}),
        7 => json!({"$ref": "#/$defs/nowhere"}),
        8 => json!({"format": "date-time"}),
        _ => json!(dice.random_bool(0.5)),
    }
}
