//! Emitted events without a receiver.

use axum::extract::State;
use riverrun_types::time::iso;

use crate::{
    app::Api,
    reply::{Answer, ok},
    schemas::{Unheard, UnheardKind},
};

/// Count events without a receiver
///
/// An event that no step, await or trigger receives is stored and can be read like any other
/// (`GET /api/events?type=`); this route counts such events. Types that did not occur for 7 days are
/// only part of `total`.
#[utoipa::path(get, path = "/api/events/unheard", tag = "events",
    responses((status = 200, description = "How many there were of each type, the latest first", body = Unheard)))]
pub(crate) async fn get_unheard(State(api): State<Api>) -> Answer {
    let found = api.runtime().base().store().unheard().await?;
    let kind = |kind: riverrun_store::UnheardKind| UnheardKind {
        r#type: kind.kind.to_string(),
        count: kind.count,
        last_at: iso(kind.last_ms),
    };
    ok(&Unheard {
        total: found.total,
        types: found.kinds.into_iter().map(kind).collect(),
    })
}
