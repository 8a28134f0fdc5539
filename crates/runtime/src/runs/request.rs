//! The rules for a request to start a run, from any sender: lists show its fields, indexes hold
//! them.

use riverrun_types::{RunId, id::is_dot_segment, label, time::MAX_WAIT_MS};

use super::start::StartRequest;
use crate::base::{Error, Result, check_metadata};

/// The prefix of the idempotency keys of runs that triggers start; other runs may not use it.
pub const TRIGGER_KEYS: &str = "trigger:";

impl StartRequest {
    pub(crate) fn check(&self) -> Result<()> {
        if let Some(run) = &self.run_id {
            check_run_id(run)?;
        }
        if let Some(key) = &self.idempotency_key {
            check_label("idempotencyKey", key)?;
        }
        if let Some(tenant) = &self.tenant {
            check_label("tenantId", tenant)?;
        }
        if let Some(id) = &self.correlation_id {
            check_label("correlationId", id)?;
            check_segment("correlationId", id)?;
        }
        if let Some(id) = &self.causation_id {
            check_label("causationId", id)?;
        }
        check_tags(&self.tags)?;
        check_delay(self.delay_ms.unwrap_or(0))?;
        self.metadata.as_ref().map_or(Ok(()), check_metadata)
    }

    /// Only a trigger may use the key of a due time or name itself as the origin of a run. A copy
    /// keeps the values of its original.
    pub(crate) fn check_origin(&self) -> Result<()> {
        if self.by_trigger {
            return Ok(());
        }
        let key = self.idempotency_key.as_deref();
        if key.is_some_and(|key| key.starts_with(TRIGGER_KEYS)) {
            let rule = format!("keys that begin with {TRIGGER_KEYS:?} are those of triggers");
            return Err(Error::BadField {
                field: "idempotencyKey",
                rule,
            });
        }
        let metadata = self.metadata.as_ref().filter(|_| self.origin.is_none());
        if metadata.is_some_and(|metadata| metadata.get("trigger").is_some()) {
            let rule = "\"trigger\" says where a run came from, and is the server's to say";
            return Err(Error::BadField {
                field: "metadata",
                rule: rule.to_owned(),
            });
        }
        Ok(())
    }
}

fn check_run_id(run: &RunId) -> Result<()> {
    let checked = RunId::for_new(run.as_str());
    checked.map_err(|error| Error::BadId(format!("runId: {error}")))?;
    Ok(())
}

/// A correlation id is a segment of `/api/stories/<correlationId>`.
fn check_segment(field: &'static str, text: &str) -> Result<()> {
    match is_dot_segment(text) {
        true => Err(Error::BadId(format!(
            "{field}: {text:?} would mean another place in a path"
        ))),
        false => Ok(()),
    }
}

fn check_label(field: &'static str, text: &str) -> Result<()> {
    if label::is_valid(text) {
        return Ok(());
    }
    let rule = format!("not {}", label::RULE);
    Err(Error::BadField { field, rule })
}

fn check_tags(tags: &[String]) -> Result<()> {
    if tags.len() > label::MAX_TAGS {
        let rule = format!("a run may have {}", label::MAX_TAGS);
        return Err(Error::BadField {
            field: "tags",
            rule,
        });
    }
    tags.iter().try_for_each(|tag| check_label("tags", tag))
}

fn check_delay(ms: u64) -> Result<()> {
    if ms <= MAX_WAIT_MS.unsigned_abs() {
        return Ok(());
    }
    let field = "delayMs";
    let rule = format!("{ms} ms is more than ten years ({MAX_WAIT_MS} ms)");
    Err(Error::BadField { field, rule })
}

#[cfg(test)]
mod tests {
    use riverrun_types::Json;

    use super::*;

    fn check(fill: impl FnOnce(&mut StartRequest), expected: Option<(&str, &str)>) {
        let mut request = StartRequest::new("f", Json::null());
        fill(&mut request);
        let refused = request.check().and_then(|()| request.check_origin()).err();
        let refused = refused.map(|error| (error.code().as_str(), error.to_string()));
        let expected = expected.map(|(code, message)| (code, message.to_owned()));
        assert_eq!(refused, expected);
    }

    #[test]
    fn labels_are_short_and_few() {
        let rule =
            |field: &str| format!("{field}: not 1 to 256 characters without control characters");
        let long = "x".repeat(257);
        for text in ["", "a\nb", &long] {
            check(
                |request| request.tenant = Some(text.to_owned()),
                Some(("BAD_REQUEST", &rule("tenantId"))),
            );
            check(
                |request| request.idempotency_key = Some(text.to_owned()),
                Some(("BAD_REQUEST", &rule("idempotencyKey"))),
            );
            check(
                |request| request.tags = vec!["fine".to_owned(), text.to_owned()],
                Some(("BAD_REQUEST", &rule("tags"))),
            );
        }
        check(
            |request| request.tags = vec![long[1..].to_owned(); 64],
            None,
        );
        check(
            |request| request.tags = vec!["a".to_owned(); 65],
            Some(("BAD_REQUEST", "tags: a run may have 64")),
        );
    }

    #[test]
    fn what_triggers_say_is_theirs_to_say() {
        let key = |request: &mut StartRequest| {
            request.idempotency_key = Some("trigger:nightly:2030-01-01T00:00:00.000Z".to_owned());
        };
        let message = "idempotencyKey: keys that begin with \"trigger:\" are those of triggers";
        check(key, Some(("BAD_REQUEST", message)));
        let origin = |request: &mut StartRequest| {
            let metadata = serde_json::json!({"trigger": {"id": "nightly"}});
            request.metadata = Some(Json::of(&metadata));
        };
        let message =
            "metadata: \"trigger\" says where a run came from, and is the server's to say";
        check(origin, Some(("BAD_REQUEST", message)));
        let by_trigger = |request: &mut StartRequest| {
            key(request);
            origin(request);
            request.by_trigger = true;
        };
        check(by_trigger, None);
        let other = |request: &mut StartRequest| {
            request.idempotency_key = Some("triggered".to_owned());
            request.metadata = Some(Json::of(&serde_json::json!({"by": "trigger"})));
        };
        check(other, None);
    }

    #[test]
    fn nobody_waits_longer_than_ten_years() {
        let longest = MAX_WAIT_MS.unsigned_abs();
        check(|request| request.delay_ms = Some(longest), None);
        for ms in [longest + 1, u64::MAX] {
            let message = format!("delayMs: {ms} ms is more than ten years (316224000000 ms)");
            let refused = Some(("BAD_REQUEST", message.as_str()));
            check(|request| request.delay_ms = Some(ms), refused);
        }
    }

    #[test]
    fn metadata_is_small() {
        let text = |bytes: usize| Json::from("x".repeat(bytes).as_str());
        check(|request| request.metadata = Some(text(65_534)), None);
        check(
            |request| request.metadata = Some(text(65_535)),
            Some((
                "TOO_LARGE",
                "the metadata has 65537 bytes; it may have 65536",
            )),
        );
    }

    #[test]
    fn an_id_is_plain_and_not_latest() {
        check(|request| request.run_id = Some(RunId::new("order-7")), None);
        for id in ["latest", ".", "..", "a b"] {
            let message = format!("runId: {}", RunId::for_new(id).unwrap_err());
            check(
                |request| request.run_id = Some(RunId::new(id)),
                Some(("BAD_ID", &message)),
            );
        }
    }
}
