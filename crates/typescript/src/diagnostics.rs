//! Collects what the parser reports.

use std::sync::{Arc, Mutex, PoisonError};

use swc_common::{
    BytePos, SourceMap,
    errors::{DiagnosticBuilder, Emitter, Handler},
    sync::Lrc,
};

use crate::SyntaxError;

/// A longer line is not shown: it was written by a program.
const SHOWN_CHARS: usize = 200;

/// A report of the parser: the text and the position of its first character.
#[derive(Clone, Debug)]
pub struct Report {
    pub message: String,
    position: Option<BytePos>,
}

/// Everything that was reported. Clones share it.
#[derive(Clone, Default)]
pub struct Reports(Arc<Mutex<Vec<Report>>>);

impl Reports {
    pub fn handler(&self) -> Handler {
        Handler::with_emitter(false, false, Box::new(self.clone()))
    }

    pub fn take(&self) -> Vec<Report> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Emitter for Reports {
    fn emit(&mut self, report: &mut DiagnosticBuilder<'_>) {
        let message = report.message.iter().map(|part| part.0.as_str()).collect();
        let position = report.span.primary_span().map(|span| span.lo);
        let mut reports = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        reports.push(Report { message, position });
    }
}

impl Report {
    pub fn new(message: String, position: Option<BytePos>) -> Self {
        Self { message, position }
    }

    /// The error with its place in the file.
    pub fn locate(self, sources: &Lrc<SourceMap>) -> SyntaxError {
        let place = self
            .position
            .filter(|position| position.0 > 0)
            .and_then(|position| sources.try_lookup_char_pos(position).ok());
        let Some(place) = place else {
            return SyntaxError {
                message: self.message,
                line: 1,
                column: 1,
                shown: String::new(),
            };
        };
        let column = place.col.0;
        let line = place.file.get_line(place.line.saturating_sub(1));
        let shown = line
            .filter(|line| line.chars().count() <= SHOWN_CHARS)
            .map(|line| format!("{}\n{}^", line.trim_end(), " ".repeat(column)));
        SyntaxError {
            message: self.message,
            line: place.line,
            column: column + 1,
            shown: shown.unwrap_or_default(),
        }
    }
}
