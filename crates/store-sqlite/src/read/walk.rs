//! The SQL of one walk along the runs.
//!
//! One filter leads, by an index that has the order of the list already (or finds few), and the
//! others only check: a unary plus keeps SQLite from following another index and sorting all of
//! it.

use riverrun_store::RunFilter;
use riverrun_types::RunStatus;
use rusqlite::types::Value;

use crate::columns::status_code;

/// The filter's conditions, as numbers.
pub(super) struct Bounds {
    pub(super) flow: Option<i64>,
    pub(super) version: Option<i64>,
    pub(super) tenant: Option<i64>,
    /// The range that contains all runs of the filter's times.
    pub(super) low: Option<i64>,
    pub(super) high: Option<i64>,
    pub(super) cursor: Option<i64>,
}

/// The filter whose index the walk follows.
#[derive(Clone, Copy, PartialEq)]
enum Lead {
    Tag,
    Parent,
    Prefix,
    Status,
    Flow,
    Tenant,
    Number,
}

pub(super) struct Walk {
    lead: Lead,
    oldest_first: bool,
    conditions: Vec<String>,
    values: Vec<Value>,
}

impl Walk {
    /// Whether a filter leads to fewer runs than a status does.
    pub(super) fn has_better_than_status(filter: &RunFilter) -> bool {
        matches!(lead(filter, &[]), Lead::Tag | Lead::Parent | Lead::Prefix)
    }

    pub(super) fn new(filter: &RunFilter, bounds: &Bounds, statuses: &[RunStatus]) -> Self {
        let mut walk = Self {
            lead: lead(filter, statuses),
            oldest_first: filter.oldest_first,
            conditions: Vec::new(),
            values: Vec::new(),
        };
        walk.names(filter, bounds);
        walk.statuses(statuses);
        walk.places(filter, bounds);
        walk
    }

    pub(super) fn sql(self, columns: &str, limit: usize) -> (String, Vec<Value>) {
        let from = match self.lead {
            Lead::Tag => "tags t CROSS JOIN runs r ON r.no = t.run",
            _ => "runs r",
        };
        let conditions = match &self.conditions[..] {
            [] => "1".to_owned(),
            conditions => conditions.join(" AND "),
        };
        let order = if self.oldest_first { "ASC" } else { "DESC" };
        let number = self.number();
        let sql = format!(
            "SELECT {columns} FROM {from} WHERE {conditions} ORDER BY {number} {order} LIMIT {limit}"
        );
        (sql, self.values)
    }

    fn names(&mut self, filter: &RunFilter, bounds: &Bounds) {
        if let Some((first, others)) = filter.tags.split_first() {
            self.add("t.tag = ?", first.to_string());
            for tag in others {
                let has = "EXISTS (SELECT 1 FROM tags o WHERE o.tag = ? AND o.run = t.run)";
                self.add(has, tag.to_string());
            }
        }
        if let Some(parent) = &filter.parent {
            self.led(Lead::Parent, "r.parent = ?", parent.as_str().to_owned());
        }
        if let Some(prefix) = &filter.id_prefix {
            // Ids compare by their bytes, and no character is above the last one.
            self.led(Lead::Prefix, "r.id >= ?", prefix.clone());
            self.led(Lead::Prefix, "r.id < ?", format!("{prefix}\u{10FFFF}"));
        }
        if let Some(flow) = bounds.flow {
            self.led(Lead::Flow, "r.flow = ?", flow);
        }
        if let Some(version) = bounds.version {
            self.add("r.version = ?", version);
        }
        if let Some(tenant) = bounds.tenant {
            self.led(Lead::Tenant, "r.tenant = ?", tenant);
            // The index is partial: SQLite uses it if the statement has the same condition.
            self.conditions.push("r.tenant <> 0".to_owned());
        }
    }

    fn statuses(&mut self, statuses: &[RunStatus]) {
        let codes: Vec<String> = statuses
            .iter()
            .map(|status| status_code(*status).to_string())
            .collect();
        match (&codes[..], self.lead) {
            ([], _) => {}
            ([code], Lead::Status) => {
                self.conditions.push(format!("r.status = {code}"));
                self.conditions.push("r.status <> 4".to_owned());
            }
            (codes, _) => {
                let condition = format!("+r.status IN ({})", codes.join(", "));
                self.conditions.push(condition);
            }
        }
    }

    fn places(&mut self, filter: &RunFilter, bounds: &Bounds) {
        let number = self.number();
        let after = if filter.oldest_first { ">" } else { "<" };
        for (condition, value) in [
            (format!("{number} >= ?"), bounds.low),
            (format!("{number} <= ?"), bounds.high),
            (format!("{number} {after} ?"), bounds.cursor),
            ("r.created_ms >= ?".to_owned(), filter.since_ms),
            ("r.created_ms < ?".to_owned(), filter.until_ms),
        ] {
            if let Some(value) = value {
                self.add(&condition, value);
            }
        }
    }

    /// The column that has the order of the list, where the walk meets it first.
    fn number(&self) -> &'static str {
        match self.lead {
            Lead::Tag => "t.run",
            _ => "r.no",
        }
    }

    /// A condition that has an index, which is followed only if it leads.
    fn led(&mut self, lead: Lead, condition: &str, value: impl Into<Value>) {
        let plus = if self.lead == lead { "" } else { "+" };
        self.add(&format!("{plus}{condition}"), value);
    }

    fn add(&mut self, condition: &str, value: impl Into<Value>) {
        self.values.push(value.into());
        let parameter = format!("?{}", self.values.len());
        self.conditions.push(condition.replace('?', &parameter));
    }
}

fn lead(filter: &RunFilter, statuses: &[RunStatus]) -> Lead {
    let prefixed = filter.id_prefix.as_ref().is_some_and(|id| !id.is_empty());
    match statuses {
        _ if !filter.tags.is_empty() => Lead::Tag,
        _ if filter.parent.is_some() => Lead::Parent,
        _ if prefixed => Lead::Prefix,
        // Most runs are completed, and those have no index: a plain walk finds them soon.
        [status] if *status != RunStatus::Completed => Lead::Status,
        _ if filter.flow.is_some() => Lead::Flow,
        _ if filter.tenant.is_some() => Lead::Tenant,
        _ => Lead::Number,
    }
}
