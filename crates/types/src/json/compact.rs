//! JSON text without the white space between its tokens.

use std::borrow::Cow;

/// The text without the white space between its tokens; borrowed where there is none.
pub(super) fn compact(json: &str) -> Cow<'_, str> {
    let mut runs = Runs::of(json);
    let Some(first) = runs.next() else {
        return Cow::Borrowed("");
    };
    if first.len() == json.len() {
        return Cow::Borrowed(json);
    }
    let mut compact = String::with_capacity(json.len());
    compact.push_str(first);
    compact.extend(runs);
    Cow::Owned(compact)
}

/// Appends compact text until the whole has `max` bytes. Returns whether everything fitted; if not,
/// as much as fits was appended.
pub(super) fn compact_into(json: &str, text: &mut String, max: usize) -> bool {
    Runs::of(json).all(|run| super::push_plain(run, text, max))
}

/// The parts of a JSON text between white space that lies outside of strings.
struct Runs<'a> {
    rest: &'a str,
}

impl<'a> Runs<'a> {
    fn of(json: &'a str) -> Self {
        Self { rest: json }
    }
}

impl<'a> Iterator for Runs<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        self.rest = self.rest.trim_ascii_start();
        if self.rest.is_empty() {
            return None;
        }
        let (mut quoted, mut escaped) = (false, false);
        let end = self.rest.bytes().position(|byte| {
            if quoted {
                (quoted, escaped) = (escaped || byte != b'"', !escaped && byte == b'\\');
            } else if byte == b'"' {
                quoted = true;
            } else {
                return byte.is_ascii_whitespace();
            }
            false
        });
        let (run, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        Some(run)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn text_without_white_space_is_not_copied() {
        for text in [r#"{"a b":[1,"x \" y"]}"#, "12", "[]"] {
            assert!(matches!(compact(text), Cow::Borrowed(same) if same == text));
        }
    }

    #[test]
    fn appending_stops_at_the_limit() {
        for (max, expected, fits) in [
            (9, "<[1,22]", true),
            (7, "<[1,22]", true),
            (5, "<[1,2", false),
        ] {
            let mut text = "<".to_owned();
            assert_eq!(compact_into("[ 1,\n 22 ]", &mut text, max), fits);
            assert_eq!(text, expected);
        }
    }

    proptest! {
        #[test]
        fn compact_json_is_the_same_json(text in "\\PC{0,20}", n in any::<i64>()) {
            let value = serde_json::json!({"k": [text, n, null], "m": {}});
            let pretty = serde_json::to_string_pretty(&value).unwrap();
            prop_assert_eq!(compact(&pretty), value.to_string());
        }
    }
}
