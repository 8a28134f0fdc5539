//! A trigger as people write it, in JSON or YAML.

use riverrun_types::{Json, RunId, json::strict::Strict, label, words::plain};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use crate::{Error, Result};

/// What lets a trigger fire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Http,
    Schedule,
    Event,
    Manual,
}

impl Kind {
    pub const ALL: [Self; 4] = [Self::Http, Self::Schedule, Self::Event, Self::Manual];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Schedule => "schedule",
            Self::Event => "event",
            Self::Manual => "manual",
        }
    }
}

/// Where a trigger was defined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// Over HTTP, on the command line or in a program.
    #[default]
    Api,
    /// In a file of the project: the trigger is removed with the file.
    Project,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Definition {
    pub id: String,
    #[serde(rename = "type")]
    pub kind: Kind,
    /// The flow that is started, the newest version of it unless `flowVersion` says otherwise.
    pub flow: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow_version: Option<String>,
    /// Where it is not said, a trigger that is there stays as it is and a new one is enabled.
    #[serde(default, skip_serializing)]
    pub enabled: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What is peculiar to the type.
    #[serde(default)]
    pub config: Map<String, Value>,
    /// The input of the run where nothing else gives one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<Json>,
    /// An expression that makes the run's input of what came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_map: Option<String>,
    /// Where in the run's input it lands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_key: Option<String>,
    /// An expression that gives the idempotency key of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant_id: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
    #[serde(default)]
    pub origin: Origin,
}

/// Keys that may stand in `config` too, beside what they belong to.
const LIFTED: [(&str, &str); 4] = [
    ("contextKey", "contextKey"),
    ("inputMap", "inputMap"),
    ("map", "inputMap"),
    ("idempotencyKey", "idempotencyKey"),
];

impl Definition {
    /// Reads a definition, and the version of the trigger that it is meant to change, if it names
    /// one.
    pub fn read(value: Value) -> Result<(Self, Option<u64>)> {
        let Value::Object(mut members) = value else {
            return Err(Error::invalid("(trigger)", "it must be an object"));
        };
        let expected = lift(&mut members)?;
        // Only the server says who keeps a trigger.
        members.remove("origin");
        let definition: Self = fitting("", Value::Object(members))?;
        definition.check()?;
        Ok((definition, expected))
    }

    fn check(&self) -> Result<()> {
        RunId::for_new(&self.id).map_err(|error| Error::invalid("id", error.to_string()))?;
        for (field, text) in [
            ("tenantId", &self.tenant_id),
            ("flowVersion", &self.flow_version),
        ] {
            if text.as_deref().is_some_and(|text| !label::is_valid(text)) {
                return Err(Error::invalid(field, format!("not {}", label::RULE)));
            }
        }
        if !label::is_valid(&self.flow) {
            return Err(Error::invalid("flow", format!("not {}", label::RULE)));
        }
        if self.tags.len() > label::MAX_TAGS || !self.tags.iter().all(|tag| label::is_valid(tag)) {
            let message = format!("at most {} tags, each {}", label::MAX_TAGS, label::RULE);
            return Err(Error::invalid("tags", message));
        }
        const MAX_BYTES: usize = 256 << 10;
        let bytes = Json::of(self).bytes();
        if bytes > MAX_BYTES {
            let message = format!("it has {bytes} bytes and may have {MAX_BYTES}");
            return Err(Error::invalid("(trigger)", message));
        }
        if self
            .metadata
            .as_ref()
            .is_some_and(|it| it.contains_key("trigger"))
        {
            let message = "\"trigger\" says where a run came from, and is the server's to say";
            return Err(Error::invalid("metadata", message));
        }
        Ok(())
    }

    /// Whether both define the same trigger, apart from their origin and whether they are enabled.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let plain = |definition: &Self| Self {
            enabled: None,
            origin: Origin::default(),
            ..definition.clone()
        };
        plain(self) == plain(other)
    }

    /// The `config` in the form of a type.
    pub(crate) fn config<T: DeserializeOwned>(&self) -> Result<T> {
        fitting("config", Value::Object(self.config.clone()))
    }
}

/// Where in a definition a key of its `config` belongs, if not there.
pub(crate) fn lifted(key: &str) -> Option<&'static str> {
    let mut keys = LIFTED.iter();
    keys.find(|(from, _)| *from == key).map(|(_, to)| *to)
}

/// Puts a member in its place; another one there is refused, since one of the two would be lost.
fn place(members: &mut Map<String, Value>, from: &str, to: &str, value: Value) -> Result<()> {
    match members.get(to) {
        Some(there) if !there.is_null() && *there != value => {
            Err(Error::invalid(from, format!("{to} is given too: give one")))
        }
        _ => {
            members.insert(to.to_owned(), value);
            Ok(())
        }
    }
}

/// Brings the forms in which something may be written to one. Gives the expected version.
fn lift(members: &mut Map<String, Value>) -> Result<Option<u64>> {
    let expected = match members.remove("version") {
        // The version of a trigger is a number; a text is the flow's.
        Some(Value::Number(number)) => Some(number.as_u64().ok_or_else(|| {
            Error::invalid("version", "the version of a trigger is a whole number")
        })?),
        Some(text @ Value::String(_)) => {
            members.entry("flowVersion").or_insert(text);
            None
        }
        None | Some(Value::Null) => None,
        Some(_) => return Err(Error::invalid("version", "it must be a number or a text")),
    };
    for (alias, key) in [("flowId", "flow"), ("map", "inputMap")] {
        if let Some(value) = members.remove(alias) {
            place(members, alias, key, value)?;
        }
    }
    if let Some(Value::String(flow)) = members.get("flow")
        && let Some((id, version)) = flow.split_once('@')
    {
        let (id, version) = (Value::from(id), Value::from(version));
        members.entry("flowVersion").or_insert(version);
        members.insert("flow".to_owned(), id);
    }
    let lifted: Vec<(&str, &str, Value)> = match members.get_mut("config") {
        Some(Value::Object(config)) => LIFTED
            .iter()
            .filter_map(|(from, to)| Some((*from, *to, config.remove(*from)?)))
            .collect(),
        _ => Vec::new(),
    };
    for (from, to, value) in lifted {
        place(members, &format!("config.{from}"), to, value)?;
    }
    Ok(expected)
}

/// Reads a value, and says which field does not fit.
fn fitting<T: DeserializeOwned>(under: &str, value: Value) -> Result<T> {
    serde_path_to_error::deserialize(Strict::new(value)).map_err(|error| {
        let path = error.path().to_string();
        let field = match (under, path.as_str()) {
            ("", "." | "?") => "(trigger)".to_owned(),
            (under, "." | "?") => under.to_owned(),
            ("", path) => path.to_owned(),
            (under, path) => format!("{under}.{path}"),
        };
        Error::invalid(field, plain(&error.into_inner().to_string()))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// serde lists the variants in its error.
    #[test]
    fn the_list_of_kinds_has_all() {
        let error = serde_json::from_str::<Kind>("\"?\"")
            .unwrap_err()
            .to_string();
        let known = error.split('`').skip(3).step_by(2);
        assert!(known.eq(Kind::ALL.map(Kind::as_str)), "{error}");
    }

    #[test]
    fn forms_are_brought_to_one() {
        let (definition, expected) = Definition::read(json!({
            "id": "t", "type": "event", "flow": "order@1.2.0", "version": 3,
            "config": {"kind": "paid", "map": "event.data", "contextKey": "payment"},
        }))
        .unwrap();
        assert_eq!(expected, Some(3));
        assert_eq!(definition.flow, "order");
        assert_eq!(definition.flow_version.as_deref(), Some("1.2.0"));
        assert_eq!(definition.input_map.as_deref(), Some("event.data"));
        assert_eq!(definition.context_key.as_deref(), Some("payment"));
        assert_eq!(Value::Object(definition.config), json!({"kind": "paid"}));
        assert_eq!(definition.enabled, None);
        let other = json!({"id": "t", "type": "manual", "flowId": "f", "version": "2.0.0"});
        let (definition, expected) = Definition::read(other).unwrap();
        assert_eq!((definition.flow.as_str(), expected), ("f", None));
        assert_eq!(definition.flow_version.as_deref(), Some("2.0.0"));
    }

    #[test]
    fn what_does_not_fit_is_named() {
        for (value, field) in [
            (json!([]), "(trigger)"),
            (json!({"id": "t", "type": "manual"}), "(trigger)"),
            (json!({"id": "a b", "type": "manual", "flow": "f"}), "id"),
            (json!({"id": "t", "type": "cron", "flow": "f"}), "type"),
            (json!({"id": "t", "type": "manual", "flow": ""}), "flow"),
            (
                json!({"id": "t", "type": "manual", "flow": "f", "tags": [1]}),
                "tags[0]",
            ),
            (
                json!({"id": "t", "type": "manual", "flow": "f", "version": -1}),
                "version",
            ),
            (
                json!({"id": "t", "type": "event", "flow": "f", "inputMap": "1", "config": {"kind": "k", "map": "2"}}),
                "config.map",
            ),
            (
                json!({"id": "t", "type": "event", "flow": "f", "inputMap": "1", "map": "2"}),
                "map",
            ),
            (
                json!({"id": "t", "type": "manual", "flow": "f", "flowId": "g"}),
                "flowId",
            ),
            (
                json!({"id": "t", "type": "manual", "flow": "f", "metadata": {"trigger": 1}}),
                "metadata",
            ),
        ] {
            match Definition::read(value.clone()) {
                Err(Error::Invalid { field: found, .. }) => assert_eq!(found, field, "{value}"),
                other => panic!("{value}: {other:?}"),
            }
        }
    }
}
