//! Starting the binary, and servers whose end is certain.

use std::{
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    sync::mpsc::{Receiver, channel},
    time::{Duration, Instant},
};

use serde_json::Value;

/// Longer than anything here takes on a busy machine; only a failure waits for it.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A flow that greets at once.
pub const QUICK: &str = "id: quick\nversion: 1.0.0\nname: Quick\ninitialStepId: greet\nresult: greeting\nsteps:\n  greet:\n    type: transform\n    config: { transform: \"'Hello, ' + input + '!'\" }\n    input: { type: key, key: name }\n    outputKey: greeting\n    transitions: { onSuccess: say }\n  say:\n    type: log\n    config: { message: \"${greeting}\" }\n    input: { type: full }\n";
/// A flow that rests for `ms`.
pub fn resting(id: &str, ms: u64) -> String {
    format!(
        "id: {id}\nversion: 1.0.0\ninitialStepId: rest\nsteps:\n  rest:\n    type: delay\n    config: {{ ms: {ms} }}\n    transitions: {{ onResume: done }}\n  done:\n    type: set\n    config: {{ value: rested }}\n    outputKey: how\n"
    )
}
/// A flow that fails.
pub const FAILING: &str = "id: failing\nversion: 1.0.0\ninitialStepId: choose\nsteps:\n  choose:\n    type: switch\n    config: { path: colour, cases: { red: choose } }\n";

/// A folder for one test, with flows in it.
pub struct Project {
    pub folder: tempfile::TempDir,
}

impl Project {
    pub fn new() -> Self {
        let project = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        std::fs::create_dir(project.path("flows")).unwrap();
        project
    }

    pub fn with_flows() -> Self {
        let project = Self::new();
        project.write("flows/quick.yaml", QUICK);
        project.write("flows/slow.yaml", &resting("slow", 600_000));
        project.write("flows/short.yaml", &resting("short", 300));
        project.write("flows/failing.yaml", FAILING);
        project
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).unwrap();
        }
        std::fs::write(&path, text).unwrap();
        path
    }

    /// The binary in this folder, without the settings of the user who runs the tests.
    pub fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_riverrun"));
        command.current_dir(self.folder.path());
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("RIVERRUN_") {
                command.env_remove(name);
            }
        }
        command
    }

    pub fn run(&self, args: &[&str]) -> Ended {
        Ended::of(self.command().args(args).output().unwrap())
    }

    pub fn serve(&self) -> Server<'_> {
        self.start(&["serve", "--project", ".", "--listen", "127.0.0.1:0"])
    }

    /// Starts a server and waits until it says where it listens.
    pub fn start(&self, args: &[&str]) -> Server<'_> {
        let mut command = self.command();
        command.args(args);
        self.start_as(command)
    }

    /// The same of a command that was made before.
    pub fn start_as(&self, mut command: Command) -> Server<'_> {
        let child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let mut child = child.unwrap();
        let out = lines(child.stdout.take().unwrap());
        let err = lines(child.stderr.take().unwrap());
        let mut server = Server {
            project: self,
            child,
            url: String::new(),
            out,
            err,
        };
        let line = server.said("is listening on ");
        server.url = line
            .split("is listening on ")
            .nth(1)
            .unwrap()
            .trim()
            .to_owned();
        server
    }
}

fn lines(from: impl std::io::Read + Send + 'static) -> Receiver<String> {
    let (send, receive) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(from).lines().map_while(Result::ok) {
            if send.send(line).is_err() {
                return;
            }
        }
    });
    receive
}

/// Waits for a line that holds a text.
pub fn wait_for(lines: &Receiver<String>, text: &str) -> String {
    let deadline = Instant::now() + PATIENCE;
    let mut seen = Vec::new();
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        match lines.recv_timeout(left) {
            Ok(line) if line.contains(text) => return line,
            Ok(line) => seen.push(line),
            Err(_) => panic!("no line with {text:?} among {seen:#?}"),
        }
    }
}

/// A server that is killed when the test is over.
pub struct Server<'a> {
    project: &'a Project,
    child: Child,
    pub url: String,
    pub out: Receiver<String>,
    pub err: Receiver<String>,
}

impl Server<'_> {
    /// Waits until it says something on stderr.
    pub fn said(&self, text: &str) -> String {
        wait_for(&self.err, text)
    }

    /// A command of the binary, aimed at this server.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = self.project.command();
        command.args(args).env("RIVERRUN_URL", &self.url);
        command
    }

    pub fn run(&self, args: &[&str]) -> Ended {
        Ended::of(self.command(args).output().unwrap())
    }

    /// Runs a command that must do well, and gives what it printed.
    pub fn ok(&self, args: &[&str]) -> String {
        let ended = self.run(args);
        assert_eq!(ended.code, 0, "{args:?}: {ended:#?}");
        ended.out
    }

    pub fn json(&self, args: &[&str]) -> Value {
        let mut args = args.to_vec();
        args.extend(["-o", "json"]);
        serde_json::from_str(&self.ok(&args)).unwrap()
    }

    pub fn signal(&self, signal: &str) {
        let sent = Command::new("kill")
            .args([signal, &self.child.id().to_string()])
            .status();
        assert!(sent.unwrap().success());
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// A request of its own connection: the status and the body.
    pub fn ask(&self, method: &str, path: &str, body: &str) -> (u16, String) {
        ask(&self.url, method, path, body)
    }

    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits until it has ended by itself.
    pub fn ended(mut self) -> i32 {
        self.child.wait().unwrap().code().unwrap_or(-1)
    }
}

/// A request of its own connection: the status and the body.
pub fn ask(url: &str, method: &str, path: &str, body: &str) -> (u16, String) {
    use std::io::Read;
    let address = url.trim_start_matches("http://");
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let length = body.len();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    );
    // A server that refuses early may close before it has read all.
    let _ = stream.write_all(request.as_bytes());
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let answer = String::from_utf8_lossy(&answer);
    let status = answer.get(9..12).and_then(|status| status.parse().ok());
    let body = answer.split_once("\r\n\r\n").map(|(_, body)| body);
    (status.unwrap_or(0), body.unwrap_or_default().to_owned())
}

pub fn shown(server: &Server<'_>, run: &str) -> Value {
    server.json(&["runs", "show", run])
}

/// Waits until the run is in a status.
pub fn until(server: &Server<'_>, run: &str, status: &str) -> Value {
    for _ in 0..400 {
        let run = shown(server, run);
        if run["status"] == status {
            return run;
        }
        std::thread::sleep(Duration::from_millis(25));
    }
    panic!("{:#}", shown(server, run));
}

impl Drop for Server<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A command that has ended.
#[derive(Debug)]
pub struct Ended {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Ended {
    pub fn of(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// It ended with this code, and said this on stderr.
    #[track_caller]
    pub fn refused(&self, code: i32, says: &[&str]) {
        assert_eq!(self.code, code, "{self:#?}");
        for text in says {
            assert!(self.err.contains(text), "{text:?} is not in {self:#?}");
        }
    }
}

/// Runs a command with something on its stdin.
pub fn with_input(mut command: Command, input: &str) -> Ended {
    let spawned = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = spawned.unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    Ended::of(child.wait_with_output().unwrap())
}

/// A command that runs on while the test looks at it.
pub struct Running {
    pub child: Child,
    pub out: Receiver<String>,
    pub err: Receiver<String>,
}

impl Running {
    pub fn of(mut command: Command) -> Self {
        let spawned = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let mut child = spawned.unwrap();
        let out = lines(child.stdout.take().unwrap());
        let err = lines(child.stderr.take().unwrap());
        Self { child, out, err }
    }

    pub fn code(mut self) -> i32 {
        self.child.wait().unwrap().code().unwrap_or(-1)
    }
}

pub fn file(path: &Path) -> &str {
    path.to_str().unwrap()
}
