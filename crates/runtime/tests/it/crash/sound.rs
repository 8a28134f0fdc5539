//! Invariants of every run, whenever its driver crashed.

use std::collections::{HashMap, HashSet};

use riverrun_engine::RunState;
use riverrun_store::{AwaitFilter, AwaitState, Awaited, SignalsOf};
use riverrun_types::{Event, RunId, StreamName};

use super::life::Alive;

impl Alive {
    pub async fn is_sound(&self, run: &RunId) {
        let events = self.events(run).await;
        let text: Vec<String> = events.iter().map(line).collect();
        in_order(&events);
        assert_eq!(resumed_once(&events), Ok(()), "{text:#?}");
        assert_eq!(entered_once(&events), Ok(()), "{text:#?}");
        assert_eq!(ended_once(&events), Ok(()), "{text:#?}");
        self.replays(run, &events).await;
        for callback in callbacks(&events) {
            self.callback_has_ended(&callback).await;
        }
    }

    /// Reducing the stream gives the state that is shown, and every event could have been written
    /// where it stands.
    async fn replays(&self, run: &RunId, events: &[Event]) {
        let mut state = RunState::new();
        for event in events {
            let draft = event.draft();
            state.check_next(&draft).unwrap();
            state.apply(&draft);
        }
        let shown = self.runtime.runs().load(run).await.unwrap();
        assert_eq!(*shown.state, state);
        assert_eq!(shown.record.status, state.status);
        assert_eq!(shown.record.len, state.len);
    }

    /// A callback is resumed, times out or is cancelled: one of them, once. One for many is given
    /// up in any case.
    async fn callback_has_ended(&self, callback: &str) {
        let events = self.stream(&StreamName::new("trigger", callback)).await;
        let mut kinds: Vec<&str> = events.iter().map(|event| event.kind.as_str()).collect();
        let record = self
            .runtime
            .awaits()
            .callback(callback)
            .await
            .unwrap()
            .record;
        if matches!(record.what, Awaited::Callback { many: true, .. }) {
            kinds.retain(|kind| *kind != "trigger.fired");
        }
        let ends = ["trigger.fired", "trigger.timeout", "trigger.cancelled"];
        assert!(
            kinds.len() == 2 && kinds[0] == "trigger.registered" && ends.contains(&kinds[1]),
            "the callback {callback} has {kinds:?}"
        );
        assert!(
            ["AWAIT_USED", "AWAIT_CLOSED", "AWAIT_EXPIRED"]
                .contains(&&*self.open(callback, true.into()).await),
            "a callback that has ended is closed"
        );
    }

    /// Where all runs have ended nobody waits, nothing is due and nothing is to be judged.
    pub async fn nothing_is_left(&self) {
        let store = self.runtime.base().store();
        let stats = store.await_stats().await.unwrap();
        assert_eq!((stats.events, stats.callbacks), (0, 0), "{stats:?}");
        for state in [AwaitState::Open, AwaitState::Fired] {
            let filter = AwaitFilter {
                state: Some(state),
                limit: 10,
                ..AwaitFilter::default()
            };
            let left = store.list_awaits(&filter).await.unwrap().items;
            assert!(left.is_empty(), "awaits are left: {left:#?}");
        }
        assert_eq!(store.next_due().await.unwrap(), None, "a run is due");
        // Events that came when nobody waited any more may still be in the outbox: a run does not
        // wait for them.
        let judged = async {
            while !store
                .signals(SignalsOf::All, 0, 10)
                .await
                .unwrap()
                .is_empty()
            {
                tokio::time::sleep(std::time::Duration::from_millis(3)).await;
            }
        };
        let judged = tokio::time::timeout(super::life::LONG, judged).await;
        assert!(judged.is_ok(), "signals are left");
        for queue in store.queues(None).await.unwrap() {
            let left = queue.waiting + queue.delayed + queue.active;
            assert_eq!(left, 0, "jobs are left: {queue:#?}");
        }
    }
}

fn line(event: &Event) -> String {
    let data = event.data.as_ref().map_or("", |data| data.as_str());
    match &event.step {
        None => format!("{} {data}", event.kind),
        Some(at) => format!(
            "{} {}#{}/{} {data}",
            event.kind, at.name, at.visit, at.attempt
        ),
    }
}

fn in_order(events: &[Event]) {
    let mut ms = 0;
    for (at, event) in (0..).zip(events) {
        assert_eq!(event.id.seq, at);
        assert!(event.id.ms >= ms);
        ms = event.id.ms;
    }
}

/// Each await is followed by one end: by what came, by its timeout, or with its visit.
fn resumed_once(events: &[Event]) -> Result<(), String> {
    let mut waiting: HashSet<(String, u32)> = HashSet::new();
    for event in events {
        let Some(at) = &event.step else {
            continue;
        };
        let visit = (at.name.to_string(), at.visit);
        let fits = match event.kind.as_str() {
            "step.await.time" | "step.await.event" | "step.await.trigger" => waiting.insert(visit),
            "step.resumed" | "step.await.timeout" => waiting.remove(&visit),
            "step.cancelled" => {
                waiting.remove(&visit);
                true
            }
            "step.started" | "step.completed" | "step.failed" => !waiting.contains(&visit),
            _ => true,
        };
        if !fits {
            return Err(line(event));
        }
    }
    match waiting.is_empty() {
        true => Ok(()),
        false => Err(format!("{waiting:?} never go on")),
    }
}

/// No event enters a step twice.
fn entered_once(events: &[Event]) -> Result<(), String> {
    let mut entered: HashSet<(u64, String)> = HashSet::new();
    let mut latest = 0;
    for event in events {
        let kind = event.kind.as_str();
        match (kind, &event.step) {
            ("step.entered" | "step.joined", Some(at)) => {
                if !entered.insert((latest, at.name.to_string())) {
                    return Err(line(event));
                }
            }
            _ => latest = event.id.seq,
        }
    }
    Ok(())
}

/// Every visit ends once, every attempt begins once, and so does the run.
fn ended_once(events: &[Event]) -> Result<(), String> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for event in events {
        let key = match (event.kind.as_str(), &event.step) {
            ("step.started", Some(at)) => format!("start {}#{}/{}", at.name, at.visit, at.attempt),
            ("step.completed" | "step.cancelled", Some(at)) => {
                format!("end {}#{}", at.name, at.visit)
            }
            ("flow.completed" | "flow.failed" | "flow.cancelled", _) => "end".to_owned(),
            _ => continue,
        };
        let count = counts.entry(key).or_default();
        *count += 1;
        if *count > 1 {
            return Err(line(event));
        }
    }
    Ok(())
}

/// The callbacks that steps of a run have created.
fn callbacks(events: &[Event]) -> HashSet<String> {
    let callback = |event: &Event| {
        let data = event.data.as_ref()?.value();
        let id = match event.kind.as_str() {
            "step.await.trigger" => &data["triggerId"],
            "step.memo" if data["op"] == "trigger" => &data["value"]["id"],
            _ => return None,
        };
        id.as_str().map(str::to_owned)
    };
    events.iter().filter_map(callback).collect()
}
