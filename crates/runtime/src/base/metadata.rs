//! The limit of what a client keeps beside a run or a job for itself.

use riverrun_types::Json;

use super::{Error, Result};

const MAX_BYTES: usize = 64 << 10;

pub(crate) fn check_metadata(metadata: &Json) -> Result<()> {
    if metadata.bytes() > MAX_BYTES {
        return Err(Error::TooLarge {
            what: "metadata",
            bytes: metadata.bytes(),
            limit: MAX_BYTES,
        });
    }
    if metadata.is_deeper(Json::MAX_VALUE_DEPTH) {
        return Err(Error::TooDeep { what: "metadata" });
    }
    Ok(())
}
