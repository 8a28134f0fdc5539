//! The formats of texts in requests, as regular expressions that every dialect reads alike.
//!
//! They match exactly what the server accepts, with two exceptions in which the server accepts
//! more: other spellings of a time, and numbers of more than 18 digits.

/// The id of a run, a job or a call that is read.
pub(super) const ID: &str = "^[A-Za-z0-9._~-]{1,128}$";
/// The id of a run, a job, a call or a trigger that is to be made.
pub(super) const NEW_ID: &str = r"^(?!(latest|\.{1,2})$)[A-Za-z0-9._~-]{1,128}$";
/// A text without control characters.
pub(super) const LABEL: &str = r"^[^\u0000-\u001f\u007f-\u009f]+$";
/// A label that is part of a path.
pub(super) const SEGMENT: &str = r"^(?!\.{1,2}$)[^\u0000-\u001f\u007f-\u009f]+$";
/// The idempotency key of a run that no trigger starts.
pub(super) const RUN_KEY: &str = r"^(?!trigger:)[^\u0000-\u001f\u007f-\u009f]+$";
/// The same as a header.
pub(super) const HEADER_RUN_KEY: &str = "^(?!trigger:)[!-~]([ -~]*[!-~])?$";
/// Milliseconds since 1970, or ISO 8601.
pub(super) const TIME: &str = r"^([0-9]{1,13}|[12][0-9]{3}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,9})?(Z|[+-](0[0-9]|1[0-2]):[0-5][0-9]))$";
pub(super) const EVENT_ID: &str = "^[0-9]{1,15}-[0-9]{1,15}$";
/// The type of an event, or a kind.
pub(super) const EVENT_TYPE: &str = "^[A-Za-z0-9._:/-]{1,128}$";
/// Up to 32 kinds.
pub(super) const KINDS: &str = "^[A-Za-z0-9._:/-]{1,128}(,[A-Za-z0-9._:/-]{1,128}){0,31}$";
/// Up to 20 tags.
pub(super) const TAGS: &str = "^[^,]*(,[^,]*){0,19}$";
pub(super) const QUEUE: &str = "^[A-Za-z0-9._-]([A-Za-z0-9._/-]{0,126}[A-Za-z0-9._-])?$";
/// An idempotency key as a header.
pub(super) const HEADER_KEY: &str = "^[!-~]([ -~]*[!-~])?$";
/// A number in a list of runs or streams.
pub(super) const ROW: &str = "^[1-9][0-9]{0,17}$";
/// A number in the log of all events.
pub(super) const NUMBER: &str = "^[0-9]{1,18}$";
/// A number in the stream of a trigger.
pub(super) const PLACE: &str = "^(0|[1-9][0-9]{0,17})$";
/// Where to begin in the log of all events.
pub(super) const BEGIN: &str = "^(start|end|[0-9]{1,18})$";
/// A place in the history of a run.
pub(super) const HISTORY: &str = r"^[0-9]{1,18}\.[0-9]{1,18}\.[0-9]{1,18}$";
/// A place in the jobs of a queue.
pub(super) const QUEUE_JOB: &str =
    r"^(waiting|delayed|active|parked|completed|failed|cancelled)(\.-?[0-9]{1,18}){3}$";
/// A place in the dead letters of a queue.
pub(super) const DEAD_LETTER: &str = r"^failed(\.-?[0-9]{1,18}){3}$";
/// A place in a story: an event and its stream.
pub(super) const STORY: &str = "^[0-9]{1,15}-[0-9]{1,15}@[^/]+/.+$";

/// Words in a list with commas.
pub(super) fn list_of(words: &[&str]) -> String {
    let word = words.join("|");
    format!("^(({word})(,({word}))*)?$")
}

/// The name of a stream, with or without the namespace of this server.
pub(super) fn stream(namespace: &str) -> String {
    let namespace = namespace.replace('.', r"\.");
    format!("^({namespace}:)?[A-Za-z0-9._~-]{{1,128}}(:[A-Za-z0-9._~-]{{1,128}})?$")
}
