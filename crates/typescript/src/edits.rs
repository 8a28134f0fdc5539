//! Blanks parts of a text in place: lines and columns (in UTF-16) stay as they were.

use std::ops::Range;

#[derive(Default)]
pub struct Edits(Vec<(Range<usize>, Filling)>);

#[derive(Clone, Copy, PartialEq)]
enum Filling {
    Spaces,
    /// A semicolon, then spaces: the statements around it stay apart.
    Statement,
}

impl Edits {
    pub fn blank(&mut self, range: Range<usize>) {
        self.0.push((range, Filling::Spaces));
    }

    pub fn blank_statement(&mut self, range: Range<usize>) {
        self.0.push((range, Filling::Statement));
    }

    /// The text with all edits. They do not overlap.
    pub fn apply(mut self, text: String) -> String {
        if self.0.is_empty() {
            return text;
        }
        self.0.sort_by_key(|(range, _)| range.start);
        let mut edited = String::with_capacity(text.len());
        let mut end = 0;
        for (range, filling) in self.0 {
            let Some((before, part)) = text.get(end..range.start).zip(text.get(range.clone()))
            else {
                continue;
            };
            edited.push_str(before);
            let mut part = part.chars();
            if filling == Filling::Statement && part.next().is_some() {
                edited.push(';');
            }
            part.for_each(|char| match char {
                '\n' | '\r' | '\u{2028}' | '\u{2029}' => edited.push(char),
                _ => edited.extend(std::iter::repeat_n(' ', char.len_utf16())),
            });
            end = range.end;
        }
        edited.push_str(text.get(end..).unwrap_or_default());
        edited
    }
}
