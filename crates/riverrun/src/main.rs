//! The `riverrun` binary: configuration, commands, composition.

mod cli;
mod client;
mod config;
mod failure;
mod files;
mod logs;
mod output;
mod project;
mod server;
mod signals;
mod worker;

fn main() -> std::process::ExitCode {
    cli::main()
}
