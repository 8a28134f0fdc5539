//! Commands that wait for work: a server with a process of this program, and the real commands.

use std::sync::Arc;

use async_trait::async_trait;
use riverrun::{Json, Riverrun, json};
use riverrun_api::ApiOptions;
use riverrun_protocol::{Frame, LogLevel, Reply, WorkError};
use riverrun_runtime::{Invocation, Process, ProcessConfig, Provider, Source};
use serde_json::Value;

use crate::support::{Ended, Project, Running, wait_for, with_input};

/// Gives back what it gets; talks, fails or hangs when its input says so.
struct Echo;

#[async_trait]
impl Provider for Echo {
    async fn invoke(&self, invocation: Invocation) -> Result<Reply, WorkError> {
        let input = invocation.invoke.job.input.clone().unwrap_or_default();
        match input.as_text().as_ref() {
            "fail" => return Err(WorkError::new("CARD_DECLINED", "no money").permanent()),
            "hang" => {
                invocation.host.frame(log("it hangs"));
                invocation.cancel.cancelled().await;
                return Err(WorkError::new("CANCELLED", "stopped"));
            }
            "talk" => {
                invocation.host.frame(log("hello\u{1b}[2J"));
                invocation.host.frame(Frame::Progress {
                    pct: Some(50.0),
                    detail: Some(Json::from("half")),
                });
            }
            _ => {}
        }
        Ok(Reply {
            value: Some(input),
            ..Reply::default()
        })
    }
}

fn log(message: &str) -> Frame {
    Frame::Log {
        level: LogLevel::Info,
        message: message.to_owned(),
        meta: None,
    }
}

/// A server in this process, with `mail` for a queue and `echo` to be called.
struct Works {
    project: Project,
    url: String,
    _tokio: tokio::runtime::Runtime,
}

impl Works {
    fn new() -> Self {
        let project = Project::new();
        let tokio = tokio::runtime::Runtime::new().unwrap();
        let url = tokio.block_on(async {
            let river = Riverrun::builder().store("memory:").open().await.unwrap();
            for (id, config) in [("mail", json!({})), ("echo", json!({"runMode": "call"}))] {
                river.runtime().queues().put_process(Process {
                    id: id.into(),
                    config: ProcessConfig::read(&Json::of(&config), id).unwrap(),
                    provider: Arc::new(Echo),
                    source: Source::default(),
                });
            }
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            let url = format!("http://{}", listener.local_addr().unwrap());
            let router = riverrun_api::router(
                river.runtime().clone(),
                river.triggers().clone(),
                ApiOptions::default(),
            );
            tokio::spawn(riverrun_api::serve(
                listener,
                router,
                std::time::Duration::from_secs(60),
                std::future::pending(),
            ));
            url
        });
        Self {
            project,
            url,
            _tokio: tokio,
        }
    }

    fn command(&self, args: &[&str]) -> std::process::Command {
        let mut command = self.project.command();
        command.args(args).env("RIVERRUN_URL", &self.url);
        command
    }

    fn run(&self, args: &[&str]) -> Ended {
        Ended::of(self.command(args).output().unwrap())
    }

    fn ok(&self, args: &[&str]) -> String {
        let ended = self.run(args);
        assert_eq!(ended.code, 0, "{args:?}: {ended:#?}");
        ended.out
    }

    fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.ok(&[args, &["-o", "json"]].concat())).unwrap()
    }

    /// Adds a job, and gives its id.
    fn add(&self, data: &str) -> String {
        let id = self.ok(&["jobs", "add", "mail", "-d", data]);
        id.trim().to_owned()
    }
}

#[test]
fn a_job_is_waited_for() {
    let works = Works::new();
    let wait = |data: &str, args: &[&str]| {
        works.run(&[&["jobs", "add", "mail", "--wait", "-d", data], args].concat())
    };
    let done = wait("[12345678901234567890123]", &[]);
    assert_eq!(
        (done.code, done.out.as_str()),
        (0, "[\n  12345678901234567890123\n]\n")
    );
    let done = wait("1", &["-o", "json"]);
    let done: Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(
        (&done["state"], &done["result"]),
        (&json!("completed"), &json!(1))
    );
    let failed = wait("\"fail\"", &[]);
    failed.refused(
        1,
        &[
            "error[CARD_DECLINED]: job ",
            "no money",
            "try: riverrun jobs logs",
        ],
    );
    assert_eq!(failed.out, "");
    wait("\"hang\"", &["--timeout", "300ms"]).refused(4, &["error[TIMEOUT]"]);

    // One that is cancelled meanwhile.
    let waiting = Running::of(works.command(&[
        "jobs", "add", "mail", "--id", "victim", "--delay", "1h", "--wait",
    ]));
    while works.run(&["jobs", "cancel", "victim"]).code != 0 {}
    wait_for(&waiting.err, "error[JOB_CANCELLED]: job victim cancelled");
    assert_eq!(waiting.code(), 1);

    // Many: each result in its place, and how many have none.
    let many = ["jobs", "add", "mail", "--bulk", "--wait"];
    let ended = with_input(works.command(&many), "1\n\"fail\"\n3\n");
    assert_eq!(ended.out, "1\nnull\n3\n");
    ended.refused(
        1,
        &[
            "error[CARD_DECLINED]",
            "error[JOB_FAILED]: 1 of 3 jobs did not complete",
        ],
    );
}

#[test]
fn dead_letters_are_listed_redriven_and_removed() {
    let works = Works::new();
    for _ in 0..3 {
        let failed = ["jobs", "add", "mail", "-d", "\"fail\"", "--wait"];
        assert_eq!(works.run(&failed).code, 1);
    }
    let dead = works.json(&["dlq", "ls", "mail"]);
    let id = |at: usize| dead[at]["id"].as_str().unwrap();
    assert!(works.ok(&["dlq", "ls", "mail"]).contains("CARD_DECLINED"));
    for (flags, found) in [
        (["--code", "CARD_DECLINED"], 3),
        (["--code", "SMTP_DOWN"], 0),
        (["--after", "2999-01-01T00:00:00Z"], 0),
        (["--before", "2999-01-01T00:00:00Z"], 3),
    ] {
        let shown = works.json(&[&["dlq", "ls", "mail"], &flags[..]].concat());
        assert_eq!(shown.as_array().unwrap().len(), found, "{flags:?}");
    }
    assert!(
        works
            .ok(&["jobs", "show", id(0)])
            .contains("CARD_DECLINED: no money")
    );
    works.ok(&["queues", "pause", "mail"]);
    assert!(
        works
            .ok(&["dlq", "redrive", "mail", id(1)])
            .contains("waiting")
    );
    let again = works.ok(&[
        "dlq",
        "redrive",
        "mail",
        "--limit",
        "1",
        "--per-second",
        "5",
    ]);
    assert_eq!(again.trim(), "1 jobs are queued again");
    assert_eq!(works.ok(&["dlq", "purge", "mail"]).trim(), "removed 1 jobs");
    assert_eq!(
        works.run(&["dlq", "ls", "mail"]).err.trim(),
        "no dead letters"
    );
    works
        .run(&["dlq", "redrive", "mail", id(1)])
        .refused(2, &["error[JOB_STATE]"]);
}

#[test]
fn logs_are_read_and_followed() {
    let works = Works::new();
    let job = works.add("\"talk\"");
    let followed = works.run(&["jobs", "logs", &job, "--follow"]);
    assert_eq!(followed.code, 0, "{followed:?}");
    for text in ["log.info", "hello\\u001b[2J", "progress"] {
        assert!(followed.out.contains(text), "{text} is not in {followed:?}");
    }
    assert!(followed.err.contains("completed"), "{followed:?}");
    assert_eq!(works.ok(&["jobs", "logs", &job]), followed.out);
    let logs = works.json(&["jobs", "logs", &job, "--type", "log"]);
    assert_eq!(logs.as_array().unwrap().len(), 1);
    let lines = works.ok(&["jobs", "logs", &job, "--follow", "-o", "jsonl"]);
    let kinds = lines.lines().map(|line| {
        let event: Value = serde_json::from_str(line).unwrap();
        event["type"].as_str().unwrap().to_owned()
    });
    assert_eq!(
        kinds.collect::<Vec<_>>(),
        [
            "job.added",
            "job.active",
            "log.info",
            "job.progress",
            "job.completed"
        ]
    );

    // Live, until somebody cancels it.
    let job = works.add("\"hang\"");
    let live = Running::of(works.command(&["jobs", "logs", &job, "--follow"]));
    wait_for(&live.out, "it hangs");
    works.ok(&["jobs", "cancel", &job]);
    wait_for(&live.err, "cancelled");
    assert_eq!(live.code(), 0);
}

#[test]
fn queues_and_jobs_are_tailed() {
    let works = Works::new();
    let mut queue = Running::of(works.command(&["tail", "queue/mail"]));
    let failing = ["tail", "queue/mail", "--type", "job.failed"];
    let mut failures = Running::of(works.command(&failing));
    // They are connected once they receive something.
    for live in [&queue, &failures] {
        loop {
            works.run(&["jobs", "add", "mail", "--wait", "-d", "\"fail\""]);
            if live
                .out
                .try_iter()
                .any(|line| line.contains("CARD_DECLINED"))
            {
                break;
            }
        }
    }
    let job = works.add("\"hang\"");
    wait_for(&queue.out, &format!("{job}  "));
    let path = ["tail", "job/latest", "--from-start", "-o", "jsonl"];
    let live = Running::of(works.command(&path));
    for text in ["job.added", "job.active", "it hangs"] {
        wait_for(&live.out, text);
    }
    works.ok(&["jobs", "cancel", "latest"]);
    wait_for(&live.out, "job.cancelled");
    assert_eq!(live.code(), 0);
    wait_for(&queue.out, "job.cancelled");
    assert!(
        failures
            .out
            .try_iter()
            .all(|line| line.contains("job.failed"))
    );
    for live in [&mut queue, &mut failures] {
        live.child.kill().unwrap();
        live.child.wait().unwrap();
    }
    // What has ended has nothing more to say.
    assert_eq!(works.ok(&["tail", &format!("job/{job}")]), "");
    works
        .run(&["tail", "queue/gone"])
        .refused(2, &["error[QUEUE_NOT_FOUND]", "riverrun queues ls"]);
    works.run(&["tail", "mail"]).refused(2, &["error[BAD_ID]"]);
}

#[test]
fn events_of_a_kind_are_tailed() {
    let works = Works::new();
    works.ok(&["emit", "order.paid", "-d", "{\"n\":1}"]);
    works.ok(&["emit", "other.thing"]);
    let kinds = ["tail", "--type", "order", "--from-start"];
    let mut live = Running::of(works.command(&kinds));
    wait_for(&live.out, "nq:global  ");
    works.ok(&["emit", "order.sent"]);
    wait_for(&live.out, "order.sent");
    live.child.kill().unwrap();
    live.child.wait().unwrap();
    let mut later =
        Running::of(works.command(&["tail", "--kind", "order", "--after", "1", "-o", "jsonl"]));
    let line = wait_for(&later.out, "order.sent");
    let event: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(event["cursor"], "3");
    later.child.kill().unwrap();
    later.child.wait().unwrap();
    works
        .run(&["tail", "--kind", "job"])
        .refused(2, &["error[BAD_KIND]"]);
    works.run(&["tail"]).refused(2, &["<STREAM>"]);
}

#[test]
fn calls_answer_with_their_result() {
    let works = Works::new();
    let call =
        |data: &str, args: &[&str]| works.run(&[&["call", "echo", "-d", data], args].concat());
    let done = call("[12345678901234567890123]", &["-o", "jsonl"]);
    assert_eq!(
        (done.out.as_str(), done.err.as_str()),
        ("[12345678901234567890123]\n", "")
    );
    assert_eq!(works.ok(&["call", "echo"]).trim(), "null");
    let followed = call("\"talk\"", &["--follow"]);
    assert_eq!(followed.out, "\"talk\"\n");
    assert_eq!(
        followed.err,
        "log.info   hello\\u001b[2J\nprogress   50.0% half\n"
    );
    let followed = call("\"talk\"", &["--follow", "-o", "jsonl"]);
    let first: Value = serde_json::from_str(followed.err.lines().next().unwrap()).unwrap();
    assert_eq!(first["type"], "log");
    assert_eq!(call("\"talk\"", &[]).err, "");
    call("\"fail\"", &[]).refused(1, &["error[CARD_DECLINED]: no money"]);
    call("\"hang\"", &["--timeout", "100ms"]).refused(4, &["error[CALL_TIMEOUT]"]);
    call("{", &[]).refused(2, &["error[INPUT_NOT_JSON]"]);

    let processes = works.ok(&["processes", "ls"]);
    assert!(
        processes.contains("mail") && processes.contains("echo"),
        "{processes}"
    );
    assert_eq!(
        works.json(&["processes", "show", "echo"])["runMode"],
        "call"
    );
    assert!(
        works
            .ok(&["processes", "show", "mail"])
            .contains("queue     mail")
    );
}
