//! Random definitions, schemas and values. Most are nearly right, since what is plainly wrong is
//! rejected before it costs anything.

mod expression;
mod flow;
mod schema;
pub mod value;

pub use flow::flow;
pub use schema::schema;

use rand::{RngExt, rngs::StdRng};

/// One of several.
fn pick<'a, T>(dice: &mut StdRng, from: &'a [T]) -> &'a T {
    &from[dice.random_range(0..from.len())]
}
