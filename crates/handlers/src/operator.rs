//! The operators of branch conditions: they compare a value of the state with one of the config. No
//! operator fails; values of unsupported types do not match.

use std::cmp::Ordering;

use serde::Deserialize;
use serde_json::{Number, Value};

/// An operator. "Missing" is a path at which the state has nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Operator {
    /// Deep equality. Numbers are equal by value (1 and 1.0), objects without regard to the order
    /// of their keys. Missing equals nothing, not even null.
    Eq,
    /// Not `Eq`: holds for what is missing.
    Neq,
    /// Both numbers, or both strings (by code points); everything else is no match.
    Gt,
    Gte,
    Lt,
    Lte,
    /// There and not null.
    Exists,
    /// Missing or null.
    NotExists,
    /// `Eq` to one item of the list in the config.
    In,
    /// Not `In`: holds for what is missing.
    Nin,
    /// A list with an item that is `Eq`, or a string with that text in it.
    Contains,
    StartsWith,
    EndsWith,
    /// A string in which the regular expression finds a match. Compiled with the config, so it is
    /// not for [`holds`] to judge.
    Matches,
}

impl Operator {
    /// As configs write them.
    pub const NAMES: [&str; 14] = [
        "eq",
        "neq",
        "gt",
        "gte",
        "lt",
        "lte",
        "exists",
        "notExists",
        "in",
        "nin",
        "contains",
        "startsWith",
        "endsWith",
        "matches",
    ];

    /// What the config's value has to be; `None` if anything goes.
    pub fn needs(self) -> Option<&'static str> {
        match self {
            Self::In | Self::Nin => Some("list"),
            Self::StartsWith | Self::EndsWith | Self::Matches => Some("string"),
            Self::Gt | Self::Gte | Self::Lt | Self::Lte => Some("number or a string"),
            _ => None,
        }
    }

    /// Whether `value` is what the operator needs.
    pub fn takes(self, value: &Value) -> bool {
        match self {
            Self::In | Self::Nin => value.is_array(),
            Self::StartsWith | Self::EndsWith | Self::Matches => value.is_string(),
            Self::Gt | Self::Gte | Self::Lt | Self::Lte => value.is_number() || value.is_string(),
            _ => true,
        }
    }

    /// Whether the operator looks at nothing but the state.
    pub fn is_unary(self) -> bool {
        matches!(self, Self::Exists | Self::NotExists)
    }
}

/// Whether `actual operator expected` holds.
pub(crate) fn holds(operator: Operator, actual: Option<&Value>, expected: &Value) -> bool {
    let exists = actual.is_some_and(|actual| !actual.is_null());
    let order = || order(actual?, expected);
    match operator {
        Operator::Eq => actual.is_some_and(|actual| equal(actual, expected)),
        Operator::Neq => !holds(Operator::Eq, actual, expected),
        Operator::Gt => order().is_some_and(Ordering::is_gt),
        Operator::Gte => order().is_some_and(Ordering::is_ge),
        Operator::Lt => order().is_some_and(Ordering::is_lt),
        Operator::Lte => order().is_some_and(Ordering::is_le),
        Operator::Exists => exists,
        Operator::NotExists => !exists,
        Operator::In => actual.is_some_and(|actual| has_item(expected, actual)),
        Operator::Nin => !holds(Operator::In, actual, expected),
        Operator::Contains => match actual {
            Some(Value::String(text)) => expected.as_str().is_some_and(|part| text.contains(part)),
            Some(list) => has_item(list, expected),
            None => false,
        },
        Operator::StartsWith => texts(actual, expected).is_some_and(|(a, b)| a.starts_with(b)),
        Operator::EndsWith => texts(actual, expected).is_some_and(|(a, b)| a.ends_with(b)),
        Operator::Matches => false,
    }
}

/// Deep equality with numbers by value.
pub(crate) fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => compare(a, b) == Some(Ordering::Equal),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            let same = |(key, a): (&String, &Value)| b.get(key).is_some_and(|b| equal(a, b));
            a.len() == b.len() && a.iter().all(same)
        }
        (a, b) => a == b,
    }
}

fn has_item(list: &Value, item: &Value) -> bool {
    let items = list.as_array();
    items.is_some_and(|items| items.iter().any(|each| equal(each, item)))
}

fn texts<'a>(actual: Option<&'a Value>, expected: &'a Value) -> Option<(&'a str, &'a str)> {
    Some((actual?.as_str()?, expected.as_str()?))
}

fn order(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => compare(a, b),
        (Value::String(a), Value::String(b)) => Some(a.cmp(b)),
        _ => None,
    }
}

/// Exact where one side is a 64-bit integer that a float would round.
fn compare(a: &Number, b: &Number) -> Option<Ordering> {
    match (integer(a), integer(b)) {
        (Some(a), Some(b)) => Some(a.cmp(&b)),
        _ => a.as_f64()?.partial_cmp(&b.as_f64()?),
    }
}

fn integer(number: &Number) -> Option<i128> {
    const EXACT: f64 = (1_u128 << 100) as f64;
    if let Some(integer) = number.as_i128() {
        return Some(integer);
    }
    let float = number.as_f64()?;
    (float.fract() == 0.0 && float.abs() < EXACT).then_some(float as i128)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn check(operator: &str, expected: Value, matches: &[Value], others: &[Value]) {
        let operator: Operator = serde_json::from_value(json!(operator)).unwrap();
        for (actuals, wanted) in [(matches, true), (others, false)] {
            for actual in actuals {
                let got = holds(operator, Some(actual), &expected);
                assert_eq!(got, wanted, "{actual} {operator:?} {expected}");
            }
        }
    }

    #[test]
    fn equality_is_deep_and_numbers_are_values() {
        let one = [json!(1), json!(1.0), json!(1e0)];
        let others = [json!("1"), json!(true), json!(null), json!([1]), json!(2)];
        check("eq", json!(1), &one, &others);
        check("neq", json!(1), &others, &one);
        let object = json!({"a": [1, {"b": null}], "c": "x"});
        let same = json!({"c": "x", "a": [1.0, {"b": null}]});
        let different = [
            json!({"c": "x", "a": [1, {}]}),
            json!({"a": 1}),
            json!(null),
        ];
        check("eq", object, &[same], &different);
        check("eq", json!(null), &[json!(null)], &[json!(0), json!(false)]);
        let big = 9_007_199_254_740_993_u64;
        check(
            "eq",
            json!(big),
            &[json!(big)],
            &[json!(big - 1), json!(9_007_199_254_740_992.0)],
        );
        check("eq", json!(u64::MAX), &[json!(u64::MAX)], &[json!(-1)]);
    }

    #[test]
    fn order_needs_one_type() {
        let five = json!(5);
        check(
            "gt",
            five.clone(),
            &[json!(5.5), json!(u64::MAX)],
            &[json!(5), json!("6"), json!(null), json!([6])],
        );
        check("gte", five.clone(), &[json!(5.0), json!(6)], &[json!(4.9)]);
        check(
            "lt",
            five.clone(),
            &[json!(-1), json!(i64::MIN)],
            &[json!(5), json!("4"), json!(true)],
        );
        check("lte", five, &[json!(5)], &[json!(5.000001)]);
        check(
            "lt",
            json!("b"),
            &[json!("a"), json!("Z")],
            &[json!("b"), json!(1)],
        );
    }

    #[test]
    fn membership_and_texts() {
        let list = json!([1, "a", {"k": 1}]);
        let inside = [json!(1.0), json!("a"), json!({"k": 1})];
        let outside = [json!("b"), json!(null)];
        check("in", list.clone(), &inside, &outside);
        check("nin", list, &outside, &inside);
        check(
            "contains",
            json!("b"),
            &[json!("abc"), json!(["a", "b"])],
            &[json!("xyz"), json!(["abc"]), json!({"b": 1}), json!(1)],
        );
        check("contains", json!(1), &[json!([1])], &[json!("1")]);
        check(
            "startsWith",
            json!("ab"),
            &[json!("abc")],
            &[json!("cab"), json!(["ab"])],
        );
        check(
            "endsWith",
            json!("bc"),
            &[json!("abc")],
            &[json!("bcd"), json!(1)],
        );
    }

    #[test]
    fn what_is_missing() {
        for (operator, wanted) in [
            ("eq", false),
            ("neq", true),
            ("gt", false),
            ("gte", false),
            ("lt", false),
            ("lte", false),
            ("exists", false),
            ("notExists", true),
            ("in", false),
            ("nin", true),
            ("contains", false),
            ("startsWith", false),
            ("endsWith", false),
        ] {
            let operator: Operator = serde_json::from_value(json!(operator)).unwrap();
            for expected in [json!(null), json!(1), json!("a"), json!([null])] {
                assert_eq!(holds(operator, None, &expected), wanted, "{operator:?}");
            }
        }
        check(
            "exists",
            json!(null),
            &[json!(0), json!("")],
            &[json!(null)],
        );
        check("notExists", json!(null), &[json!(null)], &[json!(false)]);
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            (-3_i64..3).prop_map(|n| json!(n as f64)),
            "\\PC{0,3}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 16, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::hash_map("[a-c]", inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    fn any_operator() -> impl Strategy<Value = Operator> {
        use Operator::*;
        proptest::sample::select(vec![
            Eq, Neq, Gt, Gte, Lt, Lte, Exists, NotExists, In, Nin, Contains, StartsWith, EndsWith,
            Matches,
        ])
    }

    proptest! {
        #[test]
        fn no_values_make_it_panic(operator in any_operator(), a in proptest::option::of(any_json()), b in any_json()) {
            let _ = holds(operator, a.as_ref(), &b);
        }

        #[test]
        fn everything_equals_itself_and_order_is_total_where_it_is(a in any_json(), b in any_json()) {
            prop_assert!(equal(&a, &a));
            prop_assert_eq!(equal(&a, &b), equal(&b, &a));
            let order = |operator| holds(operator, Some(&a), &b);
            let comparable = order(Operator::Gte) || order(Operator::Lte);
            if comparable {
                prop_assert_eq!(order(Operator::Gt), !order(Operator::Lte));
                prop_assert_eq!(order(Operator::Lt), !order(Operator::Gte));
                prop_assert_eq!(order(Operator::Gte) && order(Operator::Lte), equal(&a, &b));
            }
        }
    }
}
