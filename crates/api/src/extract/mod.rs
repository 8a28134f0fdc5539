//! Reads the parts of requests; each extractor rejects in the one error shape.

mod body;
mod path;
mod query;
mod room;

pub(crate) use body::{
    Body, Definition, FlowDefinition, Payload, Raw, bytes_up_to, read, read_object,
};
pub(crate) use path::{FlowPath, FlowRunPath, JobPath, RunPath, Segments, job_id, run_id};
pub(crate) use query::{
    Moment, PAGE, Query, comma_list, flag, flag_or_none, moment, moment_at, page_limit, tags,
};
pub(crate) use room::BodyRoom;
