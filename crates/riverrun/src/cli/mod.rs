//! The commands, one file each. This file has their names and exit codes.

mod awaits;
mod backup;
mod build;
mod call;
mod completions;
mod config;
mod definitions;
mod dev;
mod dlq;
mod doctor;
mod each;
mod emit;
mod flows;
mod handlers;
mod init;
mod jobs;
mod processes;
mod queues;
#[cfg(test)]
mod reference_page;
mod run;
mod runs;
mod schedules;
mod serve;
mod server_flags;
mod tail;
mod top;
mod translate;
mod triggers;
mod verify;
mod version;
mod worker;
mod workers;

use riverrun_types::ErrorCode;
pub use translate::translator;

use std::{process::ExitCode, time::Duration};

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::{
    client::Client,
    config::parse_duration,
    failure::{Exit, Failure, Result},
    output::{self, Format},
};

/// What a command does, then an example, then the rest.
const HELP: &str =
    "{about-with-newline}\n{before-help}{usage-heading} {usage}\n\n{all-args}{after-help}";

/// One server for background jobs, durable flows and direct calls.
#[derive(Parser, Debug)]
#[command(
    name = "riverrun",
    version,
    before_help = "Example: riverrun init my-project && riverrun dev my-project"
)]
#[command(after_help = "Exit codes: 0 ok, 1 the work failed, 2 usage, 3 unreachable, 4 timeout.")]
#[command(disable_help_subcommand = true)]
pub struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

#[derive(Args, Debug, Clone)]
pub struct Global {
    /// The URL of the server. Default: the variable RIVERRUN_URL, or http://127.0.0.1:4600.
    // Not read by the parser: it would show the option in every usage as if it had to be given.
    #[arg(long, global = true, value_name = "URL")]
    url: Option<String>,
    /// The format of the output.
    #[arg(
        short,
        long,
        global = true,
        value_enum,
        default_value_t,
        value_name = "FORMAT"
    )]
    output: Format,
    /// How long to wait for a server on this machine that is still starting. 0s: do not wait.
    #[arg(
        long,
        global = true,
        value_parser = parse_duration,
        value_name = "TIME",
        default_value = "5s"
    )]
    connect_timeout: Duration,
}

impl Global {
    fn client(&self) -> Result<Client> {
        Client::new(self.url.as_deref(), self.connect_timeout)
    }
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Run a server for a project and reload its files when they change.
    #[command(before_help = "Example: riverrun dev examples/hello")]
    Dev(dev::Dev),
    /// Run the server.
    #[command(before_help = "Example: riverrun serve --project . --data /var/lib/riverrun")]
    Serve(serve::Serve),
    /// Check a project and write a registry file that serve --registry loads.
    #[command(
        before_help = "Example: riverrun build . && riverrun serve --registry riverrun.registry.json"
    )]
    Build(build::Build),
    /// Create a new project with an example.
    #[command(before_help = "Example: riverrun init my-project")]
    Init(init::Init),
    /// Start a run of a flow.
    #[command(before_help = "Example: riverrun run hello -d '{\"name\": \"Ada\"}' --follow")]
    Run(run::Run),
    /// List, show, cancel, resume and copy runs.
    #[command(before_help = "Example: riverrun runs show latest")]
    Runs(runs::Runs),
    /// List, validate, register and draw flows.
    #[command(before_help = "Example: riverrun flows validate flows/*.yaml")]
    Flows(flows::Flows),
    /// Add, list, show, retry and cancel jobs.
    #[command(before_help = "Example: riverrun jobs add emails -d '{\"name\": \"Ada\"}' --wait")]
    Jobs(jobs::Jobs),
    /// List, show, pause, resume and clear queues.
    #[command(before_help = "Example: riverrun queues ls")]
    Queues(queues::Queues),
    /// List, retry and remove dead letters: jobs that failed for good.
    #[command(before_help = "Example: riverrun dlq redrive emails")]
    Dlq(dlq::Dlq),
    /// Manage triggers: HTTP routes, schedules and events that start flows.
    #[command(before_help = "Example: riverrun triggers ls")]
    Triggers(triggers::Triggers),
    /// List schedules, and start runs for due times in the past.
    #[command(before_help = "Example: riverrun schedules ls")]
    Schedules(schedules::Schedules),
    /// Call a process without a queue and print its result.
    #[command(before_help = "Example: riverrun call greet -d '{\"name\": \"Ada\"}' --follow")]
    Call(call::Call),
    /// List and show the processes that a server can run.
    #[command(before_help = "Example: riverrun processes ls")]
    Processes(processes::Processes),
    /// Emit an event to the awaits and triggers that match it.
    #[command(before_help = "Example: riverrun emit payment.confirmed -d @payment.json")]
    Emit(emit::Emit),
    /// Send the answer to a callback that a step waits for.
    #[command(before_help = "Example: riverrun fire 4f6c2d -d @answer.json")]
    Fire(emit::Fire),
    /// Count open awaits by event type, and events that wait for an expression.
    #[command(before_help = "Example: riverrun awaits -o json")]
    Awaits(awaits::Awaits),
    /// Follow a queue, a job, a run or another stream live.
    #[command(before_help = "Example: riverrun tail queue/emails")]
    Tail(tail::Tail),
    /// Run a worker: the processes of a project, for a server elsewhere.
    #[command(
        before_help = "Example: riverrun worker --server http://river.example:4600 --project ."
    )]
    Worker(worker::Worker),
    /// List and drain the workers of a server.
    #[command(before_help = "Example: riverrun workers ls")]
    Workers(workers::Workers),
    /// Show the queues live. Press q or Ctrl-C to quit.
    #[command(before_help = "Example: riverrun top")]
    Top(top::Top),
    /// List and show the built-in step types.
    #[command(before_help = "Example: riverrun handlers show http")]
    Handlers(handlers::Handlers),
    /// Check the configuration, disk, port, server, interpreters, processes and flows.
    #[command(before_help = "Example: riverrun doctor --project .")]
    Doctor(doctor::Doctor),
    /// Check all stored data: checksums, streams, references and acknowledged writes.
    #[command(before_help = "Example: riverrun verify --data /var/lib/riverrun")]
    Verify(verify::Verify),
    /// Copy the data folder into one file. A server may be running on it.
    #[command(before_help = "Example: riverrun backup monday.db --data /var/lib/riverrun")]
    Backup(backup::Backup),
    /// Create a data folder from a backup.
    #[command(before_help = "Example: riverrun restore monday.db --data /var/lib/riverrun")]
    Restore(backup::Restore),
    /// Print the configuration in effect and the source of each value.
    #[command(before_help = "Example: riverrun config -o json")]
    Config(config::ConfigCommand),
    /// Print a completion script for your shell.
    #[command(before_help = "Example: riverrun completions bash > /etc/bash_completion.d/riverrun")]
    Completions(completions::Completions),
    /// Print the version.
    #[command(before_help = "Example: riverrun version -o json")]
    Version,
}

pub fn main() -> ExitCode {
    if translate::is_asked_for() {
        return translate::run();
    }
    if crate::test_kit::is_asked_for() {
        return crate::test_kit::run();
    }
    let parsed = command()
        .try_get_matches()
        .and_then(|found| Cli::from_arg_matches(&found));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => return misused(&error),
    };
    match run(cli) {
        Ok(exit) => ExitCode::from(exit as u8),
        Err(failure) => {
            output::talk(&failure.to_string());
            ExitCode::from(failure.exit as u8)
        }
    }
}

/// The command line with our form of help on every level.
pub fn command() -> clap::Command {
    fn dress(command: clap::Command) -> clap::Command {
        command.help_template(HELP).mut_subcommands(dress)
    }
    dress(Cli::command())
}

/// Help and version are answers; anything else is a mistake in the command line.
fn misused(error: &clap::Error) -> ExitCode {
    let text = error.render().ansi().to_string();
    if error.use_stderr() {
        output::talk(text.replacen("error:", "error[USAGE]:", 1).trim_end());
        ExitCode::from(Exit::Usage as u8)
    } else {
        output::data(text.trim_end());
        ExitCode::SUCCESS
    }
}

fn run(cli: Cli) -> Result<Exit> {
    let Cli {
        mut global,
        command,
    } = cli;
    global.url = global.url.or_else(|| std::env::var("RIVERRUN_URL").ok());
    match command {
        Command::Dev(dev) => serving()?.block_on(dev.run(&global)),
        Command::Serve(serve) => serving()?.block_on(serve.run()),
        Command::Build(build) => serving()?.block_on(build.run(&global)),
        Command::Init(init) => init.run(),
        Command::Run(run) => asking()?.block_on(run.run(&global)),
        Command::Runs(runs) => asking()?.block_on(runs.run(&global)),
        Command::Flows(flows) => asking()?.block_on(flows.run(&global)),
        Command::Jobs(jobs) => asking()?.block_on(jobs.run(&global)),
        Command::Queues(queues) => asking()?.block_on(queues.run(&global)),
        Command::Dlq(dlq) => asking()?.block_on(dlq.run(&global)),
        Command::Triggers(triggers) => asking()?.block_on(triggers.run(&global)),
        Command::Schedules(schedules) => asking()?.block_on(schedules.run(&global)),
        Command::Call(call) => asking()?.block_on(call.run(&global)),
        Command::Processes(processes) => asking()?.block_on(processes.run(&global)),
        Command::Emit(emit) => asking()?.block_on(emit.run(&global)),
        Command::Fire(fire) => asking()?.block_on(fire.run(&global)),
        Command::Awaits(awaits) => asking()?.block_on(awaits.run(&global)),
        Command::Tail(tail) => asking()?.block_on(tail.run(&global)),
        Command::Worker(worker) => serving()?.block_on(worker.run(&global)),
        Command::Workers(workers) => asking()?.block_on(workers.run(&global)),
        Command::Top(top) => asking()?.block_on(top.run(&global)),
        Command::Handlers(handlers) => asking()?.block_on(handlers.run(&global)),
        Command::Doctor(doctor) => asking()?.block_on(doctor.run(&global)),
        Command::Verify(verify) => verify.run(&global),
        Command::Backup(backup) => backup.run(),
        Command::Restore(restore) => restore.run(),
        Command::Config(config) => config.run(&global),
        Command::Completions(completions) => completions.run(),
        Command::Version => version::run(&global),
    }
}

/// The executor of a server: all cores.
fn serving() -> Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(ErrorCode::NoThreads, error.to_string()))
}

/// The executor of a command that only asks.
fn asking() -> Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(ErrorCode::NoThreads, error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> std::result::Result<Cli, clap::Error> {
        Cli::try_parse_from(line.split_whitespace())
    }

    #[test]
    fn the_command_line_is_sound() {
        command().debug_assert();
    }

    #[test]
    fn every_command_opens_its_help_with_what_it_does_and_an_example() {
        fn check(path: &str, command: &clap::Command) {
            assert!(
                command.get_about().is_some(),
                "{path} does not say what it does"
            );
            let example = command
                .get_before_help()
                .map(ToString::to_string)
                .unwrap_or_default();
            assert!(
                example.starts_with("Example: riverrun"),
                "{path} has no example"
            );
            // The example is one that parses.
            let line = example.strip_prefix("Example: ").unwrap_or_default();
            let words = line
                .split(" && ")
                .next()
                .unwrap_or_default()
                .split(" > ")
                .next()
                .unwrap_or_default();
            let words = words.replace("'{\"name\": \"Ada\"}'", "{}");
            assert!(
                Cli::try_parse_from(words.split_whitespace()).is_ok(),
                "{path}: {words}"
            );
            for inner in command.get_subcommands() {
                check(&format!("{path} {}", inner.get_name()), inner);
            }
        }
        check("riverrun", &command());
    }

    #[test]
    fn what_is_understood() {
        for line in [
            "riverrun serve --listen 127.0.0.1:0 --data d --store memory: --project p --log-format json --set lease=5s",
            "riverrun dev",
            "riverrun dev examples/hello --no-run",
            "riverrun run hello -d {} --wait --timeout 30s --tag a --tag b --key k --tenant t --delay 5s --version 1.0.0",
            "riverrun runs ls --status failed --status running --flow f -o json",
            "riverrun runs events latest --follow",
            "riverrun runs fork latest --at 1-2 -o jsonl --url http://x",
            "riverrun flows graph hello --format mermaid",
            "riverrun queues clean emails --state failed --older-than 7d --limit 5",
            "riverrun queues pause emails images",
            "riverrun jobs ls",
            "riverrun jobs ls --tag red",
            "riverrun dlq ls emails --code SMTP_DOWN",
            "riverrun jobs ls emails --state waiting --state failed --all",
            "riverrun jobs add emails -d {} --name welcome --priority -3 --delay 5s --attempts 3 --key k --idempotency-key i --id j --tag t --tenant u --create --wait --timeout 5s",
            "riverrun jobs add emails --bulk",
            "riverrun jobs logs j --follow -o jsonl",
            "riverrun jobs update latest j --priority -5 --delay 10m",
            "riverrun tail queue/emails --type job.failed -o jsonl",
            "riverrun tail job/latest --from-start",
            "riverrun dlq redrive emails --limit 10 --per-second 2",
            "riverrun dlq redrive emails a b",
            "riverrun dlq redrive emails --code X --name n --key k --tag t --before 1 --after 0",
            "riverrun dlq purge emails --code X --older-than 1d",
            "riverrun call greet -d {} --timeout 5s --follow",
            "riverrun worker --server http://x:4600 --project p --name a --tag b --tag c --concurrency 4 --wait 5s --log debug",
            "riverrun workers drain 3 --grace 1m",
            "riverrun top --once",
            "riverrun triggers ls --type schedule",
            "riverrun triggers fire t -d {} --key k",
            "riverrun triggers rm a b",
            "riverrun schedules backfill s --from 0 --to 1 --limit 5",
            "riverrun handlers",
            "riverrun handlers show http",
            "riverrun completions zsh",
            "riverrun verify --file b.db -o json",
            "riverrun backup b.db --rate 0 --force --data d",
        ] {
            assert!(
                parse(line).is_ok(),
                "{line}: {:?}",
                parse(line).err().map(|e| e.to_string())
            );
        }
        for line in [
            "riverrun",
            "riverrun nonsense",
            "riverrun run",
            "riverrun run hello --timeout 5",
            "riverrun run hello --timeout 5s",
            "riverrun run hello --wait --follow",
            "riverrun runs ls --status done",
            "riverrun worker --concurrency 0",
            "riverrun workers drain",
            "riverrun jobs ls emails --state ended",
            "riverrun jobs add emails --timeout 5s",
            "riverrun jobs update j",
            "riverrun tail",
            "riverrun tail job/j --from-start --after 1-1",
            "riverrun jobs add emails --bulk --id j",
            "riverrun queues clean emails --state waiting",
            "riverrun dlq redrive emails a --limit 3",
            "riverrun triggers ls --type cron",
            "riverrun schedules backfill s --from 0",
            "riverrun dlq redrive emails a --code X",
            "riverrun verify --file b.db --accept-loss",
            "riverrun restore b.db",
        ] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
