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
