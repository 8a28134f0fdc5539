//! The state of a job, as its handler reads and writes it.

use riverrun_contract::state_issues;
use riverrun_engine::{RunState, SchemaIssue};
use riverrun_protocol::WorkError;
use riverrun_store::Expect;
use riverrun_types::{Draft, ErrorCode, EventType, Json, Path, State};
use serde_json::json;

use super::{
    JobHost,
    params::{BatchParams, KeyParams, params},
};
use crate::queues::record;

/// How often a conditional write is checked again because the stream moved.
const TRIES: usize = 20;

/// The question of a handler about a state.
pub(crate) enum StateRead {
    Get(Path),
    Has(Path),
    All,
}

impl StateRead {
    /// Reads `state.get`, `state.has` or `state.getAll`.
    pub fn of(method: &str, asked: &Json) -> Result<Self, WorkError> {
        let key = || path(&params::<KeyParams>(asked)?.key);
        Ok(match method {
            "state.get" => Self::Get(key()?),
            "state.has" => Self::Has(key()?),
            _ => Self::All,
        })
    }

    pub fn answer(&self, known: &RunState) -> Json {
        let (state, version) = (&known.state, known.len);
        match self {
            Self::Get(path) => {
                let value = state.path(path);
                Json::of(&record::Read { value, version })
            }
            Self::Has(path) => Json::of(&json!({"has": state.path(path).is_some()})),
            Self::All => Json::of(&record::ReadAll { state, version }),
        }
    }
}

impl JobHost {
    /// Answers `state.*`; nothing if no such method exists.
    pub(super) async fn answer_of_state(
        &self,
        method: &str,
        asked: &Json,
    ) -> Option<Result<Json, WorkError>> {
        Some(match method {
            "state.get" | "state.has" | "state.getAll" => self.read(method, asked).await,
            "state.set" => self.set(asked).await,
            "state.delete" => self.delete(asked).await,
            "state.setBatch" => self.set_batch(asked).await,
            _ => return None,
        })
    }

    async fn set(&self, asked: &Json) -> Result<Json, WorkError> {
        let KeyParams {
            key,
            value,
            if_version,
            ..
        } = params(asked)?;
        path(&key)?;
        let data = Json::of(&record::Write {
            kind: None,
            key: &key,
            value: &value.unwrap_or_default(),
        });
        self.write(EventType::StateSet, data, if_version).await
    }

    async fn delete(&self, asked: &Json) -> Result<Json, WorkError> {
        let KeyParams {
            key, if_version, ..
        } = params(asked)?;
        path(&key)?;
        let data = Json::of(&json!({ "key": key }));
        self.write(EventType::StateDelete, data, if_version).await
    }

    async fn set_batch(&self, asked: &Json) -> Result<Json, WorkError> {
        let BatchParams {
            values, if_version, ..
        } = params(asked)?;
        let mut operations = Vec::with_capacity(values.len());
        for (key, value) in &values {
            path(key)?;
            operations.push(record::Write {
                kind: Some("set"),
                key,
                value,
            });
        }
        let data = Json::of(&record::Writes { operations });
        self.write(EventType::StateBatch, data, if_version).await
    }

    async fn read(&self, method: &str, asked: &Json) -> Result<Json, WorkError> {
        let read = StateRead::of(method, asked)?;
        self.said.settled().await;
        let mut stream = self.stream.lock().await;
        if stream.is_none() {
            *stream = Some(self.read_stream().await?);
        }
        let known = stream
            .as_ref()
            .ok_or_else(|| WorkError::new(ErrorCode::Internal, "no state"))?;
        Ok(read.answer(known))
    }

    /// Writes to the state, if it has the version that the writer expects.
    async fn write(
        &self,
        kind: EventType,
        data: Json,
        if_version: Option<u64>,
    ) -> Result<Json, WorkError> {
        let mut said = self.said.take().await;
        let mut guard = self.stream.lock().await;
        for _ in 0..TRIES {
            let mut known = match guard.take() {
                Some(known) => known,
                None => self.read_stream().await?,
            };
            if let Some(version) = if_version
                && version != known.len
            {
                let (message, version) = ("the state has changed meanwhile", known.len);
                *guard = Some(known);
                let error = WorkError::new(ErrorCode::StateConflict, message);
                return Err(error.details(&json!({ "version": version })));
            }
            let mut draft = Draft::new(self.queues.base().now_ms(), kind.clone());
            draft.data = Some(data.clone());
            let mut after = known.clone();
            after.apply(&draft);
            if let Some(issues) = self.breaks(&known.state, &after.state) {
                *guard = Some(known);
                return Err(invalid(&issues));
            }
            let expect = Expect::Len(known.len);
            match self.append_after(&mut said, draft.clone(), expect).await {
                Ok(placed) => {
                    let len = placed.id.seq + 1;
                    for draft in placed.said.iter().chain([&draft]) {
                        known.apply(draft);
                    }
                    *guard = Some(known);
                    return Ok(Json::of(&json!({ "version": len })));
                }
                // A log line or another write came between: read again.
                Err(error) if error.code == ErrorCode::Conflict => {}
                Err(error) => return Err(error),
            }
        }
        Err(WorkError::new(
            ErrorCode::Busy,
            "the job's stream moves faster than it can be written",
        ))
    }

    /// The issues of a state that the write introduces.
    fn breaks(&self, before: &State, after: &State) -> Option<Vec<SchemaIssue>> {
        let schema = self.process.config.state_schema.as_ref()?;
        let mut issues = state_issues(schema, after);
        if !issues.is_empty() {
            let known = state_issues(schema, before);
            issues.retain(|issue| !known.contains(issue));
        }
        (!issues.is_empty()).then_some(issues)
    }
}

fn invalid(issues: &[SchemaIssue]) -> WorkError {
    let first = issues.first();
    let message = first.map_or_else(String::new, |issue| {
        format!("the write breaks the state's schema{}", issue.described())
    });
    WorkError::new(ErrorCode::StateInvalid, message).details(&json!({ "issues": issues }))
}

pub(crate) fn path(key: &str) -> Result<Path, WorkError> {
    let path = Path::new(key);
    match path.is_valid() {
        true => Ok(path),
        false => Err(WorkError::new(ErrorCode::BadRequest, "key: is no path").permanent()),
    }
}
