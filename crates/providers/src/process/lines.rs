//! What a process prints, as lines of bounded length.

/// Cuts bytes into lines; of a line that is too long only the beginning is kept.
pub(super) struct Cut {
    line: Vec<u8>,
    limit: usize,
    is_over: bool,
}

impl Cut {
    pub fn new(limit: usize) -> Self {
        Self {
            line: Vec::new(),
            limit,
            is_over: false,
        }
    }

    pub fn push(&mut self, bytes: &[u8], mut each: impl FnMut(String)) {
        let mut pieces = bytes.split(|byte| *byte == b'\n');
        let mut piece = pieces.next();
        while let Some(now) = piece {
            let room = self.limit - self.line.len();
            self.is_over |= now.len() > room;
            self.line.extend_from_slice(&now[..now.len().min(room)]);
            piece = pieces.next();
            if piece.is_some() {
                self.finish(&mut each);
            }
        }
    }

    /// What has no line end at the end of all is a line too. Empty lines say nothing.
    pub fn finish(&mut self, mut each: impl FnMut(String)) {
        if self.line.last() == Some(&b'\r') {
            self.line.pop();
        }
        if !self.line.is_empty() {
            let mut text = String::from_utf8_lossy(&self.line).into_owned();
            if self.is_over {
                text.push('…');
            }
            each(text);
        }
        self.line.clear();
        self.is_over = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(limit: usize, pieces: &[&str], expected: &[&str]) {
        let mut cut = Cut::new(limit);
        let mut lines = Vec::new();
        for piece in pieces {
            cut.push(piece.as_bytes(), |line| lines.push(line));
        }
        cut.finish(|line| lines.push(line));
        assert_eq!(lines, expected, "{pieces:?}");
    }

    #[test]
    fn lines_are_whole_or_cut_at_the_limit() {
        check(10, &["ab", "c\nd", "\n\r\n\n", "e"], &["abc", "d", "e"]);
        check(3, &["abc\nabcd", "efg\nx\n"], &["abc", "abc…", "x"]);
        check(3, &["a\r\n"], &["a"]);
    }
}
