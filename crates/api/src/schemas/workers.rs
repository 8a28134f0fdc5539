//! Remote workers.

use serde_json::Value;
use utoipa::ToSchema;

/// A remote worker.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct ShownWorker {
    /// Distinguishes workers of the same name.
    pub id: u64,
    pub name: String,
    pub tags: Vec<String>,
    /// The language and version of its SDK.
    pub sdk: String,
    /// The ids of its processes.
    pub processes: Vec<String>,
    /// Processes among them that the server has too; the server runs these itself.
    pub shadowed: Option<Vec<String>>,
    /// The flows made of its processes, as `<id>@<version>`.
    pub flows: Option<Vec<String>>,
    /// Why a flow of its processes was not registered: `{code, message}`.
    #[schema(value_type = Option<Vec<Object>>)]
    pub faults: Option<Vec<Value>>,
    /// The most concurrent invocations.
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
