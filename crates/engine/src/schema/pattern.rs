//! The approximate cost of compiling a regular expression: a counted repetition is unfolded.

use std::{iter::Peekable, str::Chars};

/// Deeper groups than this weigh too much for anything.
const MAX_DEPTH: usize = 100;

/// The parts of a pattern after its counted repetitions are unfolded.
pub(super) fn weight(pattern: &str) -> u64 {
    sequence(&mut pattern.chars().peekable(), 0)
}

/// What a pattern that may step back costs for each text: those that a linear engine matches cost
/// nothing more.
pub(super) fn steps_back(pattern: &str) -> u64 {
    const STEPS: u64 = 4_000;
    let mut escaped = false;
    let refers = pattern.chars().any(|c| {
        let refers = escaped && (c.is_ascii_digit() || c == 'k');
        escaped = c == '\\' && !escaped;
        refers
    });
    let looks_around = ["(?=", "(?!", "(?<=", "(?<!", "(?>"]
        .iter()
        .any(|group| pattern.contains(group));
    match refers || looks_around {
        true => STEPS,
        false => 0,
    }
}

fn sequence(chars: &mut Peekable<Chars<'_>>, depth: usize) -> u64 {
    if depth > MAX_DEPTH {
        return u64::MAX;
    }
    let (mut total, mut last) = (0u64, 0);
    while let Some(c) = chars.next() {
        let part = match c {
            ')' => break,
            '(' => sequence(chars, depth + 1).saturating_add(1),
            '[' => class(chars),
            '\\' => match chars.next() {
                // Classes of Unicode have hundreds of ranges.
                Some('w' | 'W' | 'd' | 'D' | 's' | 'S' | 'p' | 'P' | 'b' | 'B') => 20,
                _ => 1,
            },
            '{' => {
                // The part before was counted once.
                let more = last_count(chars).saturating_sub(1);
                last = u64::saturating_mul(last, more);
                total = total.saturating_add(last);
                continue;
            }
            _ => 1,
        };
        last = part;
        total = total.saturating_add(part);
    }
    total
}

/// The rest of `[...]`.
fn class(chars: &mut Peekable<Chars<'_>>) -> u64 {
    let mut weight = 1;
    while let Some(c) = chars.next() {
        match c {
            ']' => break,
            '\\' => {
                chars.next();
                weight += 20;
            }
            _ => {}
        }
    }
    weight
}

/// The larger number of `{2,5}`, whose brace was read; 1 if it is none.
fn last_count(chars: &mut Peekable<Chars<'_>>) -> u64 {
    let (mut largest, mut number) = (1u64, 0u64);
    while let Some(c) = chars.peek() {
        match c.to_digit(10) {
            Some(digit) => number = number.saturating_mul(10).saturating_add(digit.into()),
            None if *c == ',' => {
                largest = largest.max(number);
                number = 0;
            }
            None => break,
        }
        chars.next();
    }
    if chars.peek() == Some(&'}') {
        chars.next();
        return largest.max(number);
    }
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_patterns_that_may_step_back_cost_more_for_each_text() {
        for (pattern, expected) in [
            ("^[a-z]+$", false),
            ("\\\\1", false),
            ("(a)\\1", true),
            ("(?!x)", true),
        ] {
            assert_eq!(steps_back(pattern) > 0, expected, "{pattern}");
        }
    }

    #[test]
    fn repetitions_multiply_where_they_nest() {
        let check = |pattern, expected| assert_eq!(weight(pattern), expected, "{pattern}");
        check("", 0);
        check("^abc$", 5);
        check("a{3}", 3);
        check("a{2,5}b", 6);
        check("a{2,}", 2);
        check("(ab){10}", 30);
        check("((a{10}){10}){10}", ((10 + 1) * 10 + 1) * 10);
        check("\\w{1,255}", 20 * 255);
        check("[a-z]{1,64}@[a-z]{2,10}", 64 + 1 + 10);
        check("a{x}", 3);
        assert!(weight("(a{99999}){99999}") > 1_000_000_000);
        assert_eq!(weight(&"(".repeat(10_000)), u64::MAX);
    }
}
