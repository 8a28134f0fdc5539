//! Splits a stream of bytes into lines; each byte is examined once.

/// A line that is longer than may be.
#[derive(Debug, PartialEq, thiserror::Error)]
#[error("a line has more than {0} bytes")]
pub struct LineTooLong(pub usize);

/// Gathers bytes and gives out whole lines.
pub struct Lines {
    bytes: Vec<u8>,
    /// Where the next line begins.
    begin: usize,
    /// Up to here no line end was found.
    seen: usize,
    limit: usize,
}

impl Lines {
    pub fn new(limit: usize) -> Self {
        Self {
            bytes: Vec::new(),
            begin: 0,
            seen: 0,
            limit,
        }
    }

    /// Adds what was read.
    pub fn push(&mut self, bytes: &[u8]) {
        // What was given out already makes room once it is most of the buffer, so that every byte
        // is moved a bounded number of times.
        if self.begin > self.bytes.len() / 2 {
            self.bytes.drain(..self.begin);
            self.seen -= self.begin;
            self.begin = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// The next whole line without its end; empty ones are passed over.
    pub fn next_line(&mut self) -> Option<Result<&[u8], LineTooLong>> {
        loop {
            let found = self.bytes[self.seen..]
                .iter()
                .position(|byte| *byte == b'\n');
            let Some(at) = found else {
                self.seen = self.bytes.len();
                let unfinished = self.bytes.len() - self.begin;
                return (unfinished > self.limit).then_some(Err(LineTooLong(self.limit)));
            };
            let (begin, end) = (self.begin, self.seen + at);
            self.begin = end + 1;
            self.seen = self.begin;
            if end - begin > self.limit {
                return Some(Err(LineTooLong(self.limit)));
            }
            if end > begin {
                return Some(Ok(&self.bytes[begin..end]));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all(lines: &mut Lines) -> Vec<Result<String, LineTooLong>> {
        let mut found = Vec::new();
        while let Some(line) = lines.next_line() {
            let is_over = line.is_err();
            found.push(line.map(|line| String::from_utf8_lossy(line).into_owned()));
            if is_over {
                break;
            }
        }
        found
    }

    #[test]
    fn lines_come_out_whole_whatever_pieces_they_came_in() {
        let mut lines = Lines::new(10);
        lines.push(b"ab");
        assert!(all(&mut lines).is_empty());
        lines.push(b"c\n\nde\nf");
        assert_eq!(all(&mut lines), [Ok("abc".to_owned()), Ok("de".to_owned())]);
        lines.push(b"\n");
        assert_eq!(all(&mut lines), [Ok("f".to_owned())]);
    }

    #[test]
    fn a_line_that_is_too_long_is_rejected_before_it_ends() {
        let mut lines = Lines::new(3);
        lines.push(b"abcd");
        assert_eq!(all(&mut lines), [Err(LineTooLong(3))]);
        let mut lines = Lines::new(3);
        lines.push(b"abc\nabcd\n");
        assert_eq!(all(&mut lines), [Ok("abc".to_owned()), Err(LineTooLong(3))]);
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter_to_lines(
            texts in prop::collection::vec("[a-z]{1,40}", 0..40),
            cuts in prop::collection::vec(1usize..50, 1..40),
        ) {
            let mut bytes: Vec<u8> = texts.iter().flat_map(|text| format!("{text}\n").into_bytes()).collect();
            let mut lines = Lines::new(100);
            let mut found = Vec::new();
            for cut in cuts.iter().cycle().take(bytes.len() + 1) {
                let piece: Vec<u8> = bytes.drain(..(*cut).min(bytes.len())).collect();
                lines.push(&piece);
                found.extend(all(&mut lines));
            }
            let expected: Vec<Result<String, LineTooLong>> = texts.into_iter().map(Ok).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
