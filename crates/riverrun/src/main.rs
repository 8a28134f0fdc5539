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
mod test_kit;
mod worker;

/// Commits are made by many threads and let go by the writer's: the system's allocator spends a fifth
/// of the processors on that, and this one hardly any.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    // A child that evaluates expressions goes no further than this.
    let _ = riverrun::ExprIsolation::processes();
    cli::main()
}
