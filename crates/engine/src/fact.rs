//! What the engine reads in an event and writes into one.
//!
//! A [`Fact`] is an event's meaning, typed; a draft is its form on the wire and on disk. The two
//! turn into each other without loss, so that the state a run has while it lives is the state
//! that a replay of its stream gives.

use riverrun_types::{Draft, EventType, Json, Millis, Name, Path, RunId, State, StepRef};
use serde::{Deserialize, Serialize};

use crate::{BranchSpec, Cancellation, Failure, Fork, Lineage};

#[derive(Clone, Debug, PartialEq)]
pub enum Fact {
    Started(Started),
    Completed {
        result: Json,
        duration_ms: Millis,
    },
    Failed {
        error: Failure,
        duration_ms: Millis,
    },
    Cancelled {
        cancellation: Cancellation,
        duration_ms: Millis,
    },
    Paused {
        reason: Option<String>,
    },
    Resumed,
    StepStarted(StepRef),
    StepCompleted {
        at: StepRef,
        result: Option<Json>,
        output_key: Option<Path>,
        next: Option<Name>,
    },
    StepFailed {
        at: StepRef,
        error: Failure,
        retry_at: Option<Millis>,
        next: Option<Name>,
    },
    /// `at.attempt` is the attempt that comes.
    StepRetry {
        at: StepRef,
        reason: String,
        delay_ms: Millis,
        lost: bool,
    },
    StepResumed {
        at: StepRef,
        reason: String,
        waited_ms: Millis,
    },
    StepCancelled {
        at: StepRef,
        cancellation: Cancellation,
    },
    AwaitTime {
        at: StepRef,
        until_ms: Millis,
        reason: Option<String>,
    },
    AwaitBranches {
        at: StepRef,
        fork: Fork,
    },
    AwaitRun {
        at: StepRef,
        run: RunId,
        flow: Name,
        version: Name,
    },
    StateSet {
        key: Path,
        value: Json,
    },
    StateDelete {
        key: Path,
    },
    StateBatch(Vec<StateOp>),
    StateSnapshot(State),
    /// Logs, emits, progress, custom events: they change no state.
    Other,
}

/// How a run begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Started {
    pub input: Json,
    pub version: Name,
    /// The step that is entered first.
    pub next: Name,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "iso_option")]
    pub not_before: Option<Millis>,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "iso_option")]
    pub deadline: Option<Millis>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Lineage>,
}

/// One write of a batch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StateOp {
    #[serde(rename = "type")]
    pub kind: OpKind,
    pub key: Path,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Json>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OpKind {
    Set,
    Delete,
}

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
                error: error.clone(),
                duration: *duration_ms,
            }),
            Self::Cancelled {
                cancellation,
                duration_ms,
            } => plain(T::FlowCancelled).data(wire::Cancelled {
                source: cancellation.source.clone(),
                reason: cancellation.reason.clone(),
                duration: Some(*duration_ms),
            }),
            Self::Paused { reason: None } => plain(T::FlowPaused),
            Self::Paused { reason } => plain(T::FlowPaused).data(wire::Reason {
                reason: reason.clone(),
            }),
            Self::Resumed => plain(T::FlowResumed),
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
                output_key: output_key.clone(),
                next: next.clone(),
            }),
            Self::StepFailed {
                at,
                error,
                retry_at,
                next,
            } => step(T::StepFailed, at).data(wire::StepFailed {
                error: error.clone(),
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
                reason: reason.clone(),
                delay_ms: *delay_ms,
                lost: *lost,
            }),
            Self::StepResumed {
                at,
                reason,
                waited_ms,
            } => step(T::StepResumed, at).data(wire::StepResumed {
                reason: reason.clone(),
                await_duration: *waited_ms,
            }),
            Self::StepCancelled { at, cancellation } => {
                step(T::StepCancelled, at).data(wire::Cancelled {
                    source: cancellation.source.clone(),
                    reason: cancellation.reason.clone(),
                    duration: None,
                })
            }
            Self::AwaitTime {
                at,
                until_ms,
                reason,
            } => step(T::StepAwaitTime, at).data(wire::AwaitTime {
                resume_at: *until_ms,
                reason: reason.clone(),
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
                key: key.clone(),
                value: value.clone(),
            }),
            Self::StateDelete { key } => {
                plain(T::StateDelete).data(wire::StateDelete { key: key.clone() })
            }
            Self::StateBatch(operations) => plain(T::StateBatch).data(wire::StateBatch {
                operations: operations.clone(),
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
                    error,
                    duration_ms: duration,
                }
            }
            T::FlowCancelled => {
                let wire::Cancelled {
                    source,
                    reason,
                    duration,
                } = data(draft)?;
                let cancellation = Cancellation { source, reason };
                Self::Cancelled {
                    cancellation,
                    duration_ms: duration.unwrap_or_default(),
                }
            }
            T::FlowPaused => Self::Paused {
                reason: data::<wire::Reason>(draft).and_then(|data| data.reason),
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
                    output_key,
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
                    error,
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
                    reason,
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
                    reason,
                    waited_ms: await_duration,
                }
            }
            T::StepCancelled => {
                let wire::Cancelled { source, reason, .. } = data(draft)?;
                Self::StepCancelled {
                    at: at()?,
                    cancellation: Cancellation { source, reason },
                }
            }
            T::StepAwaitTime => {
                let wire::AwaitTime { resume_at, reason } = data(draft)?;
                Self::AwaitTime {
                    at: at()?,
                    until_ms: resume_at,
                    reason,
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
                Self::StateSet { key, value }
            }
            T::StateDelete => Self::StateDelete {
                key: data::<wire::StateDelete>(draft)?.key,
            },
            T::StateBatch => Self::StateBatch(data::<wire::StateBatch>(draft)?.operations),
            T::StateSnapshot => Self::StateSnapshot(data(draft)?),
            _ => Self::Other,
        })
    }
}

/// The data of each event type as it stands on the wire.
mod wire {
    use super::*;

    #[derive(Serialize, Deserialize)]
    pub struct Completed {
        pub result: Json,
        pub duration: Millis,
    }

    #[derive(Serialize, Deserialize)]
    pub struct Failed {
        pub error: Failure,
        pub duration: Millis,
    }

    #[derive(Serialize, Deserialize)]
    pub struct Cancelled {
        pub source: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub reason: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub duration: Option<Millis>,
    }

    #[derive(Serialize, Deserialize)]
    pub struct Reason {
        pub reason: Option<String>,
    }

    #[derive(Default, Serialize, Deserialize)]
    #[serde(rename_all = "camelCase")]
    pub struct StepCompleted {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub result: Option<Json>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub output_key: Option<Path>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub next: Option<Name>,
    }

    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "camelCase")]
    pub struct StepFailed {
        pub error: Failure,
        pub will_retry: bool,
        #[serde(default, skip_serializing_if = "Option::is_none", with = "iso_option")]
        pub next_retry_at: Option<Millis>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub next: Option<Name>,
    }

    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "camelCase")]
    pub struct StepRetry {
        pub reason: String,
        pub delay_ms: Millis,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub lost: bool,
    }

    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "camelCase")]
    pub struct StepResumed {
        pub reason: String,
        pub await_duration: Millis,
    }

    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "camelCase")]
    pub struct AwaitTime {
        #[serde(with = "iso")]
        pub resume_at: Millis,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub reason: Option<String>,
    }

    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "camelCase")]
    pub struct AwaitRun {
        pub run_id: RunId,
        pub flow: Name,
        pub version: Name,
    }

    #[derive(Serialize, Deserialize)]
    pub struct StateSet {
        pub key: Path,
        pub value: Json,
    }

    #[derive(Serialize, Deserialize)]
    pub struct StateDelete {
        pub key: Path,
    }

    #[derive(Serialize, Deserialize)]
    pub struct StateBatch {
        pub operations: Vec<StateOp>,
    }

    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "camelCase")]
    pub struct Branches {
        branches: Vec<BranchData>,
        concurrency: u32,
        fail_fast: bool,
        as_list: bool,
        scoped: bool,
    }

    #[derive(Serialize, Deserialize)]
    struct BranchData {
        step: Name,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        item: Option<Json>,
    }

    impl From<&Fork> for Branches {
        fn from(fork: &Fork) -> Self {
            let branch = |spec: &BranchSpec| BranchData {
                step: spec.step.clone(),
                item: spec.item.clone(),
            };
            Self {
                branches: fork.branches.iter().map(branch).collect(),
                concurrency: fork.concurrency,
                fail_fast: fork.fail_fast,
                as_list: fork.as_list,
                scoped: fork.scoped,
            }
        }
    }

    impl From<Branches> for Fork {
        fn from(data: Branches) -> Self {
            let spec = |data: BranchData| BranchSpec {
                step: data.step,
                item: data.item,
            };
            Self {
                branches: data.branches.into_iter().map(spec).collect(),
                concurrency: data.concurrency,
                fail_fast: data.fail_fast,
                as_list: data.as_list,
                scoped: data.scoped,
            }
        }
    }
}

/// Times in event data are ISO 8601, as in the envelope.
mod iso {
    use super::*;

    pub fn serialize<S: serde::Serializer>(ms: &Millis, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&riverrun_types::time::iso(*ms))
    }

    pub fn deserialize<'de, D: serde::Deserializer<'de>>(input: D) -> Result<Millis, D::Error> {
        let text = String::deserialize(input)?;
        riverrun_types::time::parse(&text).ok_or_else(|| serde::de::Error::custom("not a time"))
    }
}

mod iso_option {
    use super::*;

    pub fn serialize<S: serde::Serializer>(
        ms: &Option<Millis>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match ms {
            Some(ms) => iso::serialize(ms, serializer),
            None => serializer.serialize_none(),
        }
    }

    pub fn deserialize<'de, D: serde::Deserializer<'de>>(
        input: D,
    ) -> Result<Option<Millis>, D::Error> {
        let text = Option::<String>::deserialize(input)?;
        let parse = |text: String| {
            riverrun_types::time::parse(&text).ok_or_else(|| serde::de::Error::custom("not a time"))
        };
        text.map(parse).transpose()
    }
}
