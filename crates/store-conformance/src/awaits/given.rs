//! Awaits of runs that sleep, events that may mean them, and the least words for both.

use riverrun_store::{
    AwaitRecord, AwaitState, Awaited, Change, Fire, Matcher, NewAwait, NewRun, NewRunTask, Receipt,
    Result, Signal, SignalRecord, SignalsOf,
};
use riverrun_types::{Json, Millis, Name, Path, StreamName, time::NEVER};

use crate::given::*;

/// A run that only others wake.
pub fn asleep(name: &str) -> NewRun {
    NewRun {
        task: Some(NewRunTask::Ready { at_ms: NEVER }),
        ..run(name)
    }
}

pub async fn sleepers(store: &S, names: &[&str]) {
    for name in names {
        create(store, asleep(name)).await;
    }
}

pub fn awaits(name: &str, of: &str, what: Awaited) -> NewAwait {
    NewAwait {
        id: name.into(),
        run: id(of),
        step: "wait".into(),
        visit: 1,
        tenant: None,
        created_ms: T0,
        expires_ms: None,
        what,
        given: Vec::new(),
    }
}

pub fn event(kind: &str, matcher: Matcher) -> Awaited {
    Awaited::Event {
        kind: kind.into(),
        matcher,
        lookback_ms: None,
    }
}

pub fn equal(pairs: &[(&str, &str)]) -> Vec<(Path, Json)> {
    pairs
        .iter()
        .map(|(path, value)| (Path::new(path), json(value)))
        .collect()
}

pub fn equals(kind: &str, pairs: &[(&str, &str)]) -> Awaited {
    event(kind, Matcher::Equal(equal(pairs)))
}

pub fn filters(kind: &str, pairs: &[(&str, &str)]) -> Awaited {
    let matcher = Matcher::Filter {
        equal: equal(pairs),
        filter: json(r#"{"js":"e.data.total > 10"}"#),
    };
    event(kind, matcher)
}

pub fn callback(many: bool) -> Awaited {
    Awaited::Callback {
        callback: json(r#"{"type":"approval","secret":"s"}"#),
        many,
    }
}

pub fn waits(new: NewAwait) -> Change {
    Change::Await(Box::new(new))
}

pub async fn wait(store: &S, new: NewAwait) -> Receipt {
    must(change(store, waits(new)).await)
}

pub fn fires(name: &str, value: &str) -> Change {
    Change::Fire(Box::new(Fire {
        id: name.into(),
        value: json(value),
        now_ms: T0 + 10,
        most: None,
    }))
}

pub fn expires(id: Name, fired: u32, judged: u64) -> Change {
    Change::Expire { id, fired, judged }
}

pub async fn fire(store: &S, name: &str, value: &str) -> Result<Receipt> {
    change(store, fires(name, value)).await
}

pub async fn end(store: &S, name: &str) {
    let receipt = must(change(store, Change::Unawait(name.into())).await);
    assert!(receipt.woken.is_empty());
}

pub async fn found(store: &S, name: &str) -> AwaitRecord {
    let found = must(store.await_by(name).await);
    found.unwrap_or_else(|| panic!("await {name} is gone"))
}

pub async fn is_open(store: &S, name: &str) -> bool {
    found(store, name).await.state == AwaitState::Open
}

pub fn woken(receipt: &Receipt) -> Vec<&str> {
    let mut runs: Vec<&str> = receipt.woken.iter().map(|run| run.as_str()).collect();
    runs.sort_unstable();
    runs
}

pub fn signal(kind: &str, event: &str) -> Signal {
    Signal {
        kind: kind.into(),
        event: json(event),
        tenant: None,
        now_ms: T0 + 10,
        stream: StreamName::new("events", kind),
        has_subscriber: false,
        place: None,
    }
}

pub fn says(signal: Signal) -> Change {
    Change::Signal(Box::new(signal))
}

pub async fn say(store: &S, signal: Signal) -> Receipt {
    must(change(store, says(signal)).await)
}

/// Puts every signal of a kind into the outbox.
pub fn listens(kind: &str) -> Change {
    Change::Listen {
        kind: kind.into(),
        on: true,
    }
}

pub fn at(ms: Millis, signal: Signal) -> Signal {
    Signal {
        now_ms: T0 + ms,
        ..signal
    }
}

/// An await at `T0 + 1000` that looks back.
pub fn looking(name: &str, matcher: Matcher, lookback_ms: Millis) -> NewAwait {
    let what = Awaited::Event {
        kind: "k".into(),
        matcher,
        lookback_ms: Some(lookback_ms),
    };
    NewAwait {
        created_ms: T0 + 1_000,
        ..awaits(name, "r1", what)
    }
}

pub fn by_order(order: &str) -> Matcher {
    Matcher::Equal(equal(&[("order", order)]))
}

pub fn by_filter(pairs: &[(&str, &str)]) -> Matcher {
    Matcher::Filter {
        equal: equal(pairs),
        filter: json("\"e => e.n > 1\""),
    }
}

pub async fn outbox(store: &S) -> Vec<SignalRecord> {
    must(store.signals(SignalsOf::All, 0, 1_000).await)
}

/// The ids of all candidates, page by page.
pub async fn candidates(store: &S, signal: &SignalRecord, limit: usize) -> Vec<String> {
    let mut found = Vec::new();
    let mut cursor: Option<String> = None;
    loop {
        let page = must(store.candidates(signal, limit, cursor.as_deref()).await);
        assert!(page.items.len() <= limit, "a page keeps its limit");
        found.extend(page.items.iter().map(|one| one.id.to_string()));
        match page.next {
            Some(next) => cursor = Some(next),
            None => return found,
        }
    }
}

pub async fn value(store: &S, name: &str) -> Option<String> {
    let values = found(store, name).await.values;
    values.first().map(|value| value.as_str().to_owned())
}
