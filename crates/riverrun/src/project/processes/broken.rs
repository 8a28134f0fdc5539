//! Files that cannot be run, or not yet: whoever asks for their processes is told why.

use riverrun_protocol::WorkError;
use riverrun_runtime::BrokenProcess;

use super::{
    Outcome, Processes,
    find::{ProcessFile, language_of},
    process::{queue_name, source},
};
use crate::failure::Failure;

impl Processes {
    /// It is not there yet, and nobody waits for it but those who ask for it.
    pub(super) fn note_loading(&mut self, file: &ProcessFile, outcome: &mut Outcome) {
        let shown = file.path.strip_prefix(&self.project).unwrap_or(&file.path);
        let message = format!("{} is still being loaded", shown.display());
        self.put_broken(file, &Failure::new("MODULE_LOADING", message));
        outcome.warnings.push(format!(
            "{} takes long to load; the others work meanwhile",
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
            error: WorkError::new(&failure.code, failure.text()).permanent(),
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
