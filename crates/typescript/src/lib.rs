//! Turns TypeScript into JavaScript that every supported Node can run.
//!
//! Types are blanked in place, so that lines and columns stay as they were. Syntax that has a
//! meaning of its own (enums, namespaces, parameter properties, `import x = require()`) is
//! transformed, and the text gets an inline source map. Types are not checked.
//!
//! The parser is recursive, so a hostile file can exhaust the stack: [`serve`] is meant for a child
//! process that may die.

mod diagnostics;
mod edits;
mod imports;
mod serve;
mod translate;

pub use serve::serve;
pub use translate::{Format, JavaScript, Source, SyntaxError, translate};
