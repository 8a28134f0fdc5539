//! Escapes foreign text, such as the error of a run, for a terminal. Control characters that would
//! move the cursor, set the title, fill the clipboard or change the direction of writing become
//! `\u001b`: visible, and in a JSON string still the same text.

use std::{borrow::Cow, fmt::Write};

/// A text as part of one line: breaks and tabs become spaces.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\n' | '\r' | '\t' => shown.push(' '),
            c => show(&mut shown, c),
        }
    }
    Cow::Owned(shown)
}

/// What a command prints as a whole: its lines and colours stay. Everything printed comes through
/// here, so that no command can forget it.
pub fn harmless(text: &str) -> Cow<'_, str> {
    if !text.contains(|c| is_hidden(c) && c != '\n') {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let colour = colour_bytes(rest);
        let (now, later) = rest.split_at(colour.unwrap_or(c.len_utf8()));
        match c {
            '\n' | '\t' => shown.push(c),
            _ if colour.is_some() => shown.push_str(now),
            c => show(&mut shown, c),
        }
        rest = later;
    }
    Cow::Owned(shown)
}

fn show(shown: &mut String, c: char) {
    if is_hidden(c) {
        let _ = write!(shown, "\\u{:04x}", u32::from(c));
    } else {
        shown.push(c);
    }
}

/// Control characters, and those that turn the direction of writing.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The length of the `ESC [ … m` that the text begins with.
fn colour_bytes(text: &str) -> Option<usize> {
    let inner = text.strip_prefix("\u{1b}[")?;
    let end = inner.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    inner[end..].starts_with('m').then_some(2 + end + 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_line_shows_what_would_move_the_terminal() {
        for (text, shown) in [
            ("plain ä → ok", "plain ä → ok"),
            ("a\nb\tc\rd", "a b c d"),
            ("\u{1b}]0;title\u{7}", "\\u001b]0;title\\u0007"),
            ("\u{1b}[2J\u{9b}1m\u{7f}", "\\u001b[2J\\u009b1m\\u007f"),
            ("a\u{202e}b", "a\\u202eb"),
        ] {
            assert_eq!(visible(text), shown);
        }
    }

    #[test]
    fn lines_and_colours_of_our_own_stay() {
        for (text, shown) in [
            (
                "\u{1b}[1m\u{1b}[38;5;9mred\u{1b}[0m\n\tx",
                "\u{1b}[1m\u{1b}[38;5;9mred\u{1b}[0m\n\tx",
            ),
            (
                "\u{1b}[2J\u{1b}[1;1H\u{1b}",
                "\\u001b[2J\\u001b[1;1H\\u001b",
            ),
            ("over\rwritten", "over\\u000dwritten"),
        ] {
            assert_eq!(harmless(text), shown);
        }
    }

    proptest! {
        #[test]
        fn json_stays_the_same_value(text in any::<String>()) {
            let json = serde_json::to_string(&text).unwrap();
            prop_assert_eq!(serde_json::from_str::<String>(&harmless(&json)).unwrap(), text);
        }

        #[test]
        fn nothing_but_breaks_and_colours_is_left(text in "[\u{1b}\\[m;0-9\u{9b}\\PC\\n]{0,40}") {
            let shown = anstream::adapter::strip_str(&harmless(&text)).to_string();
            prop_assert!(!shown.contains(|c| is_hidden(c) && c != '\n'), "{:?}", shown);
            prop_assert!(!visible(&text).contains(is_hidden));
        }
    }
}
