//! Awaits of a visit: as the run keeps them, and as event data.

use riverrun_types::{
    Json, Millis, Name, Operation, StepRef, TriggerType,
    event::{Fact, StepAwaitEvent, StepAwaitTime, StepAwaitTrigger},
};
use serde::{Deserialize, Serialize};

use super::Wait;

/// A wait that others can end: an event, the holder of a trigger's id, or the clock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Awaiting {
    /// The name under which the store keeps it.
    pub id: Name,
    pub what: AwaitFor,
    /// Its end in any case: of a time, its due time; of the others, the timeout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until_ms: Option<Millis>,
    /// Set by the handler's code, which goes on with the answer; else by the definition.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_code: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum AwaitFor {
    Time,
    Event {
        event_kind: Name,
        /// The condition on the event, for people.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        condition: Option<Json>,
    },
    Trigger {
        trigger_type: TriggerType,
    },
    /// A time at which an operation of the handler's code is tried again.
    Retry(Operation),
}

impl AwaitFor {
    /// Whether time alone ends it. The store keeps no row for such a wait.
    pub fn is_time(&self) -> bool {
        matches!(self, Self::Time | Self::Retry(_))
    }

    pub fn kind(&self) -> &'static str {
        match self {
            Self::Time | Self::Retry(_) => "time",
            Self::Event { .. } => "event",
            Self::Trigger { .. } => "trigger",
        }
    }
}

impl Awaiting {
    /// The event by which a visit begins to wait for it.
    pub fn fact(self, at: StepRef) -> Fact {
        let Self {
            id,
            what,
            until_ms,
            in_code,
        } = self;
        let time = |id, retry_of| StepAwaitTime {
            await_id: Some(id),
            until_ms,
            in_code,
            retry_of,
            ..StepAwaitTime::default()
        };
        match what {
            AwaitFor::Time => Fact::StepAwaitTime(at, time(id, None)),
            AwaitFor::Retry(operation) => Fact::StepAwaitTime(at, time(id, Some(operation))),
            AwaitFor::Event {
                event_kind,
                condition,
            } => {
                let data = StepAwaitEvent {
                    await_id: id,
                    event_kind,
                    condition,
                    until_ms,
                    in_code,
                };
                Fact::StepAwaitEvent(at, data)
            }
            AwaitFor::Trigger { trigger_type } => {
                let data = StepAwaitTrigger {
                    trigger_id: Some(id.clone()),
                    await_id: id,
                    trigger_type,
                    until_ms,
                    in_code,
                };
                Fact::StepAwaitTrigger(at, data)
            }
        }
    }

    /// The wait that begins with an event.
    pub fn of(fact: &Fact) -> Option<(&StepRef, Self)> {
        match fact {
            Fact::StepAwaitTime(at, data) => match data.into() {
                Wait::Await(awaiting) => Some((at, awaiting)),
                _ => None,
            },
            Fact::StepAwaitEvent(at, data) => Some((at, data.into())),
            Fact::StepAwaitTrigger(at, data) => Some((at, data.into())),
            _ => None,
        }
    }
}

impl From<&StepAwaitTime> for Wait {
    fn from(data: &StepAwaitTime) -> Self {
        let Some(id) = &data.await_id else {
            return Self::Time {
                until_ms: data.until_ms.unwrap_or_default(),
                reason: data.reason.clone(),
                output: data.output.clone(),
                next: data.next.clone(),
            };
        };
        Self::Await(Awaiting {
            id: id.clone(),
            what: data
                .retry_of
                .clone()
                .map_or(AwaitFor::Time, AwaitFor::Retry),
            until_ms: data.until_ms,
            in_code: data.in_code,
        })
    }
}

impl From<&StepAwaitEvent> for Awaiting {
    fn from(data: &StepAwaitEvent) -> Self {
        Self {
            id: data.await_id.clone(),
            what: AwaitFor::Event {
                event_kind: data.event_kind.clone(),
                condition: data.condition.clone(),
            },
            until_ms: data.until_ms,
            in_code: data.in_code,
        }
    }
}

impl From<&StepAwaitTrigger> for Awaiting {
    fn from(data: &StepAwaitTrigger) -> Self {
        Self {
            id: data.await_id.clone(),
            what: AwaitFor::Trigger {
                trigger_type: data.trigger_type,
            },
            until_ms: data.until_ms,
            in_code: data.in_code,
        }
    }
}
