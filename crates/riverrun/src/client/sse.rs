//! Parses server-sent events from bytes in pieces of any size.

/// One message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message {
    /// The id that a reader reconnects with; the last one that was given.
    pub id: Option<String>,
    pub event: Option<String>,
    pub data: String,
}

/// An incremental parser. Bytes go in as they come, whole messages come out.
#[derive(Default)]
pub struct Parser {
    line: Vec<u8>,
    /// The last byte was a CR: an LF right after it belongs to the same line end.
    after_cr: bool,
    started: bool,
    last_id: Option<String>,
    event: Option<String>,
    data: Option<String>,
}

impl Parser {
    /// The id that was given last.
    pub fn last_id(&self) -> Option<&str> {
        self.last_id.as_deref()
    }

    pub fn push(&mut self, bytes: &[u8]) -> Vec<Message> {
        let mut messages = Vec::new();
        for byte in bytes {
            match byte {
                b'\n' if self.after_cr => self.after_cr = false,
                b'\n' | b'\r' => {
                    self.after_cr = *byte == b'\r';
                    messages.extend(self.end_line());
                }
                byte => {
                    self.after_cr = false;
                    self.line.push(*byte);
                }
            }
        }
        messages
    }

    fn end_line(&mut self) -> Option<Message> {
        let line = std::mem::take(&mut self.line);
        let line = String::from_utf8_lossy(&line);
        let line = match std::mem::replace(&mut self.started, true) {
            true => &line,
            false => line.strip_prefix('\u{feff}').unwrap_or(&line),
        };
        if line.is_empty() {
            return self.end_message();
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "id" if !value.contains('\0') => self.last_id = Some(value.to_owned()),
            "event" => self.event = Some(value.to_owned()),
            "data" => match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            },
            // Comments, `retry`, and what is to come.
            _ => {}
        }
        None
    }

    fn end_message(&mut self) -> Option<Message> {
        let event = self.event.take();
        let data = self.data.take()?;
        Some(Message {
            id: self.last_id.clone(),
            event,
            data,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TEXT: &str = "\u{feff}: hello\n\nid: 1-0\nevent: flow.started\ndata: {\"a\":\"ü\"}\n\nid:1-1\r\ndata: x\r\ndata:y\r\ndata\r\n\r\nretry: 5\r\revent: lost\n\ndata: last\n\ndata: unfinished";

    fn message(id: &str, event: Option<&str>, data: &str) -> Message {
        Message {
            id: Some(id.to_owned()),
            event: event.map(str::to_owned),
            data: data.to_owned(),
        }
    }

    fn expected() -> Vec<Message> {
        vec![
            message("1-0", Some("flow.started"), "{\"a\":\"ü\"}"),
            message("1-1", None, "x\ny\n"),
            message("1-1", None, "last"),
        ]
    }

    #[test]
    fn whole() {
        assert_eq!(Parser::default().push(TEXT.as_bytes()), expected());
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter(mut cuts in proptest::collection::vec(0..TEXT.len(), 0..20)) {
            cuts.sort_unstable();
            cuts.push(TEXT.len());
            let mut parser = Parser::default();
            let (mut messages, mut from) = (Vec::new(), 0);
            for cut in cuts {
                messages.extend(parser.push(&TEXT.as_bytes()[from..cut]));
                from = cut;
            }
            prop_assert_eq!(messages, expected());
        }

        #[test]
        fn nothing_makes_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            Parser::default().push(&bytes);
        }
    }
}
