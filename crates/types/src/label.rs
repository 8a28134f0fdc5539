//! Short texts that people and programs give to find things by: tags, tenants, keys, the ids that
//! events refer to.

/// The longest label, in characters, as a JSON Schema counts them.
pub const MAX_CHARS: usize = 256;

/// The rule for a label, for messages.
pub const RULE: &str = "1 to 256 characters without control characters";

/// The most tags of a run.
pub const MAX_TAGS: usize = 64;

pub fn is_valid(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= MAX_CHARS * 4
        && text.chars().count() <= MAX_CHARS
        && !text.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_short_and_on_one_line() {
        for text in [
            "a",
            "Ärger & Söhne",
            &"x".repeat(256),
            &"\u{1f600}".repeat(256),
        ] {
            assert!(is_valid(text), "{text:?}");
        }
        for text in [
            "",
            "a\nb",
            "\u{1b}[2J",
            "\u{9b}",
            &"x".repeat(257),
            &"ä".repeat(257),
        ] {
            assert!(!is_valid(text), "{text:?}");
        }
    }
}
