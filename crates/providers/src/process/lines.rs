//! Splits the output of a process into lines of bounded length.

/// Cuts bytes into lines; of a line that is too long only the beginning is kept.
pub(super) struct Cut {
    line: Vec<u8>,
    limit: usize,
    /// What the line has had so far, whether it was kept or not.
    bytes: usize,
}

/// A line as it was kept.
pub(super) struct Kept {
    pub text: String,
    /// What the whole line had.
    pub bytes: usize,
    pub is_cut: bool,
}

impl Kept {
    /// For a reader, who is to see where it was cut.
    pub fn shown(mut self) -> String {
        if self.is_cut {
            self.text.push('…');
        }
        self.text
    }
}

impl Cut {
    pub fn new(limit: usize) -> Self {
        Self {
            line: Vec::new(),
            limit,
            bytes: 0,
        }
    }

    pub fn push(&mut self, bytes: &[u8], mut each: impl FnMut(Kept)) {
        let mut pieces = bytes.split(|byte| *byte == b'\n');
        let mut piece = pieces.next();
        while let Some(now) = piece {
            let room = self.limit - self.line.len();
            self.bytes += now.len();
            self.line.extend_from_slice(&now[..now.len().min(room)]);
            piece = pieces.next();
            if piece.is_some() {
                self.finish(&mut each);
            }
        }
    }

    /// What has no line end at the end of all is a line too. Empty lines say nothing.
    pub fn finish(&mut self, mut each: impl FnMut(Kept)) {
        let is_cut = self.bytes > self.limit;
        if self.line.last() == Some(&b'\r') && !is_cut {
            self.line.pop();
            self.bytes -= 1;
        }
        if !self.line.is_empty() {
            each(Kept {
                text: String::from_utf8_lossy(&self.line).into_owned(),
                bytes: self.bytes,
                is_cut,
            });
        }
        self.line.clear();
        self.bytes = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(limit: usize, pieces: &[&str], expected: &[&str]) {
        let mut cut = Cut::new(limit);
        let mut lines = Vec::new();
        let mut bytes = 0;
        let mut each = |line: Kept| {
            bytes += line.bytes;
            lines.push(line.shown());
        };
        for piece in pieces {
            cut.push(piece.as_bytes(), &mut each);
        }
        cut.finish(&mut each);
        let all = pieces.concat().replace(['\r', '\n'], "");
        assert_eq!(bytes, all.len(), "{pieces:?}");
        assert_eq!(lines, expected, "{pieces:?}");
    }

    #[test]
    fn lines_are_whole_or_cut_at_the_limit() {
        check(10, &["ab", "c\nd", "\n\r\n\n", "e"], &["abc", "d", "e"]);
        check(3, &["abc\nabcd", "efg\nx\n"], &["abc", "abc…", "x"]);
        check(3, &["a\r\n"], &["a"]);
    }
}
