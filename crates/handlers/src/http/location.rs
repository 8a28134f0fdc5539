//! The `url` of a config: a template whose values cannot change where a request goes by accident.
//!
//! - A url that is exactly one `${…}` is taken as it is, and so is a value that begins the url:
//!   the base (`${api}/users`).
//! - Between `://` and the next slash, a value can be a host, a port, or part of one.
//! - Everywhere else it is percent-encoded as one part of the path or the query.

use riverrun_engine::{Finder, View};
use riverrun_types::{Path, json::push_text};
use url::Url;

/// A url with values to put in.
pub(super) struct Location {
    pieces: Vec<Piece>,
}

enum Piece {
    Text(String),
    Value(Path, Place),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Base,
    Authority,
    Path,
    Query,
}

impl Location {
    /// Reads a text that is known to be a template.
    pub fn parse(text: &str) -> Self {
        let mut pieces = Vec::new();
        let mut place = Progress::default();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(at) = rest.find("${") {
            if rest[..at].ends_with('$') {
                plain.push_str(&rest[..at - 1]);
                plain.push_str("${");
                rest = &rest[at + 2..];
                continue;
            }
            plain.push_str(&rest[..at]);
            let Some(end) = rest[at..].find('}') else {
                break;
            };
            place.text(&plain);
            if !plain.is_empty() {
                pieces.push(Piece::Text(std::mem::take(&mut plain)));
            }
            let path = Path::new(rest[at + 2..at + end].trim());
            pieces.push(Piece::Value(path, place.value()));
            rest = &rest[at + end + 1..];
        }
        plain.push_str(rest);
        if !plain.is_empty() {
            pieces.push(Piece::Text(plain));
        }
        Self { pieces }
    }

    /// The url, if no value goes into it.
    pub fn fixed(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [Piece::Text(text)] => Some(text),
            [] => Some(""),
            _ => None,
        }
    }

    /// The url with the values of a view, of at most `max_bytes`.
    pub fn resolve(&self, view: &View<'_>, max_bytes: usize) -> Result<Url, String> {
        let mut text = String::new();
        let mut finder = Finder::new(view);
        for piece in &self.pieces {
            match piece {
                Piece::Text(plain) => text.push_str(plain),
                Piece::Value(path, place) => {
                    let room = max_bytes.saturating_sub(text.len());
                    text.push_str(&value(path, *place, &mut finder, room)?);
                }
            }
            if text.len() > max_bytes {
                return Err(too_long(max_bytes));
            }
        }
        read(&text)
    }
}

pub(super) fn too_long(max_bytes: usize) -> String {
    format!("the url would have more than {max_bytes} bytes")
}

/// Reads a finished url. Its text may hold secrets, so an error does not repeat it.
pub(super) fn read(text: &str) -> Result<Url, String> {
    Url::parse(text.trim()).map_err(|error| format!("the url cannot be read: {error}"))
}

/// How far the fixed text has led.
#[derive(Default)]
struct Progress {
    began: bool,
    host: bool,
    path: bool,
    query: bool,
}

impl Progress {
    fn text(&mut self, text: &str) {
        let mut rest = text;
        if !self.host && !self.path {
            match rest.split_once("://") {
                Some((_, after)) => {
                    self.host = true;
                    rest = after;
                }
                // After a base comes a path.
                None => self.path = self.began,
            }
        }
        self.path |= self.host && rest.contains(['/', '?', '#', '\\']);
        self.query |= self.path && rest.contains('?');
        self.began |= !text.is_empty();
    }

    fn value(&mut self) -> Place {
        let place = match self {
            Self { query: true, .. } => Place::Query,
            Self { path: true, .. } => Place::Path,
            Self { host: true, .. } => Place::Authority,
            Self { began: false, .. } => Place::Base,
            // Right after a base, or in a text that is no url anyway.
            _ => Place::Path,
        };
        self.began = true;
        place
    }
}

/// The text of a value at its place. What has more than `room` bytes cannot be part of the url.
fn value(
    path: &Path,
    place: Place,
    finder: &mut Finder<'_, '_>,
    room: usize,
) -> Result<String, String> {
    let found = finder.find(path).filter(|raw| raw.get() != "null");
    let found = found.ok_or_else(|| format!("${{{path}}} in the url finds nothing"))?;
    let mut text = String::new();
    if !push_text(found, &mut text, room) {
        return Err(format!("${{{path}}} makes the url too long"));
    }
    match place {
        Place::Base => Ok(text),
        Place::Authority => Ok(encode(&text, b"-._~:[]")),
        Place::Query => Ok(encode(&text, b"-._~")),
        // Not even encoded dots would stay in their place, and an empty part leads elsewhere too.
        Place::Path if matches!(text.as_str(), "" | "." | "..") => Err(format!(
            "${{{path}}} in the url is {text:?}, which no part of a path can be"
        )),
        Place::Path => Ok(encode(&text, b"-._~")),
    }
}

fn encode(text: &str, keep: &[u8]) -> String {
    use std::fmt::Write;
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || keep.contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use riverrun_types::{Json, State};
    use serde_json::json;

    use super::*;

    fn resolve(template: &str) -> Result<String, String> {
        let state = State::from_input(&Json::of(&json!({
            "id": "a/b c?d=é&#", "n": 12, "dots": "..", "dot": ".", "empty": "", "null": null,
            "host": "api.example:8080", "evil": "evil.example/", "at": "x@evil.example",
            "base": "https://api.example/v1", "whole": "https://api.example/a?b=c d",
        })));
        let url = Location::parse(template).resolve(&View::of(&state), 1 << 10)?;
        Ok(url.to_string())
    }

    fn check(template: &str, expected: &str) {
        assert_eq!(resolve(template).as_deref(), Ok(expected), "{template}");
    }

    #[test]
    fn values_stay_in_their_place() {
        check(
            "https://x.example/u/${id}/e",
            "https://x.example/u/a%2Fb%20c%3Fd%3D%C3%A9%26%23/e",
        );
        check(
            "https://x.example/?q=${id}&n=${n}",
            "https://x.example/?q=a%2Fb%20c%3Fd%3D%C3%A9%26%23&n=12",
        );
        check("https://x.example?q=${empty}", "https://x.example/?q=");
        check("https://${host}/x/${n}", "https://api.example:8080/x/12");
        check("${base}/u/${n}", "https://api.example/v1/u/12");
        check(
            "${base}/u/${id}",
            "https://api.example/v1/u/a%2Fb%20c%3Fd%3D%C3%A9%26%23",
        );
        check(
            "${base}?q=${id}",
            "https://api.example/v1?q=a%2Fb%20c%3Fd%3D%C3%A9%26%23",
        );
        check("${whole}", "https://api.example/a?b=c%20d");
        check("https://x.example/$${n}", "https://x.example/$%7Bn%7D");
    }

    #[test]
    fn values_that_lead_elsewhere_are_refused() {
        for template in [
            "https://x.example/${gone}",
            "https://x.example/${null}",
            "https://x.example/u/${dots}/e",
            "https://x.example/u/${dot}",
            "https://x.example/u/${empty}/e",
            "https://${evil}.x.example/",
            "https://${at}/",
            "https://x.example${at}/",
            "${n}",
            "${base}${evil}",
        ] {
            let resolved = resolve(template);
            let safe = resolved
                .as_ref()
                .is_ok_and(|url| url.starts_with("https://api.example/v1"));
            assert!(resolved.is_err() || safe, "{template}: {resolved:?}");
        }
    }

    #[test]
    fn a_short_template_cannot_become_a_long_url() {
        let state = State::from_input(&Json::of(&json!({"x": "y".repeat(1 << 20)})));
        let template = format!("https://x.example/{}", "${x}/".repeat(3_000));
        let url = Location::parse(&template).resolve(&View::of(&state), 4 << 20);
        assert!(url.unwrap_err().contains("too long"));
    }

    proptest! {
        #[test]
        fn no_value_leaves_its_part(text in "\\PC{0,12}|[./\\\\%@:?#2eE]{0,8}") {
            let state = State::from_input(&Json::of(&json!({"v": text})));
            let view = View::of(&state);
            let location = Location::parse("https://x.example/a/${v}/b?c=${v}&d");
            if let Ok(url) = location.resolve(&view, 1 << 10) {
                prop_assert_eq!(url.host_str(), Some("x.example"));
                prop_assert_eq!(url.path_segments().unwrap().count(), 3);
                prop_assert!(url.path().starts_with("/a/") && url.path().ends_with("/b"));
                prop_assert_eq!(url.query_pairs().count(), 2);
                prop_assert_eq!(url.query_pairs().next().unwrap().1, text);
            }
        }

        #[test]
        fn no_template_makes_it_panic(text in "[${}a:/?.]{0,30}") {
            let _ = Location::parse(&text).resolve(&View::of(&State::default()), 1 << 10);
        }
    }
}
