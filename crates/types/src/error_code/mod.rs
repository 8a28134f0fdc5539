//! The stable codes of all errors: one table with a code's meaning to programs (HTTP status,
//! disposition) and to people (the three texts of its page in `docs/errors`).
//!
//! To add a code, add an entry to the file of its subject.

mod code;
mod page;

/// Calls the macros of the subjects one after the other. Each appends its entries, and all of them
/// end up in `declare!`.
macro_rules! collect {
    ([] $($entries:tt)*) => { declare! { $($entries)* } };
    ([$subject:ident $($rest:ident)*] $($entries:tt)*) => {
        $subject! { [$($rest)*] $($entries)* }
    };
}

/// Makes the enum. An entry is
/// `Variant "CODE" Seen Disposition { what: "…", why: "…", fix: "…" }`.
macro_rules! declare {
    ($($variant:ident $code:literal $seen:ident $(($status:literal))? $disposition:ident {
        what: $what:literal, why: $why:literal, fix: $fix:literal $(,)?
    })+) => {
        /// A code that riverrun itself gives to an error.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum ErrorCode { $($variant),+ }

        impl ErrorCode {
            /// All codes, by subject.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $code),+ }
            }

            /// The code of this spelling, if riverrun has one.
            pub fn parse(text: &str) -> Option<Self> {
                match text { $($code => Some(Self::$variant),)+ _ => None }
            }

            pub const fn seen(self) -> Seen {
                match self { $(Self::$variant => Seen::$seen $(($status))?),+ }
            }

            pub const fn disposition(self) -> Disposition {
                match self { $(Self::$variant => Disposition::$disposition),+ }
            }

            /// The description of the error.
            pub const fn what(self) -> &'static str {
                match self { $(Self::$variant => $what),+ }
            }

            /// Its cause.
            pub const fn why(self) -> &'static str {
                match self { $(Self::$variant => $why),+ }
            }

            /// The next step for the reader.
            pub const fn fix(self) -> &'static str {
                match self { $(Self::$variant => $fix),+ }
            }
        }
    };
}

#[macro_use]
mod awaits;
#[macro_use]
mod commands;
#[macro_use]
mod expressions;
#[macro_use]
mod flows;
#[macro_use]
mod jobs;
#[macro_use]
mod processes;
#[macro_use]
mod requests;
#[macro_use]
mod runners;
#[macro_use]
mod runs;
#[macro_use]
mod steps;
#[macro_use]
mod store;
#[macro_use]
mod streams;
#[macro_use]
mod triggers;

pub use code::Code;
pub use page::{Disposition, Seen};

collect! {
    [requests flows runs steps awaits streams expressions jobs processes runners triggers store commands]
}

#[cfg(test)]
mod tests;
