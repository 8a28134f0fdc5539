//! Events: their envelope, and the one place where each type is declared.
//!
//! A type is a row in the table of its subject (`declared/`): its number in stored chunks, its name
//! on the wire and, if it changes the state of a run, its data. That struct is below the table.
//! `declare!` generates the list of types ([`EventType`]) and their meanings ([`Fact`]) from all
//! rows; the compiler then names the missing parts of the engine: the effect on a run (`run/apply`)
//! and when the event may come (`run/next.rs`).

mod data;
mod envelope;
mod fact;
mod in_run;
pub mod iso;
mod kind;
mod read_back;
mod reference;

/// Calls the macros of the subjects one after the other. Each appends its rows, and all of them end
/// up in `declare!`.
macro_rules! collect {
    ([] $($rows:tt)*) => { declare! { $($rows)* } };
    ([$subject:ident $($rest:ident)*] $($rows:tt)*) => {
        $subject! { [$($rest)*] $($rows)* }
    };
}

/// Makes the enums. A row is `number Variant "type" run(Data), end;`
///
/// - The number identifies the type in stored chunks. It is never reused for another type.
/// - `run(Data)`: it says this of a run; `step(Data)`: of a visit of a step, which the envelope
///   names. Without either it changes no run.
/// - `end`: it is the last event of a run or a job, unless that is begun anew.
macro_rules! declare {
    ($(
        $code:literal $variant:ident $text:literal
        $(run($run:ident))? $(step($step:ident))? $(, $end:ident)?;
    )+) => {
        /// The type of an event. The vocabulary is open: an unknown type is carried as its text.
        #[derive(Clone, PartialEq, Eq, Hash, Debug)]
        pub enum EventType { $($variant,)+ Other(Arc<str>) }

        impl EventType {
            /// Every type that riverrun itself defines.
            pub const KNOWN: &'static [Self] = &[$(Self::$variant),+];

            pub fn as_str(&self) -> &str {
                match self { $(Self::$variant => $text,)+ Self::Other(text) => text }
            }

            pub fn parse(text: &str) -> Self {
                match text { $($text => Self::$variant,)+ _ => Self::Other(Arc::from(text)) }
            }

            /// A small number for compact storage; 0 for a type that must be stored as text.
            pub fn code(&self) -> u8 {
                match self { $(Self::$variant => $code,)+ Self::Other(_) => 0 }
            }

            pub fn from_code(code: u8) -> Option<Self> {
                match code { $($code => Some(Self::$variant),)+ _ => None }
            }

            /// Whether it is the last event of a run or a job, unless that is restarted.
            pub fn is_end(&self) -> bool {
                match self { $($(Self::$variant => mark!($end),)?)+ _ => false }
            }
        }

        /// The typed meaning of an event for a run. A draft is its form on the wire and on disk.
        /// The two convert into each other without loss, so the state of a run in memory equals the
        /// state that a replay of its stream gives.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Fact {
            $($($variant($run),)? $($variant(StepRef, $step),)?)+
            /// An event of any other type, inside the run or outside.
            Emitted { at: Option<StepRef>, kind: Name, payload: Json },
            /// Logs, progress and similar events, which change no state.
            Other,
        }

        impl Fact {
            /// The event of this fact.
            pub fn draft(&self, ms: Millis) -> Draft {
                match self {
                    $(
                        $(Self::$variant(data) => {
                            fact::draft::<$run>(EventType::$variant, None, data, ms)
                        })?
                        $(Self::$variant(at, data) => {
                            fact::draft::<$step>(EventType::$variant, Some(at), data, ms)
                        })?
                    )+
                    Self::Emitted { at, kind, payload } => fact::emit(at.as_ref(), kind, payload, ms),
                    // One of the types that change no state.
                    Self::Other => Draft::new(ms, EventType::Progress),
                }
            }

            /// Like `read`, but `None` if the data does not fit the type.
            pub fn try_read(draft: &Draft) -> Option<Self> {
                let data = draft.data.as_ref();
                Some(match &draft.kind {
                    $(
                        $(EventType::$variant => Self::$variant(<$run>::read(data)?),)?
                        $(EventType::$variant => {
                            Self::$variant(draft.step.clone()?, <$step>::read(data)?)
                        })?
                    )+
                    EventType::Emit => Emit::read(draft).unwrap_or(Self::Other),
                    EventType::Other(kind) if !draft.kind.is_engines_own() => Self::Emitted {
                        at: draft.step.clone(),
                        kind: kind.clone(),
                        payload: draft.data.clone().unwrap_or_else(Json::null),
                    },
                    _ => Self::Other,
                })
            }
        }
    };
}

/// The marks that a row can have.
macro_rules! mark {
    (end) => {
        true
    };
}

mod declared;

pub(crate) use data::EventData;
pub use declared::*;
pub use envelope::{Draft, Event, EventContext, InStream, StepRef};
pub use in_run::{in_run, is_in_run};
pub use read_back::read_back;
pub use reference::{before, before_ms, reference, reference_ms};
