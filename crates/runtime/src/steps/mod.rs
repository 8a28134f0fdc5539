//! Steps that processes run, and what events do to runs.
//!
//! A visit of a process's step is a job of the process's queue (`place`). Its attempt (`attempt`)
//! is given the visit's input and journal (`prepare`); what the handler asks for goes through its
//! host (`host`), as far as there is `room` for it; operations of its code that failed are tried
//! again (`retries`). Whatever comes of it is an input to the engine and is judged in the run's
//! mailbox (`mailbox`): the outcome, what follows from it and the end of the job are one commit.
//! Nobody holds the run meanwhile.
//!
//! Code that does not fit what it recorded before is parked (`fitting`). `rules` are the expressions in a flow's definition, `awaits` registers what visits wait for and
//! brings what has come, from people through `callbacks`. `signals` leads emitted events to whoever
//! waits for them; where only an expression can tell who does, `outbox` and `filters` do.

mod attempt;
mod due;
mod fitting;
mod host;
mod log;
mod prepare;
mod retries;
mod room;
mod shown;

pub(crate) use fitting::{LoadedCode, release_fitting};
