//! Every code that the sources give is in the table, and every code of the table has its page.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use riverrun_api::errors::{Seen, TABLE, find};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The sources of our crates without their tests, by path.
fn sources() -> BTreeMap<PathBuf, String> {
    let folders = fs::read_dir(root().join("crates")).unwrap();
    let folders = folders.map(|entry| entry.unwrap().path().join("src"));
    files_in(folders.collect(), &[".rs"])
}

/// What SDKs raise by themselves comes from here.
fn sdk_sources() -> BTreeMap<PathBuf, String> {
    let folders = ["typescript", "python"].map(|sdk| root().join("sdks").join(sdk).join("src"));
    files_in(folders.into(), &[".ts", ".py"])
}

fn files_in(mut ahead: Vec<PathBuf>, endings: &[&str]) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    while let Some(folder) = ahead.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            if path.is_dir() {
                ahead.push(path);
            } else if endings.iter().any(|ending| name.ends_with(ending))
                && !["tests.rs", "table.rs"].contains(&name.as_str())
            {
                let text = fs::read_to_string(&path).unwrap();
                let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
                found.insert(path, code.to_owned());
            }
        }
    }
    found
}

/// Every word in capitals that stands in quotes, with what stands before it.
fn words(source: &str) -> Vec<(&str, &str)> {
    let parts: Vec<&str> = source.split('"').collect();
    let code =
        |text: &str| text.len() > 3 && text.bytes().all(|b| b.is_ascii_uppercase() || b == b'_');
    parts
        .windows(2)
        .filter(|pair| code(pair[1]))
        .map(|pair| (pair[0].trim_end(), pair[1]))
        .collect()
}

/// A word is a code if it has an underscore and is no variable of the environment, or where it
/// stands makes it one.
fn is_code(before: &str, word: &str) -> bool {
    let made = [
        "Failure::new(",
        "Failure::usage(",
        "ApiError::new(",
        "refuse(",
    ];
    let variable = [
        "CARGO_",
        "RIVERRUN_",
        "JOB_ID",
        "SERVICE_",
        "NODE_",
        "OUT_DIR",
    ]
    .iter()
    .any(|p| word.starts_with(p));
    made.iter().any(|call| before.ends_with(call)) || (word.contains('_') && !variable)
}

#[test]
fn every_code_in_the_sources_is_in_the_table() {
    let sources = sources();
    let mut seen = 0;
    let mut missing = Vec::new();
    for (path, source) in &sources {
        // Where a crate lists its codes, all of them count.
        let list = ["error.rs", "engine/src/lib.rs"]
            .iter()
            .any(|end| path.ends_with(end));
        for (before, word) in words(source) {
            if list || is_code(before, word) {
                seen += 1;
                if find(word).is_none() {
                    missing.push(format!("{word} in {}", path.display()));
                }
            }
        }
    }
    assert!(seen > 150, "the codes were not found: {seen}");
    assert!(missing.is_empty(), "not in the table: {missing:#?}");
}

#[test]
fn every_code_in_the_table_is_in_the_sources() {
    let mut sources = sources();
    sources.extend(sdk_sources());
    let given = |code: &str| {
        let quoted = [format!("\"{code}\""), format!("'{code}'")];
        let is_in = |source: &String| quoted.iter().any(|quoted| source.contains(quoted));
        sources.values().any(is_in)
    };
    let gone: Vec<&str> = TABLE
        .iter()
        .map(|row| row.code)
        .filter(|code| !given(code))
        .collect();
    assert!(gone.is_empty(), "nothing gives these any more: {gone:?}");
}

#[test]
fn codes_of_refusals_have_a_status() {
    for (path, source) in sources() {
        if path.ends_with("store/src/error.rs") || path.ends_with("runtime/src/error.rs") {
            for (_, code) in words(&source) {
                let status = find(code).and_then(|row| row.status());
                assert!(status.is_some(), "{code} has no status");
            }
        }
    }
}

/// The codes that FlowMonkey's engine gave mean the same here. Its STEP_FAILED is not among them:
/// a run that fails carries the error of the step itself.
#[test]
fn codes_of_the_earlier_engine_keep_their_names() {
    for code in [
        "CANCELLED",
        "FLOW_NOT_FOUND",
        "HANDLER_ERROR",
        "HANDLER_NOT_FOUND",
        "INPUT_ERROR",
        "INVALID_TRANSITION",
        "MAX_STEPS",
        "NOT_FOUND",
        "STEP_NOT_FOUND",
        "TIMEOUT",
    ] {
        assert!(find(code).is_some(), "{code}");
    }
}

const AGAIN: &str = "run: UPDATE_DOCS=1 cargo nextest run -p riverrun-api error_pages";

/// With `UPDATE_DOCS=1` the pages are written instead of compared.
#[test]
fn error_pages_say_what_the_table_says() {
    let folder = root().join("docs/errors");
    let mut pages: BTreeMap<String, String> = TABLE
        .iter()
        .map(|row| (format!("{}.md", row.code), row.markdown()))
        .collect();
    pages.insert("README.md".to_owned(), index(&folder));
    if std::env::var_os("UPDATE_DOCS").is_some() {
        for (name, text) in &pages {
            fs::write(folder.join(name), text).unwrap();
        }
    }
    for (name, text) in &pages {
        let found = fs::read_to_string(folder.join(name)).unwrap_or_default();
        assert_eq!(
            &found, text,
            "docs/errors/{name} is not what the table says; {AGAIN}"
        );
    }
    for entry in fs::read_dir(&folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(
            pages.contains_key(&name),
            "docs/errors/{name} is no code's page"
        );
    }
}

/// The head is written by hand, the list of codes below it from the table.
fn index(folder: &Path) -> String {
    let readme = fs::read_to_string(folder.join("README.md")).unwrap();
    let heading = "## Codes\n";
    let at = readme.find(heading).expect("a heading \"## Codes\"");
    let mut text = readme[..at + heading.len()].to_owned();
    for (title, told, of) in [
        (
            "Requests",
            "With the status of the answer.",
            (|seen| matches!(seen, Seen::Request(_))) as fn(Seen) -> bool,
        ),
        ("Runs", "In the error of a run or a step.", |seen| {
            seen == Seen::Run
        }),
        (
            "Command line",
            "From a command that could not do its work, or from the library.",
            |seen| seen == Seen::Command,
        ),
    ] {
        text.push_str(&format!(
            "\n### {title}\n\n{told}\n\n| code | seen | meaning |\n| --- | --- | --- |\n"
        ));
        for row in TABLE.iter().filter(|row| of(row.seen)) {
            let (code, seen) = (row.code, row.seen.word());
            let meaning = row.meaning.replace('|', "\\|");
            text.push_str(&format!("| [{code}]({code}.md) | {seen} | {meaning} |\n"));
        }
    }
    text
}
