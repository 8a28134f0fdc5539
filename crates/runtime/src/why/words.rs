//! Formats a reason in a line.

use riverrun_store::MAX_AHEAD;
use riverrun_types::{Json, TriggerType, time::Iso};

use super::{AtJob, AtOperation, Cause, InVisit};

/// `step pay: waits for event paid, since …, until …`.
pub(super) fn sentence(
    cause: &Cause,
    visit: Option<&InVisit>,
    since: Option<Iso>,
    until: Option<Iso>,
) -> String {
    let mut line = match visit {
        None => String::new(),
        Some(InVisit { step, visit: 1, .. }) => format!("step {step}: "),
        Some(InVisit { step, visit, .. }) => format!("step {step}, visit {visit}: "),
    };
    line.push_str(&words(cause, visit));
    if let Some(since) = since {
        let joint = match cause {
            Cause::Ended => " at",
            _ => ", since",
        };
        line.push_str(&format!("{joint} {since}"));
    }
    if let Some(until) = until {
        line.push_str(&format!(", until {until}"));
    }
    // It has times of its own, so it comes last.
    if let Cause::Child {
        child: Some(child), ..
    } = cause
    {
        line.push_str(&format!(", which: {}", child.summary));
    }
    line
}

fn words(cause: &Cause, visit: Option<&InVisit>) -> String {
    let attempt = visit.map_or(0, |visit| visit.attempt);
    match cause {
        Cause::Ended => "nothing: it has ended".to_owned(),
        Cause::Damaged { error } => {
            let error = error.value();
            let message = error["message"]
                .as_str()
                .unwrap_or("its data cannot be read");
            format!("parked: {message}; cancel it, or restore a backup")
        }
        Cause::Paused { reason: None } => "paused".to_owned(),
        Cause::Paused {
            reason: Some(reason),
        } => format!("paused ({reason})"),
        Cause::Parked {
            code,
            message,
            release,
            ..
        } => format!("parked ({code}: {message}); to release it: {release}"),
        Cause::NotBefore => "was started with a delay".to_owned(),
        Cause::AwaitTime { .. } => "waits for a time".to_owned(),
        Cause::AwaitEvent {
            event_kind,
            condition,
            fired_at,
            trouble,
            judging,
            ..
        } => {
            let condition = condition.as_ref();
            let condition = condition.map(|condition| format!(" with {}", condition.as_str()));
            let condition = condition.unwrap_or_default();
            match fired_at {
                None => {
                    let mut words = format!("waits for event {event_kind}{condition}");
                    if let Some(trouble) = trouble {
                        let (at, message) = (trouble.at, &trouble.message);
                        words.push_str(&format!(", and passed one over at {at}: {message}"));
                    }
                    if *judging > 0 {
                        words.push_str(&format!(", of which {judging} are yet to be judged"));
                    }
                    words
                }
                Some(at) => format!("event {event_kind} has come at {at} and is being led to it"),
            }
        }
        Cause::AwaitTrigger {
            trigger_type,
            url,
            fired_at,
            opened,
            wanted,
            ..
        } => {
            let so_far = match (opened, wanted) {
                (Some(opened), Some(wanted)) => format!(", opened {opened} of {wanted} times"),
                (Some(opened), None) => format!(", opened {opened} times so far"),
                (None, _) => String::new(),
            };
            match (fired_at, trigger_type) {
                (Some(at), _) => {
                    format!("its trigger was fired at {at}, and it is about to go on")
                }
                (None, TriggerType::User) => {
                    format!("waits for somebody's answer at {url}{so_far}")
                }
                (None, TriggerType::Webhook | TriggerType::Api) => {
                    format!("waits for a trigger, POST {url}{so_far}")
                }
            }
        }
        Cause::Backoff {
            error,
            operation: Some(operation),
            ..
        } => {
            let AtOperation {
                op,
                name,
                nth,
                attempt,
            } = operation;
            let function = if **op == *"memo" { "run" } else { &**op };
            let nth = nth.map(|nth| format!(" #{nth}")).unwrap_or_default();
            let failed = failed(error);
            format!("try {attempt} of ctx.{function}({name:?}){nth} failed{failed}; it is retried")
        }
        Cause::Backoff { error, job, .. } => {
            let what = match attempt {
                0 => "the last attempt".to_owned(),
                attempt => format!("attempt {attempt}"),
            };
            let paused = job.as_ref().filter(|job| job.queue_paused);
            let paused = paused.map(|job| format!(", though queue {} is paused", job.queue));
            let (failed, paused) = (failed(error), paused.unwrap_or_default());
            format!("{what} failed{failed}, and is tried again{paused}")
        }
        Cause::QueuePaused { job } => format!("queue {} is paused ({})", job.queue, at(job)),
        Cause::NoWorker { job, process: None } => {
            format!(
                "nobody takes jobs of queue {} here ({})",
                job.queue,
                at(job)
            )
        }
        Cause::NoWorker {
            job,
            process: Some(process),
        } => format!(
            "nobody here runs process {process}, for queue {} ({})",
            job.queue,
            at(job)
        ),
        Cause::ProcessBroken {
            job,
            process,
            error,
        } => {
            let process = process.as_ref().map(|process| format!(" {process}"));
            format!(
                "process{} of queue {} does not load{} ({})",
                process.unwrap_or_default(),
                job.queue,
                failed(&Some(error.clone())),
                at(job)
            )
        }
        Cause::NoRoom { job } => format!(
            "no worker with room for queue {} is connected ({})",
            job.queue,
            at(job)
        ),
        Cause::Concurrency {
            job,
            key,
            limit,
            active,
        } => {
            let of_key = key.as_ref().map(|key| format!(" of key {key}"));
            let of_key = of_key.unwrap_or_default();
            format!(
                "queue {} runs {active} jobs{of_key} of {limit} at once ({})",
                job.queue,
                at(job)
            )
        }
        Cause::RateLimit {
            job,
            max,
            window_ms,
        } => format!(
            "queue {} begins {max} jobs in {window_ms} ms and has begun them ({})",
            job.queue,
            at(job)
        ),
        Cause::Gathering {
            job,
            count,
            waiting,
        } => format!(
            "queue {} gathers a batch of {count} and has {waiting} ({})",
            job.queue,
            at(job)
        ),
        Cause::Delayed { job } => format!("delayed in queue {} ({})", job.queue, at(job)),
        Cause::Queued { job } => format!("waits in queue {} ({})", job.queue, at(job)),
        Cause::LeaseExpired { job } => format!(
            "its worker{} has missed its heartbeats and loses the job ({})",
            owner(job),
            at(job)
        ),
        Cause::Running { job: Some(job) } => format!(
            "runs in queue {}{}{} ({})",
            job.queue,
            match (&job.worker, &job.owner) {
                (Some(worker), _) => format!(" on worker {} ({})", worker.name, worker.id),
                (None, Some(owner)) => format!(" on {owner}"),
                (None, None) => String::new(),
            },
            if job.cancelling {
                ", to be stopped"
            } else {
                ""
            },
            at(job)
        ),
        Cause::WorkerAway { job } => {
            let worker = job.worker.as_ref();
            let worker = worker.map(|worker| format!(" {} ({})", worker.name, worker.id));
            format!(
                "worker{} has it and is away: unless it is back in time, somebody else gets it ({})",
                worker.unwrap_or_default(),
                at(job)
            )
        }
        Cause::Running { job: None } if attempt == 0 => "is under way".to_owned(),
        Cause::Running { job: None } => format!("attempt {attempt} is under way"),
        Cause::Child { child_id, .. } => format!("waits for run {child_id}"),
        Cause::Branches {
            total,
            ended,
            active,
            ..
        } => {
            let count = active.len();
            format!("waits for its branches: {ended} of {total} have ended, {count} are active")
        }
        Cause::Ready { held: true, .. } => "goes on when the run is resumed".to_owned(),
        Cause::Ready { busy: false, .. } => "about to begin".to_owned(),
        Cause::Ready { busy: true, .. } => {
            "ready, but this server drives as many runs as it may".to_owned()
        }
    }
}

fn owner(job: &AtJob) -> String {
    let owner = job.owner.as_ref();
    owner.map(|owner| format!(" {owner}")).unwrap_or_default()
}

fn at(job: &AtJob) -> String {
    let ahead = match job.ahead {
        None => String::new(),
        Some(0) => ", next".to_owned(),
        Some(ahead) if ahead >= MAX_AHEAD => {
            format!(", {ahead} or more before it")
        }
        Some(ahead) => format!(", {ahead} before it"),
    };
    let paused = match job.queue_paused {
        true => ", whose queue is paused",
        false => "",
    };
    format!("job {}{ahead}{paused}", job.id)
}

fn failed(error: &Option<Json>) -> String {
    let Some(error) = error.as_ref().map(Json::value) else {
        return String::new();
    };
    let text = |key: &str| error[key].as_str().unwrap_or_default();
    match (text("code"), text("message")) {
        ("", "") => String::new(),
        ("", message) => format!(" ({message})"),
        (code, "") => format!(" ({code})"),
        (code, message) => format!(" ({code}: {message})"),
    }
}
