//! Native and QuickJS evaluation agree, on any path and any document.

use std::sync::LazyLock;

use proptest::prelude::*;
use serde_json::Value;

use crate::expr::Evaluated;
use crate::{Arg, Error, Expr, Limits, Sandbox};

static SANDBOX: LazyLock<Sandbox> = LazyLock::new(|| Sandbox::new(Limits::default()).unwrap());

/// Few keys, so that paths often lead somewhere.
fn key() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["a", "b", "id", "0", "1", "link", "length", "x y"])
}

fn document() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        prop::sample::select(vec![
            "null",
            "true",
            "false",
            "0",
            "-0",
            "1",
            "1.0",
            "1e2",
            "100",
            "-7.25",
            "9007199254740993",
            "9007199254740992",
            "\"\"",
            "\"a\"",
            "\"\\u0061\"",
            "\"1\"",
            "\"gold\"",
            "\"\\ud800\"",
            "\"\\ud83d\\ude00\"",
            "\"\u{1f600}\"",
            "\"\\n\"",
        ])
        .prop_map(str::to_owned),
        any::<f64>().prop_filter_map("finite", |n| n.is_finite().then(|| format!("{n:e}"))),
        any::<String>().prop_map(|text| Value::from(text).to_string()),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4)
                .prop_map(|items| format!("[ {} ]", items.join(", "))),
            prop::collection::vec((key(), inner), 0..4).prop_map(|members| {
                let members = members
                    .iter()
                    .map(|(key, value)| format!("\"{key}\": {value}"));
                format!("{{{}}}", members.collect::<Vec<_>>().join(","))
            }),
        ]
    })
}

fn step() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(vec![
            ".a", ".b", ".id", ".link", ".length", "?.a", "?.[0]", "?.id"
        ])
        .prop_map(str::to_owned),
        (0..3_usize).prop_map(|index| format!("[{index}]")),
        key().prop_map(|key| format!("['{key}']")),
    ]
}

fn operand() -> impl Strategy<Value = String> {
    let root = prop::sample::select(vec!["input", "state", "input", "state", "missing"]);
    let path = (root, prop::collection::vec(step(), 0..4))
        .prop_map(|(root, steps)| format!("{root}{}", steps.concat()));
    let literal = prop::sample::select(vec![
        "1",
        "-0",
        "100",
        "9007199254740993",
        "'a'",
        "\"gold\"",
        "''",
        "'1'",
        "true",
        "null",
        "undefined",
    ]);
    prop_oneof![4 => path, 1 => literal.prop_map(str::to_owned)]
}

fn source() -> impl Strategy<Value = String> {
    let operator = prop::sample::select(vec!["===", "!==", "==", "!="]);
    let body = prop_oneof![
        operand(),
        (operand(), operator, operand()).prop_map(|(a, op, b)| format!("{a} {op} {b}")),
    ];
    let head = prop::sample::select(vec![
        "",
        "",
        "() => ",
        "(input, state) => ",
        "(state, input) => ",
        "input=>",
        "(x, y, missing) => ",
    ]);
    (head, body).prop_map(|(head, body)| format!("{head}{body}"))
}

/// The value behind the text: numbers as doubles, so that digits and the sign of zero do not
/// count; strings as their code units.
fn meaning(answer: &Evaluated) -> Result<Option<String>, Error> {
    let sandbox = &*SANDBOX;
    let normal = Expr::compile_for_quickjs("JSON.stringify(value)").unwrap();
    match answer {
        Ok(Some(json)) => sandbox
            .eval_blocking(&normal, &[Arg::new("value", json.get())])
            .map(|json| json.map(|json| json.get().to_owned())),
        Ok(None) => Ok(None),
        Err(error) => Err(error.clone()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.max(1500)))]

    #[test]
    fn native_and_quickjs_agree(source in source(), input in document(), state in document()) {
        let args = [Arg::new("input", &input), Arg::new("state", &state)];
        let native = Expr::compile(&source).unwrap();
        prop_assert!(native.is_native(), "{source}");
        let Some(answer) = native.eval_native(&args) else {
            return Ok(());
        };
        let quickjs = Expr::compile_for_quickjs(&source).unwrap();
        let expected = SANDBOX.eval_blocking(&quickjs, &args);
        prop_assert_eq!(meaning(&answer), meaning(&expected), "{}", source);
    }

    #[test]
    fn whatever_parses_natively_parses_in_quickjs(source in "[ab=!>(),.'\"?0-9e\\[\\] -]{0,12}") {
        if crate::native::Native::parse(&source).is_some() {
            prop_assert!(Expr::compile_for_quickjs(&source).is_ok(), "{}", source);
        }
    }

    #[test]
    fn no_source_panics_or_hangs(source in any::<String>(), input in document()) {
        survives(&source, &input);
    }

    #[test]
    fn no_javascript_like_source_panics_or_hangs(tokens in prop::collection::vec(token(), 0..12), input in document()) {
        survives(&tokens.concat(), &input);
    }
}

fn token() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "input",
        "state",
        ".a",
        "[0]",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "=>",
        "=",
        "+",
        "-",
        "*",
        "/",
        "!",
        "?",
        ":",
        ",",
        ";",
        "`",
        "${",
        "'x'",
        "1",
        "1n",
        "null",
        " ",
        "\n",
        "function ",
        "async ",
        "await ",
        "yield ",
        "new ",
        "class ",
        "return ",
        "throw ",
        "while(1)",
        "...",
        "?.",
        "??",
        "\\u0061",
        "//",
        "/*",
        "*/",
        "this",
        "globalThis",
        "Object",
        ".map",
        ".prototype",
        "eval",
        "import(",
        "#x",
        "@",
        "Symbol()",
        "Promise.resolve()",
    ])
}

/// Any answer will do, as long as it comes.
fn survives(source: &str, input: &str) {
    if let Ok(expr) = Expr::compile(source) {
        let _ = SANDBOX.eval_blocking(&expr, &[Arg::new("input", input)]);
    }
}
