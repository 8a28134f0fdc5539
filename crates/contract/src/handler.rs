//! What executes a step: the contract between the runtime and a handler.
//!
//! A [`Handler`] is a kind of step (`http`, `branch`, one of your own). When a flow is registered
//! the handler prepares each of its steps once: it checks the config and compiles what can be
//! compiled. What comes out is an [`Action`], which then runs for every visit.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use parking_lot::Mutex;
use riverrun_engine::{Failure, Outcome, SchemaIssue, Template, View};
use riverrun_expr::Sandbox;
use riverrun_types::{Draft, ErrorCode, EventType, Json, Limits, Millis, Name, RunId};
use serde_json::{Value, json};

/// A kind of step.
pub trait Handler: Send + Sync + 'static {
    /// The `type` that steps name it by.
    fn kind(&self) -> &str;

    /// One sentence for `riverrun handlers`.
    fn about(&self) -> &str;

    /// JSON Schema of the step's `config`.
    fn schema(&self) -> Value;

    fn effects(&self) -> Effects;

    /// The steps that a config leads to, each with its path in the config.
    fn targets(&self, config: &Value) -> Vec<(String, String)> {
        let _ = config;
        Vec::new()
    }

    /// Whether it always says itself where the run goes, so that `onSuccess` is never taken.
    fn chooses(&self) -> bool {
        false
    }

    /// What a config names that is not known yet, each with its path in the config. It may still
    /// come, so a flow is registered all the same, with a warning.
    fn unknown_names(&self, config: &Value, known: &dyn KnownNames) -> Vec<SchemaIssue> {
        let _ = (config, known);
        Vec::new()
    }

    /// Makes a step ready to run. The config has passed the schema; what a schema cannot say
    /// (an expression that does not parse) is refused here, every issue at once.
    fn prepare(&self, config: &Value) -> Result<Arc<dyn Action>, Vec<SchemaIssue>>;
}

/// What a server knows when it looks at a definition: each says what is wrong with a name, if
/// anything.
pub trait KnownNames {
    fn unknown_process(&self, id: &str) -> Option<String>;
    fn unknown_flow(&self, id: &str, version: Option<&str>) -> Option<String>;
}

/// Whether running a step twice has a visible effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effects {
    /// Depends on its input alone and touches nothing: it may share a commit with its neighbours
    /// and run again after a crash without a trace.
    None,
    /// Talks to the world. Its start and its end are recorded on their own.
    Some,
}

/// A step ready to run.
#[async_trait]
pub trait Action: Send + Sync + 'static {
    /// How long an attempt may take where the step itself says nothing; the server's limit when
    /// absent.
    fn limit(&self) -> Option<Duration> {
        None
    }

    /// Runs one attempt. Dropping the future cancels it.
    async fn run(&self, call: &Call<'_>) -> Outcome;
}

/// One attempt of one visit.
pub struct Call<'a> {
    pub run: &'a RunId,
    pub flow: &'a Name,
    pub step: &'a Name,
    pub visit: u32,
    pub attempt: u32,
    /// When the attempt began.
    pub now_ms: Millis,
    /// What the step's selector gave.
    pub input: Json,
    /// The state as this visit sees it.
    pub view: View<'a>,
    /// Whether the input is what the step selects from the state, and neither all of it nor what an
    /// event brought.
    pub selects_input: bool,
    /// The most bytes that a template may give: the flow's `limits.maxValueBytes`.
    pub max_value_bytes: usize,
    pub services: &'a Services,
    events: Mutex<Vec<Draft>>,
}

impl<'a> Call<'a> {
    /// The first attempt of a step's first visit, which selects no input.
    pub fn new(
        run: &'a RunId,
        flow: &'a Name,
        step: &'a Name,
        input: Json,
        view: View<'a>,
        services: &'a Services,
    ) -> Self {
        let events = Mutex::new(Vec::new());
        Self {
            run,
            flow,
            step,
            visit: 1,
            attempt: 1,
            now_ms: 0,
            input,
            view,
            selects_input: false,
            max_value_bytes: Limits::default().max_value_bytes,
            services,
            events,
        }
    }

    /// What a template gives on a view of this call.
    pub fn resolve(&self, template: &Template, view: &View<'_>) -> Result<Option<Json>, Failure> {
        Ok(template.resolve(view, self.max_value_bytes)?)
    }

    /// Records an event with the outcome of this attempt.
    pub fn emit(&self, kind: EventType, data: Json) {
        let mut draft = Draft::new(self.now_ms, kind);
        draft.data = Some(data);
        self.events.lock().push(draft);
    }

    /// Records a line of log. `level` is debug, info, warn or error.
    pub fn log(&self, level: &str, message: &str) {
        let kind = match level {
            "debug" => EventType::LogDebug,
            "warn" => EventType::LogWarn,
            "error" => EventType::LogError,
            _ => EventType::LogInfo,
        };
        self.emit(kind, Json::of(&json!({ "message": message })));
    }

    /// Lets the step go on after a while: nothing is held meanwhile, here or in the process.
    pub fn wait(&self, time: Duration, reason: impl Into<String>) -> Outcome {
        let ms = i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
        Outcome::wait_until(self.now_ms.saturating_add(ms), reason)
    }

    /// What was recorded so far.
    pub fn recorded(&self) -> Vec<Draft> {
        self.events.lock().clone()
    }

    /// What was recorded, at the end of the attempt.
    pub fn into_recorded(self) -> Vec<Draft> {
        self.events.into_inner()
    }
}

/// What handlers may use of the server.
#[derive(Clone)]
pub struct Services {
    pub sandbox: Arc<Sandbox>,
    pub flows: Arc<dyn FlowLookup>,
}

/// Which version of a flow a sub-flow step means.
pub trait FlowLookup: Send + Sync {
    /// The version to start: the one asked for, or the newest. `None` if there is none.
    fn resolve(&self, flow: &str, version: Option<&str>) -> Option<Name>;
}

/// Makes a handler of an async function from the step's input to its output.
///
/// ```
/// use riverrun_contract::function;
/// use serde_json::{Value, json};
///
/// let shout = function("shout", |input: String| async move {
///     Ok::<_, riverrun_engine::Failure>(json!(input.to_uppercase()))
/// });
/// ```
pub fn function<I, O, F, Fut>(kind: &str, run: F) -> Arc<dyn Handler>
where
    I: serde::de::DeserializeOwned + Send + 'static,
    O: serde::Serialize + Send + 'static,
    F: Fn(I) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<O, Failure>> + Send + 'static,
{
    Arc::new(Function {
        kind: kind.to_owned(),
        action: Arc::new(FunctionAction {
            run,
            types: std::marker::PhantomData::<fn(I) -> O>,
        }),
    })
}

struct Function {
    kind: String,
    action: Arc<dyn Action>,
}

impl Handler for Function {
    fn kind(&self) -> &str {
        &self.kind
    }

    fn about(&self) -> &str {
        "A function of the program that embeds riverrun."
    }

    fn schema(&self) -> Value {
        json!({"type": "object"})
    }

    fn effects(&self) -> Effects {
        Effects::Some
    }

    fn prepare(&self, _config: &Value) -> Result<Arc<dyn Action>, Vec<SchemaIssue>> {
        Ok(self.action.clone())
    }
}

struct FunctionAction<F, T> {
    run: F,
    types: std::marker::PhantomData<T>,
}

#[async_trait]
impl<I, O, F, Fut> Action for FunctionAction<F, fn(I) -> O>
where
    I: serde::de::DeserializeOwned + Send + 'static,
    O: serde::Serialize + Send + 'static,
    F: Fn(I) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<O, Failure>> + Send + 'static,
{
    async fn run(&self, call: &Call<'_>) -> Outcome {
        let input = match call.input.read::<I>() {
            Ok(input) => input,
            Err(error) => {
                let message = format!("the input does not fit the function: {error}");
                let failure = Failure::new(ErrorCode::InputError, message);
                return Outcome::Failure(failure.permanent());
            }
        };
        match (self.run)(input).await {
            Ok(output) => match Json::try_of(&output) {
                Ok(output) => Outcome::success(output),
                Err(error) => {
                    let message = format!("the function's output is not JSON: {error}");
                    Outcome::Failure(Failure::new(ErrorCode::HandlerError, message).permanent())
                }
            },
            Err(failure) => Outcome::Failure(failure),
        }
    }
}
