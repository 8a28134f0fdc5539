//! Handlers that do what the job's data says.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use riverrun_protocol::{Frame, LogLevel, Reply, ReplyItem, WorkError};
use riverrun_runtime::{Invocation, Provider};
use riverrun_types::Json;
use serde_json::{Value, json};

/// A number that no machine type holds.
pub(super) const BIG: &str = "12345678901234567890123.4500";

/// Handlers that do what the job's data says.
pub(super) struct Scripted {
    running: AtomicUsize,
    /// The most that ran at once.
    most: Arc<AtomicUsize>,
}

impl Scripted {
    pub fn new(most: &Arc<AtomicUsize>) -> Arc<Self> {
        Arc::new(Self {
            running: AtomicUsize::new(0),
            most: most.clone(),
        })
    }
}

#[async_trait]
impl Provider for Scripted {
    async fn invoke(&self, invocation: Invocation) -> Result<Reply, WorkError> {
        let now = self.running.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        let answer = run(&invocation).await;
        self.running.fetch_sub(1, Ordering::SeqCst);
        answer
    }
}

async fn run(invocation: &Invocation) -> Result<Reply, WorkError> {
    let Invocation {
        invoke,
        host,
        cancel,
    } = invocation;
    let speaks = |job: &riverrun_protocol::JobInput| {
        let input = job.input.as_ref().map(Json::value);
        input.and_then(|input| input["say"].as_str().map(str::to_owned))
    };
    if invoke.jobs.iter().any(|job| speaks(job).is_some()) {
        let mut results = Vec::new();
        for job in &invoke.jobs {
            let (id, say) = (job.job_id.clone().unwrap(), speaks(job).unwrap());
            results.push(say_of(host, &id, &say, job).await?);
        }
        let none = host.ask("state.getAll", Json::of(&json!({"jobId": "none"})));
        assert_eq!(none.await.unwrap_err().code, "JOB_NOT_FOUND");
        return Ok(Reply {
            results: Some(results),
            ..Reply::default()
        });
    }
    if !invoke.jobs.is_empty() {
        let results = invoke.jobs.iter().map(|job| match &job.input {
            Some(input) if input.as_str() == "13" => ReplyItem {
                error: Some(WorkError::new("UNLUCKY", "thirteen").permanent()),
                ..ReplyItem::default()
            },
            _ => ReplyItem {
                value: Some(Json::of(&invoke.jobs.len())),
                ..ReplyItem::default()
            },
        });
        return Ok(Reply {
            results: Some(results.collect()),
            ..Reply::default()
        });
    }
    let input = invoke.job.input.clone().unwrap_or_default().value();
    let ask = async |method: &str, params: Value| host.ask(method, Json::of(&params)).await;
    match input["do"].as_str().unwrap_or_default() {
        "fail" => Err(WorkError {
            retriable: input["retriable"].as_bool(),
            retry_after_ms: input["retryAfterMs"].as_u64(),
            name: input["name"].as_str().map(Into::into),
            ..WorkError::new(
                input["code"].as_str().unwrap_or("BROKEN"),
                "as the test wants",
            )
        }),
        "fail-once" if invoke.job.attempt == 1 => {
            ask("checkpoint", json!({"data": {"page": 3}})).await?;
            ask("memo", json!({"name": "charge", "nth": 2, "value": 42})).await?;
            Err(WorkError::new("ONCE", "the first time"))
        }
        "fail-once" => value(json!({
            "checkpoint": invoke.job.checkpoint, "journal": invoke.job.journal,
        })),
        // As `ctx.run` does it.
        "charge" if invoke.job.journal.is_empty() => {
            ask("checkpoint", json!({"data": {"page": 3}})).await?;
            ask("memo", json!({"name": "charge", "value": 42})).await?;
            Err(WorkError::new("ONCE", "the first time"))
        }
        "charge" => value(json!({
            "checkpoint": invoke.job.checkpoint, "journal": invoke.job.journal,
        })),
        "hang" => {
            let reason = cancel.cancelled().await;
            Err(WorkError::new("CANCELLED", format!("{reason:?}")))
        }
        "protest" => {
            cancel.cancelled().await;
            Err(WorkError::new("ABORT_ERR", "this operation was aborted"))
        }
        "late" => {
            cancel.cancelled().await;
            value(json!("what came too late"))
        }
        "chatter" => {
            for n in 0..input["lines"].as_u64().unwrap() {
                host.frame(Frame::Log {
                    level: LogLevel::Info,
                    message: format!("line {n}"),
                    meta: None,
                });
            }
            value(json!("said"))
        }
        "slow" => {
            tokio::time::sleep(Duration::from_millis(input["ms"].as_u64().unwrap())).await;
            value(json!("slow"))
        }
        "talk" => {
            host.frame(Frame::Log {
                level: LogLevel::Warn,
                message: "it is hot".to_owned(),
                meta: None,
            });
            host.frame(Frame::Progress {
                pct: Some(50.0),
                detail: None,
            });
            ask("emit", json!({"type": "order.paid", "data": {"n": 1}})).await?;
            value(json!("said"))
        }
        "state" => {
            ask("state.set", json!({"key": "a.b", "value": 1})).await?;
            let batch = json!({"values": {"c": 2, "d": 3}});
            ask("state.setBatch", batch).await?;
            ask("state.delete", json!({"key": "d"})).await?;
            let seen = ask("state.getAll", json!({})).await?.value();
            let version = seen["version"].as_u64().unwrap();
            let old = json!({"key": "c", "value": 9, "ifVersion": version - 1});
            let refused = ask("state.set", old).await.unwrap_err();
            let held = json!({"key": "c", "value": 5, "ifVersion": version});
            ask("state.set", held).await?;
            let broken = ask("state.set", json!({"key": "c", "value": "x"})).await;
            let broken = broken.unwrap_err();
            let c = ask("state.get", json!({"key": "c"})).await?.value();
            let none = ask("state.get", json!({"key": "z"})).await?.value();
            value(json!({
                "state": seen["state"], "refused": refused.code, "broken": broken.code,
                "c": c["value"], "none": none.get("value").is_none(),
            }))
        }
        "big" => {
            let text = format!(r#"{{"key":"n","value":{BIG}}}"#);
            let params = Json::parse_text(text).unwrap();
            host.ask("state.set", params).await?;
            host.frame(Frame::Partial {
                path: None,
                value: Json::parse_text(BIG.to_owned()).unwrap(),
            });
            Ok(reply(
                host.ask("state.get", Json::of(&json!({"key": "n"})))
                    .await?,
            ))
        }
        "meet" => {
            let said = ask("state.set", json!({"key": "at", "value": "the gate"})).await?;
            ask("memo", json!({"name": "look", "value": 7})).await?;
            ask("emit", json!({"type": "guest.came", "data": {"n": 1}})).await?;
            host.frame(Frame::Log {
                level: LogLevel::Info,
                message: "waits".to_owned(),
                meta: None,
            });
            let kept = ask("checkpoint", json!({"data": 1})).await.unwrap_err();
            let own = ask("emit", json!({"type": "call.completed"})).await;
            let called = json!({"process": "work", "input": {"do": "state"}});
            let state = ask("state.getAll", json!({})).await?.value();
            let mut called = ask("call", called).await?.value();
            if input["wait"] == true {
                cancel.cancelled().await;
            }
            value(json!({
                "version": said.value()["version"], "state": state["state"],
                "checkpoint": kept.code, "own": own.unwrap_err().code,
                "lease": ask("lease", json!({})).await?.value()["valid"],
                "called": called["value"]["c"].take(),
            }))
        }
        "enqueue" => {
            let added = json!({"queue": "other", "data": 7, "options": {"priority": 1}});
            Ok(reply(ask("enqueue", added).await?))
        }
        "at-once" => {
            let mut asked = Vec::new();
            for n in 0..10 {
                asked.push(ask("emit", json!({"type": "item", "data": n})));
                asked.push(ask("state.set", json!({"key": "last", "value": n})));
                asked.push(ask("enqueue", json!({"queue": "other", "data": n})));
            }
            asked.push(ask("state.get", json!({"key": "last"})));
            let answers = futures::future::try_join_all(asked).await?;
            value(answers.last().unwrap().value()["value"].clone())
        }
        "enqueue-many" => Ok(reply(ask("enqueue", json!({"jobs": input["jobs"]})).await?)),
        _ => Ok(reply(Json::of(&input))),
    }
}

/// One job of a batch: it says something of its own, fails, and tells the next time what it kept.
async fn say_of(
    host: &Arc<dyn riverrun_runtime::Host>,
    id: &str,
    say: &str,
    job: &riverrun_protocol::JobInput,
) -> Result<ReplyItem, WorkError> {
    if job.attempt > 1 {
        let kept = json!({"checkpoint": job.checkpoint, "journal": job.journal});
        return Ok(ReplyItem {
            value: Some(Json::of(&kept)),
            ..ReplyItem::default()
        });
    }
    let detail = Some(Json::of(&say));
    host.frame_of(
        id,
        Frame::Progress {
            pct: Some(5.0),
            detail,
        },
    );
    for (method, params) in [
        (
            "state.set",
            json!({"jobId": id, "key": "said", "value": say}),
        ),
        ("checkpoint", json!({"jobId": id, "data": say})),
        ("memo", json!({"jobId": id, "name": "said", "value": say})),
    ] {
        host.ask(method, Json::of(&params)).await?;
    }
    Ok(ReplyItem {
        error: Some(WorkError::new("AGAIN", "once more")),
        ..ReplyItem::default()
    })
}

pub(super) fn reply(value: Json) -> Reply {
    Reply {
        value: Some(value),
        ..Reply::default()
    }
}

pub(super) fn value(value: Value) -> Result<Reply, WorkError> {
    Ok(reply(Json::of(&value)))
}
