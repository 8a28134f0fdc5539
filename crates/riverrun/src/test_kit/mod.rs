//! The engine behind the test kits of the SDKs: the hidden command `riverrun test-kit`.
//!
//! A test kit starts this program once per test process and speaks to it over stdin and stdout, one
//! JSON message per line. A line that has a member `kit` steers the program; every other line belongs
//! to the worker protocol (`docs/reference/protocol.md`), in which the test process is the worker: the handlers
//! of the test are functions there.
//!
//! One message, `play`, plays one run from its start to its end:
//!
//! 1. A runtime is opened on a store in memory, with a clock that is simulated ([`stage`]).
//! 2. The test process connects as a worker. Its processes become one flow ([`plan`], [`home`]).
//! 3. The run is started. Time moves from one due moment to the next ([`walk`]), never while a
//!    handler runs, unless it sleeps. Events that the test gives are emitted at their times
//!    ([`events`]), callbacks are answered by the test ([`callbacks`]).
//! 4. When the run has ended, or nothing is due any more, the report lists the visits of the run
//!    with their waits, retries and results ([`report`]), and the runtime is dropped.
//!
//! | from the test process | |
//! | --- | --- |
//! | `play` | plays a run ([`request::Play`]) |
//! | `sleep` | all handlers that run sleep, the first until a time: time may move up to there ([`request::Sleep`]) |
//! | `opened` | the answers to a `callback` |
//!
//! | to the test process | |
//! | --- | --- |
//! | `time` | the simulated time from here on |
//! | `callback` | a step waits for a callback: who answers it, and when? |
//! | `played` | the report of the run |
//! | `failed` | the run could not be played: `code`, `message`, `details` |

mod callbacks;
mod events;
mod home;
mod pipe;
mod plan;
mod refused;
mod report;
mod request;
mod stage;
mod walk;

use std::process::ExitCode;

use serde_json::json;

use self::{
    pipe::{Asked, Pipe},
    stage::Stage,
};

const NAME: &str = "test-kit";

/// Looks at the arguments without the parser of commands: a kit starts in milliseconds.
pub fn is_asked_for() -> bool {
    std::env::args_os().nth(1).is_some_and(|name| name == NAME)
}

pub fn run() -> ExitCode {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    let Ok(runtime) = runtime else {
        return ExitCode::FAILURE;
    };
    runtime.block_on(serve());
    // Expressions and handlers of a run that was given up may still be at work.
    runtime.shutdown_background();
    ExitCode::SUCCESS
}

/// Plays one run after the other until the test process is gone.
async fn serve() {
    let (mut pipe, out) = Pipe::open();
    while let Some(asked) = pipe.next().await {
        // Anything else is left over from a run that has ended.
        let Asked::Play(play) = asked else { continue };
        let (stage, inbox) = Stage::new(&play, out.clone());
        let playing = stage.play(*play);
        tokio::pin!(playing);
        let played = loop {
            tokio::select! {
                played = &mut playing => break played,
                asked = pipe.next() => match asked {
                    Some(asked) => inbox.put(asked),
                    None => return,
                },
            }
        };
        out.send(&match played {
            Ok(report) => json!({ "kit": "played", "report": report }),
            Err(error) => json!({ "kit": "failed", "error": error }),
        });
    }
}
