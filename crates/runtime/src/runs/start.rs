//! Starting runs.

use std::sync::Arc;

use riverrun_contract::{schema_issues, state_issues};
use riverrun_engine::{Plan, RunState, Start};
use riverrun_store::{
    Change, Error as StoreError, NewRun, NewRunTask, Origin, RunLease, RunRecord,
};
use riverrun_types::{Draft, Json, Name, RunId, RunStatus, State, event::EventContext};
use serde_json::{Map, Value, json};
use tokio::sync::{OwnedSemaphorePermit, oneshot};

use super::{
    Runs,
    append::check_writes,
    cache::{CachedRun, News},
    drive::{Driver, Effectful, projection},
    load::Loaded,
    reads::RunView,
};
use crate::{
    base::{Error, Result},
    queues::RunWish,
    streams::read,
};

/// A request to start a run.
#[derive(Clone, Debug)]
pub struct StartRequest {
    pub flow: String,
    /// The newest version when absent.
    pub version: Option<String>,
    pub input: Json,
    /// A fresh id when absent.
    pub run_id: Option<RunId>,
    /// A second request with the same key for the same flow and tenant is answered with the first
    /// run.
    pub idempotency_key: Option<String>,
    pub tenant: Option<String>,
    pub tags: Vec<String>,
    pub metadata: Option<Json>,
    pub delay_ms: Option<u64>,
    /// Written over the state that the input creates, before the first step begins.
    pub state: Map<String, Value>,
    /// The story that the run belongs to; its own when absent.
    pub correlation_id: Option<String>,
    /// The cause: the id of a run, a job or an event.
    pub causation_id: Option<String>,
    /// The number of events that started a run on the way to this one. A caller that starts it by
    /// an event enforces the limit ([`crate::Options::max_chain`]).
    pub chain: u32,
    /// A trigger starts it, so its key and its metadata may be those of a trigger.
    pub by_trigger: bool,
    /// Committed with the new run, or not at all: if the key belongs to an earlier run, nothing
    /// changes.
    pub also: Vec<Change>,
    pub(crate) origin: Option<Origin>,
}

impl From<RunWish> for StartRequest {
    fn from(wish: RunWish) -> Self {
        let mut request = Self::new(wish.flow, wish.input);
        request.version = wish.version;
        request.run_id = wish.run_id;
        request.idempotency_key = wish.idempotency_key;
        request.tenant = wish.tenant;
        request.tags = wish.tags;
        request.metadata = wish.metadata;
        request.delay_ms = wish.delay_ms;
        request.correlation_id = wish.correlation_id;
        request.causation_id = wish.causation_id;
        request.chain = wish.chain;
        request
    }
}

impl StartRequest {
    pub fn new(flow: impl Into<String>, input: impl Into<Json>) -> Self {
        Self {
            flow: flow.into(),
            version: None,
            input: input.into(),
            run_id: None,
            idempotency_key: None,
            tenant: None,
            tags: Vec::new(),
            metadata: None,
            delay_ms: None,
            state: Map::new(),
            correlation_id: None,
            causation_id: None,
            chain: 0,
            by_trigger: false,
            also: Vec::new(),
            origin: None,
        }
    }
}

/// A run that was started, now or by an earlier request with the same idempotency key.
#[derive(Clone)]
pub struct Started {
    pub run: RunId,
    pub status: RunStatus,
    pub created: bool,
    /// Its state when it became durable.
    pub state: Arc<RunState>,
    record: RunRecord,
}

impl Started {
    pub(crate) fn new(record: RunRecord, state: Arc<RunState>, created: bool) -> Self {
        Self {
            run: record.id.clone(),
            status: state.status,
            created,
            state,
            record,
        }
    }

    pub(crate) fn known(&self) -> CachedRun {
        CachedRun {
            state: self.state.clone(),
            context: EventContext {
                run_id: self.run.as_str().into(),
                flow_name: self.record.flow.clone(),
                tenant_id: self.record.tenant.clone(),
            },
            version: self.record.version.clone(),
            record: Some(Arc::new(self.record.clone())),
        }
    }

    /// The run as it was when it became durable: the whole run if it had ended.
    pub fn view(self) -> RunView {
        RunView {
            loaded: Loaded {
                record: self.record,
                state: self.state,
            },
        }
    }
}

impl Runs {
    /// Starts a run. When this returns it is on disk; steps without effects at its beginning have
    /// already run and are part of the same commit.
    pub async fn start(&self, request: StartRequest) -> Result<Started> {
        self.base().refuse_when_stopping()?;
        request.check()?;
        request.check_origin()?;
        let flow = self
            .flows()
            .compiled(&request.flow, request.version.as_deref())
            .await?;
        check_input(&flow.plan, &request.input)?;
        let now = self.base().now_ms();
        let run = request.run_id.clone().unwrap_or_else(RunId::fresh);
        let not_before = request
            .delay_ms
            .filter(|delay| *delay > 0)
            .map(|delay| now.saturating_add(i64::try_from(delay).unwrap_or(i64::MAX)));
        let start = Start {
            input: request.input.clone(),
            not_before,
            parent: None,
            chain: request.chain,
            correlation_id: request.correlation_id.as_deref().map(Name::from),
            causation_id: request.causation_id.as_deref().map(Name::from),
        };
        let begun = riverrun_engine::start(&flow.plan, start, now);
        let new = new_run(&run, &flow.plan, &request, now);
        let mut driver = Driver::unborn(self.clone(), run.clone(), flow, new.context(), begun);
        if let Some(write) = first_write(&request.state, now)? {
            check_writes(
                &driver.flow.plan,
                &driver.state,
                std::slice::from_ref(&write),
            )?;
            driver.append(write);
        }
        let permit = match self.alone().is_over() {
            true => self.drivers().clone().try_acquire_owned().ok(),
            // The driver that claims the run begins it.
            false => None,
        };
        let effectful = if permit.is_some() {
            Effectful::Begin
        } else {
            Effectful::Leave
        };
        driver.advance(effectful).await;
        let is_fresh = request.run_id.is_none();
        let also = request.also;
        match self.bring_forth(driver, new, also, permit, is_fresh).await {
            Err(Error::Store(StoreError::Duplicate(first))) => {
                let Loaded { record, state } = self.load(&first).await?;
                Ok(Started::new(record, state, false))
            }
            answer => answer,
        }
    }

    /// Commits a new run and, if it can go on now, drives it here.
    async fn bring_forth(
        &self,
        mut driver: Driver,
        mut new: NewRun,
        also: Vec<Change>,
        permit: Option<OwnedSemaphorePermit>,
        is_fresh: bool,
    ) -> Result<Started> {
        let run = driver.run.clone();
        let now = self.base().now_ms();
        let has_more = driver.has_more();
        let busy = !driver.ready.is_empty() || has_more;
        let token = rand::random::<u64>() >> 1;
        let holder = (busy && permit.is_some()).then(|| self.base().hub().hold(&run));
        new.task = if driver.state.status.is_ended() {
            None
        } else if holder.is_some() {
            let until_ms = now.saturating_add(self.base().lease_ms());
            Some(NewRunTask::Leased {
                token,
                owner: self.base().options().owner.clone(),
                until_ms,
            })
        } else {
            let at_ms = driver.state.wake_ms();
            Some(NewRunTask::Ready {
                at_ms: if has_more { at_ms.min(now) } else { at_ms },
            })
        };
        let (mut commit, record) = driver.create_commit(new).await?;
        commit.changes.extend(also);
        let news = News {
            run: run.clone(),
            known: driver.known(),
            era: None,
            is_fresh,
            reader: None,
        };
        let Some(holder) = holder else {
            self.commit(commit, Some(news)).await?;
            return Ok(Started::new(record, driver.state, true));
        };
        // In a task of its own: a caller that is dropped between the commit and the first step must
        // not leave a leased run that is not driven until its lease expires.
        let runs = self.clone();
        let (born, started) = oneshot::channel();
        self.base().spawn(async move {
            if let Err(error) = runs.commit(commit, Some(news)).await {
                let _ = born.send(Err(error));
                return;
            }
            driver.born();
            let keep = runs.keep(RunLease { run, token });
            let _ = born.send(Ok(driver.state.clone()));
            driver.go_on(keep, holder).await;
            drop(permit);
        });
        let state = started.await.map_err(|_| Error::ShuttingDown)??;
        Ok(Started::new(record, state, true))
    }
}

/// Whether a flow accepts this input.
pub(crate) fn check_input(plan: &Plan, input: &Json) -> Result<()> {
    let limit = plan.limits.max_state_bytes;
    if input.bytes() > limit {
        return Err(Error::TooLarge {
            what: "input",
            bytes: input.bytes(),
            limit,
        });
    }
    if input.is_deeper(Json::MAX_VALUE_DEPTH) {
        return Err(Error::TooDeep { what: "input" });
    }
    if let Some(schema) = &plan.input_schema {
        let issues = schema_issues(schema, input);
        if !issues.is_empty() {
            return Err(Error::InputInvalid(issues));
        }
    }
    // The input becomes the first state, so it may not break the state's schema either.
    if let Some(schema) = &plan.state_schema {
        let issues = state_issues(schema, &State::from_input(input));
        if !issues.is_empty() {
            return Err(Error::StateInvalid(issues));
        }
    }
    Ok(())
}

/// The event that writes the state with which a run is to begin.
fn first_write(state: &Map<String, Value>, now: i64) -> Result<Option<Draft>> {
    if state.is_empty() {
        return Ok(None);
    }
    let set = |(key, value)| json!({ "type": "set", "key": key, "value": value });
    let operations: Vec<Value> = state.iter().map(set).collect();
    let event = json!({ "type": "state.batch", "data": { "operations": operations } });
    read(&Json::of(&event), now).map(Some)
}

fn new_run(run: &RunId, plan: &Plan, request: &StartRequest, now: i64) -> NewRun {
    let name = |text: &Option<String>| text.as_deref().map(Name::from);
    NewRun {
        id: run.clone(),
        flow: plan.id.clone(),
        version: plan.version.clone(),
        created_ms: now,
        idempotency_key: name(&request.idempotency_key),
        tenant: name(&request.tenant),
        tags: request
            .tags
            .iter()
            .map(|tag| Name::from(tag.as_str()))
            .collect(),
        metadata: request.metadata.clone(),
        parent: None,
        origin: request.origin.clone(),
        correlation: name(&request.correlation_id),
        projection: projection(&RunState::new()),
        turn: 1,
        events: Arc::from([]),
        task: None,
        snapshot: None,
    }
}
