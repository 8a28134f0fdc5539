//! Emitted events on their way to whoever waits for their kind, in any run.
//!
//! Awaits that name values are found by the store itself, in the commit that holds the event.
//! What only an expression can judge goes through the store's outbox ([`super::outbox`]).

use riverrun_engine::Fact;
use riverrun_store::{Change, Signal};
use riverrun_types::{Draft, Json, StreamName, event::EventContext};

use super::rules::Emission;

/// What a commit that holds events must tell those who wait for such. `is_heard` says whether steps of
/// the run that holds them react to a kind; `chain` is how many events
/// started a run on the way to whoever emits them.
pub(crate) fn signals(
    stream: &StreamName,
    context: &EventContext,
    drafts: &[Draft],
    now: i64,
    chain: u32,
    is_heard: impl Fn(&str) -> bool,
) -> Vec<Change> {
    let is_run = stream.run().is_some();
    drafts
        .iter()
        .filter_map(|draft| {
            let Fact::Emitted { kind, payload, .. } = Fact::read(draft) else {
                return None;
            };
            // What a job says of itself is not news for everybody.
            if matches!(&*kind, kind if kind.starts_with("job.")) {
                return None;
            }
            let mut emission = Emission::of(draft, &kind, &payload);
            emission.chain = chain;
            if is_run {
                emission.run_id = Some(&context.run_id);
                emission.flow_name = Some(&context.flow_name);
            }
            Some(Change::Signal(Box::new(Signal {
                event: Json::of(&emission),
                is_heard: is_heard(&kind),
                kind,
                tenant: context.tenant_id.clone(),
                now_ms: now,
                stream: stream.clone(),
            })))
        })
        .collect()
}
