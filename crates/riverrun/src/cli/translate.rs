//! The hidden command that translates TypeScript for runners: `riverrun __translate`.
//!
//! It is a process of its own because a parser may exhaust its stack on some inputs.

use std::{ffi::OsString, path::PathBuf, process::ExitCode};

use riverrun_providers::Translator;

const NAME: &str = "__translate";

/// Looks at the arguments without the parser of commands, which takes longer than most files.
pub fn is_asked_for() -> bool {
    std::env::args_os().nth(1).is_some_and(|name| name == NAME)
}

pub fn run() -> ExitCode {
    match riverrun_typescript::serve(std::io::stdin(), std::io::stdout()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// This program as the translator of its runners.
pub fn translator() -> Translator {
    Translator::new(vec![program(), NAME.into()])
}

/// The running program itself, also when its file was replaced since.
fn program() -> OsString {
    let own = PathBuf::from("/proc/self/exe");
    if own.exists() {
        return own.into();
    }
    std::env::current_exe().unwrap_or(own).into()
}
