//! Remote workers.

use serde_json::Value;
use utoipa::ToSchema;

/// A remote worker.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct ShownWorker {
    /// Tells workers of the same name apart.
    pub id: u64,
    pub name: String,
    pub tags: Vec<String>,
    /// The language and version of its SDK.
    pub sdk: String,
    /// The ids of the processes that it has.
    pub processes: Vec<String>,
    /// Those of them that the server has itself, and runs itself.
    pub shadowed: Option<Vec<String>>,
    /// The flows that its processes make, as `<id>@<version>`.
    pub flows: Option<Vec<String>>,
    /// Why some flow is not what its processes say: `{code, message}`.
    #[schema(value_type = Option<Vec<Object>>)]
    pub faults: Option<Vec<Value>>,
    /// How many invocations it takes at once.
    pub window: u32,
    pub running: u64,
    /// When it connected last.
    #[schema(format = DateTime)]
    pub since: String,
    /// `connected`, `draining` or `away`.
    pub state: String,
}

#[derive(ToSchema)]
pub struct WorkerList {
    pub items: Vec<ShownWorker>,
}
