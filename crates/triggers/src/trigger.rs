//! A validated and compiled trigger.

use riverrun_engine::{Schema, SchemaError};
use riverrun_store::TriggerRecord;
use riverrun_types::{Json, Millis, Name};
use serde_json::{Value, json};

use crate::{
    Definition, Error, Kind, Result, Schedule,
    event::{self, EventRule},
    http::{self, HttpRule},
    manual,
    members::members_of,
    read::Expressions,
    route::Pattern,
    schedule,
};

pub struct Trigger {
    pub id: Name,
    pub version: u64,
    pub enabled: bool,
    pub definition: Definition,
    pub(crate) expressions: Expressions,
    pub(crate) rule: Rule,
    /// What expressions see of it.
    pub(crate) about: Json,
}

pub(crate) enum Rule {
    Http(Box<HttpRule>),
    Schedule(Schedule),
    Event(EventRule),
    Manual,
}

/// Whether some type of trigger has such a setting in its `config`.
pub(crate) fn is_setting(name: &str) -> bool {
    let settings = [
        members_of::<http::Config>(),
        members_of::<schedule::Config>(),
        members_of::<event::Config>(),
        members_of::<manual::Config>(),
    ];
    settings.iter().any(|members| members.contains(&name))
}

impl Trigger {
    /// `created_ms` is what intervals are counted from.
    pub(crate) fn new(
        definition: Definition,
        version: u64,
        enabled: bool,
        created_ms: Millis,
    ) -> Result<Self> {
        let environment = |name: &str| std::env::var(name).ok();
        Self::within(definition, version, enabled, created_ms, environment)
    }

    /// A trigger that is only validated, where its secrets need not be known.
    pub(crate) fn elsewhere(definition: Definition, now_ms: Millis) -> Result<Self> {
        let enabled = definition.enabled.unwrap_or(true);
        Self::without_secret(definition, 1, enabled, now_ms)
    }

    /// A trigger without its secret: everything else is validated, and it checks no signature.
    pub(crate) fn without_secret(
        definition: Definition,
        version: u64,
        enabled: bool,
        created_ms: Millis,
    ) -> Result<Self> {
        let environment = |name: &str| Some(format!("the secret that is in {name}"));
        Self::within(definition, version, enabled, created_ms, environment)
    }

    /// `environment` looks up a variable.
    fn within(
        definition: Definition,
        version: u64,
        enabled: bool,
        created_ms: Millis,
        environment: impl Fn(&str) -> Option<String>,
    ) -> Result<Self> {
        let expressions = Expressions::compile(
            definition.input_map.as_deref(),
            definition.idempotency_key.as_deref(),
            definition.context_key.as_deref(),
        )?;
        let rule = match definition.kind {
            Kind::Http => {
                let rule = HttpRule::new(definition.config()?, environment)?;
                Rule::Http(Box::new(rule))
            }
            Kind::Schedule => {
                let config: schedule::Config = definition.config()?;
                Rule::Schedule(Schedule::new(&config, created_ms)?)
            }
            Kind::Event => Rule::Event(EventRule::new(definition.config()?)?),
            Kind::Manual => {
                let manual::Config {} = definition.config()?;
                Rule::Manual
            }
        };
        if definition.kind == Kind::Schedule && definition.idempotency_key.is_some() {
            let message = "the key of a scheduled run is its due time";
            return Err(Error::invalid("idempotencyKey", message));
        }
        if definition.kind == Kind::Manual && definition.input_map.is_some() {
            let message = "a manual trigger takes its input as it is given and has no inputMap";
            return Err(Error::invalid("inputMap", message));
        }
        let id = Name::from(definition.id.as_str());
        let about = json!({
            "id": &*id, "type": definition.kind.as_str(), "version": version,
            "flow": definition.flow,
        });
        Ok(Self {
            about: Json::of(&about),
            id,
            version,
            enabled,
            definition,
            expressions,
            rule,
        })
    }

    pub(crate) fn of(record: &TriggerRecord) -> Result<Self> {
        if let Some(damage) = record.damage() {
            return Err(Error::invalid("(trigger)", damage));
        }
        let definition = serde_json::from_str(record.definition.as_str())
            .map_err(|error| Error::invalid("(trigger)", error.to_string()))?;
        Self::new(
            definition,
            record.version,
            record.enabled,
            record.created_ms,
        )
    }

    pub fn kind(&self) -> Kind {
        self.definition.kind
    }

    pub fn schedule(&self) -> Option<&Schedule> {
        match &self.rule {
            Rule::Schedule(schedule) => Some(schedule),
            _ => None,
        }
    }

    /// The kind of events that an event trigger waits for.
    pub(crate) fn listens_to(&self) -> Option<&Name> {
        match &self.rule {
            Rule::Event(rule) => Some(&rule.kind),
            _ => None,
        }
    }

    /// What no two triggers may have.
    pub(crate) fn route(&self) -> Option<Name> {
        match &self.rule {
            Rule::Http(rule) => Some(route(rule.method, &rule.pattern)),
            _ => None,
        }
    }

    /// The method and the path of an http trigger, as people write them.
    pub(crate) fn shown_route(&self) -> Name {
        let path = self.definition.config.get("path").and_then(Value::as_str);
        let method = match &self.rule {
            Rule::Http(rule) => rule.method,
            _ => "",
        };
        Name::from(format!("{method} {}", path.unwrap_or_default()))
    }

    /// The input of a run that was started without one.
    pub(crate) fn default_input(&self) -> Json {
        let none = || Json::of(&json!({}));
        self.definition.input.clone().unwrap_or_else(none)
    }
}

/// A method and a path in the form that two triggers which take the same requests share.
pub(crate) fn route(method: &str, pattern: &Pattern) -> Name {
    Name::from(format!("{method} {}", pattern.form()))
}

/// Compiles the schema of a field.
pub(crate) fn schema(field: &str, schema: Option<&Value>) -> Result<Option<Schema>> {
    let compiled = schema.map(Schema::compile).transpose();
    compiled.map_err(|error| match error {
        SchemaError::Invalid(message) => Error::invalid(field, message),
        SchemaError::TooComplex(_) => Error::SchemaTooComplex {
            field: field.to_owned(),
            message: error.to_string(),
        },
    })
}
