//! The native form of simple expressions: a path, a literal, or one (in)equality of two of them,
//! bare or as the body of an arrow function.
//!
//! Native evaluation is invisible: whatever parses here means exactly what it means in QuickJS,
//! thrown errors included. A source of which that cannot be said (a property that prototypes
//! define, a global, an escape in a string) is left to QuickJS. What does differ is the text of
//! the answer, never its value: numbers keep their digits, objects their key order and spacing.

mod document;
mod eval;
mod names;
mod parse;
#[cfg(test)]
mod properties;

use names::is_inherited_by_some;

use crate::older_names::OLDER;

/// A parsed simple expression.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Native {
    Value(Operand),
    Equality {
        left: Operand,
        right: Operand,
        /// `===` and `!==`, as opposed to `==` and `!=`.
        strict: bool,
        negated: bool,
    },
}

impl Native {
    /// See [`crate::Expr::equality`].
    pub(crate) fn equality(&self, name: &str) -> Option<(Vec<Box<str>>, Native)> {
        let Native::Equality {
            left,
            right,
            strict: true,
            negated: false,
        } = self
        else {
            return None;
        };
        let keys = |operand: &Operand| match operand {
            Operand::Path(path) if path.is_of(name) => path.keys(),
            _ => None,
        };
        let is_other = |operand: &Operand| match operand {
            Operand::Path(path) => !path.is_of(name),
            Operand::Literal(_) => true,
        };
        let (keys, other) = match (keys(left), keys(right)) {
            (Some(keys), None) => (keys, right),
            (None, Some(keys)) => (keys, left),
            _ => return None,
        };
        is_other(other).then(|| (keys, Native::Value(other.clone())))
    }
}

impl Path {
    /// Whether it leads into the first argument, or into what has this name.
    fn is_of(&self, name: &str) -> bool {
        match &self.root {
            Root::Position(position) => *position == 0,
            Root::Name(root) => **root == *name,
        }
    }

    /// Its keys, if each of them is a member of the document: no index, no `length`, and no name
    /// that another member may have.
    fn keys(&self) -> Option<Vec<Box<str>>> {
        let plain = |Step { key, index, .. }: &Step| {
            let is_older = **key == *OLDER;
            index.is_none() && !key.contains('.') && !is_inherited_by_some(key) && !is_older
        };
        let all = !self.steps.is_empty() && self.steps.iter().all(plain);
        all.then(|| self.steps.iter().map(|step| step.key.clone()).collect())
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Operand {
    Path(Path),
    Literal(Literal),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Path {
    root: Root,
    steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Root {
    /// A parameter of the arrow function: the argument at that position.
    Position(usize),
    /// A name that the caller binds.
    Name(Box<str>),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Step {
    key: Box<str>,
    /// The key as an index, if an array would take it for one.
    index: Option<usize>,
    /// Reached with `?.`: nothing on the left makes the whole path undefined.
    optional: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Literal {
    Undefined,
    Null,
    Bool(bool),
    /// The digits as written, which are JSON too.
    Number(Box<str>),
    /// Written without escapes, so source and value are the same text.
    String(Box<str>),
}

#[cfg(test)]
mod tests {
    use crate::{Arg, Expr};

    #[test]
    fn equalities_that_an_index_can_find() {
        let check = |source: &str, expected: Option<(&str, &str)>| {
            let expr = Expr::compile(source).unwrap();
            let found = expr.equality("event").map(|(keys, other)| {
                let args = [
                    Arg::new("event", r#"{"data":{"id":1}}"#),
                    Arg::new("ctx", r#"{"input":{"id":7}}"#),
                ];
                let other = other.eval_native(&args).unwrap().unwrap().unwrap();
                (keys.join("."), other.get().to_owned())
            });
            let expected = expected.map(|(path, other)| (path.to_owned(), other.to_owned()));
            assert_eq!(found, expected, "{source}");
        };
        check(
            "(e, ctx) => e.data.id === ctx.input.id",
            Some(("data.id", "7")),
        );
        check("event.data.id === ctx.input.id", Some(("data.id", "7")));
        check("(e) => 'x' === e.kind", Some(("kind", "\"x\"")));
        for other in [
            "(e, ctx) => e.data.id == ctx.input.id",
            "(e, ctx) => e.data.id !== ctx.input.id",
            "(e) => e.data.id === e.data.other",
            "(e) => e.data[0] === 1",
            "event.data.items.length === 2",
            "(e, ctx) => ctx.input.n === e.data.items.length",
            "(e) => e.data?.name.at === 1",
            "(e, ctx) => ctx.input.id === 7",
            "(e) => e.data.id > 1",
            "(e) => e.data.error.retryable === false",
        ] {
            check(other, None);
        }
    }
}
