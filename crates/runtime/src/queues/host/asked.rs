//! The requests of a handler, apart from those to its state.

use std::{pin::pin, task::Poll, time::Duration};

use riverrun_protocol::{TryAgain, WorkError};
use riverrun_store::{Added, Commit, Error as StoreError, Expect, Note};
use riverrun_types::{Draft, ErrorCode, EventType, Json, Millis, Retry, error_code::Disposition};
use serde_json::{Value, json};

use super::{
    JobHost,
    emit::emitted,
    failed,
    params::{
        CallParams, CheckpointParams, EmitParams, EnqueueParams, MemoParams, StartParams, params,
    },
    refused,
};
use crate::{
    base::Error,
    queues::{
        call::CallRequest,
        record,
        tries::{FailedTry, Next, Tried, final_answer},
    },
};

/// Whether a lease holds, and until when.
pub(super) fn lease(valid: bool, until_ms: Millis) -> Json {
    Json::of(&json!({"valid": valid, "untilMs": until_ms}))
}

impl JobHost {
    /// Executes a request, and answers when it is durable.
    pub(super) async fn answer(&self, method: &str, asked: &Json) -> Result<Json, WorkError> {
        if let Some(answer) = self.answer_of_state(method, asked).await {
            return answer;
        }
        match method {
            "emit" => self.emit(asked).await,
            "memo" => self.memo(asked).await,
            "memo.failed" => self.try_failed(asked).await,
            "checkpoint" => self.checkpoint(asked).await,
            "lease" => self.keep_lease().await,
            "enqueue" => self.enqueue(asked).await,
            "call" => self.call(asked).await,
            "start" => self.start(asked).await,
            _ => {
                let message = format!("there is no method {method:?}");
                Err(WorkError::new(ErrorCode::UnknownMethod, message).permanent())
            }
        }
    }

    async fn emit(&self, asked: &Json) -> Result<Json, WorkError> {
        let EmitParams { kind, data, .. } = params(asked)?;
        let mut draft = emitted(&kind, data, self.queues.base().now_ms())?;
        draft.correlation_id = self.correlation_id.as_deref().map(Into::into);
        let id = self.append(draft, Expect::Any).await?.id;
        self.forget_stream().await;
        Ok(Json::of(&json!({ "id": id })))
    }

    async fn memo(&self, asked: &Json) -> Result<Json, WorkError> {
        let memo = params(asked)?;
        self.record(memo).await
    }

    /// A try of a `ctx.run` has failed. A job cannot be suspended: its code waits for the next try
    /// itself, and the tries are counted in this attempt alone.
    async fn try_failed(&self, asked: &Json) -> Result<Json, WorkError> {
        let failed: FailedTry = params(asked)?;
        let process = &self.process.config.policy;
        let retry = match &self.own_retry {
            Some(retry) => Retry::clone(retry),
            None => process.retry_for_ever_if_said(),
        };
        match self.tries.next(&failed, &retry)? {
            Next::Again { failures, delay_ms } => {
                let tried = Tried {
                    failures,
                    until_ms: self.queues.base().now_ms().saturating_add(delay_ms),
                    bytes: 0,
                };
                self.tries.failed(failed.operation(), tried);
                let answer = TryAgain {
                    attempt: failures.saturating_add(1),
                    retry_after_ms: u64::try_from(delay_ms).unwrap_or_default(),
                    suspend: false,
                };
                Ok(Json::of(&answer))
            }
            Next::Final(error) => {
                let memo = MemoParams {
                    name: failed.name.to_string(),
                    nth: failed.nth,
                    value: None,
                    error: Some(error),
                };
                self.record(memo).await?;
                Ok(final_answer())
            }
        }
    }

    async fn record(&self, memo: MemoParams) -> Result<Json, WorkError> {
        let MemoParams {
            name,
            nth,
            value,
            error,
        } = memo;
        let value = error.is_none().then(|| value.unwrap_or_default());
        let draft =
            Draft::new(self.queues.base().now_ms(), EventType::StepMemo).data(record::Memo {
                name: &name,
                nth,
                value: value.as_ref(),
                error: error.as_ref(),
            });
        self.append(draft, Expect::Any).await?;
        self.forget_stream().await;
        Ok(Json::of(&json!({})))
    }

    async fn checkpoint(&self, asked: &Json) -> Result<Json, WorkError> {
        let CheckpointParams { data } = params(asked)?;
        let Some(lease) = self.home.lease() else {
            let message =
                "a call has no checkpoints: it is not tried again, so nobody would go on from them";
            return Err(WorkError::new(ErrorCode::NotInACall, message).permanent());
        };
        let note = Note {
            checkpoint: Some(data.unwrap_or_else(Json::null)),
            ..Note::new(lease, self.queues.base().now_ms())
        };
        let commit = Commit::of(note.into());
        self.queues.base().commit(commit).await.map_err(refused)?;
        Ok(Json::of(&json!({})))
    }

    async fn keep_lease(&self) -> Result<Json, WorkError> {
        // No other handler can take over a call: it belongs to its handler as long as it runs.
        let Some(lease) = self.home.lease() else {
            return Ok(Json::of(&json!({"valid": true})));
        };
        let now = self.queues.base().now_ms();
        let until = now.saturating_add(self.queues.base().lease_ms());
        let token = lease.token;
        let beats = self.queues.base().store().keep_jobs(&[token], until).await;
        if !beats.map_err(refused)?.lost.is_empty() {
            return Ok(self::lease(false, 0));
        }
        // A lease holds many jobs, and outlasts those that were taken from it: what counts is
        // whether it still holds this one.
        match self
            .queues
            .base()
            .commit(self.home.fenced(None, now).await)
            .await
        {
            Ok(_) => Ok(self::lease(true, until)),
            Err(StoreError::JobLost(_)) => Ok(self::lease(false, 0)),
            Err(error) => Err(refused(error)),
        }
    }

    async fn call(&self, asked: &Json) -> Result<Json, WorkError> {
        let CallParams {
            process,
            input,
            timeout_ms,
        } = params(asked)?;
        let request = CallRequest {
            process,
            input: input.unwrap_or_else(Json::null),
            timeout: timeout_ms.map(Duration::from_millis),
            chain: self.chain,
            correlation_id: self.correlation_id.clone(),
            causation_id: Some(self.home.id().to_string()),
            tenant_id: self.tenant_id.clone(),
            ..CallRequest::default()
        };
        let called = self.queues.call(request).await;
        let value = called.map_err(of_caller)?;
        Ok(Json::of(&record::Value { value: &value }))
    }

    async fn start(&self, asked: &Json) -> Result<Json, WorkError> {
        let mut wish = params::<StartParams>(asked)?.wish();
        if wish.tenant.is_none() {
            wish.tenant = self.tenant_id.clone();
        }
        wish.correlation_id = self.correlation_id.clone();
        wish.causation_id = Some(self.home.id().to_string());
        wish.chain = self.chain;
        let runs = self.queues.runs().ok_or(Error::ShuttingDown);
        let started = runs.map_err(failed)?.start(wish).await.map_err(failed)?;
        Ok(Json::of(
            &json!({"runId": started.run, "created": started.created}),
        ))
    }

    async fn enqueue(&self, asked: &Json) -> Result<Json, WorkError> {
        let mut jobs = params::<EnqueueParams>(asked)?.jobs()?;
        for (_, job) in &mut jobs {
            let options = &mut job.options;
            options.chain = self.chain;
            options
                .causation_id
                .get_or_insert_with(|| self.home.id().to_string());
            if options.correlation_id.is_none() {
                options.correlation_id = self.correlation_id.clone();
            }
            if options.tenant_id.is_none() {
                options.tenant_id = self.tenant_id.clone();
            }
        }
        let place = self.adding.lock().await;
        let prepared = self.queues.prepare_each(jobs, false).await;
        let mut stored = pin!(self.queues.add_jobs(prepared.map_err(failed)?));
        // Once the writer has them their order is fixed, and the next need not wait for the disk.
        let first = futures::poll!(stored.as_mut());
        drop(place);
        let added = match first {
            Poll::Ready(added) => added,
            Poll::Pending => stored.await,
        };
        Ok(self::added(&added.map_err(failed)?))
    }
}

/// The added jobs, as the handler gets them.
fn added(added: &[Added]) -> Json {
    let jobs: Vec<Value> = added
        .iter()
        .map(|added| json!({"jobId": added.id, "created": added.created}))
        .collect();
    Json::of(&json!({ "jobs": jobs }))
}

/// The error of a call as its caller's own: that the called process was lost, or is to run
/// elsewhere, is not a loss of the caller, which has failed if it does not catch the error.
fn of_caller(mut error: WorkError) -> WorkError {
    let is_release = error.code.disposition() == Disposition::Release;
    if is_release && error.code != ErrorCode::ShuttingDown {
        error.retriable.get_or_insert(true);
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queues::attempt::{is_loss, is_released};

    #[test]
    fn the_loss_of_a_called_process_is_a_failure_of_its_caller() {
        for code in [
            ErrorCode::WorkerLost,
            ErrorCode::NoWorker,
            ErrorCode::RunnerEnded,
        ] {
            let error = WorkError::new(code, "gone");
            assert!(is_loss(&error) || is_released(&error), "{error:?}");
            let passed_on = of_caller(error);
            assert!(
                !is_loss(&passed_on) && !is_released(&passed_on),
                "{passed_on:?}"
            );
            assert_eq!(passed_on.retriable, Some(true));
        }
        let declined = WorkError::new(ErrorCode::HandlerError, "declined");
        assert_eq!(of_caller(declined).retriable, None);
    }
}
