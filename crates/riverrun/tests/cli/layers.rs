//! The dependencies between crates are those that ARCHITECTURE.md draws.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

type Arrows = BTreeMap<String, BTreeSet<String>>;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The arrows of the block below the heading "Layers": `from -> to, to`.
fn drawn() -> Arrows {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let (_, section) = text.split_once("\n### Layers\n").unwrap();
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

/// Everything that a crate may use: what its arrows lead to, directly or not.
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

#[test]
fn crates_depend_on_each_other_as_the_architecture_draws_it() {
    let (drawn, actual) = (drawn(), actual());
    for (name, dependencies) in &actual {
        assert!(drawn.contains_key(name), "ARCHITECTURE.md draws no {name}");
        let allowed = reached(&drawn, name);
        let other: Vec<_> = dependencies.difference(&allowed).collect();
        assert!(
            other.is_empty(),
            "{name} depends on {other:?} against the arrows"
        );
    }
    for (name, arrows) in &drawn {
        let unused: Vec<_> = arrows.difference(&actual[name]).collect();
        assert!(
            unused.is_empty(),
            "{name} has arrows to {unused:?} that it does not use"
        );
    }
}
