//! Emitted events that start runs.

use async_trait::async_trait;
use riverrun_expr::Expr;
use riverrun_runtime::Listener;
use riverrun_store::{EmitRecord, SignalRecord, same_tenant};
use riverrun_types::{EventType, Json, Name, label};

use crate::{
    Error, Result, Trigger, Triggers,
    fire::{Shot, Story},
    read::{Given, compile, is_true, key, land},
    trigger::Rule,
};

/// Which emitted events start a run.
pub(crate) struct EventRule {
    pub kind: Name,
    pub when: Option<Expr>,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Config {
    #[serde(alias = "eventKind", alias = "event")]
    kind: String,
    when: Option<String>,
}

impl EventRule {
    pub fn new(config: Config) -> Result<Self> {
        if !label::is_valid(&config.kind) {
            let message = format!("not {}", label::RULE);
            return Err(Error::invalid("config.kind", message));
        }
        let kind = EventType::parse(&config.kind);
        if !is_signalled(&kind) {
            let message = format!(
                "{kind} starts no flow: a trigger waits for events that are emitted, or for flow.* and step.* of runs"
            );
            return Err(riverrun_runtime::Error::BadKind(message).into());
        }
        Ok(Self {
            kind: Name::from(config.kind),
            when: compile("config.when", config.when.as_deref())?,
        })
    }
}

/// Whether events of a kind are ever signalled: emitted ones, and what becomes of runs.
fn is_signalled(kind: &EventType) -> bool {
    let is_of_run = kind.is_engines_own() && EventType::KNOWN.contains(kind);
    kind.is_emitted() || is_of_run && *kind != EventType::FlowRegistered
}

#[async_trait]
impl Listener for Triggers {
    async fn on_signal(
        &self,
        signal: &SignalRecord,
    ) -> std::result::Result<(), riverrun_runtime::Error> {
        // One that a look back of an await asked for is delivered to that await alone.
        if signal.only.is_some() {
            return Ok(());
        }
        for trigger in self.listening(&signal.emit.kind) {
            let Rule::Event(rule) = &trigger.rule else {
                continue;
            };
            match self.react(&trigger, rule, signal).await {
                Ok(()) => {}
                // The signal stays, and is delivered again; the key lets none start twice.
                Err(crate::Error::Runtime(error)) if is_passing(&error) => return Err(error),
                Err(error) => {
                    tracing::warn!(trigger = %trigger.id, %error, "an event started no run");
                }
            }
        }
        Ok(())
    }

    fn wants(&self, kind: &str) -> bool {
        !self.listening(kind).is_empty()
    }
}

/// Whether a retry may succeed. A removed trigger receives no events.
fn is_passing(error: &riverrun_runtime::Error) -> bool {
    use riverrun_store::Error as Store;
    match error {
        riverrun_runtime::Error::Store(Store::TriggerNotFound(_) | Store::TriggerMoved(_)) => false,
        riverrun_runtime::Error::Store(_)
        | riverrun_runtime::Error::ShuttingDown
        | riverrun_runtime::Error::Busy => true,
        _ => false,
    }
}

/// A run that an event starts goes on with the story of the event, or of the run that emitted it.
fn story(emit: &EmitRecord) -> Story {
    let member = |key: &str| emit.event.get(key).filter(|it| !it.is_null());
    let text = |key: &str| member(key).map(|it| it.as_text().into_owned());
    let chain: Option<u32> = member("chain").and_then(|chain| chain.read().ok());
    let run = emit.stream.run().map(|run| run.to_string());
    // What comes from outside begins a chain.
    let is_from_work = run.is_some() || matches!(&*emit.stream.kind, "job" | "call");
    let depth = match chain {
        Some(chain) => chain.saturating_add(1),
        None => u32::from(is_from_work),
    };
    Story {
        correlation: text("correlationId").or_else(|| run.clone()),
        causation: run,
        depth,
    }
}

/// A flow does not start itself by what becomes of its own runs: each would be the next one's
/// reason.
fn is_own_end(trigger: &Trigger, emit: &EmitRecord) -> bool {
    let flow = || emit.event.get("flowName");
    let is_own = || flow().is_some_and(|flow| *flow.as_text() == *trigger.definition.flow);
    EventType::parse(&emit.kind).is_engines_own() && is_own()
}

impl Triggers {
    async fn react(
        &self,
        trigger: &Trigger,
        rule: &EventRule,
        signal: &SignalRecord,
    ) -> Result<()> {
        let emit = &signal.emit;
        let tenant = trigger.definition.tenant_id.as_deref().map(Name::from);
        if !same_tenant(tenant.as_ref(), emit.tenant.as_ref()) || is_own_end(trigger, emit) {
            return Ok(());
        }
        let given = Given {
            name: "event",
            what: &emit.event,
            trigger: &trigger.about,
        };
        let request_id = emit.seq.to_string();
        let mut shot = Shot {
            trigger,
            source: &emit.kind,
            received_ms: self.runtime().base().now_ms(),
            request_id: Some(&request_id),
            key: Some(key(&trigger.id, &format!("event-{}", emit.seq))),
            due_ms: None,
            take: None,
            story: story(emit),
        };
        let wanted = match &rule.when {
            None => Ok(true),
            Some(when) => {
                let holds = given.eval(self.runtime(), "config.when", when).await;
                holds.map(|holds| holds.is_some_and(|holds| is_true(&holds)))
            }
        };
        let input = match wanted {
            Ok(false) => return Ok(()),
            Ok(true) => match shot.story.depth > self.runtime().base().options().max_chain {
                true => Err(crate::Error::Chain(shot.story.depth)),
                false => self.event_input(trigger, &given, &mut shot).await,
            },
            Err(error) => Err(error),
        };
        self.shoot(shot, input).await.map(drop)
    }

    async fn event_input(
        &self,
        trigger: &Trigger,
        given: &Given<'_>,
        shot: &mut Shot<'_>,
    ) -> Result<Json> {
        let expressions = &trigger.expressions;
        if let Some(expr) = &expressions.idempotency_key {
            let own = given.eval(self.runtime(), "idempotencyKey", expr).await?;
            if let Some(own) = own.filter(|own| !own.is_null()) {
                shot.key = Some(key(&trigger.id, &own.as_text()));
            }
        }
        let value = match &expressions.input_map {
            Some(expr) => {
                let mapped = given.eval(self.runtime(), "inputMap", expr).await?;
                mapped.unwrap_or_else(Json::null)
            }
            None => {
                let data = given.what.get("data").filter(|data| !data.is_null());
                data.unwrap_or_else(|| trigger.default_input())
            }
        };
        Ok(land(value, expressions.context_key.as_ref()))
    }
}
