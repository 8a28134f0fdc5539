//! Random flows of events: whoever is sent them, however often and in whatever order, an event enters
//! a step once, and the run is over when nothing in it is active.

use std::{collections::BTreeMap, sync::Arc};

use async_trait::async_trait;
use proptest::{collection::vec, prelude::*, sample::subsequence};
use riverrun_engine::{Fact, RunState, StepSummary};
use riverrun_protocol::{Reply, WorkError};
use riverrun_runtime::{CallbackAnswer, Invocation, Process, ProcessConfig, Provider, Source};
use riverrun_types::{Event, EventType, Json, RunStatus, StreamName};
use serde_json::{Value, json};

use super::pair::{LONG, Servers, flow};

const KINDS: [&str; 3] = ["k0", "k1", "k2"];

/// A step, and what its handler does.
#[derive(Clone, Debug)]
struct Step {
    subscribes: Vec<&'static str>,
    /// It takes one event of each kind at a time.
    joins: bool,
    emits: Vec<&'static str>,
    /// Its first attempt fails once everything was emitted.
    is_shaky: bool,
}

/// An event from outside.
#[derive(Clone, Copy, Debug)]
struct Sent {
    /// Two with the same number are the same event.
    key: usize,
    kind: &'static str,
    /// How many more events may come of it, one after the other.
    left: u64,
    to_other: bool,
}

fn any_steps() -> impl Strategy<Value = Vec<Step>> {
    let kinds = |most| subsequence(KINDS.to_vec(), 0..=most);
    let step = (kinds(2), any::<bool>(), kinds(2), any::<bool>());
    let step = step.prop_map(|(subscribes, joins, emits, is_shaky)| Step {
        subscribes,
        joins,
        emits,
        is_shaky,
    });
    vec(step, 1..5)
}

/// Events, each sent once or more often, in any order.
fn any_sends() -> impl Strategy<Value = Vec<Sent>> {
    let event = (0..KINDS.len(), 0..3u64, vec(any::<bool>(), 1..4));
    let sends = |events: Vec<(usize, u64, Vec<bool>)>| {
        let sends = events.into_iter().enumerate();
        let sends = sends.flat_map(|(key, (kind, left, times))| {
            times.into_iter().map(move |to_other| Sent {
                key,
                kind: KINDS[kind],
                left,
                to_other,
            })
        });
        Just(sends.collect::<Vec<_>>()).prop_shuffle()
    };
    vec(event, 1..5).prop_flat_map(sends)
}

fn name(at: usize) -> String {
    format!("s{at}")
}

/// The handler of every step.
struct Handler(Arc<Vec<Step>>);

#[async_trait]
impl Provider for Handler {
    async fn invoke(&self, call: Invocation) -> Result<Reply, WorkError> {
        let invoke = &call.invoke;
        let step = invoke.step.as_deref().unwrap();
        let step = &self.0[step[1..].parse::<usize>().unwrap()];
        let left = left(&invoke.job.input.as_ref().unwrap().value());
        for kind in step.emits.iter().filter(|_| left > 0) {
            // As the SDKs do it: what the journal holds was done by an earlier attempt.
            let mut journal = invoke.job.journal.iter();
            if !journal.any(|entry| entry.op == "emit" && entry.name == *kind) {
                let event = json!({"type": kind, "data": {"left": left - 1}});
                call.host.ask("emit", Json::of(&event)).await?;
            }
        }
        if step.is_shaky && invoke.job.attempt == 1 {
            return Err(WorkError::new("SHAKY", "the first time"));
        }
        Ok(Reply {
            value: Some(Json::of(&json!({ "left": left }))),
            ..Reply::default()
        })
    }
}

/// Of an event, or the least of those that were joined.
fn left(input: &Value) -> u64 {
    let joined = input.as_object().unwrap().values();
    let joined = joined.filter_map(|event| event["left"].as_u64());
    input["left"].as_u64().or(joined.min()).unwrap()
}

async fn servers(steps: &[Step]) -> Servers {
    let defined = steps.iter().enumerate().map(|(at, step)| {
        let subscriptions: Vec<Value> = step
            .subscribes
            .iter()
            .map(|kind| json!({"eventKind": kind}))
            .collect();
        let join = if step.joins { "all" } else { "any" };
        (
            name(at),
            json!({
                "type": "process", "config": {"process": "p"}, "join": join,
                "subscriptions": subscriptions, "emits": step.emits,
            }),
        )
    });
    let servers = Servers::new(&[flow("f", Value::Object(defined.collect()))]).await;
    let config =
        json!({"retryPolicy": {"attempts": 2, "backoff": {"type": "fixed", "delayMs": 0}}});
    for server in [&servers.one, &servers.other] {
        server.queues().put_process(Process {
            id: "p".into(),
            config: ProcessConfig::read(&Json::of(&config), "p").ok().unwrap(),
            provider: Arc::new(Handler(Arc::new(steps.to_vec()))),
            source: Source::default(),
        });
    }
    servers
}

/// Sends everything at once, lets the run end, and gives its events.
async fn play(servers: &Servers, sends: &[Sent]) -> Vec<Event> {
    let run = servers.start("f").await;
    let stream = StreamName::flow(&run);
    let send = async |sent: &Sent| {
        let Sent {
            kind, left, key, ..
        } = sent;
        let server = match sent.to_other {
            true => &servers.other,
            false => &servers.one,
        };
        let event = Json::of(&json!({"type": kind, "data": {"left": left}}));
        let key = format!("key-{key}");
        server
            .events()
            .append_once(&stream, &[event], &key)
            .await
            .unwrap()
    };
    let answers = futures::future::join_all(sends.iter().map(send)).await;
    // Requests with the same event got the same id.
    for (sent, answer) in sends.iter().zip(&answers) {
        let first = sends
            .iter()
            .position(|first| first.key == sent.key)
            .unwrap();
        assert_eq!(answer.ids, answers[first].ids);
    }
    let callback = servers.callback(&run).await;
    let callback_answer = CallbackAnswer {
        payload: Json::null(),
        body: b"",
        signature: None,
        source: "test",
    };
    servers
        .one
        .awaits()
        .resume_callback(&callback, callback_answer)
        .await
        .unwrap();
    // Each hears of what it does itself.
    let ends =
        [&servers.one, &servers.other].map(|server| Box::pin(server.runs().wait(&run, LONG)));
    let (view, ..) = futures::future::select_all(ends).await;
    assert_eq!(view.unwrap().state().status, RunStatus::Completed);
    servers.events(&stream).await
}

/// Every event that was emitted entered each step that hears its kind, once, and no other.
fn enters_once(steps: &[Step], events: &[Event]) {
    let mut entered: BTreeMap<String, usize> = BTreeMap::new();
    let mut expected: Option<BTreeMap<String, usize>> = None;
    let check = |expected: Option<BTreeMap<String, usize>>, entered: &mut BTreeMap<_, _>| {
        assert_eq!(std::mem::take(entered), expected.unwrap_or_default());
    };
    for event in events {
        match Fact::read(&event.draft()) {
            // Entering by a join is what the events that were kept for it lead to.
            Fact::StepEntered(_, entered) if entered.joined => {}
            Fact::StepEntered(at, _) => *entered.entry(at.name.to_string()).or_default() += 1,
            Fact::StepJoined(joined) => *entered.entry(joined.step.to_string()).or_default() += 1,
            fact => {
                check(expected.take(), &mut entered);
                if let Fact::Emitted { kind, .. } = fact {
                    let subscribes = |(_, step): &(usize, &Step)| step.subscribes.contains(&&*kind);
                    let subscribed = steps.iter().enumerate().filter(subscribes);
                    expected = Some(subscribed.map(|(at, _)| (name(at), 1)).collect());
                }
            }
        }
    }
    check(expected, &mut entered);
}

/// Every key is one event, every visit emitted what it was to, once, and joins took one of each.
fn is_emitted_once(steps: &[Step], sends: &[Sent], events: &[Event], state: &RunState) {
    let mut by_visit: BTreeMap<(String, u32), Vec<String>> = BTreeMap::new();
    let mut outside = 0;
    let mut count: BTreeMap<String, u32> = BTreeMap::new();
    for event in events {
        let Fact::Emitted { kind, .. } = Fact::read(&event.draft()) else {
            continue;
        };
        *count.entry(kind.to_string()).or_default() += 1;
        match &event.step {
            None => outside += 1,
            Some(at) => {
                let visit = by_visit.entry((at.name.to_string(), at.visit));
                visit.or_default().push(kind.to_string());
            }
        }
    }
    let keys = sends.iter().map(|sent| sent.key).max().unwrap() + 1;
    assert_eq!(outside, keys);
    for event in events.iter().filter(|e| e.kind == EventType::StepCompleted) {
        let at = event.step.as_ref().unwrap();
        if &*at.name == "hold" {
            continue;
        }
        let step = &steps[at.name[1..].parse::<usize>().unwrap()];
        let left = event.data.as_ref().unwrap().value()["result"]["left"].as_u64();
        let emits = step.emits.iter().filter(|_| left.unwrap() > 0);
        let emits: Vec<String> = emits.map(|kind| (*kind).to_owned()).collect();
        let visit = (at.name.to_string(), at.visit);
        assert_eq!(by_visit.remove(&visit).unwrap_or_default(), emits, "{at:?}");
    }
    assert_eq!(by_visit, BTreeMap::new(), "of visits that did not complete");
    for (at, step) in steps.iter().enumerate() {
        let received = step
            .subscribes
            .iter()
            .map(|kind| count.get(*kind).copied().unwrap_or_default());
        let visits = match step.joins {
            true => received.min().unwrap_or_default(),
            false => received.sum(),
        };
        let summary: Option<&StepSummary> = state.steps.get(name(at).as_str());
        assert_eq!(
            summary.map_or(0, |step| step.visits),
            visits,
            "{}",
            name(at)
        );
    }
}

/// The run ends in the very moment in which nothing in it is active any more, and not before.
fn ends_with_the_last_visit(events: &[Event]) -> RunState {
    let mut state = RunState::new();
    for event in events {
        let is_end = event.kind == EventType::FlowCompleted;
        let was_idle = state.len > 0 && state.visits.is_empty();
        assert_eq!(was_idle, is_end, "{event:?}");
        state.apply(&event.draft());
    }
    assert_eq!(state.status, RunStatus::Completed);
    state
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: ProptestConfig::default().cases.div_ceil(10),
        max_shrink_iters: 100,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn an_event_enters_a_step_once_however_often_it_is_sent(
        steps in any_steps(),
        sends in any_sends(),
    ) {
        let threads = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let events = threads.block_on(async {
            let servers = servers(&steps).await;
            play(&servers, &sends).await
        });
        threads.shutdown_timeout(LONG);
        enters_once(&steps, &events);
        let state = ends_with_the_last_visit(&events);
        is_emitted_once(&steps, &sends, &events, &state);
    }
}
