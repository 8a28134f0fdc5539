//! Runs the snippets of the documentation: the folders of `docs` but `errors`, and the READMEs of
//! the project, the SDKs and the examples.
//!
//! Each page is one project folder. A block whose first line is a comment with a path is a file of
//! that project. What happens to a block depends on its language:
//!
//! | block | what the test does |
//! | --- | --- |
//! | `console` | executes the lines that begin with `$` in one shell, top to bottom; the words of the other lines must appear in that order on a line of the output. `…` stands for anything |
//! | files under `processes/`, `flows/`, `triggers/` | loads the project with `riverrun build` |
//! | `test_*.py` | executes the file |
//! | `yaml` without a path | must be a whole flow: `riverrun flows validate` |
//! | `json` without a path | must be JSON |
//! | `ts` and `python` without a path | must be marked as a fragment; the fragment must compile |
//! | `text` | nothing: drawings and messages |
//!
//! A comment on the line before a block changes that: `<!-- fragment -->`, `<!-- not run: reason -->`
//! and `<!-- run by: path -->`, where the file at `path` must name the page. The number of blocks
//! that are not run is asserted below. A page that never starts a server gets one.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::{BufRead, BufReader, Write},
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    time::{Duration, Instant},
};

use crate::support::{Ended, PATIENCE, Project};

/// Blocks that no test executes: `not run` and `fragment`. Raise it only with a reason.
const MOST_NOT_RUN: usize = 20;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[derive(Debug)]
enum Marker {
    NotRun,
    Fragment,
    RunBy(String),
}

impl Marker {
    /// The marker that a line holds, if it is an HTML comment with one.
    fn of(line: &str) -> Option<Self> {
        let inside = line
            .trim()
            .strip_prefix("<!--")?
            .strip_suffix("-->")?
            .trim();
        if let Some(path) = inside.strip_prefix("run by:") {
            return Some(Self::RunBy(path.trim().to_owned()));
        }
        let reason = inside.strip_prefix("not run:").map(str::trim);
        assert!(reason != Some(""), "a snippet that is not run has a reason");
        match (inside, reason) {
            ("fragment", _) => Some(Self::Fragment),
            (_, Some(_)) => Some(Self::NotRun),
            _ => None,
        }
    }
}

/// A fenced block of a page.
#[derive(Debug)]
struct Block {
    language: String,
    text: String,
    marker: Option<Marker>,
    line: usize,
}

impl Block {
    /// The path in the first line, if that is a comment with one: `// processes/order.ts`.
    fn path(&self) -> Option<&str> {
        let first = self.text.lines().next()?;
        let comment = first.strip_prefix("// ").or(first.strip_prefix("# "))?;
        let name = comment.split(':').next()?.trim();
        let is_path = !name.contains(' ') && Path::new(name).extension().is_some();
        is_path.then_some(name)
    }
}

fn blocks(page: &str) -> Vec<Block> {
    let text = fs::read_to_string(root().join(page)).unwrap();
    let mut blocks: Vec<Block> = Vec::new();
    let mut open: Option<Block> = None;
    let mut marker = None;
    for (at, line) in text.lines().enumerate() {
        if let Some(block) = &mut open {
            if line == "```" {
                blocks.extend(open.take());
            } else {
                block.text += line;
                block.text += "\n";
            }
        } else if let Some(language) = line.strip_prefix("```") {
            open = Some(Block {
                language: language.to_owned(),
                text: String::new(),
                marker: marker.take(),
                line: at + 1,
            });
        } else if !line.trim().is_empty() {
            marker = Marker::of(line);
        }
    }
    assert!(open.is_none(), "{page} has a block without an end");
    blocks
}

/// A command of a `console` block and the lines that the page shows for it.
struct Typed {
    command: String,
    shown: Vec<String>,
}

fn typed(block: &Block) -> Vec<Typed> {
    let mut typed: Vec<Typed> = Vec::new();
    let mut goes_on = false;
    for line in block.text.lines() {
        if goes_on {
            let last = typed.last_mut().unwrap();
            last.command += "\n";
            last.command += line;
        } else if let Some(command) = line.strip_prefix("$ ") {
            typed.push(Typed {
                command: command.to_owned(),
                shown: Vec::new(),
            });
        } else if !line.trim().is_empty() {
            let last = typed.last_mut().expect("output comes after a command");
            last.shown.push(line.to_owned());
            continue;
        }
        goes_on = line.ends_with('\\');
    }
    typed
}

/// Whether the words of `shown` come in their order in `line`.
fn has_words(line: &str, shown: &str) -> bool {
    let mut rest = line;
    let words = shown.split(|c: char| c.is_whitespace() || c == '…');
    words.filter(|word| !word.is_empty()).all(|word| {
        let found = rest.find(word);
        if let Some(at) = found {
            rest = &rest[at + word.len()..];
        }
        found.is_some()
    })
}

/// The first line of `shown` that `printed` lacks.
fn lacks<'a>(printed: &str, shown: &'a [String]) -> Option<&'a str> {
    let mut lines = printed.lines();
    let missing = shown
        .iter()
        .find(|shown| !lines.any(|line| has_words(line, shown)));
    missing.map(String::as_str)
}

/// Commands that only read: these are repeated until the page's lines appear.
fn only_reads(command: &str) -> bool {
    let words: Vec<&str> = command.split_whitespace().take(3).collect();
    let reads = [
        "ls", "show", "why", "events", "state", "history", "logs", "graph",
    ];
    words.first() == Some(&"riverrun")
        && (words.get(2).is_some_and(|verb| reads.contains(verb))
            || words.get(1) == Some(&"awaits"))
}

/// A shell that executes the commands of a page one after the other.
struct Shell {
    child: Child,
    stdin: ChildStdin,
    codes: Receiver<String>,
    folder: PathBuf,
    count: usize,
}

impl Shell {
    fn new(project: &Project, url: &str) -> Self {
        let binary = Path::new(env!("CARGO_BIN_EXE_riverrun"));
        let path = std::env::var("PATH").unwrap();
        let mut command = Command::new("bash");
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("RIVERRUN_") {
                command.env_remove(name);
            }
        }
        let mut child = command
            .current_dir(project.folder.path())
            .env(
                "PATH",
                format!("{}:{path}", binary.parent().unwrap().display()),
            )
            .env("PYTHONPATH", root().join("sdks/python/src"))
            .env("RIVERRUN_URL", url)
            .env("RIVERRUN_LISTEN", url.trim_start_matches("http://"))
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (send, codes) = channel();
        let out = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                let _ = send.send(line);
            }
        });
        Self {
            stdin: child.stdin.take().unwrap(),
            child,
            codes,
            folder: project.folder.path().to_owned(),
            count: 0,
        }
    }

    /// Executes a command; gives its exit code and the file with its output.
    fn execute(&mut self, command: &str) -> (i32, PathBuf) {
        self.count += 1;
        let out = self.folder.join(format!(".out.{}", self.count));
        let script = format!("{{ {command}\n}} > {} 2>&1\necho \"$?\"\n", out.display());
        self.stdin.write_all(script.as_bytes()).unwrap();
        let code = self.codes.recv_timeout(PATIENCE * 2);
        let code = code.unwrap_or_else(|_| panic!("{command:?} does not end"));
        (code.parse().unwrap(), out)
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        // Servers that the page started belong to the shell's process group.
        let group = format!("-{}", self.child.id());
        let _ = Command::new("kill").args(["-9", "--", &group]).status();
        let _ = self.child.wait();
    }
}

/// A page and the test of it.
struct Page {
    name: String,
    blocks: Vec<Block>,
}

impl Page {
    fn of(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            blocks: blocks(name),
        }
    }

    fn at(&self, block: &Block) -> String {
        format!("{}:{}", self.name, block.line)
    }

    fn check(&self) {
        for block in &self.blocks {
            self.check_block(block);
        }
        self.build("py");
        self.build("ts");
        self.walk();
    }

    /// What can be said of one block alone.
    fn check_block(&self, block: &Block) {
        let at = self.at(block);
        match (&block.marker, block.language.as_str(), block.path()) {
            (Some(Marker::NotRun), ..) | (None, "console" | "text", _) => {}
            (Some(Marker::RunBy(path)), ..) => {
                let runner = fs::read_to_string(root().join(path));
                let runner = runner.unwrap_or_else(|_| panic!("{at}: there is no {path}"));
                let folders = Path::new(&self.name).components().rev();
                let name = folders.take(1).collect::<PathBuf>();
                let named = runner.contains(name.to_str().unwrap());
                assert!(named, "{at}: {path} does not name the page");
            }
            (Some(Marker::Fragment), "ts", _) => self.compile(
                block,
                "fragment.mts",
                "export default async (input: any, ctx: any, client: any) => {\n",
                "}\n",
            ),
            (Some(Marker::Fragment), "python", _) => {
                let indented = block.text.replace('\n', "\n    ");
                let text = format!("async def handler(input, ctx, client):\n    {indented}\n");
                self.python(block, &format!("compile({text:?}, 'fragment', 'exec')"));
            }
            (None, "python", Some(path)) if file_name(path).starts_with("test_") => {
                self.python(block, &block.text);
            }
            (None, _, Some(_)) => {}
            (None, "yaml", None) => {
                let project = Project::new();
                let file = project.write("flow.yaml", &block.text);
                let ended = project.run(&["flows", "validate", file.to_str().unwrap()]);
                assert_eq!(ended.code, 0, "{at}: {ended:#?}");
            }
            (None, "json", None) => {
                let json = serde_json::from_str::<serde_json::Value>(&block.text);
                assert!(json.is_ok(), "{at}: {json:?}");
            }
            (marker, language, _) => panic!("{at}: {language:?} with {marker:?} is not run"),
        }
    }

    /// Loads a fragment as the body of a handler.
    fn compile(&self, block: &Block, name: &str, head: &str, tail: &str) {
        let project = Project::new();
        let path = format!("processes/{name}");
        project.write(&path, &format!("{head}{}{tail}", block.text));
        let ended = project.run(&["build"]);
        assert_eq!(ended.code, 0, "{}: {ended:#?}", self.at(block));
    }

    fn python(&self, block: &Block, text: &str) {
        let output = Command::new("python3")
            .args(["-c", text])
            .env("PYTHONPATH", root().join("sdks/python/src"))
            .env("RIVERRUN_BINARY", env!("CARGO_BIN_EXE_riverrun"))
            .output();
        let ended = Ended::of(output.unwrap());
        assert_eq!(ended.code, 0, "{}: {ended:#?}", self.at(block));
    }

    /// The files of the page, each in its first version.
    fn files(&self) -> BTreeMap<&str, &str> {
        let mut files = BTreeMap::new();
        for block in &self.blocks {
            if let (None, Some(path)) = (&block.marker, block.path()) {
                files.entry(path).or_insert(block.text.as_str());
            }
        }
        files
    }

    /// Loads the project as a server would: all files but the processes of the other language,
    /// which may be the same processes once more.
    fn build(&self, language: &str) {
        let project = Project::new();
        let mut processes = 0;
        for (path, text) in self.files() {
            if !path.starts_with("processes/") {
                project.write(path, text);
            } else if !path.ends_with(if language == "py" { "ts" } else { "py" }) {
                processes += usize::from(path.ends_with(language));
                project.write(path, text);
                self.executable(&project, path);
            }
        }
        let is_empty = self
            .files()
            .keys()
            .all(|path| !path.starts_with("flows/") && !path.starts_with("triggers/"));
        if processes == 0 && (is_empty || language == "py") {
            return;
        }
        let ended = project.run(&["build"]);
        assert_eq!(ended.code, 0, "{} ({language}): {ended:#?}", self.name);
    }

    fn executable(&self, project: &Project, path: &str) {
        use std::os::unix::fs::PermissionsExt;
        if path.ends_with(".sh") {
            let rights = fs::Permissions::from_mode(0o755);
            fs::set_permissions(project.path(path), rights).unwrap();
        }
    }

    /// Executes the console blocks, top to bottom.
    fn walk(&self) {
        let commands: Vec<(&Block, Vec<Typed>)> = self
            .blocks
            .iter()
            .filter(|block| block.language == "console" && block.marker.is_none())
            .map(|block| (block, typed(block)))
            .collect();
        if commands.is_empty() {
            return;
        }
        let project = Project::new();
        let all = commands.iter().flat_map(|(_, typed)| typed);
        let serves = all
            .map(|typed| &typed.command)
            .any(|command| command.contains("riverrun serve") || command.contains("riverrun dev"));
        // The second of two processes with one name is for the other language.
        let mut stems = BTreeSet::new();
        let port = free_port();
        let own = format!("127.0.0.1:{port}");
        for block in &self.blocks {
            let (None, Some(path)) = (&block.marker, block.path()) else {
                continue;
            };
            let stem = Path::new(path).with_extension("");
            if path.starts_with("processes/") && !path.ends_with(".yaml") && !stems.insert(stem) {
                continue;
            }
            project.write(path, &here(&block.text, &own));
            self.executable(&project, path);
        }
        std::os::unix::fs::symlink(root().join("examples"), project.path("examples")).unwrap();
        fs::create_dir(project.path("node_modules")).unwrap();
        let sdk = root().join("sdks/typescript");
        std::os::unix::fs::symlink(sdk, project.path("node_modules/riverrun")).unwrap();
        let server =
            (!serves).then(|| project.start(&["serve", "--project", ".", "--listen", &own]));
        let mut shell = Shell::new(&project, &format!("http://{own}"));
        for (block, typed) in &commands {
            for typed in typed {
                self.execute(&mut shell, block, typed, &own);
            }
        }
        drop(shell);
        drop(server);
    }

    fn execute(&self, shell: &mut Shell, block: &Block, typed: &Typed, own: &str) {
        let command = here(&typed.command, own);
        let shown: Vec<String> = typed.shown.iter().map(|line| here(line, own)).collect();
        let fails = shown.iter().any(|line| line.starts_with("error"));
        let goes_on = command.ends_with('&');
        let deadline = Instant::now() + PATIENCE;
        let (mut code, mut out) = shell.execute(&command);
        loop {
            let printed = fs::read_to_string(&out).unwrap();
            let lacks = lacks(&printed, &shown);
            let expected = fails == (code != 0);
            if lacks.is_none() && expected {
                return;
            }
            let at = self.at(block);
            let again = goes_on || only_reads(&command);
            assert!(
                again && Instant::now() < deadline,
                "{at}: {command:?} ended with {code} and lacks {lacks:?}:\n{printed}"
            );
            std::thread::sleep(Duration::from_millis(50));
            if !goes_on {
                (code, out) = shell.execute(&command);
            }
        }
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// The text with the address of this test's server in place of the default one.
fn here(text: &str, own: &str) -> String {
    text.replace("localhost:4600", own)
        .replace("127.0.0.1:4600", own)
}

macro_rules! pages {
    ($($test:ident: $page:literal,)*) => {
        const PAGES: &[&str] = &[$($page),*];

        $(#[test]
        fn $test() {
            Page::of($page).check();
        })*
    };
}

pages! {
    start_flow: "docs/start/flow.md",
    start_python: "docs/start/python.md",
    start_queue: "docs/start/queue.md",
    start_typescript: "docs/start/typescript.md",
    guide_backup: "docs/guides/backup.md",
    guide_callbacks: "docs/guides/callbacks.md",
    guide_calls: "docs/guides/calls.md",
    guide_change_code: "docs/guides/change-code.md",
    guide_compensation: "docs/guides/compensation.md",
    guide_dead_letters: "docs/guides/dead-letters.md",
    guide_deployment: "docs/guides/deployment.md",
    guide_diagnose: "docs/guides/diagnose.md",
    guide_diagrams: "docs/guides/diagrams.md",
    guide_durable_code: "docs/guides/durable-code.md",
    guide_event_flows: "docs/guides/event-flows.md",
    guide_event_triggers: "docs/guides/event-triggers.md",
    guide_http_triggers: "docs/guides/http-triggers.md",
    guide_move_runs: "docs/guides/move-runs.md",
    guide_processes: "docs/guides/processes.md",
    guide_queues: "docs/guides/queues.md",
    guide_runners: "docs/guides/runners.md",
    guide_schedules: "docs/guides/schedules.md",
    guide_several_servers: "docs/guides/several-servers.md",
    guide_testing_rust: "docs/guides/testing-rust.md",
    guide_testing: "docs/guides/testing.md",
    guide_triggers: "docs/guides/triggers.md",
    guide_waits: "docs/guides/waits.md",
    guide_worker_flows: "docs/guides/worker-flows.md",
    guide_worker_in_an_application: "docs/guides/worker-in-an-application.md",
    guide_workers: "docs/guides/workers.md",
    readme: "README.md",
    readme_embedded: "examples/embedded/README.md",
    readme_hello: "examples/hello/README.md",
    readme_python: "sdks/python/README.md",
    readme_shop: "examples/shop/README.md",
    readme_typescript: "sdks/typescript/README.md",
    readme_work: "examples/work/README.md",
}

/// The pages of a folder.
fn pages_in(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(root().join(folder)).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut pages: Vec<String> = names.map(|name| format!("{folder}/{name}")).collect();
    pages.sort();
    pages
}

#[test]
fn reference() {
    for page in pages_in("docs/reference") {
        Page::of(&page).check();
    }
}

#[test]
fn coming_from() {
    for page in pages_in("docs/coming-from") {
        Page::of(&page).check();
    }
}

#[test]
fn every_page_has_a_test() {
    for page in ["docs/start", "docs/guides"].map(pages_in).concat() {
        assert!(PAGES.contains(&page.as_str()), "{page} is not in the list");
    }
}

#[test]
fn few_snippets_are_not_run() {
    let listed = PAGES.iter().map(|page| (*page).to_owned());
    let others = ["docs/reference", "docs/coming-from"]
        .map(pages_in)
        .concat();
    let mut not_run = Vec::new();
    for page in listed.chain(others) {
        for block in blocks(&page) {
            if matches!(block.marker, Some(Marker::NotRun | Marker::Fragment)) {
                not_run.push(format!("{page}:{}", block.line));
            }
        }
    }
    assert!(not_run.len() <= MOST_NOT_RUN, "{not_run:#?}");
}
