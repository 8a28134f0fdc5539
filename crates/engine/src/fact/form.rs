//! A fact's form as an event, there and back.

use std::borrow::Cow;

use riverrun_types::{Draft, EventType, Millis, StepRef};
use serde::Deserialize;

use super::{Fact, wire};
use crate::Cancellation;

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
            }),
            Self::Paused { reason: None } => plain(T::FlowPaused),
            Self::Paused { reason } => plain(T::FlowPaused).data(wire::Reason {
                reason: reason.as_deref().map(Cow::Borrowed),
            }),
            Self::Resumed => plain(T::FlowResumed),
            Self::Forked { deadline } => plain(T::FlowForked).data(wire::Forked {
                deadline: *deadline,
            }),
            Self::StepStarted(at) => step(T::StepStarted, at),
            Self::StepCompleted {
                at,
                result: None,
                output_key: None,
                next: None,
            } => step(T::StepCompleted, at),
            Self::StepCompleted {
                at,
                result,
                output_key,
                next,
            } => step(T::StepCompleted, at).data(wire::StepCompleted {
                result: result.clone(),
                output_key: output_key.as_ref().map(Cow::Borrowed),
                next: next.clone(),
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
            } => step(T::StepResumed, at).data(wire::StepResumed {
                reason: Cow::Borrowed(reason),
                await_duration: *waited_ms,
            }),
            Self::StepCancelled { at, cancellation } => {
                step(T::StepCancelled, at).data(wire::Cancelled {
                    source: Cow::Borrowed(&cancellation.source),
                    reason: cancellation.reason.as_deref().map(Cow::Borrowed),
                    duration: None,
                })
            }
            Self::AwaitTime {
                at,
                until_ms,
                reason,
            } => step(T::StepAwaitTime, at).data(wire::AwaitTime {
                resume_at: *until_ms,
                reason: reason.as_deref().map(Cow::Borrowed),
            }),
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
            Self::Other => plain(T::Other("other".into())),
        }
    }

    /// The meaning of an event. An event that is not of the form that its type promises changes
    /// nothing: what enters a stream from outside is checked at the door, and what the engine
    /// wrote reads back.
    pub fn read(draft: &Draft) -> Self {
        Self::try_read(draft).unwrap_or(Self::Other)
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
            T::StepStarted => Self::StepStarted(at()?),
            T::StepCompleted => {
                let wire::StepCompleted {
                    result,
                    output_key,
                    next,
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
                } = data(draft)?;
                Self::StepResumed {
                    at: at()?,
                    reason: reason.into_owned(),
                    waited_ms: await_duration,
                }
            }
            T::StepCancelled => {
                let wire::Cancelled { source, reason, .. } = data(draft)?;
                Self::StepCancelled {
                    at: at()?,
                    cancellation: cancellation(source, reason),
                }
            }
            T::StepAwaitTime => {
                let wire::AwaitTime { resume_at, reason } = data(draft)?;
                Self::AwaitTime {
                    at: at()?,
                    until_ms: resume_at,
                    reason: reason.map(Cow::into_owned),
                }
            }
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
