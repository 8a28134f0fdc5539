//! A fact's form as an event, there and back.

use std::borrow::Cow;

use riverrun_types::{Draft, EventType, Json, Millis, Name, StepRef};
use serde::Deserialize;

use super::{Fact, wire};
use crate::{AwaitFor, Cancellation, Memo, MemoRetry, Operation};

impl Fact {
    /// The event that says this.
    pub fn draft(&self, ms: Millis) -> Draft {
        use EventType as T;
        let plain = |kind| Draft::new(ms, kind);
        let step = |kind, at: &StepRef| Draft::new(ms, kind).step(at.clone());
        match self {
            Self::Started(started) => plain(T::FlowStarted).data(started),
            Self::Completed {
                result,
                duration_ms,
            } => plain(T::FlowCompleted).data(wire::Completed {
                result: result.clone(),
                duration: *duration_ms,
            }),
            Self::Failed { error, duration_ms } => plain(T::FlowFailed).data(wire::Failed {
                error: Cow::Borrowed(error),
                duration: *duration_ms,
            }),
            Self::Cancelled {
                cancellation,
                duration_ms,
            } => plain(T::FlowCancelled).data(wire::Cancelled {
                source: Cow::Borrowed(&cancellation.source),
                reason: cancellation.reason.as_deref().map(Cow::Borrowed),
                duration: Some(*duration_ms),
                compensation: None,
            }),
            Self::Paused { reason: None } => plain(T::FlowPaused),
            Self::Paused { reason } => plain(T::FlowPaused).data(wire::Reason {
                reason: reason.as_deref().map(Cow::Borrowed),
            }),
            Self::Resumed => plain(T::FlowResumed),
            Self::Forked { deadline } => plain(T::FlowForked).data(wire::Forked {
                deadline: *deadline,
            }),
            Self::StepStarted { at, at_ms: None } => step(T::StepStarted, at),
            Self::StepStarted { at, at_ms } => {
                step(T::StepStarted, at).data(wire::StepStarted { started_at: *at_ms })
            }
            Self::StepCompleted {
                at,
                result: None,
                output_key: None,
                next: None,
                compensation: None,
                emits,
            } if emits.is_empty() => step(T::StepCompleted, at),
            Self::StepCompleted {
                at,
                result,
                output_key,
                next,
                compensation,
                emits,
            } => step(T::StepCompleted, at).data(wire::StepCompleted {
                result: result.clone(),
                output_key: output_key.as_ref().map(Cow::Borrowed),
                next: next.clone(),
                compensation: compensation.clone(),
                emits: emits.clone(),
            }),
            Self::StepFailed {
                at,
                error,
                retry_at,
                next,
            } => step(T::StepFailed, at).data(wire::StepFailed {
                error: Cow::Borrowed(error),
                will_retry: retry_at.is_some(),
                next_retry_at: *retry_at,
                next: next.clone(),
            }),
            Self::StepRetry {
                at,
                reason,
                delay_ms,
                lost,
            } => step(T::StepRetry, at).data(wire::StepRetry {
                reason: Cow::Borrowed(reason),
                delay_ms: *delay_ms,
                lost: *lost,
            }),
            Self::StepResumed {
                at,
                reason,
                waited_ms,
                value,
            } => step(T::StepResumed, at).data(wire::StepResumed {
                reason: Cow::Borrowed(reason),
                await_duration: *waited_ms,
                value: value.clone(),
            }),
            Self::StepParked { at, parked } => step(T::StepParked, at).data(parked),
            Self::StepReleased {
                at,
                reason,
                waited_ms,
            } => step(T::StepReleased, at).data(wire::StepReleased {
                reason: Cow::Borrowed(reason),
                parked_duration: *waited_ms,
            }),
            Self::StepCancelled {
                at,
                cancellation,
                compensation,
            } => step(T::StepCancelled, at).data(wire::Cancelled {
                source: Cow::Borrowed(&cancellation.source),
                reason: cancellation.reason.as_deref().map(Cow::Borrowed),
                duration: None,
                compensation: compensation.clone(),
            }),
            Self::AwaitTime {
                at,
                until_ms,
                reason,
                output,
                next,
            } => step(T::StepAwaitTime, at).data(wire::AwaitTime {
                resume_at: *until_ms,
                reason: reason.as_deref().map(Cow::Borrowed),
                output: output.clone(),
                next: next.clone(),
            }),
            Self::Await { at, awaiting } => {
                let kind = match awaiting.what {
                    AwaitFor::Time | AwaitFor::Retry(_) => T::StepAwaitTime,
                    AwaitFor::Event { .. } => T::StepAwaitEvent,
                    AwaitFor::Trigger { .. } => T::StepAwaitTrigger,
                };
                step(kind, at).data(wire::Await::from(awaiting))
            }
            Self::AwaitTimeout {
                at,
                kind,
                waited_ms,
                next,
                value,
            } => step(T::StepAwaitTimeout, at).data(wire::AwaitTimeout {
                await_type: kind.clone(),
                duration: *waited_ms,
                next: next.clone(),
                value: value.clone(),
            }),
            Self::Entered {
                at,
                input: None,
                joined: false,
                undoes: None,
            } => step(T::StepEntered, at),
            Self::Entered {
                at,
                input,
                joined,
                undoes,
            } => step(T::StepEntered, at).data(wire::Entered {
                input: input.clone(),
                joined: *joined,
                undoes: undoes.clone(),
            }),
            Self::Joined {
                step: name,
                kind,
                input,
            } => plain(T::StepJoined).data(wire::Joined {
                step: name.clone(),
                event_kind: kind.clone(),
                input: input.clone(),
            }),
            Self::Memo { at, memo } => step(T::StepMemo, at).data(wire::Memo {
                op: Some(memo.op.clone()).filter(|op| **op != *"memo"),
                name: memo.name.clone(),
                nth: memo.nth,
                value: memo.value.clone(),
                error: memo.error.clone(),
                emits: memo.emits.clone(),
            }),
            Self::MemoRetry {
                at,
                retry,
                delay_ms,
            } => step(T::StepMemoRetry, at).data(wire::MemoRetry {
                op: Some(retry.operation.op.clone()).filter(|op| **op != *"memo"),
                name: retry.operation.name.clone(),
                nth: retry.operation.nth,
                attempt: retry.failures,
                error: retry.error.clone(),
                delay_ms: *delay_ms,
                next_retry_at: retry.until_ms,
            }),
            Self::Compensating {
                error,
                cancellation,
            } => plain(T::FlowCompensating).data(wire::Compensating {
                error: Cow::Borrowed(error),
                cancellation: cancellation.as_ref().map(Cow::Borrowed),
            }),
            Self::Emitted { at, kind, payload } => {
                let mut draft = plain(T::parse(kind));
                draft.step = at.clone();
                draft.data = Some(payload.clone()).filter(|payload| !payload.is_null());
                draft
            }
            Self::AwaitBranches { at, fork } => {
                step(T::StepAwaitBranches, at).data(wire::Branches::from(fork))
            }
            Self::AwaitRun {
                at,
                run,
                flow,
                version,
            } => step(T::StepAwaitRun, at).data(wire::AwaitRun {
                run_id: run.clone(),
                flow: flow.clone(),
                version: version.clone(),
            }),
            Self::StateSet { key, value } => plain(T::StateSet).data(wire::StateSet {
                key: Cow::Borrowed(key),
                value: value.clone(),
            }),
            Self::StateDelete { key } => plain(T::StateDelete).data(wire::StateDelete {
                key: Cow::Borrowed(key),
            }),
            Self::StateBatch(operations) => plain(T::StateBatch).data(wire::StateBatch {
                operations: Cow::Borrowed(operations),
            }),
            Self::StateSnapshot(state) => plain(T::StateSnapshot).data(state),
            // One of the types that change no state.
            Self::Other => plain(T::Progress),
        }
    }

    /// The meaning of an event. An event that is not of the form that its type promises changes
    /// nothing: what enters a stream from outside is checked when it arrives, and what the engine
    /// wrote reads back.
    pub fn read(draft: &Draft) -> Self {
        Self::try_read(draft).unwrap_or(Self::Other)
    }

    /// The kind and the payload of an event that was emitted. The data of any other event is not read.
    pub fn emitted(draft: &Draft) -> Option<(Name, Json)> {
        if !matches!(draft.kind, EventType::Emit | EventType::Other(_)) {
            return None;
        }
        match Self::read(draft) {
            Self::Emitted { kind, payload, .. } => Some((kind, payload)),
            _ => None,
        }
    }

    /// Like `read`, but `None` where the data does not fit the type.
    pub fn try_read(draft: &Draft) -> Option<Self> {
        use EventType as T;
        let at = || draft.step.clone();
        fn data<D: for<'a> Deserialize<'a>>(draft: &Draft) -> Option<D> {
            draft.data.as_ref()?.read().ok()
        }
        Some(match &draft.kind {
            T::FlowStarted => Self::Started(data(draft)?),
            T::FlowCompleted => {
                let wire::Completed { result, duration } = data(draft)?;
                Self::Completed {
                    result,
                    duration_ms: duration,
                }
            }
            T::FlowFailed => {
                let wire::Failed { error, duration } = data(draft)?;
                Self::Failed {
                    error: error.into_owned(),
                    duration_ms: duration,
                }
            }
            T::FlowCancelled => {
                let wire::Cancelled {
                    source,
                    reason,
                    duration,
                    ..
                } = data(draft)?;
                Self::Cancelled {
                    cancellation: cancellation(source, reason),
                    duration_ms: duration.unwrap_or_default(),
                }
            }
            T::FlowPaused => Self::Paused {
                reason: data::<wire::Reason<'_>>(draft)
                    .and_then(|data| data.reason.map(Cow::into_owned)),
            },
            T::FlowResumed => Self::Resumed,
            T::StepStarted => Self::StepStarted {
                at: at()?,
                at_ms: data::<wire::StepStarted>(draft).and_then(|data| data.started_at),
            },
            T::StepCompleted => {
                let wire::StepCompleted {
                    result,
                    output_key,
                    next,
                    compensation,
                    emits,
                } = if draft.data.is_some() {
                    data(draft)?
                } else {
                    Default::default()
                };
                Self::StepCompleted {
                    at: at()?,
                    result,
                    output_key: output_key.map(Cow::into_owned),
                    next,
                    compensation,
                    emits,
                }
            }
            T::StepFailed => {
                let wire::StepFailed {
                    error,
                    next_retry_at,
                    next,
                    ..
                } = data(draft)?;
                Self::StepFailed {
                    at: at()?,
                    error: error.into_owned(),
                    retry_at: next_retry_at,
                    next,
                }
            }
            T::StepRetry => {
                let wire::StepRetry {
                    reason,
                    delay_ms,
                    lost,
                } = data(draft)?;
                Self::StepRetry {
                    at: at()?,
                    reason: reason.into_owned(),
                    delay_ms,
                    lost,
                }
            }
            T::StepResumed => {
                let wire::StepResumed {
                    reason,
                    await_duration,
                    value,
                } = data(draft)?;
                Self::StepResumed {
                    at: at()?,
                    reason: reason.into_owned(),
                    waited_ms: await_duration,
                    value,
                }
            }
            T::StepParked => Self::StepParked {
                at: at()?,
                parked: data(draft)?,
            },
            T::StepReleased => {
                let wire::StepReleased {
                    reason,
                    parked_duration,
                } = data(draft)?;
                Self::StepReleased {
                    at: at()?,
                    reason: reason.into_owned(),
                    waited_ms: parked_duration,
                }
            }
            T::StepCancelled => {
                let wire::Cancelled {
                    source,
                    reason,
                    compensation,
                    ..
                } = data(draft)?;
                Self::StepCancelled {
                    at: at()?,
                    cancellation: cancellation(source, reason),
                    compensation,
                }
            }
            T::StepAwaitTime | T::StepAwaitEvent | T::StepAwaitTrigger => {
                let what = match draft.kind {
                    T::StepAwaitTime => "time",
                    T::StepAwaitEvent => "event",
                    _ => "trigger",
                };
                match data::<wire::Await<'_>>(draft) {
                    Some(data) => Self::Await {
                        at: at()?,
                        awaiting: data.into_awaiting(what)?,
                    },
                    None => {
                        let wire::AwaitTime {
                            resume_at,
                            reason,
                            output,
                            next,
                        } = data(draft)?;
                        Self::AwaitTime {
                            at: at()?,
                            until_ms: resume_at,
                            reason: reason.map(Cow::into_owned),
                            output,
                            next,
                        }
                    }
                }
            }
            T::StepAwaitTimeout => {
                let wire::AwaitTimeout {
                    await_type,
                    duration,
                    next,
                    value,
                } = data(draft)?;
                Self::AwaitTimeout {
                    at: at()?,
                    kind: await_type,
                    waited_ms: duration,
                    next,
                    value,
                }
            }
            T::StepEntered => {
                let wire::Entered {
                    input,
                    joined,
                    undoes,
                } = match draft.data {
                    Some(_) => data(draft)?,
                    None => wire::Entered::default(),
                };
                Self::Entered {
                    at: at()?,
                    input,
                    joined,
                    undoes,
                }
            }
            T::StepJoined => {
                let wire::Joined {
                    step,
                    event_kind,
                    input,
                } = data(draft)?;
                Self::Joined {
                    step,
                    kind: event_kind,
                    input,
                }
            }
            T::StepMemoRetry => {
                let wire::MemoRetry {
                    op,
                    name,
                    nth,
                    attempt,
                    error,
                    delay_ms,
                    next_retry_at,
                } = data(draft)?;
                let op = op.unwrap_or_else(|| Name::from("memo"));
                Self::MemoRetry {
                    at: at()?,
                    retry: MemoRetry {
                        operation: Operation { op, name, nth },
                        failures: attempt,
                        error,
                        until_ms: next_retry_at,
                    },
                    delay_ms,
                }
            }
            T::StepMemo => {
                let wire::Memo {
                    op,
                    name,
                    nth,
                    value,
                    error,
                    emits,
                } = data(draft)?;
                let op = op.unwrap_or_else(|| Name::from("memo"));
                match at() {
                    // A job of a queue has no visits.
                    None => Self::Other,
                    Some(at) => Self::Memo {
                        at,
                        memo: Memo {
                            op,
                            name,
                            nth,
                            value,
                            error,
                            emits,
                        },
                    },
                }
            }
            T::FlowCompensating => {
                let wire::Compensating {
                    error,
                    cancellation,
                } = data(draft)?;
                Self::Compensating {
                    error: error.into_owned(),
                    cancellation: cancellation.map(Cow::into_owned),
                }
            }
            T::Emit => match data::<wire::Emit>(draft) {
                Some(emit) => Self::Emitted {
                    at: at(),
                    payload: emit.payload(draft),
                    kind: emit.topic,
                },
                None => Self::Other,
            },
            T::Other(kind) if !draft.kind.is_engines_own() => Self::Emitted {
                at: at(),
                kind: kind.as_ref().into(),
                payload: draft.data.clone().unwrap_or_else(Json::null),
            },
            T::StepAwaitBranches => Self::AwaitBranches {
                at: at()?,
                fork: data::<wire::Branches>(draft)?.into(),
            },
            T::StepAwaitRun => {
                let wire::AwaitRun {
                    run_id,
                    flow,
                    version,
                } = data(draft)?;
                Self::AwaitRun {
                    at: at()?,
                    run: run_id,
                    flow,
                    version,
                }
            }
            T::StateSet => {
                let wire::StateSet { key, value } = data(draft)?;
                Self::StateSet {
                    key: key.into_owned(),
                    value,
                }
            }
            T::StateDelete => Self::StateDelete {
                key: data::<wire::StateDelete<'_>>(draft)?.key.into_owned(),
            },
            T::StateBatch => {
                let wire::StateBatch { operations } = data(draft)?;
                Self::StateBatch(operations.into_owned())
            }
            T::StateSnapshot => Self::StateSnapshot(data(draft)?),
            T::FlowForked => Self::Forked {
                deadline: data::<wire::Forked>(draft)?.deadline,
            },
            _ => Self::Other,
        })
    }
}

fn cancellation(source: Cow<'_, str>, reason: Option<Cow<'_, str>>) -> Cancellation {
    Cancellation {
        source: source.into_owned(),
        reason: reason.map(Cow::into_owned),
    }
}
