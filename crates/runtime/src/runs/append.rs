//! Appends events from outside to a run's stream.

use std::{collections::HashSet, sync::Arc};

use riverrun_contract::state_issues;
use riverrun_engine::{Fact, Plan, RunState};
use riverrun_store::{Error as StoreError, Expect};
use riverrun_types::{Draft, EventId, Json, Name, RunId, StreamName, event::EventContext};

use super::{Runs, mailbox::Message};
use crate::{
    base::{Error, Result},
    streams::{Guard, check_value, is_too_deep},
};

/// How often a state write is checked again because the stream moved.
const TRIES: usize = 20;

impl Runs {
    /// Appends events from outside to a run's stream, and enters the steps that subscribe to them.
    /// All of them or none.
    pub(crate) async fn append(
        &self,
        run: &RunId,
        mut drafts: Vec<Draft>,
        key: Option<Name>,
    ) -> Result<Vec<EventId>> {
        self.check_tenant(run, &mut drafts).await?;
        if self.has_subscriber(run, &drafts).await? {
            let mut message = Message::events(drafts);
            message.key = key;
            return self.deliver(run, message).await;
        }
        let guard = Guard {
            key,
            ..Guard::default()
        };
        self.append_to_run(run, drafts.into(), guard).await
    }

    /// A run's events belong to its tenant: the tenant may be named again, and another tenant is
    /// rejected.
    async fn check_tenant(&self, run: &RunId, drafts: &mut [Draft]) -> Result<()> {
        let given = drafts.iter_mut().map(|draft| draft.tenant_id.take());
        let given: HashSet<Name> = given.flatten().collect();
        if given.is_empty() {
            return Ok(());
        }
        let own = self.context_of(run).await?.tenant_id;
        match given.into_iter().find(|given| Some(given) != own.as_ref()) {
            None => Ok(()),
            Some(given) => {
                let own = match own {
                    Some(own) => format!("is of the tenant {own:?}"),
                    None => "is of no tenant".to_owned(),
                };
                Err(Error::Unprocessable(format!(
                    "tenantId is {given:?}, and run {run} {own}"
                )))
            }
        }
    }

    /// Whether steps of a run react to events from outside.
    async fn has_subscriber(&self, run: &RunId, drafts: &[Draft]) -> Result<bool> {
        let is_emitted = |draft: &Draft| Fact::emitted(draft).is_some();
        if !drafts.iter().any(is_emitted) {
            return Ok(false);
        }
        let record = self.base().store().run(run).await?;
        let record = record.ok_or_else(|| StoreError::RunNotFound(run.clone()))?;
        let flow = self
            .flows()
            .compiled(&record.flow, Some(&record.version))
            .await?;
        let has_subscriber = |draft: &Draft| {
            Fact::emitted(draft).is_some_and(|(kind, _)| flow.plan.subscribes_to(&kind))
        };
        if !drafts.iter().any(has_subscriber) {
            return Ok(false);
        }
        match drafts.iter().all(is_emitted) {
            true => Ok(true),
            false => Err(Error::BadEvent(
                "send events that steps subscribe to apart from logs and state writes".to_owned(),
            )),
        }
    }

    /// Appends events to a run's stream; state writes only if the run accepts them.
    pub(crate) async fn append_to_run(
        &self,
        run: &RunId,
        drafts: Arc<[Draft]>,
        guard: Guard,
    ) -> Result<Vec<EventId>> {
        let stream = StreamName::flow(run);
        let writes = drafts.iter().any(|draft| draft.kind.family() == "state");
        for _ in 0..TRIES {
            let (context, expect) = if writes {
                let loaded = self.load(run).await?;
                if guard.if_len.is_some_and(|len| len != loaded.state.len) {
                    return Err(StoreError::Conflict(run.clone()).into());
                }
                if loaded.state.status.is_ended() {
                    return Err(StoreError::RunEnded(run.clone()).into());
                }
                let version = loaded.record.version.clone();
                let flow = self
                    .flows()
                    .compiled(&loaded.record.flow, Some(&version))
                    .await?;
                check_writes(&flow.plan, &loaded.state, &drafts)?;
                (loaded.context(), Expect::Len(loaded.state.len))
            } else {
                (self.context_of(run).await?, Expect::Any)
            };
            match self
                .streams()
                .place(&stream, context, expect, drafts.clone(), &guard)
                .await
            {
                Err(StoreError::Conflict(_)) => {}
                answer => return answer.map_err(Error::Store),
            }
        }
        Err(Error::Busy)
    }

    /// The envelope of a run's events. Whether the run still exists is checked by the commit.
    async fn context_of(&self, run: &RunId) -> Result<EventContext> {
        if let Some(context) = self.cache().context(run) {
            return Ok(context);
        }
        let era = self.cache().era(run);
        let record = self.base().store().run(run).await?;
        let record = record.ok_or_else(|| StoreError::RunNotFound(run.clone()))?;
        let context = EventContext {
            run_id: Name::from(run.as_str()),
            flow_name: record.flow,
            tenant_id: record.tenant,
        };
        self.cache().put_context(era, run, context.clone());
        Ok(context)
    }
}

/// Whether the run's state may become the result of the writes.
pub(crate) fn check_writes(plan: &Plan, state: &RunState, drafts: &[Draft]) -> Result<()> {
    let mut after = state.clone();
    for draft in drafts {
        let fact = Fact::read(draft);
        check_value(largest(&fact), plan.limits.max_value_bytes)?;
        if is_too_deep(&fact) {
            return Err(Error::TooDeep { what: "state" });
        }
        after.apply_fact(&fact, draft.ms);
    }
    let (bytes, limit) = (after.state.bytes(), plan.limits.max_state_bytes);
    if bytes > limit {
        return Err(Error::TooLarge {
            what: "state",
            bytes,
            limit,
        });
    }
    let schema = plan.state_schema.as_ref();
    let issues = schema.map(|schema| state_issues(schema, &after.state));
    match issues.filter(|issues| !issues.is_empty()) {
        Some(issues) => Err(Error::StateInvalid(issues)),
        None => Ok(()),
    }
}

/// The bytes of the largest value among the writes.
fn largest(fact: &Fact) -> usize {
    match fact {
        Fact::StateSet(write) => write.value.bytes(),
        Fact::StateBatch(batch) => {
            let values = batch.operations.iter().filter_map(|op| op.value.as_ref());
            values.map(Json::bytes).max().unwrap_or_default()
        }
        Fact::StateSnapshot(state) => {
            let values = state.iter().map(|(_, value)| value.bytes());
            values.max().unwrap_or_default()
        }
        _ => 0,
    }
}
