//! What the documents name exists: tests, paths, commands, targets of make.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use crate::support::Project;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn document(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap()
}

/// Every file of ours, relative to the repository.
fn files() -> Vec<PathBuf> {
    let root = root();
    let mut found = Vec::new();
    let mut ahead = vec![root.clone()];
    while let Some(folder) = ahead.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if path.is_dir() && !["target", ".git", "node_modules"].contains(&name) {
                ahead.push(path);
            } else if path.is_file() {
                found.push(path.strip_prefix(&root).unwrap().to_owned());
            }
        }
    }
    found
}

/// The tests of each package, by its folder: `crates/x` is called `x`. What the conformance suite
/// calls its checks are tests of every adapter.
fn tests() -> BTreeMap<String, BTreeSet<String>> {
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for path in files() {
        if path.extension().is_none_or(|ending| ending != "rs") {
            continue;
        }
        let path_text = path.to_str().unwrap();
        let inside = path_text.strip_prefix("crates/").unwrap_or(path_text);
        let depth = if inside.starts_with("examples/") {
            2
        } else {
            1
        };
        let package = inside.split('/').take(depth).collect::<Vec<_>>().join("/");
        let text = document(path_text);
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        for (at, line) in lines.iter().enumerate() {
            let line = line.strip_prefix("pub ").unwrap_or(line);
            let line = line.strip_prefix("async ").unwrap_or(line);
            let Some(name) = line.strip_prefix("fn ") else {
                continue;
            };
            let name = name.split(['(', '<']).next().unwrap();
            let marked = lines[at.saturating_sub(4)..at]
                .iter()
                .any(|line| line.starts_with("#[test]") || line.starts_with("#[tokio::test"));
            if marked || package == "store-conformance" {
                found
                    .entry(package.clone())
                    .or_default()
                    .insert(name.to_owned());
            }
        }
    }
    found
}

#[test]
fn every_test_that_the_specification_table_names_exists() {
    let tests = tests();
    let judged = |name: &str| {
        let measure = root().join(format!("bench/src/{name}.rs"));
        fs::read_to_string(measure).is_ok_and(|source| source.contains(".judge("))
    };
    let is_file = |path: String| root().join(path).is_file();
    let text = document("docs/specification.md");
    let mut named = 0;
    let mut missing = Vec::new();
    for row in text.lines().filter(|line| line.starts_with("| ")) {
        let shown = row.trim_end_matches(" |").rsplit(" | ").next().unwrap();
        if !shown.contains(": ") || row.matches(" | ").count() < 3 {
            continue;
        }
        for of_crate in shown.split("; ") {
            let (package, names) = of_crate.split_once(": ").unwrap();
            for name in names.split(", ") {
                named += 1;
                let exists = match package {
                    "bench" => judged(name),
                    // Files of tests, each with many.
                    "sdks/typescript" => is_file(format!("{package}/test/{name}.test.mjs")),
                    "sdks/python" => is_file(format!("{package}/tests/test_{name}.py")),
                    "sdks/conformance" => is_file(format!("{package}/conversations/{name}.json")),
                    _ => tests.get(package).is_some_and(|tests| tests.contains(name)),
                };
                if !exists {
                    missing.push(format!("{package}: {name}"));
                }
            }
        }
    }
    assert!(named > 150, "{named}");
    assert!(missing.is_empty(), "there are no such tests: {missing:#?}");
}

const DOCUMENTS: [&str; 7] = [
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "docs/reference/cli.md",
    "examples/hello/README.md",
    "examples/shop/README.md",
    "examples/work/README.md",
];

/// Words that look like paths, without the punctuation around them.
fn paths(text: &str) -> BTreeSet<String> {
    let folders = [
        "crates/",
        "tests/",
        "examples/",
        "docs/",
        "bench/",
        "scripts/",
        ".ci/",
    ];
    let endings = [".md", ".rs", ".toml", ".sh"];
    text.split(|c: char| c.is_whitespace() || "`()[]\"'|,;".contains(c))
        .map(|word| word.split('#').next().unwrap())
        .map(|word| word.trim_end_matches(['.', ':', '/']))
        .filter(|word| !word.contains(['<', '$', '*']) && !word.contains("://"))
        .filter(|word| {
            folders.iter().any(|folder| word.starts_with(folder))
                || endings.iter().any(|ending| word.ends_with(ending))
        })
        .map(str::to_owned)
        .collect()
}

#[test]
fn every_path_in_the_documents_exists() {
    let files = files();
    let mut missing = Vec::new();
    let mut named = 0;
    for name in DOCUMENTS {
        for path in paths(&document(name)) {
            named += 1;
            // Files of the crate that a sentence is about are named without its folder.
            let beside = root().join(name).with_file_name(&path);
            let exists = root().join(&path).exists()
                || beside.exists()
                || files.iter().any(|file| file.ends_with(&path));
            if !exists {
                missing.push(format!("{path} in {name}"));
            }
        }
    }
    assert!(named > 25, "{named}");
    assert!(missing.is_empty(), "there is no {missing:#?}");
}

#[test]
fn every_folder_of_a_crate_is_explained() {
    let text = document("ARCHITECTURE.md");
    let folders = |path: PathBuf| {
        let entries = fs::read_dir(path).unwrap().map(Result::unwrap);
        let folders = entries.filter(|entry| entry.path().is_dir());
        let names = folders.map(|entry| entry.file_name().into_string().unwrap());
        names.collect::<BTreeSet<String>>()
    };
    let mut missing = Vec::new();
    for name in folders(root().join("crates")) {
        let start = format!("| `crates/{name}` |");
        let rows: String = text.lines().filter(|row| row.starts_with(&start)).collect();
        let inside = folders(root().join("crates").join(&name).join("src"));
        let unsaid = inside
            .iter()
            .filter(|it| !rows.contains(&format!("`{it}`")));
        missing.extend(unsaid.map(|folder| format!("crates/{name}/src/{folder}")));
        assert!(!rows.is_empty(), "the code map has no crates/{name}");
    }
    assert!(missing.is_empty(), "nothing is said of {missing:#?}");
}

/// Text between backticks, and the lines of code blocks. Prose may start with a command's name.
fn snippets(text: &str) -> Vec<String> {
    let spans = text
        .lines()
        .flat_map(|line| line.split('`').skip(1).step_by(2));
    let mut is_fenced = false;
    let lines = text.lines().filter_map(|line| {
        let is_fence = line.starts_with("```");
        is_fenced ^= is_fence;
        let is_code = !is_fence && (is_fenced || line.starts_with("    "));
        let line = line.trim();
        is_code.then(|| line.strip_prefix("$ ").unwrap_or(line))
    });
    spans.chain(lines).map(str::to_owned).collect()
}

/// The arguments of a command up to what only a shell understands, or a placeholder.
fn arguments(command: &str) -> Vec<&str> {
    command
        .split_whitespace()
        .take_while(|word| word.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '-'))
        .take_while(|word| !["->", "-d"].contains(word))
        .take_while(|word| !word.starts_with(|c: char| c.is_ascii_uppercase()))
        .collect()
}

#[test]
fn every_command_in_the_documents_is_understood() {
    let project = Project::new();
    let mut commands = BTreeSet::new();
    for name in DOCUMENTS {
        for snippet in snippets(&document(name)) {
            let command = ["riverrun ", "cargo run --release -- "]
                .iter()
                .find_map(|start| snippet.strip_prefix(start));
            let arguments = command.map(arguments).unwrap_or_default();
            if !arguments.is_empty() {
                commands.insert(arguments.join(" "));
            }
        }
    }
    assert!(commands.len() >= 6, "{commands:?}");
    for command in &commands {
        let mut args: Vec<&str> = command.split(' ').collect();
        args.push("--help");
        let ended = project.run(&args);
        assert_eq!(ended.code, 0, "riverrun {command}: {ended:?}");
    }
}

#[test]
fn every_target_of_make_in_the_documents_exists() {
    let makefile = document("Makefile");
    let mut named = 0;
    for name in DOCUMENTS {
        for snippet in snippets(&document(name)) {
            let Some(target) = snippet
                .strip_prefix("make ")
                .and_then(|rest| rest.split(' ').next())
            else {
                continue;
            };
            if target.is_empty() {
                continue;
            }
            named += 1;
            let rule = format!("\n{target}:");
            assert!(
                makefile.contains(&rule),
                "make {target} in {name} is no target"
            );
        }
    }
    assert!(named >= 5, "{named}");
}

/// The members of a TypeScript interface or of a Python dataclass: lines that are indented once and
/// begin with a name.
fn members(file: &str, begin: &str, indent: &str) -> BTreeSet<String> {
    let source = document(file);
    let (_, body) = source.split_once(begin).unwrap();
    let ends = |line: &&str| line.is_empty() || line.starts_with(indent) || line.starts_with("  ");
    let lines = body.lines().skip(1).take_while(ends);
    let member = |line: &str| {
        let rest = line.strip_prefix(indent)?.strip_prefix("readonly ");
        let rest = rest.or_else(|| line.strip_prefix(indent))?;
        let name: String = rest
            .chars()
            .take_while(|c| c.is_alphanumeric() || *c == '_')
            .collect();
        let after = &rest[name.len()..];
        let is_member = [":", "?:", "(", "<"]
            .iter()
            .any(|sign| after.starts_with(sign));
        (is_member && !name.is_empty()).then_some(name)
    };
    lines.filter_map(member).collect()
}

#[test]
fn the_page_of_processes_has_every_setting_and_every_member_of_the_context() {
    let page = document("docs/reference/processes.md");
    let words: BTreeSet<&str> = page
        .split('`')
        .skip(1)
        .step_by(2)
        .flat_map(|span| span.split(|c: char| !c.is_alphanumeric() && c != '_'))
        .collect();
    let config = "sdks/typescript/src/config.ts";
    let context = "sdks/typescript/src/context.ts";
    let mut missing = Vec::new();
    for (file, begin, indent, least) in [
        (config, "export interface ProcessConfig<", "  ", 25),
        (config, "export interface StepConfig {", "  ", 9),
        (config, "export interface FlowConfig ", "  ", 2),
        (config, "export interface Retry {", "  ", 7),
        (context, "export interface Context<", "  ", 25),
        (context, "export interface StateApi<", "  ", 7),
        (context, "export interface EnqueueOptions {", "  ", 20),
        (
            "sdks/python/src/riverrun/config.py",
            "class QueueConfig(Record):",
            "    ",
            30,
        ),
        (
            "sdks/python/src/riverrun/config.py",
            "class Retry(Record):",
            "    ",
            7,
        ),
    ] {
        let members = members(file, begin, indent);
        assert!(members.len() >= least, "{begin} {members:?}");
        let unsaid = members.iter().filter(|name| !words.contains(name.as_str()));
        missing.extend(unsaid.map(|name| format!("{name} of {begin} in {file}")));
    }
    assert!(missing.is_empty(), "the page lacks {missing:#?}");
}

#[test]
fn make_fuzz_runs_every_property() {
    let makefile = document("Makefile");
    let (_, list) = makefile.split_once("PROPERTIES := ").unwrap();
    let words: Vec<&str> = list.lines().next().unwrap().split('|').collect();
    let mut properties = 0;
    for path in files() {
        let path = path.to_str().unwrap();
        if !path.ends_with(".rs") || path.ends_with("documents.rs") {
            continue;
        }
        let source = document(path);
        for test in source.split("#[test]").skip(1) {
            // Only the arguments of a property are drawn: `fn name(value in strategy)`.
            let head = test.split('{').next().unwrap();
            let Some((_, signature)) = head.split_once("fn ") else {
                continue;
            };
            let name = signature.split('(').next().unwrap();
            if signature.contains(" in ") {
                properties += 1;
                let run = words.iter().any(|word| name.contains(word));
                assert!(run, "make fuzz does not run {name} of {path}");
            }
        }
    }
    assert!(properties >= 20, "{properties}");
}

/// The anchor that GitHub makes of a heading.
fn anchor(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = text
        .chars()
        .filter(|c| c.is_alphanumeric() || "-_ ".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// A page without its fenced blocks.
fn prose(text: &str) -> String {
    let parts = text.split("```").step_by(2);
    parts.collect::<Vec<_>>().join("\n")
}

#[test]
fn every_link_leads_somewhere() {
    let mut links = 0;
    let mut broken = Vec::new();
    for file in files() {
        // Entries of the changelog link to what was there at their time.
        let is_page = file.extension().is_some_and(|ending| ending == "md");
        if !is_page || file.ends_with("CHANGELOG.md") {
            continue;
        }
        let page = root().join(&file);
        let text = prose(&fs::read_to_string(&page).unwrap());
        for rest in text.split("](").skip(1) {
            let link = rest.split(')').next().unwrap();
            if link.contains("://") || link.starts_with('/') || link.contains(char::is_whitespace) {
                continue;
            }
            links += 1;
            let (path, part) = link.split_once('#').unwrap_or((link, ""));
            let target = if path.is_empty() {
                page.clone()
            } else {
                page.with_file_name(path)
            };
            let has_part = || {
                let text = prose(&fs::read_to_string(&target).unwrap_or_default());
                let mut headings = text.lines().filter(|line| line.starts_with('#'));
                headings.any(|heading| anchor(heading) == part)
            };
            if !target.exists() || !part.is_empty() && !has_part() {
                broken.push(format!("{link} in {}", file.display()));
            }
        }
    }
    assert!(links > 100, "{links}");
    assert!(broken.is_empty(), "these lead nowhere: {broken:#?}");
}
