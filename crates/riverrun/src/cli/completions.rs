//! `riverrun completions`.

use clap::Args;
use clap_complete::Shell;

use crate::{
    failure::{Exit, Result},
    output,
};

#[derive(Args, Debug)]
pub struct Completions {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

impl Completions {
    pub fn run(self) -> Result<Exit> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut super::command(), "riverrun", &mut script);
        output::data(String::from_utf8_lossy(&script).trim_end());
        Ok(Exit::Ok)
    }
}
