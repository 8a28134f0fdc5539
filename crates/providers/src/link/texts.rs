//! Splits gathered lines into texts within the limit of a message.

/// Cuts between lines. Each line fits; a text that holds more than one ends before it would not.
pub(crate) fn texts(bytes: &[u8], limit: usize) -> impl Iterator<Item = &str> {
    // Messages are JSON, and so UTF-8.
    let mut rest = std::str::from_utf8(bytes).unwrap_or_default();
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = match rest.len() <= limit {
            true => rest.len(),
            false => {
                let last = rest.as_bytes()[..limit].iter().rposition(|b| *b == b'\n');
                let first = || rest.find('\n').unwrap_or(rest.len() - 1);
                last.unwrap_or_else(first) + 1
            }
        };
        let (text, more) = rest.split_at(end);
        rest = more;
        Some(text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_end_with_lines_and_fit() {
        let cut = |text: &'static str, limit| texts(text.as_bytes(), limit).collect::<Vec<_>>();
        assert_eq!(cut("ab\ncd\n", 10), ["ab\ncd\n"]);
        assert_eq!(cut("ab\ncd\nef\n", 6), ["ab\ncd\n", "ef\n"]);
        assert_eq!(cut("abcdef\ng\n", 3), ["abcdef\n", "g\n"]);
        assert!(cut("", 3).is_empty());
    }
}
