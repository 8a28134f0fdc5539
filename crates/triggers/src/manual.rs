//! People who start runs: triggers that only people fire, and firing a trigger of any type by hand.

use riverrun_runtime::Started;
use riverrun_types::Json;

use crate::{
    Error, Result, Triggers,
    fire::{Shot, Story},
    read::key,
};

/// A manual trigger has no settings of its own.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {}

/// What somebody who fires a trigger by hand may say.
#[derive(Clone, Debug, Default)]
pub struct ManualFire {
    pub input: Option<Json>,
    pub idempotency_key: Option<String>,
    pub source: Option<String>,
    pub request_id: Option<String>,
}

impl Triggers {
    /// Fires a trigger of any type by hand. What it would make of a request or an event is not
    /// asked: the input is the run's.
    pub async fn fire(&self, id: &str, fire: ManualFire) -> Result<Started> {
        let trigger = self.get(id)?;
        if !trigger.enabled {
            return Err(Error::Disabled(trigger.id.clone()));
        }
        let shot = Shot {
            trigger: &trigger,
            source: fire.source.as_deref().unwrap_or("manual"),
            received_ms: self.runtime().base().now_ms(),
            request_id: fire.request_id.as_deref(),
            key: fire.idempotency_key.map(|own| key(id, &own)),
            due_ms: None,
            take: None,
            story: Story::default(),
        };
        let input = fire.input.unwrap_or_else(|| trigger.default_input());
        self.shoot(shot, Ok(input)).await
    }
}
