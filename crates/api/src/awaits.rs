//! Open awaits of all runs.

use axum::extract::State;
use riverrun_store::KindStats;
use riverrun_types::time::iso;

use crate::{
    app::Api,
    reply::{Answer, ok},
    schemas::{AwaitKind, AwaitStats},
};

/// Count open awaits
///
/// How many awaits wait for events and callbacks, and how many events wait for a `where` expression or
/// an event trigger to be evaluated. `GET /api/runs/{id}/why` names what one run waits for.
#[utoipa::path(get, path = "/api/awaits", tag = "events",
    responses((status = 200, description = "The counts, and the counts of each event type", body = AwaitStats)))]
pub(crate) async fn get_await_stats(State(api): State<Api>) -> Answer {
    let found = api.runtime().base().store().await_stats().await?;
    let kind = |kind: KindStats| AwaitKind {
        r#type: kind.kind.to_string(),
        open: kind.open,
        filters: kind.filters,
        judging: kind.judging,
    };
    ok(&AwaitStats {
        events: found.events,
        callbacks: found.callbacks,
        judging: found.judging,
        judging_since: found.judging_since_ms.map(iso),
        types: found.kinds.into_iter().map(kind).collect(),
    })
}
