//! The stream into which a handler writes.

use std::sync::Arc;

use riverrun_store::{Append, Commit, Expect, JobLease, Note};
use riverrun_types::{Draft, Json, Millis, Name, RunId, StreamName, event::EventContext};
use tokio::sync::SetOnce;

use crate::queues::attempt::to_job;

#[derive(Clone)]
pub(in crate::queues) enum Home {
    /// That of a job, written under its lease.
    Job(JobLease),
    /// That of a call, which has one handler only.
    Call(Arc<CallHome>),
}

pub(in crate::queues) struct CallHome {
    pub id: RunId,
    /// False for a call that is not stored: its state is dropped with it.
    pub is_kept: bool,
    /// Set when its first event is stored. All others come after it.
    pub begun: SetOnce<()>,
}

impl Home {
    pub fn id(&self) -> &RunId {
        match self {
            Self::Job(lease) => &lease.id,
            Self::Call(call) => &call.id,
        }
    }

    pub fn lease(&self) -> Option<&JobLease> {
        match self {
            Self::Job(lease) => Some(lease),
            Self::Call(_) => None,
        }
    }

    pub fn is_kept(&self) -> bool {
        match self {
            Self::Job(_) => true,
            Self::Call(call) => call.is_kept,
        }
    }

    pub fn stream(&self) -> StreamName {
        match self {
            Self::Job(lease) => StreamName::new("job", lease.id.as_str()),
            Self::Call(call) => StreamName::new("call", call.id.as_str()),
        }
    }

    pub fn append(&self, events: Vec<Draft>) -> Append {
        match self {
            Self::Job(lease) => to_job(&lease.id, events),
            Self::Call(call) => Append {
                stream: self.stream(),
                context: EventContext {
                    run_id: Name::from(call.id.as_str()),
                    flow_name: Name::from("call"),
                    tenant_id: None,
                },
                expect: Expect::Any,
                events: events.into(),
            },
        }
    }

    /// A commit that only the stream's holder can make; more is added to it.
    pub async fn fenced(&self, progress: Option<Json>, now_ms: Millis) -> Commit {
        match self {
            Self::Job(lease) => {
                let note = Note {
                    progress,
                    ..Note::new(lease, now_ms)
                };
                Commit::of(note.into())
            }
            Self::Call(call) => {
                if call.is_kept {
                    call.begun.wait().await;
                }
                Commit::default()
            }
        }
    }
}
