//! Sets of statuses: `404`, `5xx`.

use reqwest::StatusCode;
use serde_json::Value;

pub(super) struct Statuses(Vec<std::ops::RangeInclusive<u16>>);

impl Statuses {
    /// The statuses of a config that has passed the schema; what is neither is no status.
    pub fn read(statuses: &[Value]) -> Self {
        let range = |status: &Value| {
            if let Some(status) = status.as_u64().and_then(|n| u16::try_from(n).ok()) {
                return Some(status..=status);
            }
            let class: u16 = status.as_str()?.strip_suffix("xx")?.parse().ok()?;
            Some(class * 100..=class * 100 + 99)
        };
        Self(statuses.iter().filter_map(range).collect())
    }

    pub fn of(statuses: &[u16]) -> Self {
        Self(statuses.iter().map(|status| *status..=*status).collect())
    }

    pub fn success() -> Self {
        Self(vec![200..=299])
    }

    pub fn contains(&self, status: StatusCode) -> bool {
        self.0.iter().any(|range| range.contains(&status.as_u16()))
    }
}
