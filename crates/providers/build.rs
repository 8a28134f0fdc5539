//! Puts the SDKs under `sdks/` into the program. One that is not built yet is left out; the
//! program says so when it is needed.

use std::{
    env,
    fmt::Write,
    fs, io,
    path::{Path, PathBuf},
};

fn main() -> io::Result<()> {
    let root = Path::new(&env::var("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../../sdks");
    let mut code = String::new();
    let node = root.join("typescript/dist");
    let python = root.join("python/src");
    // The runner, what it loads TypeScript with, and what its test kit checks schemas with.
    let runner = [
        "runner.mjs",
        "shared/json-schema.mjs",
        "shared/typescript.mjs",
    ];
    write_list(&mut code, "NODE", &node, |name| runner.contains(&name));
    write_list(&mut code, "PYTHON", &python, |name| {
        name.ends_with(".py") || name.ends_with("py.typed")
    });
    let out = PathBuf::from(env::var("OUT_DIR").unwrap_or_default());
    fs::write(out.join("sdks.rs"), code)
}

fn write_list(code: &mut String, name: &str, folder: &Path, takes: impl Fn(&str) -> bool) {
    println!("cargo:rerun-if-changed={}", folder.display());
    let mut files = Vec::new();
    gather(folder, folder, &mut files);
    files.retain(|(name, _)| takes(name));
    files.sort();
    let _ = writeln!(code, "const {name}: &[File] = &[");
    for (name, path) in files {
        let _ = writeln!(code, "    ({name:?}, include_bytes!({path:?})),");
    }
    let _ = writeln!(code, "];");
}

/// What cannot be read is not there.
fn gather(root: &Path, folder: &Path, files: &mut Vec<(String, PathBuf)>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            gather(root, &path, files);
        } else if let Ok(name) = path.strip_prefix(root) {
            files.push((name.to_string_lossy().into_owned(), path.clone()));
        }
    }
}
