//! Runs that end on one server while a task on another waits for them.

use std::{pin::pin, time::Instant};

use riverrun_types::RunStatus;
use serde_json::json;

use super::pair::{LONG, Servers, flow};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_waits_for_a_run_hears_of_its_end_wherever_it_ends() {
    let servers = Servers::new(&[flow("holds", json!({}))]).await;
    for is_elsewhere in [true, false] {
        let ends = match is_elsewhere {
            true => &servers.other,
            false => &servers.one,
        };
        // The end is there before anybody waits, though this server knows only that it waited.
        let run = servers.start("holds").await;
        ends.runs().cancel(&run, None).await.unwrap();
        let began = Instant::now();
        let view = servers.one.runs().wait(&run, LONG).await.unwrap();
        assert_eq!(view.state().status, RunStatus::Cancelled);
        assert!(
            began.elapsed() < LONG / 2,
            "the answer came at the end of the wait"
        );

        // The end comes while somebody waits who has looked at nothing but what the server knew.
        let run = servers.start("holds").await;
        let mut waiting = pin!(servers.one.runs().wait(&run, LONG));
        assert!(futures::poll!(waiting.as_mut()).is_pending());
        ends.runs().cancel(&run, None).await.unwrap();
        let began = Instant::now();
        let view = waiting.await.unwrap();
        assert_eq!(view.state().status, RunStatus::Cancelled);
        assert!(
            began.elapsed() < LONG / 2,
            "the answer came at the end of the wait"
        );
    }
}
