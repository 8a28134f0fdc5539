//! The dependencies between crates, and between the modules of `runtime`, are those that
//! ARCHITECTURE.md draws.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

type Arrows = BTreeMap<String, BTreeSet<String>>;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The arrows of the block below a heading: `from -> to, to`.
fn drawn(heading: &str) -> Arrows {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let (_, section) = text.split_once(&format!("\n### {heading}\n")).unwrap();
    let block = section.split("```").nth(1).unwrap();
    let lines = block.lines().filter(|line| !line.trim().is_empty());
    lines
        .map(|line| {
            let (from, to) = line.split_once("->").unwrap();
            let to = to.split(',').map(|name| name.trim().to_owned());
            let to = to.filter(|name| !name.is_empty());
            (from.trim().to_owned(), to.collect())
        })
        .collect()
}

/// What each crate depends on, tests apart.
fn actual() -> Arrows {
    let mut arrows = Arrows::new();
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let folder = entry.unwrap().path();
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        let (_, dependencies) = manifest
            .split_once("\n[dependencies]\n")
            .unwrap_or_default();
        let dependencies = dependencies.split("\n[").next().unwrap_or_default();
        let names = dependencies.lines().filter_map(|line| {
            let name = line.strip_prefix("riverrun-")?;
            Some(name.split(['.', ' ']).next()?.to_owned())
        });
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        arrows.insert(name, names.collect());
    }
    arrows
}

/// Everything that a crate or a module may use: what its arrows lead to, directly or not.
fn reached(arrows: &Arrows, from: &str) -> BTreeSet<String> {
    let mut reached = BTreeSet::new();
    let mut ahead = vec![from.to_owned()];
    while let Some(name) = ahead.pop() {
        for next in arrows.get(&name).into_iter().flatten() {
            assert_ne!(next, from, "{from} leads to itself");
            if reached.insert(next.clone()) {
                ahead.push(next.clone());
            }
        }
    }
    reached
}

/// Whether what is used is what is drawn, and the arrows lead one way.
fn compare(drawn: &Arrows, actual: &Arrows) {
    for (name, dependencies) in actual {
        assert!(drawn.contains_key(name), "ARCHITECTURE.md draws no {name}");
        let allowed = reached(drawn, name);
        let other: Vec<_> = dependencies.difference(&allowed).collect();
        assert!(
            other.is_empty(),
            "{name} depends on {other:?} against the arrows"
        );
    }
    for (name, arrows) in drawn {
        let used = actual.get(name).unwrap_or_else(|| panic!("no {name}"));
        let unused: Vec<_> = arrows.difference(used).collect();
        assert!(
            unused.is_empty(),
            "{name} has arrows to {unused:?} that it does not use"
        );
    }
}

/// The source files below a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files.extend(sources(&path)),
            false => files.extend(
                path.extension()
                    .is_some_and(|it| it == "rs")
                    .then_some(path),
            ),
        }
    }
    files
}

/// The code of a file, without comments and tests.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
    let lines = code.lines().filter(|line| !line.trim().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

/// The first names of a path, or of each branch of a tree of paths.
fn heads(path: &str) -> Vec<String> {
    let name = |text: &str| -> String {
        let letters = text.trim_start().chars();
        letters
            .take_while(|c| c.is_alphanumeric() || *c == '_')
            .collect()
    };
    let Some(tree) = path.strip_prefix('{') else {
        return vec![name(path)];
    };
    let (mut depth, mut branches) = (0, vec![String::new()]);
    for c in tree.chars() {
        match c {
            '}' if depth == 0 => break,
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => branches.push(String::new()),
            c => branches.last_mut().unwrap().push(c),
        }
    }
    let names = branches.iter().map(|branch| name(branch));
    names.filter(|name| !name.is_empty()).collect()
}

/// The names at the root of the crate that a file at this depth uses.
fn roots(code: &str, depth: usize) -> BTreeSet<String> {
    let outwards = "super::".repeat(depth);
    let mut names = BTreeSet::new();
    for start in ["crate::", &outwards] {
        let found = code.match_indices(start);
        names.extend(found.flat_map(|(at, _)| heads(&code[at + start.len()..])));
    }
    names
}

/// What each module of `runtime` uses of the others.
fn modules() -> Arrows {
    let folder = root().join("crates/runtime/src");
    let mut arrows = Arrows::new();
    for path in sources(&folder) {
        let below = path.strip_prefix(&folder).unwrap().with_extension("");
        let below: Vec<_> = below.iter().map(|name| name.to_str().unwrap()).collect();
        let module = below[0];
        if module == "lib" || below.last() == Some(&"tests") {
            continue;
        }
        let depth = below.len() - usize::from(below.last() == Some(&"mod"));
        let names = roots(&code(&path), depth).into_iter();
        let others = names.filter(|name| name != module);
        arrows.entry(module.to_owned()).or_default().extend(others);
    }
    arrows
}

#[test]
fn crates_depend_on_each_other_as_the_architecture_draws_it() {
    compare(&drawn("Layers"), &actual());
}

#[test]
fn modules_of_the_runtime_depend_on_each_other_as_the_architecture_draws_it() {
    compare(&drawn("The parts of the runtime"), &modules());
}

#[test]
fn every_way_to_name_another_module_is_found() {
    let check = |code: &str, depth: usize, expected: &[&str]| {
        let expected = expected.iter().map(|name| (*name).to_owned());
        assert_eq!(roots(code, depth), expected.collect(), "{code}");
    };
    check("use crate::runs::Runs;", 2, &["runs"]);
    check(
        "use crate::{base::{Base, Error}, runs, steps::Steps};",
        2,
        &["base", "runs", "steps"],
    );
    check(
        "fn f() -> crate::base::Result<()> { super::g() }",
        2,
        &["base"],
    );
    check(
        "use super::super::{queues::Queues, runs::Runs};",
        2,
        &["queues", "runs"],
    );
    check("use super::{a::A, b};", 2, &[]);
    check("use super::runs::Runs;", 1, &["runs"]);
}
