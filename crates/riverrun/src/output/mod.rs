//! The output of a command: data on stdout, messages on stderr.

mod details;
mod event;
pub mod paint;
mod pretty;
mod progress;
mod table;
mod visible;

use std::io::{IsTerminal, Write};

use anstream::{AutoStream, ColorChoice};
use clap::ValueEnum;
use serde::Serialize;

pub use details::{event_stack, log_fields, stack_lines};
pub use event::EventLine;
pub use pretty::pretty;
pub use progress::Progress;
pub use table::{Row, Table};
pub use visible::visible;

/// How data is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people: tables on a terminal, aligned text elsewhere.
    #[default]
    Table,
    /// One JSON document.
    Json,
    /// One JSON document per line.
    Jsonl,
}

/// Prints a line of data. Data that cannot be written ends the command: an export onto a full disk
/// must not look like one that worked.
pub fn data(line: &str) {
    if let Err(error) = write(&mut anstream::stdout().lock(), line) {
        talk(&format!(
            "error[FILE_UNUSABLE]: the output cannot be written: {error}"
        ));
        std::process::exit(1);
    }
}

/// Prints a message on stderr. A failure to write is ignored.
pub fn talk(line: &str) {
    let _ = write(&mut anstream::stderr().lock(), line);
}

fn write(to: &mut impl Write, line: &str) -> std::io::Result<()> {
    let line = visible::harmless(line);
    match writeln!(to, "{line}").and_then(|()| to.flush()) {
        // The reader has what it wanted: `riverrun runs ls | head`.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => std::process::exit(0),
        written => written,
    }
}

/// Prints a value that came as JSON text, as that text: nothing in it is rounded.
pub fn json_text(format: Format, text: &str) {
    match format {
        Format::Jsonl => data(&pretty::compact(text)),
        _ => data(&pretty(text)),
    }
}

/// Prints a value as JSON.
pub fn json(format: Format, value: &impl Serialize) {
    let text = serde_json::to_string(value).unwrap_or_else(|error| format!("\"{error}\""));
    json_text(format, &text);
}

/// Prints a list: one document, a document per row, or what `table` prints for people.
pub fn list(format: Format, rows: &[impl Serialize], table: impl FnOnce()) {
    match format {
        Format::Json => json(Format::Json, &rows),
        Format::Jsonl => rows.iter().for_each(|row| json(Format::Jsonl, row)),
        Format::Table => table(),
    }
}

/// `2025-10-29 16:15:54` of an ISO time.
pub fn moment(iso: Option<&str>) -> String {
    let iso = iso.unwrap_or_default();
    iso.get(..19).unwrap_or(iso).replace('T', " ")
}

/// Prints a line of what is shown of one thing: a title and its value.
pub fn field(title: &str, value: &str) {
    data(&format!("{title:<9} {}", visible(value)));
}

/// The same in a style.
pub fn painted_field(title: &str, style: anstyle::Style, value: &str) {
    data(&format!("{title:<9} {}", paint::paint(style, value)));
}

/// Characters that a longer value of one thing may take: three lines of the terminal.
pub fn field_room() -> usize {
    width().map_or(2_000, |width| width.saturating_sub(11).max(40) * 3)
}

pub fn stdout_is_terminal() -> bool {
    std::io::stdout().is_terminal()
}

pub fn stdout_has_colour() -> bool {
    AutoStream::choice(&std::io::stdout()) != ColorChoice::Never
}

pub fn stderr_has_colour() -> bool {
    AutoStream::choice(&std::io::stderr()) != ColorChoice::Never
}

/// The columns of the terminal, or none where there is no terminal.
pub fn width() -> Option<usize> {
    if !stdout_is_terminal() {
        return None;
    }
    comfy_table::Table::new().width().map(usize::from)
}

/// The beginning of a text that fits into so many characters.
pub fn shorten(text: &str, width: usize) -> String {
    // A text may be many times longer than what is shown of it.
    let end = text.char_indices().nth(width + 1);
    let text = visible(&text[..end.map_or(text.len(), |(at, _)| at)]);
    let mut chars = text.chars();
    let short: String = chars.by_ref().take(width).collect();
    match chars.next() {
        None => short,
        Some(_) => {
            let mut cut: String = short.chars().take(width.saturating_sub(1)).collect();
            cut.push('…');
            cut
        }
    }
}
