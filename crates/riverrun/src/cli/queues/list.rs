//! `riverrun queues ls`.

use serde_json::Value;

use crate::{
    cli::Global,
    failure::{Exit, Result},
    output::{self, Row, Table, paint},
};

pub async fn list(global: &Global) -> Result<Exit> {
    let client = global.client()?;
    let queues = client.get(&["api", "queues"], &Vec::new()).await?.items();
    output::list(global.output, &queues, || {
        if queues.is_empty() {
            return output::talk("no queues\n  try: riverrun jobs add <queue> --create");
        }
        let mut table = Table::new([
            "queue",
            "waiting",
            "delayed",
            "active",
            "parked",
            "completed",
            "failed",
            "done/s",
            "oldest",
            "process",
        ])
        .numbers(1..9);
        queues
            .iter()
            .for_each(|queue| table.push(row(&queue.value())));
        table.print();
    });
    Ok(Exit::Ok)
}

fn row(queue: &Value) -> Row {
    let counts = &queue["counts"];
    let failed = count(&counts["failed"]);
    let failed_style = match failed.as_str() {
        "0" => paint::DIM,
        _ => paint::BAD,
    };
    let parked = count(&counts["parked"]);
    let parked_style = match parked.as_str() {
        "0" => paint::DIM,
        _ => paint::WARN,
    };
    let row = Row::default()
        .styled(queue["name"].as_str().unwrap_or_default(), paint::NAME)
        .cell(count(&counts["waiting"]))
        .cell(count(&counts["delayed"]))
        .cell(count(&counts["active"]))
        .styled(parked, parked_style)
        .cell(count(&counts["completed"]))
        .styled(failed, failed_style)
        .cell(rate(&queue["stats"]["completedPerS"]))
        .cell(age(&queue["oldestMs"]));
    match (queue["paused"].as_bool(), queue["process"].as_str()) {
        (Some(true), _) => row.styled("paused", paint::WARN),
        (_, Some(process)) => row.cell(process),
        (_, None) => row.styled("none", paint::WARN),
    }
}

pub fn count(value: &Value) -> String {
    value.as_u64().unwrap_or_default().to_string()
}

/// A rate with as many digits as say something.
pub fn rate(value: &Value) -> String {
    match value.as_f64().unwrap_or_default() {
        0.0 => "0".to_owned(),
        rate if rate < 10.0 => format!("{rate:.1}"),
        rate => format!("{rate:.0}"),
    }
}

/// How old something is, roughly: `3m`, `2h`, `5d`.
pub fn age(ms: &Value) -> String {
    let Some(ms) = ms.as_f64() else {
        return "-".to_owned();
    };
    match ms {
        ms if ms < 10.0 => format!("{ms:.1}ms"),
        ms if ms < 1_000.0 => format!("{ms:.0}ms"),
        ms if ms < 10_000.0 => format!("{:.1}s", ms / 1_000.0),
        ms if ms < 120_000.0 => format!("{:.0}s", ms / 1_000.0),
        ms if ms < 7_200_000.0 => format!("{:.0}m", ms / 60_000.0),
        ms if ms < 172_800_000.0 => format!("{:.0}h", ms / 3_600_000.0),
        ms => format!("{:.0}d", ms / 86_400_000.0),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_are_as_exact_as_they_are_small() {
        for (ms, shown) in [
            (json!(0), "0.0ms"),
            (json!(1.26), "1.3ms"),
            (json!(250), "250ms"),
            (json!(1_500), "1.5s"),
            (json!(90_000), "90s"),
            (json!(3_600_000), "60m"),
            (json!(86_400_000), "24h"),
            (json!(864_000_000), "10d"),
            (json!(null), "-"),
        ] {
            assert_eq!(age(&ms), shown);
        }
        for (per_second, shown) in [
            (json!(0.0), "0"),
            (json!(0.25), "0.2"),
            (json!(1234.5), "1234"),
        ] {
            assert_eq!(rate(&per_second), shown);
        }
    }
}
