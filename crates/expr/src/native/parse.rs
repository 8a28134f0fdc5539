//! Recognises sources that have a native form. Never an error: `None` means that QuickJS decides.

use super::names::{is_global, is_inherited_by_all, is_reserved};
use super::{Literal, Native, Operand, Path, Root, Step};

/// The largest array index of JavaScript; the next number is an ordinary property.
const MAX_INDEX: usize = u32::MAX as usize - 1;

impl Native {
    pub(crate) fn parse(source: &str) -> Option<Native> {
        let mut arrow = Cursor { rest: source };
        if let Some(params) = arrow.arrow_head() {
            return arrow.body(&params);
        }
        Cursor { rest: source }.body(&[])
    }
}

#[derive(Clone)]
struct Cursor<'s> {
    rest: &'s str,
}

impl<'s> Cursor<'s> {
    /// `x =>`, `() =>`, `(a, b) =>`.
    fn arrow_head(&mut self) -> Option<Vec<&'s str>> {
        let mut params = Vec::new();
        self.space();
        if self.eat("(") {
            self.space();
            while !self.eat(")") {
                let param = self.identifier()?;
                if is_reserved(param) || params.contains(&param) {
                    return None;
                }
                params.push(param);
                self.space();
                if !self.eat(",") && !self.rest.starts_with(')') {
                    return None;
                }
                self.space();
            }
        } else {
            params.push(self.identifier().filter(|name| !is_reserved(name))?);
        }
        // A line break before the arrow would be a syntax error, so only blanks are skipped.
        self.rest = self.rest.trim_start_matches([' ', '\t']);
        self.eat("=>").then_some(params)
    }

    fn body(mut self, params: &[&str]) -> Option<Native> {
        let left = self.operand(params)?;
        self.space();
        let operators = [
            ("===", true, false),
            ("!==", true, true),
            ("==", false, false),
            ("!=", false, true),
        ];
        let native = match operators.iter().find(|(text, ..)| self.eat(text)) {
            None => Native::Value(left),
            Some(&(_, strict, negated)) => Native::Equality {
                left,
                right: self.operand(params)?,
                strict,
                negated,
            },
        };
        self.space();
        self.rest.is_empty().then_some(native)
    }

    fn operand(&mut self, params: &[&str]) -> Option<Operand> {
        self.space();
        let literal = match self.rest.as_bytes().first()? {
            b'"' | b'\'' => Literal::String(self.string()?.into()),
            b'-' | b'0'..=b'9' => Literal::Number(self.number()?.into()),
            _ => return self.word(params),
        };
        Some(Operand::Literal(literal))
    }

    fn word(&mut self, params: &[&str]) -> Option<Operand> {
        let name = self.identifier()?;
        let literal = match name {
            "undefined" => Literal::Undefined,
            "null" => Literal::Null,
            "true" => Literal::Bool(true),
            "false" => Literal::Bool(false),
            _ => return self.path(name, params).map(Operand::Path),
        };
        Some(Operand::Literal(literal))
    }

    fn path(&mut self, name: &str, params: &[&str]) -> Option<Path> {
        let root = match params.iter().position(|param| *param == name) {
            Some(position) => Root::Position(position),
            None if is_reserved(name) || is_global(name) => return None,
            None => Root::Name(name.into()),
        };
        let mut steps = Vec::new();
        loop {
            self.space();
            let optional = self.eat("?.");
            let dotted = !optional && self.eat(".");
            self.space();
            let key = if !dotted && self.eat("[") {
                self.computed_key()?
            } else if dotted || optional {
                self.identifier()?
            } else {
                return Some(Path { root, steps });
            };
            if is_inherited_by_all(key) {
                return None;
            }
            steps.push(Step {
                key: key.into(),
                index: canonical_index(key),
                optional,
            });
        }
    }

    /// `"name"]` or `0]`: an index must be written as JavaScript would print it.
    fn computed_key(&mut self) -> Option<&'s str> {
        self.space();
        let key = if self.rest.starts_with(['"', '\'']) {
            self.string()?
        } else {
            let digits = self.take(|c| c.is_ascii_digit());
            canonical_index(digits)?;
            digits
        };
        self.space();
        self.eat("]").then_some(key)
    }

    /// A quoted string without escapes.
    fn string(&mut self) -> Option<&'s str> {
        let quote = self.rest.chars().next()?;
        let inner = &self.rest[quote.len_utf8()..];
        let end = inner.find([quote, '\\', '\n', '\r', '\0'])?;
        let (text, after) = inner.split_at(end);
        self.rest = after.strip_prefix(quote)?;
        Some(text)
    }

    /// A number that JSON and JavaScript write alike, and that is finite.
    fn number(&mut self) -> Option<&'s str> {
        let all = self.rest;
        self.eat("-");
        let whole = self.take(|c| c.is_ascii_digit());
        if whole.is_empty() || (whole.len() > 1 && whole.starts_with('0')) {
            return None;
        }
        if self.eat(".") && self.take(|c| c.is_ascii_digit()).is_empty() {
            return None;
        }
        if self.eat("e") || self.eat("E") {
            let _ = self.eat("+") || self.eat("-");
            if self.take(|c| c.is_ascii_digit()).is_empty() {
                return None;
            }
        }
        let text = &all[..all.len() - self.rest.len()];
        // `1n`, `0x1`, `1_000` and `1.foo` are all something else.
        let joined = self.rest.starts_with(|c: char| is_part(c) || c == '.');
        let finite = text.parse::<f64>().is_ok_and(f64::is_finite);
        (!joined && finite).then_some(text)
    }

    fn identifier(&mut self) -> Option<&'s str> {
        if self.rest.starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        let name = self.take(is_part);
        // An escape or a letter beyond ASCII would continue the name.
        let whole = !self.rest.starts_with(|c: char| c == '\\' || !c.is_ascii());
        (!name.is_empty() && whole).then_some(name)
    }

    fn take(&mut self, accept: impl Fn(char) -> bool) -> &'s str {
        let end = self.rest.find(|c| !accept(c)).unwrap_or(self.rest.len());
        let (text, after) = self.rest.split_at(end);
        self.rest = after;
        text
    }

    fn eat(&mut self, token: &str) -> bool {
        match self.rest.strip_prefix(token) {
            Some(after) => {
                self.rest = after;
                true
            }
            None => false,
        }
    }

    fn space(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r']);
    }
}

fn is_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '$'
}

fn canonical_index(key: &str) -> Option<usize> {
    let digits = key.bytes().all(|b| b.is_ascii_digit());
    if !digits || (key.len() > 1 && key.starts_with('0')) {
        return None;
    }
    key.parse().ok().filter(|index| *index <= MAX_INDEX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simple_sources_are_native() {
        for source in [
            "input",
            "input.user.name",
            " state . items [ 0 ] . id ",
            "a['b c'].d",
            "a?.b?.[0].c",
            "a.default.class",
            "a.length",
            "42",
            "-1.5e3",
            "'gold'",
            "\"gold\"",
            "null",
            "undefined",
            "input.kind === \"gold\"",
            "a.b!==c.d",
            "a == null",
            "1 != a",
            "(e, ctx) => e.data.orderId === ctx.input.orderId",
            "e => e.data.ok",
            "() => input.a",
            "(a, b,) => b",
            "(Math) => Math.x",
        ] {
            assert!(Native::parse(source).is_some(), "{source}");
        }
    }

    #[test]
    fn everything_else_is_left_to_quickjs() {
        for source in [
            "",
            "a.b.",
            "a..b",
            "a[b]",
            "a[01]",
            "a[4294967295]",
            "a[-1]",
            "a['constructor']",
            "a.__proto__",
            "Math.PI",
            "NaN",
            "this.a",
            "globalThis",
            "a + 1",
            "a.b()",
            "a === b === c",
            "a = b",
            "'it\\'s'",
            "'open",
            "`text`",
            "1n",
            "0x10",
            "007",
            "1_000",
            ".5",
            "5.",
            "1e999",
            "-a",
            "a // note",
            "a; b",
            "(a, a) => a",
            "(a b) => a",
            "(,) => 1",
            "(eval) => 1",
            "e\n=> e",
            "async e => e",
            "e => { return e }",
            "na\u{ef}ve.x",
            "a\\u0062",
        ] {
            assert_eq!(Native::parse(source), None, "{source}");
        }
    }
}
