//! Who waits for what, in all runs together.

use axum::extract::State;
use riverrun_store::KindStats;
use riverrun_types::time::iso;

use crate::{
    app::Api,
    reply::{Answer, ok},
    schemas::{AwaitKind, AwaitStats},
};

/// Count awaits
///
/// How many wait for events and at doors, and how many events wait to be judged: those of which only
/// an expression (`where`), or an event trigger, can tell whom they concern. `why` says what one run
/// waits for.
#[utoipa::path(get, path = "/api/awaits", tag = "events",
    responses((status = 200, description = "How many there are, and for which kinds of events", body = AwaitStats)))]
pub(crate) async fn get_await_stats(State(api): State<Api>) -> Answer {
    let found = api.runtime().store().await_stats().await?;
    let kind = |kind: KindStats| AwaitKind {
        kind: kind.kind.to_string(),
        open: kind.open,
        filters: kind.filters,
        judging: kind.judging,
    };
    ok(&AwaitStats {
        events: found.events,
        doors: found.doors,
        judging: found.judging,
        judging_since: found.judging_since_ms.map(iso),
        kinds: found.kinds.into_iter().map(kind).collect(),
    })
}
