//! Files that cannot be executed, or not yet: requests for their processes get the reason.

use riverrun_types::ErrorCode;
use std::{fs::File, io::Read, path::Path};

use riverrun_protocol::{NotLoaded, WorkError};
use riverrun_runtime::BrokenProcess;

use super::{
    Outcome, Processes,
    executable::config_path,
    find::{Kind, ProcessFile, language_of},
    process::{queue_name, source},
};
use crate::failure::Failure;

impl Processes {
    /// Registers a file that is still being loaded as unavailable. Only calls and jobs for it wait.
    pub(super) fn note_loading(&mut self, file: &ProcessFile, outcome: &mut Outcome) {
        let shown = file.path.strip_prefix(&self.project).unwrap_or(&file.path);
        let message = format!("{} is still being loaded", shown.display());
        self.put_broken(file, &Failure::new(ErrorCode::ModuleLoading, message));
        outcome.warnings.push(format!(
            "{} is slow to load; other processes run meanwhile",
            shown.display()
        ));
    }

    pub(super) fn note_broken(
        &mut self,
        file: &ProcessFile,
        failure: Failure,
        outcome: &mut Outcome,
    ) {
        for (path, count) in &mut outcome.anew {
            *count -= usize::from(language_of(path) == file.kind.language());
        }
        self.put_broken(file, &failure);
        outcome.failures.push(failure);
    }

    fn put_broken(&mut self, file: &ProcessFile, failure: &Failure) {
        let source = source(file, None);
        self.broken.insert(file.path.clone(), file.id.clone());
        self.register.put_broken(BrokenProcess {
            id: file.id.as_str().into(),
            queue: queue_name(&file.id).into(),
            file: source.file,
            language: source.language,
            error: WorkError::new(failure.code.clone(), failure.text()).permanent(),
            mentions: mentions(file),
        });
    }

    pub(super) fn mended(&mut self, file: &ProcessFile) {
        if self.broken.remove(&file.path).is_some()
            && !self.broken.values().any(|id| *id == file.id)
        {
            self.register.forget_broken(&file.id);
        }
    }
}

/// What is read of a file that does not load.
const READ_BYTES: u64 = 256 << 10;

/// The names in a file that may be those of flows, events and steps: the texts in quotes of a module,
/// the words in the configuration of an executable.
fn mentions(file: &ProcessFile) -> Vec<String> {
    match file.kind {
        Kind::Executable => config_path(&file.path).map_or_else(Vec::new, |path| {
            let text = start_of(&path);
            let words = text.split(|c: char| !(c.is_alphanumeric() || "._-/".contains(c)));
            let is_name =
                |word: &&str| (1..=NotLoaded::MAX_MENTION_CHARS).contains(&word.chars().count());
            let names = words.filter(is_name).take(NotLoaded::MAX_MENTIONS);
            names.map(str::to_owned).collect()
        }),
        _ => quoted(&start_of(&file.path)),
    }
}

/// The start of a file; empty if it cannot be read.
fn start_of(path: &Path) -> String {
    let mut text = Vec::new();
    let _ = File::open(path).and_then(|file| file.take(READ_BYTES).read_to_end(&mut text));
    String::from_utf8_lossy(&text).into_owned()
}

/// What stands between two quotes of a kind in one line, each text once.
fn quoted(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for line in text.lines() {
        for quote in ['\'', '"', '`'] {
            let parts: Vec<&str> = line.split(quote).collect();
            // Every part may be inside: a quote of another kind, or in a comment, moves the count.
            for part in parts.get(1..parts.len() - 1).unwrap_or_default() {
                let is_name = !part.is_empty()
                    && part.chars().count() <= NotLoaded::MAX_MENTION_CHARS
                    && !part.contains(char::is_whitespace);
                if is_name && !found.iter().any(|known| known == part) {
                    found.push((*part).to_owned());
                }
                if found.len() == NotLoaded::MAX_MENTIONS {
                    return found;
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_quotes_are_found_in_what_does_not_parse() {
        let text = "import x from 'not-there'\nconfig = { flow: { id: \"inc\", emits: ['a.b', `c`] }, it's \"d\"\n(((";
        assert_eq!(quoted(text), ["not-there", "a.b", "inc", "d", "c"]);
        assert_eq!(quoted(""), [""; 0]);
    }
}
