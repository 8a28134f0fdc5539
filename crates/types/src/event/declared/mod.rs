//! Every event type with its data, by subject. See the module above for the form of a row.

use std::sync::Arc;

use super::{
    data::EventData,
    envelope::{Draft, StepRef},
    fact,
};
use crate::{Json, Millis, Name, Parked, State};

#[macro_use]
mod flow;
#[macro_use]
mod output;
#[macro_use]
mod server;
#[macro_use]
mod state;
#[macro_use]
mod step;
#[macro_use]
mod steps_code;
#[macro_use]
mod waits;

pub use flow::*;
use output::Emit;
pub use state::*;
pub use step::*;
pub use steps_code::*;
pub use waits::*;

collect! { [flow step waits steps_code output state server] }
