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

/// Work is handed from thread to thread, and what one allocates another frees: the system's allocator
/// takes a lock for that.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    cli::main()
}
