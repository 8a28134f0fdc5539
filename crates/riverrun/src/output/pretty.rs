//! Formats JSON text without reading its values, so that no number is rounded.

/// Two spaces of indentation, a line per member. Takes valid JSON.
pub fn pretty(text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    let mut depth = 0;
    let mut tokens = Tokens(text).peekable();
    while let Some(token) = tokens.next() {
        match token {
            "{" | "[" => {
                out.push_str(token);
                if matches!(tokens.peek(), Some(&("}" | "]"))) {
                    out.extend(tokens.next());
                } else {
                    depth += 1;
                    line(&mut out, depth);
                }
            }
            "}" | "]" => {
                depth = depth.saturating_sub(1);
                line(&mut out, depth);
                out.push_str(token);
            }
            "," => {
                out.push(',');
                line(&mut out, depth);
            }
            ":" => out.push_str(": "),
            token => out.push_str(token),
        }
    }
    out
}

/// Everything on one line.
pub fn compact(text: &str) -> String {
    Tokens(text).collect()
}

fn line(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", depth));
}

/// Strings, brackets, commas, colons and whatever stands between them.
struct Tokens<'a>(&'a str);

impl<'a> Iterator for Tokens<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let text = self.0.trim_start();
        let end = match text.as_bytes().first()? {
            b'{' | b'}' | b'[' | b']' | b',' | b':' => 1,
            b'"' => string_end(text),
            _ => text
                .find(|c: char| c.is_whitespace() || "{}[],:\"".contains(c))
                .unwrap_or(text.len()),
        };
        let (token, rest) = text.split_at(end);
        self.0 = rest;
        Some(token)
    }
}

fn string_end(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn numbers_stay_as_they_are() {
        let text = r#"{"id":12345678901234567890123, "l":[1.10,{}, []],"s":"a, \"b\": {c}\\"}"#;
        assert_eq!(
            pretty(text),
            "{\n  \"id\": 12345678901234567890123,\n  \"l\": [\n    1.10,\n    {},\n    []\n  ],\n  \"s\": \"a, \\\"b\\\": {c}\\\\\"\n}"
        );
        assert_eq!(
            compact(&pretty(text)),
            text.replace(", \"l", ",\"l").replace(", []", ",[]")
        );
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<i64>().prop_map(Value::from),
            "\\PC{0,8}[\"\\\\\n{},:]{0,3}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::hash_map("\\PC{0,4}", inner, 0..4).prop_map(|map| json!(map)),
            ]
        })
    }

    proptest! {
        #[test]
        fn it_lays_out_as_serde_does(value in any_json()) {
            let text = value.to_string();
            prop_assert_eq!(pretty(&text), serde_json::to_string_pretty(&value).unwrap());
            prop_assert_eq!(compact(&pretty(&text)), text);
        }
    }
}
