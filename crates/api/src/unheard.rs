//! Emitted events to which nobody reacted.

use axum::extract::State;
use riverrun_types::time::iso;

use crate::{
    app::Api,
    reply::{Answer, ok},
    schemas::{Unheard, UnheardKind},
};

/// Count events that nobody reacted to
///
/// An event that was emitted while no step, await or trigger was there for it is stored and can be
/// read like any other (`GET /api/events?kind=`); here it is counted. Kinds that did not come for a
/// day are only part of `total`.
#[utoipa::path(get, path = "/api/events/unheard", tag = "events",
    responses((status = 200, description = "How many there were, and of which kinds, the latest first", body = Unheard)))]
pub(crate) async fn get_unheard(State(api): State<Api>) -> Answer {
    let found = api.runtime().store().unheard().await?;
    let kind = |kind: riverrun_store::UnheardKind| UnheardKind {
        kind: kind.kind.to_string(),
        count: kind.count,
        last_at: iso(kind.last_ms),
    };
    ok(&Unheard {
        total: found.total,
        kinds: found.kinds.into_iter().map(kind).collect(),
    })
}
