//! An emitted event as expressions, triggers and handlers see it.

use riverrun_types::{Draft, EventId, Json, event::EventContext};
use serde::Serialize;

/// An event as expressions and handlers see it: the envelope that it is stored in. The store
/// assigns its id, and with that its time.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Emission<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<EventId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ts: Option<String>,
    pub r#type: &'a str,
    /// The same as `type`, as in the older form.
    pub kind: &'a str,
    run_id: &'a str,
    flow_name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    step_name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    step_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    attempt: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<&'a str>,
    /// How many events started a run on the way to the one that emitted it.
    #[serde(skip_serializing_if = "riverrun_types::is_zero")]
    pub chain: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    causation_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tenant_id: Option<&'a str>,
    pub data: &'a Json,
}

impl<'a> Emission<'a> {
    pub fn of(event: &'a Draft, kind: &'a str, data: &'a Json, context: &'a EventContext) -> Self {
        let at = event.step.as_ref();
        Self {
            id: None,
            ts: None,
            r#type: kind,
            kind,
            run_id: &context.run_id,
            flow_name: &context.flow_name,
            step_name: at.map(|at| &*at.name),
            step_id: at.and_then(|at| at.id(&context.run_id)),
            attempt: at.map(|at| at.attempt),
            correlation_id: event.correlation_id.as_deref(),
            chain: 0,
            causation_id: event.causation_id.as_deref(),
            tenant_id: context.tenant_of(event).map(|tenant| &**tenant),
            data,
        }
    }
}
