//! Where work executes.
//!
//! Each way is a [`riverrun_contract::Provider`]: [`Runners`] keeps warm processes of a language,
//! [`External`] starts an executable for each job, [`InProcess`] calls a function of this program,
//! and [`remote`] hands work to workers that have connected; [`worker`] is their side of it. Whatever happens in there (death,
//! silence, floods, garbage) ends as the error of the invocations that it concerns, and of no
//! others. Nothing here decides about retries, queues or leases; that is the runtime's.

mod external;
mod failure;
mod in_process;
mod link;
mod process;
pub mod remote;
mod runner;
mod typescript;
pub mod worker;

pub use external::{External, ExternalOptions};
pub use in_process::{Context, InProcess};
pub use process::Environment;
pub use runner::{
    FoundInterpreter, Language, LoadedModule, Program, RunnerOptions, RunnerStatus, Runners,
    damaged_sdks, find_interpreter,
};
pub use typescript::Translator;
