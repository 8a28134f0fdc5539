//! Hints sent to and received from the hubs of other instances.

use std::sync::Arc;

use riverrun_types::{Millis, Name, RunId, StreamName};

use super::{Batch, Hub};
use crate::Hint;

impl Hub {
    /// Sends a hint, which is created only if other instances exist.
    pub(super) fn send(&self, hint: impl FnOnce() -> Hint) {
        if self.has_others {
            self.bus.send(hint());
        }
    }

    /// Applies the hints of other instances, without end. Run by the writer.
    pub(crate) async fn receive(&self) {
        loop {
            let hint = self.bus.next().await;
            self.apply(&hint);
        }
    }

    fn apply(&self, hint: &Hint) {
        match hint {
            Hint::Moved(stream) => {
                self.reread(stream);
                if !stream.is_job() {
                    self.log_channels.reread();
                }
            }
            Hint::Deleted(stream) => self.delete(stream),
            Hint::JobsRemoved => self.look_everywhere(),
            Hint::Work(queue) => self.work_in(queue),
            Hint::Nudge(run) => self.nudge(run),
            Hint::Ended(run) => self.ended(run),
            Hint::Due(at_ms) => self.due_at(*at_ms),
            Hint::Signals => self.signals.notify_one(),
            Hint::Triggers => self.triggers.send_modify(|changes| *changes += 1),
            Hint::Everything => self.look_at_everything(),
        }
    }

    fn look_at_everything(&self) {
        for entry in &self.streams {
            let _ = entry.value().send(Arc::new(Batch::new(Vec::new(), None)));
        }
        self.log_channels.reread();
        for entry in &self.workers {
            entry.value().notify_one();
        }
        for entry in &self.holders {
            entry.value().notify_one();
        }
        // Collected first: an end is removed from the map that is read here.
        let awaited: Vec<RunId> = self.ends.iter().map(|entry| entry.key().clone()).collect();
        for run in &awaited {
            self.ended(run);
        }
        self.due_at(0);
        self.signals.notify_one();
        self.triggers.send_modify(|changes| *changes += 1);
    }

    /// Makes the readers of a stream read the store.
    pub(super) fn reread(&self, stream: &StreamName) {
        if let Some(sender) = self.streams.get(stream) {
            // Without a receiver the subscription is about to be removed.
            let _ = sender.send(Arc::new(Batch::new(Vec::new(), None)));
        }
    }

    /// Ends the subscriptions to a stream.
    pub(super) fn delete(&self, stream: &StreamName) {
        self.streams.remove(stream);
    }
}

/// The effects of a commit on the listeners of all instances.
impl Hub {
    pub(super) fn nudge_for_all(&self, run: &RunId) {
        self.nudge(run);
        self.send(|| Hint::Nudge(run.clone()));
    }

    pub(super) fn work_for_all(&self, queue: &Name) {
        self.work_in(queue);
        self.send(|| Hint::Work(queue.clone()));
    }

    pub(super) fn due_for_all(&self, at_ms: Millis) {
        self.due_at(at_ms);
        self.send(|| Hint::Due(at_ms));
    }

    pub(super) fn ended_for_all(&self, run: &RunId) {
        self.ended(run);
        self.send(|| Hint::Ended(run.clone()));
    }

    /// The row of a job has changed.
    pub(super) fn job_for_all(&self, job: &RunId) {
        self.look(job);
        self.send(|| Hint::Moved(StreamName::job(job)));
    }

    pub(super) fn signals_for_all(&self) {
        self.signals.notify_one();
        self.send(|| Hint::Signals);
    }

    pub(super) fn triggers_for_all(&self) {
        self.triggers.send_modify(|changes| *changes += 1);
        self.send(|| Hint::Triggers);
    }
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;
    use riverrun_types::{Draft, EventType};
    use tokio::sync::{Mutex, mpsc};

    use super::*;
    use crate::{
        Append, Bus, Change, Commit, Expect, Kinds, LogUpdate, Placed, Receipt, StreamUpdate,
    };

    /// One end of a bus between two instances.
    struct Pipe {
        there: mpsc::UnboundedSender<Hint>,
        here: Mutex<mpsc::UnboundedReceiver<Hint>>,
    }

    #[async_trait]
    impl Bus for Pipe {
        fn has_others(&self) -> bool {
            true
        }

        fn send(&self, hint: Hint) {
            self.there.send(hint).expect("the other instance is there");
        }

        async fn next(&self) -> Hint {
            self.here.lock().await.recv().await.expect("a hint")
        }
    }

    /// Two hubs, as two instances on one store have them.
    fn hubs() -> [Arc<Hub>; 2] {
        let ((to_one, one), (to_other, other)) =
            (mpsc::unbounded_channel(), mpsc::unbounded_channel());
        let hub = |there, here| {
            let here = Mutex::new(here);
            Arc::new(Hub::new(Arc::new(Pipe { there, here }), Hub::MAX_BYTES))
        };
        [hub(to_other, one), hub(to_one, other)]
    }

    fn append(stream: &StreamName) -> (Commit, Receipt) {
        let commit = Commit::of(Change::Append(Append {
            stream: stream.clone(),
            context: riverrun_types::event::EventContext {
                run_id: stream.id.clone(),
                flow_name: "f".into(),
                tenant_id: None,
            },
            expect: Expect::Any,
            events: [Draft::new(1, EventType::LogInfo)].into(),
        }));
        let placed = Placed {
            first: 0,
            floor_ms: 0,
            len: 1,
            no: 1,
        };
        let receipt = Receipt {
            placed: vec![placed],
            signalled: true,
            woken: vec![RunId::new("woken")],
            ..Receipt::default()
        };
        (commit, receipt)
    }

    #[tokio::test]
    async fn a_commit_of_one_instance_reaches_the_listeners_of_the_other() {
        let [one, other] = hubs();
        let receiving = tokio::spawn({
            let other = other.clone();
            async move { other.receive().await }
        });
        let run = RunId::new("r");
        let stream = StreamName::flow(&run);
        let mut reader = other.subscribe(&stream);
        let mut kinds = other.listen_to(&Kinds::new(["log"]));
        let (ending, holder) = (other.ending(&run), other.hold(&RunId::new("woken")));
        let triggers = other.triggers();
        let (commit, receipt) = append(&stream);
        one.publish(&commit, &receipt);
        let StreamUpdate::Batch(batch) = reader.next().await else {
            panic!("the reader is to read the store");
        };
        assert!(batch.events.is_empty(), "a hint has no data");
        assert!(matches!(kinds.next().await, LogUpdate::Missed));
        holder.nudged().await;
        other.signals().notified().await;
        assert_eq!(other.next_due(), 0);
        one.publish(&Commit::of(Change::Delete(run)), &Receipt::default());
        ending.come().await;
        // Deleted, after a batch that a reader of the store finds empty.
        while !matches!(reader.next().await, StreamUpdate::Gone) {}
        assert!(!triggers.has_changed().expect("the hub is there"));
        receiving.abort();
    }

    #[tokio::test]
    async fn lost_hints_make_all_listeners_look() {
        let [_, hub] = hubs();
        let stream = StreamName::new("orders", "1");
        let (mut reader, run) = (hub.subscribe(&stream), RunId::new("r"));
        let (ending, holder) = (hub.ending(&run), hub.hold(&run));
        let (worker, triggers) = (hub.work(&"mail".into()), hub.triggers());
        hub.apply(&Hint::Everything);
        assert!(matches!(reader.next().await, StreamUpdate::Batch(_)));
        ending.come().await;
        holder.nudged().await;
        worker.notified().await;
        hub.signals().notified().await;
        hub.due_changed().await;
        assert!(triggers.has_changed().expect("the hub is there"));
    }

    #[test]
    fn a_hub_alone_makes_no_hints() {
        let hub = Hub::default();
        hub.send(|| unreachable!("there is no other instance"));
    }
}
