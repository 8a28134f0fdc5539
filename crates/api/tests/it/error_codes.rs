//! Codes are made from the table alone, and each code of the table has a use and a page.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use riverrun_types::{ErrorCode, error_code::Seen};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The sources of our crates without their tests and the table of codes, by path.
fn sources() -> BTreeMap<PathBuf, String> {
    let folders = fs::read_dir(root().join("crates")).unwrap();
    let folders = folders.map(|entry| entry.unwrap().path().join("src"));
    let mut found = files_in(folders.collect(), &[".rs"]);
    found.retain(|path, _| {
        !path
            .iter()
            .any(|part| part == "error_code" || part == "tests")
    });
    found
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
            } else if endings.iter().any(|ending| name.ends_with(ending)) && name != "tests.rs" {
                let text = fs::read_to_string(&path).unwrap();
                let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
                found.insert(path, code.to_owned());
            }
        }
    }
    found
}

/// The texts between double or single quotes that are written in capitals, each with what is in
/// front of it.
fn quoted(source: &str) -> Vec<(&str, &str)> {
    let parts: Vec<&str> = source.split(['"', '\'']).collect();
    let is_code = |text: &str| {
        text.len() > 3 && text.starts_with(|c: char| c.is_ascii_uppercase()) && {
            let mut bytes = text.bytes();
            bytes.all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
        }
    };
    parts
        .windows(2)
        .filter(|pair| is_code(pair[1]))
        .map(|pair| (pair[0].trim_end(), pair[1]))
        .collect()
}

/// Unit tests are left out: they compare the text on the wire.
#[test]
fn no_code_is_a_string_literal() {
    let mut found = Vec::new();
    for (path, source) in sources() {
        for (before, text) in quoted(&source) {
            let made = [
                "Error::new(",
                "Failure::new(",
                "::usage(",
                "Parked::new(",
                "Code::from(",
            ];
            // Of an invocation that a runner never began. It is run elsewhere, and no user sees it.
            let is_made = text != "RELOAD" && made.iter().any(|call| before.ends_with(call));
            if is_made || ErrorCode::parse(text).is_some() {
                found.push(format!("{text} in {}", path.display()));
            }
        }
    }
    assert!(
        found.is_empty(),
        "use riverrun_types::ErrorCode: {found:#?}"
    );
}

/// SDKs raise some codes by themselves.
#[test]
fn every_code_is_used() {
    let sources = sources();
    let sdks = sdk_sources();
    let is_used = |code: &ErrorCode| {
        let variant = format!("ErrorCode::{code:?}");
        let is_whole = |rest: &str| !rest.starts_with(|c: char| c.is_ascii_alphanumeric());
        let uses = |source: &String| source.split(&variant).skip(1).any(is_whole);
        let raises = |source: &String| quoted(source).iter().any(|(_, text)| code == text);
        sources.values().any(uses) || sdks.values().any(raises)
    };
    let unused: Vec<_> = ErrorCode::ALL.iter().filter(|it| !is_used(it)).collect();
    assert!(unused.is_empty(), "nothing gives these: {unused:?}");
}

#[test]
fn sdks_raise_codes_of_the_table_only() {
    let mut seen = 0;
    let mut unknown = Vec::new();
    for (path, source) in sdk_sources() {
        for (before, text) in quoted(&source) {
            let raised = ["Error(", "Refusal(", "code:", "code=", "code ??", "code or"];
            // RELOAD is between a runner and its pool, and Node.js gives codes with ERR_.
            let is_foreign = text == "RELOAD" || text.starts_with("ERR_");
            if is_foreign || !raised.iter().any(|made| before.ends_with(made)) {
                continue;
            }
            seen += 1;
            if ErrorCode::parse(text).is_none() {
                unknown.push(format!("{text} in {}", path.display()));
            }
        }
    }
    assert!(seen > 50, "the codes were not found: {seen}");
    assert!(unknown.is_empty(), "not in the table: {unknown:#?}");
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
        assert!(ErrorCode::parse(code).is_some(), "{code}");
    }
}

const AGAIN: &str = "run: UPDATE_DOCS=1 cargo nextest run -p riverrun-api error_pages";

/// With `UPDATE_DOCS=1` the pages are written instead of compared.
#[test]
fn error_pages_say_what_the_table_says() {
    let folder = root().join("docs/errors");
    let mut pages: BTreeMap<String, String> = ErrorCode::ALL
        .iter()
        .map(|code| (format!("{code}.md"), code.markdown()))
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
    let mut codes = ErrorCode::ALL.to_vec();
    codes.sort_unstable_by_key(|code| code.as_str());
    for (title, about, of) in [
        (
            "Requests",
            "The server answers a request with this status.",
            (|seen| matches!(seen, Seen::Request(_))) as fn(Seen) -> bool,
        ),
        ("Runs", "The error of a run, a step or a job.", |seen| {
            seen == Seen::Run
        }),
        (
            "Command line",
            "From a command, or from the library when it opens a server.",
            |seen| seen == Seen::Command,
        ),
    ] {
        text.push_str(&format!(
            "\n### {title}\n\n{about}\n\n| code | seen | what happened |\n| --- | --- | --- |\n"
        ));
        for code in codes.iter().filter(|code| of(code.seen())) {
            let seen = code.seen().word();
            let what = code.what().replace('|', "\\|");
            text.push_str(&format!("| [{code}]({code}.md) | {seen} | {what} |\n"));
        }
    }
    text
}
