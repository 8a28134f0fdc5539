//! Output of steps, jobs and clients while they work: emitted events, logs, progress, partial
//! results.

use serde::Deserialize;

use crate::{
    Json, Name,
    event::{Draft, Fact},
    json::present,
};

macro_rules! output {
    ($($before:tt)*) => { collect! { $($before)*

30 Emit "emit";
31 Progress "progress";
32 Partial "partial";
40 LogDebug "log.debug";
41 LogInfo "log.info";
42 LogWarn "log.warn";
43 LogError "log.error";

    } };
}

/// `emit`: an event that carries its type in its data.
#[derive(Deserialize)]
pub(super) struct Emit {
    #[serde(alias = "name", alias = "kind")]
    topic: Name,
    #[serde(default, alias = "data", deserialize_with = "present")]
    payload: Option<Json>,
}

impl Emit {
    pub(super) fn read(draft: &Draft) -> Option<Fact> {
        let emit: Self = draft.data.as_ref()?.read().ok()?;
        Some(Fact::Emitted {
            at: draft.step.clone(),
            payload: emit.payload(draft),
            kind: emit.topic,
        })
    }

    /// Its payload, or all of its data if that holds more than the type.
    fn payload(&self, draft: &Draft) -> Json {
        let whole = || {
            let data = draft.data.as_ref()?;
            let is_more = data.members().is_some_and(|members| members.len() > 1);
            is_more.then(|| data.clone())
        };
        let payload = self.payload.clone().or_else(whole);
        payload.unwrap_or_else(Json::null)
    }
}
