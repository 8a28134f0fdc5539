//! Turns an event that arrives in any of the older forms into a draft of today's.
//!
//! Accepted: the v0.4 envelope, the v0.3 one (`kind`, `subject`, `flow`, `step`, `meta`), and
//! older type names (`flow.start`, `log` with a level, `state` with an operation,
//! `flow.step.started`). Ids, times and places are never taken from outside: a caller cannot
//! write history.

use serde_json::{Map, Value, json};

use crate::{
    Draft, EventType, Json, Millis, Name, StepRef,
    id::is_dot_segment,
    json::{UniqueMembers, is_repeated_member, strict},
    label,
    words::plain,
};

/// Why an event from outside was refused.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum Refused {
    #[error("an event is a JSON object, not {0}")]
    NotAnObject(&'static str),
    #[error("the event has no type: give type (or kind), as in \"order.paid\"")]
    NoType,
    #[error("{field} must be {expected}")]
    Field {
        field: &'static str,
        expected: &'static str,
    },
    #[error(
        "the type {0:?} is not 1 to 128 characters of letters, digits, '.', '-', '_', ':' or '/'"
    )]
    BadType(String),
    /// One of [`MEMBERS`] was probably meant.
    #[error("an event has no member {0:?}")]
    Unknown(String),
    #[error("{0}")]
    Repeated(String),
}

/// What an event may have, in any of its forms. Where it goes, its id and its time are there to be
/// read by whoever takes it in, or to be passed over.
pub const MEMBERS: [&str; 22] = [
    "type",
    "kind",
    "data",
    "runId",
    "flowName",
    "stepName",
    "stepId",
    "attempt",
    "correlationId",
    "causationId",
    "tenantId",
    "idempotencyKey",
    "stream",
    "subject",
    "flow",
    "step",
    "trigger",
    "meta",
    "id",
    "ts",
    "timestamp",
    "v",
];

/// Reads one event. `now` is when it arrived.
pub fn normalise(json: &Json, now: Millis) -> Result<Draft, Refused> {
    let UniqueMembers(mut members) = match json.as_str().as_bytes().first() {
        Some(b'{') => json
            .read()
            .map_err(|error| match is_repeated_member(&error) {
                true => Refused::Repeated(plain(&error.to_string())),
                false => Refused::NotAnObject("broken JSON"),
            })?,
        Some(b'[') => return Err(Refused::NotAnObject("a list")),
        Some(b'"') => return Err(Refused::NotAnObject("a string")),
        _ => return Err(Refused::NotAnObject("a bare value")),
    };
    if let Some(unknown) = members
        .keys()
        .find(|name| !MEMBERS.contains(&name.as_str()))
    {
        return Err(Refused::Unknown(unknown.chars().take(64).collect()));
    }
    let name = take_text(&mut members, "type")?;
    let kind = take_text(&mut members, "kind")?;
    let name = name.or(kind).ok_or(Refused::NoType)?;
    let meta = match members.remove("meta") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(meta)) => meta,
        Some(_) => {
            return Err(Refused::Field {
                field: "meta",
                expected: "an object",
            });
        }
    };
    // Kept as text: numbers inside pass through unrounded.
    let data = json.get("data").filter(|data| !data.is_null());
    if let Some(meta) = json.get("meta") {
        unique(&meta)?;
    }
    // Data that is looked into, and not only passed on.
    let is_read = matches!(name.split('.').next(), Some("log" | "state"));
    if let Some(data) = data.as_ref().filter(|data| is_read && data.is_object()) {
        unique(data)?;
    }

    let (kind, data) = rename(&name, data)?;
    let mut draft = Draft::new(now, kind);
    draft.data = data;
    draft.step = step(&mut members, &meta)?;
    draft.correlation_id = take_label(&mut members, "correlationId")?.map(Name::from);
    if draft.correlation_id.as_deref().is_some_and(is_dot_segment) {
        return Err(Refused::Field {
            field: "correlationId",
            expected: "neither \".\" nor \"..\", which mean other places in a path",
        });
    }
    draft.causation_id = take_label(&mut members, "causationId")?.map(Name::from);
    draft.tenant_id = take_label(&mut members, "tenantId")?.map(Name::from);
    Ok(draft)
}

fn unique(object: &Json) -> Result<(), Refused> {
    match object.read::<UniqueMembers>() {
        Err(error) if is_repeated_member(&error) => {
            Err(Refused::Repeated(plain(&error.to_string())))
        }
        _ => Ok(()),
    }
}

fn take_label(
    members: &mut Map<String, Value>,
    field: &'static str,
) -> Result<Option<String>, Refused> {
    match take_text(members, field)? {
        Some(text) if !label::is_valid(&text) => Err(Refused::Field {
            field,
            expected: label::RULE,
        }),
        text => Ok(text),
    }
}

fn take_text(
    members: &mut Map<String, Value>,
    field: &'static str,
) -> Result<Option<String>, Refused> {
    match members.remove(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(Refused::Field {
            field,
            expected: "a string",
        }),
    }
}

/// The step that an event names, for its readers. What a visit of it did only the server says.
fn step(
    members: &mut Map<String, Value>,
    meta: &Map<String, Value>,
) -> Result<Option<StepRef>, Refused> {
    let attempt = members.remove("attempt").or(meta.get("attempt").cloned());
    let attempt = match attempt {
        None | Some(Value::Null) => 1,
        Some(value) => strict::from_value(value).map_err(|_| Refused::Field {
            field: "attempt",
            expected: "a whole number",
        })?,
    };
    let names = [
        take_label(members, "stepName")?,
        take_label(members, "step")?,
    ];
    let Some(name) = names.into_iter().flatten().next() else {
        return Ok(None);
    };
    Ok(Some(StepRef {
        name: name.into(),
        visit: 0,
        attempt,
    }))
}

/// Older type names become today's, their data with them.
fn rename(name: &str, data: Option<Json>) -> Result<(EventType, Option<Json>), Refused> {
    let name = match name {
        "flow.start" => "flow.started",
        "log" => return Ok(log(data)),
        "state" => return state(data),
        _ => name
            .strip_prefix("flow.step.")
            .map_or(name, |_| &name["flow.".len()..]),
    };
    match EventType::checked(name) {
        Some(kind) => Ok((kind, data)),
        None => Err(Refused::BadType(name.chars().take(64).collect())),
    }
}

/// `log` with a level becomes `log.<level>`; `msg` becomes `message`.
fn log(data: Option<Json>) -> (EventType, Option<Json>) {
    let mut members: Vec<(String, Json)> = data.and_then(|d| d.members()).unwrap_or_default();
    let at = members.iter().position(|(key, _)| key == "level");
    let level = at.map(|at| members.remove(at).1.as_text().into_owned());
    for (key, _) in &mut members {
        if key == "msg" {
            "message".clone_into(key);
        }
    }
    let kind = match level.as_deref() {
        Some("debug") => EventType::LogDebug,
        Some("warn") => EventType::LogWarn,
        Some("error") => EventType::LogError,
        _ => EventType::LogInfo,
    };
    let members: indexmap::IndexMap<String, Json> = members.into_iter().collect();
    (kind, Some(Json::of(&members)))
}

/// `state` with an operation becomes `state.set` or `state.delete`; a scope is the first part of
/// the key.
fn state(data: Option<Json>) -> Result<(EventType, Option<Json>), Refused> {
    let data = data.ok_or(Refused::Field {
        field: "data",
        expected: "an object with a key",
    })?;
    let text = |key: &str| data.get(key).map(|json| json.as_text().into_owned());
    let key = text("key").ok_or(Refused::Field {
        field: "data.key",
        expected: "a string",
    })?;
    let key = text("scope").map_or(key.clone(), |scope| format!("{scope}.{key}"));
    match text("operation").as_deref() {
        Some("set") => {
            let value = data.get("value").unwrap_or_else(Json::null);
            Ok((
                EventType::StateSet,
                Some(Json::of(&json!({"key": key})).with("value", &value)),
            ))
        }
        Some("delete") => Ok((EventType::StateDelete, Some(Json::of(&json!({"key": key}))))),
        _ => Err(Refused::Field {
            field: "data.operation",
            expected: "\"set\" or \"delete\"",
        }),
    }
}

impl Json {
    /// This object with one more member; what is no object is replaced by one.
    pub fn with(&self, key: &str, value: &Json) -> Json {
        let mut members: indexmap::IndexMap<String, Json> =
            self.members().unwrap_or_default().into_iter().collect();
        members.insert(key.to_owned(), value.clone());
        Json::of(&members)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(text: &str, kind: &str, data: Option<&str>) {
        let draft = normalise(&Json::parse_text(text.to_owned()).unwrap(), 5).unwrap();
        assert_eq!(draft.kind.as_str(), kind, "{text}");
        assert_eq!(draft.data.as_ref().map(Json::as_str), data, "{text}");
        assert_eq!(draft.ms, 5);
    }

    #[test]
    fn every_older_form_becomes_todays() {
        check(
            r#"{"type":"order.paid","data":{"id":12345678901234567890}}"#,
            "order.paid",
            Some(r#"{"id":12345678901234567890}"#),
        );
        check(r#"{"kind":"order.paid","subject":"x"}"#, "order.paid", None);
        check(r#"{"type":"flow.start"}"#, "flow.started", None);
        check(r#"{"type":"flow.step.completed"}"#, "step.completed", None);
        check(
            r#"{"kind":"log","data":{"level":"warn","msg":"hot"}}"#,
            "log.warn",
            Some(r#"{"message":"hot"}"#),
        );
        check(
            r#"{"type":"log","data":{"message":"x"}}"#,
            "log.info",
            Some(r#"{"message":"x"}"#),
        );
        check(
            r#"{"type":"state","data":{"operation":"set","scope":"orders","key":"a","value":1.50}}"#,
            "state.set",
            Some(r#"{"key":"orders.a","value":1.50}"#),
        );
        check(
            r#"{"type":"state","data":{"operation":"delete","key":"a"}}"#,
            "state.delete",
            Some(r#"{"key":"a"}"#),
        );
        check(
            r#"{"type":"state.set","timestamp":1761754554850,"data":{"key":"a","value":2,"previousValue":1}}"#,
            "state.set",
            Some(r#"{"key":"a","value":2,"previousValue":1}"#),
        );
    }

    #[test]
    fn no_object_that_is_looked_into_has_a_member_twice() {
        let read = |text: &str| normalise(&Json::parse_text(text.to_owned()).unwrap(), 5);
        for text in [
            r#"{"type":"x","type":"y"}"#,
            r#"{"type":"x","stepName":"s","meta":{"attempt":1,"attempt":2}}"#,
            r#"{"type":"state","data":{"operation":"set","operation":"delete","key":"a"}}"#,
            r#"{"type":"state.set","data":{"key":"a","key":"b","value":1}}"#,
            r#"{"type":"log","data":{"level":"warn","level":"info"}}"#,
        ] {
            let refused = read(text).unwrap_err();
            assert!(matches!(refused, Refused::Repeated(_)), "{text}: {refused}");
        }
        read(r#"{"type":"x","data":{"a":1,"a":2}}"#).unwrap();
        read(r#"{"type":"state.set","data":{"key":"a","value":{"a":1,"a":2}}}"#).unwrap();
    }

    #[test]
    fn steps_and_attempts_are_read_from_both_envelopes() {
        for text in [
            r#"{"type":"x","stepName":"s","attempt":3}"#,
            r#"{"kind":"x","step":"s","meta":{"attempt":3}}"#,
        ] {
            let draft = normalise(&Json::parse_text(text.to_owned()).unwrap(), 0).unwrap();
            assert_eq!(
                draft.step,
                Some(StepRef {
                    name: "s".into(),
                    visit: 0,
                    attempt: 3
                })
            );
        }
    }

    /// The five events of an example run, as each of the two earlier envelopes writes them.
    #[test]
    fn a_run_reads_the_same_in_either_older_spelling() {
        let newer = [
            r#"{"type":"flow.start","runId":"r1","flowName":"f","data":{"input":{"a":1}}}"#,
            r#"{"type":"step.started","runId":"r1","flowName":"f","stepName":"s","stepId":"r1__s__attempt-1","attempt":1}"#,
            r#"{"type":"log","runId":"r1","flowName":"f","stepName":"s","attempt":1,"data":{"level":"info","message":"x"}}"#,
            r#"{"type":"step.completed","runId":"r1","flowName":"f","stepName":"s","attempt":1,"data":{"result":2}}"#,
            r#"{"type":"flow.completed","runId":"r1","flowName":"f","data":{"result":2}}"#,
        ];
        let older = [
            r#"{"kind":"flow.started","subject":"r1","flow":"r1","data":{"input":{"a":1}}}"#,
            r#"{"kind":"flow.step.started","subject":"r1","flow":"r1","step":"s","meta":{"attempt":1}}"#,
            r#"{"kind":"log","subject":"r1","flow":"r1","step":"s","meta":{"attempt":1},"data":{"level":"info","msg":"x"}}"#,
            r#"{"kind":"step.completed","subject":"r1","flow":"r1","step":"s","meta":{"attempt":1},"data":{"result":2}}"#,
            r#"{"kind":"flow.completed","subject":"r1","flow":"r1","data":{"result":2}}"#,
        ];
        let read = |text: &str| normalise(&Json::parse_text(text.to_owned()).unwrap(), 5).unwrap();
        for (newer, older) in newer.into_iter().zip(older) {
            assert_eq!(read(newer), read(older));
        }
    }

    #[test]
    fn what_is_no_event_is_refused() {
        for text in [
            "[]",
            "1",
            "\"x\"",
            "{}",
            r#"{"type":1}"#,
            r#"{"type":""}"#,
            r#"{"type":"a b"}"#,
            r#"{"type":"a\nb"}"#,
            r#"{"type":"x","stepName":"a\nb"}"#,
            r#"{"type":"x","correlationId":""}"#,
            r#"{"type":"x","causationId":"\u001b[2J"}"#,
            r#"{"type":"x","meta":1}"#,
            r#"{"type":"x","dta":1}"#,
            r#"{"type":"x","runid":"r"}"#,
            r#"{"type":"x","stepName":"s","attempt":-1}"#,
            r#"{"type":"state","data":{"operation":"get","key":"a"}}"#,
        ] {
            assert!(
                normalise(&Json::parse_text(text.to_owned()).unwrap(), 0).is_err(),
                "{text}"
            );
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "\\PC{0,80}") {
            if let Ok(json) = Json::parse_text(text) {
                let _ = normalise(&json, 0);
            }
        }

        #[test]
        fn no_object_makes_it_panic(kind in "(type|kind|x)", name in "(log|state|flow\\.step\\.|flow\\.step\\.a|\\PC{0,8})", data in "(null|1|\\{\\}|\\{\"level\":1\\}|\\{\"key\":\"a\",\"operation\":\"set\"\\}|\\[\\])") {
            let text = format!("{{{:?}:{},\"data\":{data}}}", kind, serde_json::to_string(&name).unwrap());
            if let Ok(json) = Json::parse_text(text) {
                let _ = normalise(&json, 0);
            }
        }
    }
}
