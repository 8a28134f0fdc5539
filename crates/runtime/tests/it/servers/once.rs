//! Events under a key that both are sent at once.

use riverrun_runtime::Runtime;
use riverrun_types::{Event, Json, StreamName};
use serde_json::json;

use super::pair::{Servers, flow};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_servers_store_the_events_of_a_key_once_and_both_tell_which() {
    let subscription = json!([{"eventKind": "tick"}]);
    let count = json!({"type": "set", "config": {"value": 1}, "subscriptions": subscription});
    let fail = json!({"type": "switch", "config": {"path": "no", "cases": {}}, "subscriptions": subscription});
    let servers = Servers::new(&[
        flow("deaf", json!({})),
        flow("counts", json!({"count": count})),
        // The first event ends the run.
        flow("ends", json!({"fail": fail})),
    ])
    .await;
    let mut streams = vec![(StreamName::new("global", "global"), 0)];
    for (flow, entered) in [("deaf", 0), ("counts", 2), ("ends", 2)] {
        let run = servers.start(flow).await;
        streams.push((StreamName::flow(&run), entered));
    }
    for (stream, entered) in streams {
        let send = async |server: &Runtime, by: &str| {
            let tick = |n: u32| Json::of(&json!({"type": "tick", "data": {"by": by, "n": n}}));
            let ticks = [tick(1), tick(2)];
            server
                .events()
                .append_once(&stream, &ticks, "key")
                .await
                .unwrap()
        };
        // Each has looked before the other wrote.
        let [first, second] = &servers.pens;
        let held = (first.hold().await, second.hold().await);
        let let_go = async {
            tokio::join!(first.is_waiting(), second.is_waiting());
            drop(held);
        };
        let sends = (send(&servers.one, "one"), send(&servers.other, "other"));
        let (one, other, ()) = tokio::join!(sends.0, sends.1, let_go);
        assert_ne!(one.is_repeated, other.is_repeated, "one was first");
        assert_eq!(one.ids, other.ids);
        let first = if one.is_repeated { "other" } else { "one" };
        let events = servers.events(&stream).await;
        let ticks: Vec<&Event> = events
            .iter()
            .filter(|e| e.kind.as_str() == "tick")
            .collect();
        let ids: Vec<_> = ticks.iter().map(|tick| tick.id).collect();
        assert_eq!(ids, one.ids, "{stream:?}");
        for (tick, n) in ticks.iter().zip(1..) {
            let data = tick.data.as_ref().unwrap().value();
            assert_eq!(data, json!({"by": first, "n": n}));
        }
        // Much later, too.
        for server in [&servers.one, &servers.other] {
            let again = send(server, "again").await;
            assert!(again.is_repeated);
            assert_eq!(again.ids, one.ids);
        }
        let entries = events.iter().filter(|e| e.kind.as_str() == "step.entered");
        assert_eq!(entries.count(), entered);
    }
}
