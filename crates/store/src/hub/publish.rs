//! Publishing a commit: the writer calls this once the commit is durable.

use std::sync::Arc;

use riverrun_types::{Draft, EventType, StreamName, event::EventContext};

use super::{Batch, Hub};
use crate::{Change, Commit, Hint, NewRunTask, Placed, Receipt, RunTaskChange, Settled, Steer};

impl Hub {
    /// Notifies all listeners of a commit's changes. Called by the writer, in the order of commits.
    pub(crate) fn publish(&self, commit: &Commit, receipt: &Receipt) {
        let mut placed = receipt.placed.iter();
        let mut added = receipt.added.iter();
        let mut steered = receipt.steered.iter();
        let mut taken = receipt.taken.iter().peekable();
        for change in &commit.changes {
            match change {
                Change::Create(run) => {
                    if let Some(NewRunTask::Ready { at_ms }) = run.task {
                        self.due_for_all(at_ms);
                    }
                    self.deliver(
                        &StreamName::flow(&run.id),
                        &run.context(),
                        &run.events,
                        placed.next(),
                    );
                    if run.projection.status.is_ended() {
                        self.ended_for_all(&run.id);
                    }
                }
                Change::Advance(advance) => {
                    if let RunTaskChange::Park { at_ms } = advance.task {
                        self.due_for_all(at_ms);
                    }
                    if commit
                        .lease
                        .as_ref()
                        .is_none_or(|lease| lease.run != advance.run)
                    {
                        self.nudge_for_all(&advance.run);
                    }
                    let stream = StreamName::flow(&advance.run);
                    self.deliver(&stream, &advance.context, &advance.events, placed.next());
                    if advance.projection.status.is_ended() {
                        self.ended_for_all(&advance.run);
                    }
                }
                Change::Append(append) => {
                    self.deliver(
                        &append.stream,
                        &append.context,
                        &append.events,
                        placed.next(),
                    );
                }
                Change::Enqueue(jobs) => {
                    for (job, added) in jobs.iter().zip(added.by_ref()) {
                        if added.created && !self.channels.is_silent() {
                            self.channels.added(job);
                        }
                        if let Some(job) = taken.next_if(|taken| taken.lease.id == added.id) {
                            self.taken(job);
                        } else if added.created || job.unique.is_some() {
                            self.work_for_all(&job.queue);
                        }
                    }
                }
                Change::Steer { job, steer, now_ms } => {
                    let Some(was) = steered.next() else {
                        continue;
                    };
                    match steer {
                        Steer::Cancel { .. } => self.nudge_for_all(job),
                        _ => self.work_for_all(&was.queue),
                    }
                    if !self.channels.is_silent() {
                        self.channels.steered(job, steer, was, *now_ms);
                    }
                    self.job_for_all(job);
                }
                Change::Pause {
                    queue,
                    paused,
                    now_ms,
                } => {
                    self.work_for_all(queue);
                    if !self.channels.is_silent() {
                        let kind = if *paused {
                            "queue.paused"
                        } else {
                            "queue.resumed"
                        };
                        let said = Draft::new(*now_ms, EventType::parse(kind));
                        let data = serde_json::json!({ "queue": queue });
                        self.channels.said(queue, said.data(data));
                    }
                }
                Change::Settle(settle) => {
                    if !self.channels.is_silent() {
                        self.channels.settled(settle);
                    }
                    self.job_for_all(&settle.lease.id);
                    let waits = matches!(
                        settle.outcome,
                        Settled::Retry { .. } | Settled::Lost { .. } | Settled::Released
                    );
                    if waits {
                        self.work_for_all(&settle.lease.queue);
                    }
                }
                Change::Note(note) => {
                    if !self.channels.is_silent() {
                        self.channels.noted(note);
                    }
                }
                Change::Register(_) => {}
                Change::Abandon { job, .. } | Change::DropJob { job, .. } => {
                    self.nudge_for_all(job);
                    self.job_for_all(job);
                }
                // The receipt names the runs that these woke.
                Change::Await(_)
                | Change::Unawait(_)
                | Change::Expire { .. }
                | Change::Fire(_)
                | Change::Signal(_)
                | Change::Listen { .. }
                | Change::RemoveSignal(_) => {}
                Change::Trigger(_) | Change::Untrigger { .. } => {
                    self.triggers_for_all();
                }
                // The instance that takes a due time knows the next one.
                Change::Fired(_) | Change::Trim { .. } | Change::Once(_) => {}
                Change::Wake(run) => {
                    self.nudge_for_all(run);
                    self.due_for_all(0);
                }
                Change::Delete(run) => {
                    self.nudge_for_all(run);
                    let stream = StreamName::flow(run);
                    self.delete(&stream);
                    self.send(|| Hint::Deleted(stream));
                    self.ended_for_all(run);
                }
            }
        }
        for run in &receipt.woken {
            self.nudge_for_all(run);
        }
        if !receipt.woken.is_empty() {
            self.due_for_all(0);
        }
        if receipt.signalled {
            self.signals_for_all();
        }
    }

    fn deliver(
        &self,
        stream: &StreamName,
        context: &EventContext,
        drafts: &[Draft],
        placed: Option<&Placed>,
    ) {
        let Some(placed) = placed.filter(|_| !drafts.is_empty()) else {
            return;
        };
        self.send(|| Hint::Moved(stream.clone()));
        if !self.log_channels.is_silent() {
            let ids = placed.ids(drafts);
            self.log_channels
                .deliver(&self.loads, stream, context, placed.no, drafts, ids);
        }
        let Some(sender) = self.streams.get(stream) else {
            return;
        };
        let load = self.loads.take(drafts);
        let events = match load {
            Some(_) => drafts
                .iter()
                .zip(placed.ids(drafts))
                .map(|(draft, id)| draft.clone().at(id.seq, id.ms, context))
                .collect(),
            // Readers get a signal to read the store.
            None => Vec::new(),
        };
        // Sending to no receiver is fine: the subscription is about to be removed.
        let _ = sender.send(Arc::new(Batch::new(events, load)));
    }
}
