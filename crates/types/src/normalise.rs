//! Turns an event that arrives in any of the older forms into a draft of today's.
//!
//! Accepted: the v0.4 envelope, the v0.3 one (`kind`, `subject`, `flow`, `step`, `meta`), and
//! older type names (`flow.start`, `log` with a level, `state` with an operation,
//! `flow.step.started`). Ids, times and places are never taken from outside: a caller cannot
//! write history.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::{Map, Value, json, value::RawValue};

use crate::{
    Draft, EventType, Json, Millis, Name, StepRef,
    id::is_dot_segment,
    json::{Key, UniqueMembers, is_repeated_member, strict},
    label,
    words::plain,
};

/// Why an event from outside was rejected.
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

/// The members of an event, in any of its forms. Its stream, its id and its time may be present:
/// the caller reads them, or they are ignored.
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
    Envelope::of(json)?.draft(now)
}

/// The members of one event, as text: the event is gone through once, however large its data is.
pub struct Envelope<'a> {
    /// In the order of [`MEMBERS`].
    members: [Option<&'a RawValue>; MEMBERS.len()],
    /// Of the whole event.
    bytes: usize,
}

impl<'a> Envelope<'a> {
    /// Finds the members. Every event has those that are known, each at most once.
    pub fn of(json: &'a Json) -> Result<Self, Refused> {
        match json.as_str().as_bytes().first() {
            Some(b'{') => {}
            Some(b'[') => return Err(Refused::NotAnObject("a list")),
            Some(b'"') => return Err(Refused::NotAnObject("a string")),
            _ => return Err(Refused::NotAnObject("a bare value")),
        }
        let found: EnvelopeFields<'a> =
            serde_json::from_str(json.as_str()).map_err(|_| Refused::NotAnObject("broken JSON"))?;
        if found.is_odd {
            return Err(odd(json));
        }
        Ok(Self {
            members: found.members,
            bytes: json.bytes(),
        })
    }

    /// The bytes of its data as it came.
    pub fn data_bytes(&self) -> usize {
        self.get("data").map_or(0, |data| data.get().len())
    }

    /// The bytes of all that is around the data.
    pub fn other_bytes(&self) -> usize {
        self.bytes.saturating_sub(self.data_bytes())
    }

    /// The event as a draft.
    pub fn draft(&self, now: Millis) -> Result<Draft, Refused> {
        let name = self.text("type")?;
        let kind = self.text("kind")?;
        let name = name.or(kind).ok_or(Refused::NoType)?;
        let meta = match self.given("meta") {
            None => Map::new(),
            Some(meta) if meta.get().starts_with('{') => unique(meta)?,
            Some(_) => {
                return Err(Refused::Field {
                    field: "meta",
                    expected: "an object",
                });
            }
        };
        // Kept as text: numbers inside pass through unrounded.
        let data = self.given("data");
        // Data that is looked into, and not only passed on.
        let is_read = matches!(name.split('.').next(), Some("log" | "state"));
        if let Some(data) = data.filter(|data| is_read && data.get().starts_with('{')) {
            unique(data)?;
        }

        let (kind, data) = rename(&name, data.map(Json::part))?;
        let mut draft = Draft::new(now, kind);
        draft.data = data;
        draft.step = self.step(&meta)?;
        draft.correlation_id = self.label("correlationId")?.map(Name::from);
        if draft.correlation_id.as_deref().is_some_and(is_dot_segment) {
            return Err(Refused::Field {
                field: "correlationId",
                expected: "neither \".\" nor \"..\", which mean other places in a path",
            });
        }
        draft.causation_id = self.label("causationId")?.map(Name::from);
        draft.tenant_id = self.label("tenantId")?.map(Name::from);
        Ok(draft)
    }

    /// The step that the event names, for its readers. Only the server sets the visit.
    fn step(&self, meta: &Map<String, Value>) -> Result<Option<StepRef>, Refused> {
        let attempt = match (self.get("attempt"), meta.get("attempt")) {
            (Some(attempt), _) => strict::from_str(attempt.get()),
            (None, Some(attempt)) => strict::from_value(attempt.clone()),
            (None, None) => Ok(None),
        };
        let attempt: Option<u32> = attempt.map_err(|_| Refused::Field {
            field: "attempt",
            expected: "a whole number",
        })?;
        let names = [self.label("stepName")?, self.label("step")?];
        let Some(name) = names.into_iter().flatten().next() else {
            return Ok(None);
        };
        Ok(Some(StepRef {
            name: name.into(),
            visit: 0,
            attempt: attempt.unwrap_or(1),
        }))
    }

    fn label(&self, field: &'static str) -> Result<Option<Cow<'a, str>>, Refused> {
        match self.text(field)? {
            Some(text) if !label::is_valid(&text) => Err(Refused::Field {
                field,
                expected: label::RULE,
            }),
            text => Ok(text),
        }
    }

    fn text(&self, field: &'static str) -> Result<Option<Cow<'a, str>>, Refused> {
        let Some(given) = self.given(field) else {
            return Ok(None);
        };
        match serde_json::from_str(given.get()) {
            Ok(Key(text)) => Ok(Some(text)),
            Err(_) => Err(Refused::Field {
                field,
                expected: "a string",
            }),
        }
    }

    /// A member that is there and not null.
    fn given(&self, name: &str) -> Option<&'a RawValue> {
        self.get(name).filter(|given| given.get() != "null")
    }

    fn get(&self, name: &str) -> Option<&'a RawValue> {
        *self.members.get(place(name)?)?
    }
}

/// Where a member is among [`MEMBERS`].
fn place(name: &str) -> Option<usize> {
    MEMBERS.iter().position(|member| *member == name)
}

/// What an object holds of [`MEMBERS`].
struct EnvelopeFields<'a> {
    members: [Option<&'a RawValue>; MEMBERS.len()],
    /// It has others too, or one of them twice.
    is_odd: bool,
}

impl<'de> Deserialize<'de> for EnvelopeFields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Finding)
    }
}

struct Finding;

impl<'de> Visitor<'de> for Finding {
    type Value = EnvelopeFields<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<EnvelopeFields<'de>, A::Error> {
        let mut found = EnvelopeFields {
            members: [None; MEMBERS.len()],
            is_odd: false,
        };
        while let Some(Key(name)) = map.next_key()? {
            let value = map.next_value::<&'de RawValue>()?;
            let place = place(&name).and_then(|at| found.members.get_mut(at));
            match place {
                Some(place) if place.is_none() => *place = Some(value),
                _ => found.is_odd = true,
            }
        }
        Ok(found)
    }
}

/// Why an object with a repeated or unknown member is rejected.
#[cold]
fn odd(json: &Json) -> Refused {
    let UniqueMembers(members) = match json.read() {
        Ok(members) => members,
        Err(error) => return Refused::Repeated(plain(&error.to_string())),
    };
    let unknown = members.keys().find(|name| place(name).is_none());
    let unknown = unknown.map_or("", String::as_str);
    Refused::Unknown(unknown.chars().take(64).collect())
}

/// The members of an object, none of which it may have twice.
fn unique(object: &RawValue) -> Result<Map<String, Value>, Refused> {
    match serde_json::from_str(object.get()) {
        Ok(UniqueMembers(members)) => Ok(members),
        Err(error) if is_repeated_member(&error) => {
            Err(Refused::Repeated(plain(&error.to_string())))
        }
        Err(_) => Ok(Map::new()),
    }
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
    fn members_are_found_however_they_are_written() {
        let json = |text: &str| Json::parse_text(text.to_owned()).unwrap();
        let event = json(r#" { "\u0074ype" : "x" , "data" : {"a": 1} , "step" : null } "#);
        let envelope = Envelope::of(&event).unwrap();
        assert_eq!(envelope.data_bytes(), 8);
        assert_eq!(envelope.other_bytes(), event.bytes() - 8);
        let draft = envelope.draft(5).unwrap();
        assert_eq!(draft.kind.as_str(), "x");
        assert_eq!(draft.data, Some(json(r#"{"a":1}"#)));
        let refused = |text: &str| normalise(&json(text), 5).unwrap_err();
        for text in [
            r#"{"type":"x","data":1,"data":2}"#,
            r#"{"type":"x","dta":1,"dta":2}"#,
            r#"{"type":"x","id":1,"\u0069d":2}"#,
        ] {
            assert!(matches!(refused(text), Refused::Repeated(_)), "{text}");
        }
        let unknown = Refused::Unknown("dta".to_owned());
        assert_eq!(refused(r#"{"type":1,"dta":1,"other":2}"#), unknown);
        for text in [r#"{"type":"x","data":null}"#, r#"{"type":"x","meta":null}"#] {
            assert_eq!(normalise(&json(text), 5).unwrap().data, None, "{text}");
        }
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
