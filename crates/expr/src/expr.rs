//! A compiled expression: its source, and its native form where it has one.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::value::RawValue;

use crate::native::Native;
use crate::{Error, syntax};

/// The longest source that [`Expr::compile`] takes.
pub const MAX_SOURCE_BYTES: usize = 64 << 10;

/// The longest source that is parsed in this process where others could do it.
#[cfg(unix)]
const MAX_SOURCE_BYTES_HERE: usize = 1 << 10;

/// What an evaluation answers: JSON text, or `None` for JavaScript's `undefined`.
pub type Evaluated = Result<Option<Box<RawValue>>, Error>;

/// JSON text that came out of the engine, as the answer of an evaluation.
pub(crate) fn evaluated(text: Result<Option<String>, Error>) -> Evaluated {
    let json = text?.map(RawValue::from_string).transpose();
    json.map_err(|error| Error::NotJson {
        message: error.to_string(),
    })
}

/// A document bound to a name. A function gets the documents as its arguments, in order; any
/// other expression sees them under their names. Names are distinct JavaScript identifiers.
#[derive(Debug, Clone, Copy)]
pub struct Arg<'a> {
    pub name: &'a str,
    /// JSON text.
    pub json: &'a str,
}

impl<'a> Arg<'a> {
    pub fn new(name: &'a str, json: &'a str) -> Self {
        Arg { name, json }
    }
}

/// An expression that is known to parse. Cheap to clone; keep it, since the sandbox caches
/// compiled code per `Expr` and compiling the same source again makes a stranger of it.
#[derive(Clone)]
pub struct Expr(Arc<Inner>);

struct Inner {
    id: u64,
    source: Box<str>,
    native: Option<Native>,
}

/// An expression may be written like a statement.
fn without_semicolons(source: &str) -> &str {
    let end = |c: char| c.is_whitespace() || c == ';';
    match source.trim_end().ends_with(';') {
        true => source.trim_end_matches(end),
        false => source,
    }
}

impl Expr {
    /// Parses without running. The source is one JavaScript expression in strict mode, such as
    /// `input.total * 2`, or the text of a function, such as `(e, ctx) => e.id === ctx.id`. An
    /// expression whose value is a function is called with the arguments, so both are one rule.
    pub fn compile(source: &str) -> Result<Expr, Error> {
        if source.len() > MAX_SOURCE_BYTES {
            return Err(Error::TooLarge {
                what: "source",
                bytes: source.len(),
                limit_bytes: MAX_SOURCE_BYTES,
            });
        }
        let source = without_semicolons(source);
        let native = Native::parse(source);
        if native.is_none() {
            check(source)?;
        }
        Ok(Expr::assemble(source, native))
    }

    /// Whether evaluation reads the JSON text directly instead of going through QuickJS.
    pub fn is_native(&self) -> bool {
        self.0.native.is_some()
    }

    pub fn source(&self) -> &str {
        &self.0.source
    }

    /// Evaluates at once, on the caller's thread, where QuickJS is not needed. `None` asks the
    /// caller to use a sandbox. It always does so if the expression is not native; if it is, then
    /// only where the documents call for JavaScript's own: `==` between values that it would
    /// convert, or a property that arrays and strings inherit (`input.items.length`).
    pub fn eval_native(&self, args: &[Arg<'_>]) -> Option<Evaluated> {
        self.0.native.as_ref()?.eval(args)
    }

    /// If the expression says that something of its first argument, called `name` where it is no
    /// function, equals something that has nothing to do with that argument: the keys that lead to
    /// the one, and the other as an expression of its own.
    pub fn equality(&self, name: &str) -> Option<(Vec<Box<str>>, Expr)> {
        let (keys, other) = self.0.native.as_ref()?.equality(name)?;
        Some((keys, Expr::assemble(self.source(), Some(other))))
    }

    pub(crate) fn id(&self) -> u64 {
        self.0.id
    }

    /// A source that may not be an expression at all, to be checked elsewhere.
    #[cfg(unix)]
    pub(crate) fn unchecked(source: &str) -> Expr {
        Expr::assemble(source, None)
    }

    /// An expression that another process has checked and numbered.
    #[cfg(unix)]
    pub(crate) fn checked_elsewhere(id: u64, source: &str) -> Expr {
        Expr(Arc::new(Inner {
            id,
            source: source.into(),
            native: None,
        }))
    }

    /// The same expression without its native form, to compare the two ways of evaluation.
    #[cfg(test)]
    pub(crate) fn compile_for_quickjs(source: &str) -> Result<Expr, Error> {
        syntax::check(source)?;
        Ok(Expr::assemble(source, None))
    }

    fn assemble(source: &str, native: Option<Native>) -> Expr {
        static NEXT_ID: AtomicU64 = AtomicU64::new(0);
        Expr(Arc::new(Inner {
            id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
            source: source.into(),
            native,
        }))
    }
}

/// The parser cannot be interrupted, and its time grows with the square of a source and more. A short
/// one costs milliseconds at worst; a long one is parsed by a process that can be killed, where this
/// program has some. If none is to be had, it is parsed here: definitions that were accepted before
/// must not fail for that.
fn check(source: &str) -> Result<(), Error> {
    #[cfg(unix)]
    if source.len() > MAX_SOURCE_BYTES_HERE
        && let Some(checked) = crate::processes::check(source)
    {
        return checked;
    }
    syntax::check(source)
}

impl fmt::Debug for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Expr")
            .field("source", &self.source())
            .field("native", &self.is_native())
            .finish()
    }
}
