//! Prints the logs and errors of handlers as they happen, for `riverrun dev`.

use std::sync::Arc;

use async_trait::async_trait;
use riverrun::Json;
use riverrun_protocol::{Frame, LogLevel, Reply, WorkError};
use riverrun_runtime::{Holder, Host, Invocation, Places, Provider};

use crate::output::{self, paint, paint::paint};

/// A provider whose handlers are shown under the name of their process.
pub(super) struct Shown {
    pub name: Arc<str>,
    pub provider: Arc<dyn Provider>,
}

#[async_trait]
impl Provider for Shown {
    async fn invoke(&self, mut invocation: Invocation) -> Result<Reply, WorkError> {
        invocation.host = Arc::new(Listening {
            name: self.name.clone(),
            host: invocation.host,
        });
        let done = self.provider.invoke(invocation).await;
        match &done {
            Err(error) => show_error(&self.name, error),
            Ok(reply) => {
                for item in reply.results.iter().flatten() {
                    if let Some(error) = &item.error {
                        show_error(&self.name, error);
                    }
                }
            }
        }
        done
    }

    fn places(&self) -> Option<&dyn Places> {
        self.provider.places()
    }

    fn holder(&self, job: &str) -> Option<Holder> {
        self.provider.holder(job)
    }
}

struct Listening {
    name: Arc<str>,
    host: Arc<dyn Host>,
}

#[async_trait]
impl Host for Listening {
    fn frame(&self, frame: Frame) {
        show_frame(&self.name, &frame);
        self.host.frame(frame);
    }

    fn frame_of(&self, job: &str, frame: Frame) {
        show_frame(&self.name, &frame);
        self.host.frame_of(job, frame);
    }

    async fn ask(&self, method: &str, params: Json) -> Result<Json, WorkError> {
        self.host.ask(method, params).await
    }
}

fn show_frame(name: &str, frame: &Frame) {
    let Frame::Log {
        level,
        message,
        meta,
    } = frame
    else {
        return;
    };
    let fields = meta.as_ref().map(|meta| output::log_fields(&meta.value()));
    let fields = fields.unwrap_or_default();
    let space = if fields.is_empty() { "" } else { "  " };
    let mut lines = message.lines();
    let first = lines.next().unwrap_or_default();
    let level = match level {
        LogLevel::Debug => paint(paint::DIM, "debug "),
        LogLevel::Info => String::new(),
        LogLevel::Warn => paint(paint::WARN, "warn "),
        LogLevel::Error => paint(paint::BAD, "error "),
    };
    let first = output::visible(first);
    say(name, &format!("{level}{first}{space}{fields}"));
    lines.for_each(|line| say(name, &format!("  {}", output::visible(line))));
}

/// The code and the message, then the frames that lead there.
fn show_error(name: &str, error: &WorkError) {
    if error.is_cancelled() {
        return;
    }
    let WorkError { code, message, .. } = error;
    let head = paint(paint::BAD, "error");
    let (code, message) = (output::visible(code), output::visible(message));
    say(name, &format!("{head} {code}: {message}"));
    for line in output::stack_lines(error.stack.as_deref(), &error.message) {
        say(name, &paint(paint::DIM, line));
    }
}

fn say(name: &str, text: &str) {
    let name = paint(paint::NAME, format_args!("[{name}]"));
    output::talk(&format!("{name} {text}"));
}
