//! Finds the files under `processes` that are processes, by their endings and permissions.

use std::path::{Path, PathBuf};

use riverrun_providers::Language;
use serde::{Deserialize, Serialize};

use super::ignored::{self, IgnoredFile};
use crate::failure::{Failure, Result};

/// What runs a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Node,
    Python,
    Executable,
}

impl Kind {
    pub(super) fn language(self) -> Option<Language> {
        match self {
            Self::Node => Some(Language::Node),
            Self::Python => Some(Language::Python),
            Self::Executable => None,
        }
    }
}

/// A file with work in it.
#[derive(Clone, Debug, PartialEq)]
pub struct ProcessFile {
    /// The path below `processes` without its ending.
    pub id: String,
    pub path: PathBuf,
    pub kind: Kind,
}

/// What is under `<project>/processes`.
#[derive(Default)]
pub struct ProcessFiles {
    /// By name.
    pub files: Vec<ProcessFile>,
    /// What seems to be meant as one, or for one, and is not.
    pub ignored: Vec<IgnoredFile>,
}

/// The languages of a project's processes.
pub fn languages(project: &Path) -> Vec<Language> {
    let files = process_files(project).unwrap_or_default().files;
    files
        .iter()
        .filter_map(|file| file.kind.language())
        .collect()
}

/// Looks through the folder. One that is not there has nothing.
pub fn process_files(project: &Path) -> Result<ProcessFiles> {
    let root = project.join("processes");
    let (mut files, mut others, mut broken) = (Vec::new(), Vec::new(), Vec::new());
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        let entries = match std::fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(Failure::file("the folder", &folder, &error)),
        };
        for entry in entries.flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            let name = name.to_string_lossy();
            let skipped = name.starts_with(['.', '_']) || name == "node_modules";
            // Links are followed: a shared process may live elsewhere.
            match std::fs::metadata(&path) {
                _ if skipped => {}
                Ok(meta) if meta.is_dir() => folders.push(path),
                Ok(meta) if meta.is_file() => match kind_of(&path, ignored::is_executable(&meta)) {
                    Some(kind) => {
                        let id = id_of(&root, &path);
                        files.push(ProcessFile { id, path, kind });
                    }
                    None => others.push(path),
                },
                Err(error) if path.is_symlink() => broken.push((path, error)),
                _ => {}
            }
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    others.sort();
    let mut ignored = ignored::find_ignored(project, others, &files);
    let broken = broken.into_iter();
    ignored.extend(broken.map(|(path, error)| IgnoredFile::broken_link(path, project, &error)));
    ignored.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(ProcessFiles { files, ignored })
}

fn kind_of(path: &Path, is_executable: bool) -> Option<Kind> {
    let name = path.file_name()?.to_str()?;
    let is_aside = [".d.ts", ".d.mts", ".d.cts", ".test.", ".spec."]
        .iter()
        .any(|part| name.contains(part));
    if is_aside {
        return None;
    }
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("ts" | "mts" | "cts" | "js" | "mjs" | "cjs") => Some(Kind::Node),
        Some("py") => Some(Kind::Python),
        Some("json" | "yaml" | "yml" | "md" | "txt" | "toml" | "lock") => None,
        _ => is_executable.then_some(Kind::Executable),
    }
}

/// The language of a source file that processes may import.
pub fn language_of(path: &Path) -> Option<Language> {
    let name = path.file_name()?.to_str()?;
    match path.extension()?.to_str()? {
        "ts" | "mts" | "cts" | "tsx" | "js" | "mjs" | "cjs" | "jsx" => Some(Language::Node),
        "py" => Some(Language::Python),
        // Other JSON may be what a handler writes: that must not load it anew.
        "json" => ["package.json", "tsconfig.json"]
            .contains(&name)
            .then_some(Language::Node),
        _ => None,
    }
}

fn id_of(root: &Path, path: &Path) -> String {
    let below = path.strip_prefix(root).unwrap_or(path).with_extension("");
    let parts = below.iter().map(|part| part.to_string_lossy());
    parts.collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn processes_are_found_by_their_endings_and_rights() {
        let folder = tempfile::tempdir().unwrap();
        assert!(process_files(folder.path()).unwrap().files.is_empty());
        let root = folder.path().join("processes");
        std::fs::create_dir_all(root.join("mail/deep")).unwrap();
        std::fs::create_dir_all(root.join("node_modules/x")).unwrap();
        for name in [
            "a.ts",
            "b.py",
            "mail/send.mjs",
            "mail/deep/x.cjs",
            "types.d.ts",
            "a.test.ts",
            "form.tsx",
            "form.test.tsx",
            "_part.jsx",
            "_helper.ts",
            "notes.md",
            "plain.sh",
            "node_modules/x/index.js",
        ] {
            std::fs::write(root.join(name), "").unwrap();
        }
        let tool = root.join("tool.sh");
        std::fs::write(&tool, "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(&tool, PermissionsExt::from_mode(0o755)).unwrap();
        std::fs::write(root.join("forgotten.sh"), "#!/bin/sh\n").unwrap();
        for (name, text) in [
            ("lonely.yaml", "concurrency: 3"),
            ("tool.yaml", "concurrency: 3"),
            ("tool.json", "{\"concurrency\": 3}"),
            ("a.yml", "queue: other"),
            ("package.json", "{\"type\": \"module\"}"),
            ("prices.json", "[1, 2]"),
            ("empty.yaml", ""),
            ("broken.yaml", "a: [b"),
        ] {
            std::fs::write(root.join(name), text).unwrap();
        }
        std::os::unix::fs::symlink("nowhere.ts", root.join("gone.ts")).unwrap();
        let found = process_files(folder.path()).unwrap();
        let warnings: Vec<&str> = found.ignored.iter().map(|s| s.warning.as_str()).collect();
        let unread = "has settings that are not used";
        let script = "is a script without the executable bit and is not loaded";
        let jsx = "rename it to .ts or .js if it has no JSX, or begin its name with _ if it is no process";
        let expected = [
            format!("processes/a.yml {unread}: processes/a.ts has its own, in `config`"),
            format!("processes/forgotten.sh {script}; try: chmod +x processes/forgotten.sh"),
            format!("processes/form.tsx is not loaded: files with JSX are not supported; {jsx}"),
            "processes/gone.ts is a broken link: No such file or directory (os error 2)".to_owned(),
            format!("processes/lonely.yaml {unread}: there is no executable lonely beside it"),
            format!(
                "processes/tool.json {unread}: those of processes/tool.sh are in processes/tool.yaml"
            ),
        ];
        assert_eq!(warnings, expected);
        let found: Vec<(String, Kind)> = found
            .files
            .into_iter()
            .map(|file| (file.id, file.kind))
            .collect();
        let expected = [
            ("a", Kind::Node),
            ("b", Kind::Python),
            ("mail/deep/x", Kind::Node),
            ("mail/send", Kind::Node),
            ("tool", Kind::Executable),
        ];
        assert_eq!(found, expected.map(|(id, kind)| (id.to_owned(), kind)));
    }
}
