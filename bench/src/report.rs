//! Figures: a JSON line each as they come, a table at the end.

use std::{fmt, time::SystemTime};

use comfy_table::{CellAlignment, Table, presets::ASCII_MARKDOWN};
use serde_json::json;

use crate::{
    process::{DISTURBED, Usage, machine_name},
    target::{Machine, Target, Verdict},
};

#[derive(Default)]
pub struct Report {
    parts: Vec<Part>,
    begun: Option<Usage>,
}

struct Part {
    name: &'static str,
    machine: Machine,
    figures: Vec<Figure>,
    /// The share of the machine's processors that others used while it was measured.
    others: f64,
}

struct Figure {
    metric: String,
    value: f64,
    unit: &'static str,
    target: Option<Target>,
}

impl Report {
    pub fn begin(&mut self, name: &'static str, machine: Machine) {
        self.parts.push(Part {
            name,
            machine,
            figures: Vec::new(),
            others: 0.0,
        });
        self.begun = Some(Usage::now());
    }

    /// Ends a part. Its servers have ended: only then their processor time counts as ours.
    pub fn end(&mut self) {
        if let (Some(part), Some(begun)) = (self.parts.last_mut(), self.begun.take()) {
            part.others = begun.others_since();
            println!(
                "{}",
                json!({"part": part.name, "appends_per_s": part.machine.appends.round(),
                    "posts_per_s": part.machine.posts.round(), "others_cpu": part.others})
            );
        }
    }

    pub fn add(&mut self, metric: impl Into<String>, value: f64, unit: &'static str) {
        self.push(metric.into(), value, unit, None);
    }

    /// A figure with what it has to reach.
    pub fn judge(
        &mut self,
        metric: impl Into<String>,
        value: f64,
        unit: &'static str,
        target: Target,
    ) {
        self.push(metric.into(), value, unit, Some(target));
    }

    fn push(&mut self, metric: String, value: f64, unit: &'static str, target: Option<Target>) {
        let Some(part) = self.parts.last_mut() else {
            return;
        };
        let mut line = json!({"part": part.name, "metric": metric, "value": value, "unit": unit});
        if let Some(target) = target {
            line["target"] = json!(target.reference());
            line["target_here"] = json!(target.on(part.machine));
            line["verdict"] = json!(format!("{:?}", target.verdict(part.machine, value)));
        }
        println!("{line}");
        part.figures.push(Figure {
            metric,
            value,
            unit,
            target,
        });
    }

    /// The page that is kept in the repository.
    pub fn page(&self) -> String {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let ms = now.map_or(0, |now| i64::try_from(now.as_millis()).unwrap_or(0));
        let when = riverrun_types::time::iso(ms);
        format!(
            "# Results\n\nWritten by `make bench ARGS=--save` on {} on {}. How each figure is \
             taken: [README](README.md).\n\n{self}\n",
            &when[..10],
            machine_name()
        )
    }

    fn limits(&self) -> Table {
        let mut table = Table::new();
        table.load_style(ASCII_MARKDOWN).set_header([
            "part",
            "synced appends/s",
            "empty POSTs/s",
            "CPU of others",
        ]);
        for part in &self.parts {
            table.add_row([
                part.name.to_owned(),
                short(part.machine.appends),
                short(part.machine.posts),
                format!("{:.0} %", part.others * 100.0),
            ]);
        }
        align(&mut table, &[1, 2, 3]);
        table
    }

    fn figures(&self) -> Table {
        let mut table = Table::new();
        let header = ["", "figure", "unit", "target", "target here", ""];
        table.load_style(ASCII_MARKDOWN).set_header(header);
        for part in &self.parts {
            for figure in &part.figures {
                let metric = format!("{}: {}", part.name, figure.metric);
                let [target, here, verdict] = match figure.target {
                    None => [const { String::new() }; 3],
                    Some(target) => {
                        let sign = target.sign();
                        [
                            format!("{sign} {}", short(target.reference())),
                            format!("{sign} {}", short(target.on(part.machine))),
                            part.verdict(target, figure.value).to_owned(),
                        ]
                    }
                };
                let value = short(figure.value);
                table.add_row([metric, value, figure.unit.to_owned(), target, here, verdict]);
            }
        }
        align(&mut table, &[1, 3, 4]);
        table
    }
}

impl Part {
    fn verdict(&self, target: Target, value: f64) -> &'static str {
        match target.verdict(self.machine, value) {
            Verdict::Met => "met",
            Verdict::Missed if self.others > DISTURBED => "missed, disturbed",
            Verdict::Missed => "**missed**",
            Verdict::Unjudged => "not comparable",
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n\n{CAPTION}\n", self.figures())?;
        write!(f, "{}", self.limits())
    }
}

const CAPTION: &str = "\
`target` holds on a machine with 2,500 synced 4 KiB appends/s from one thread and 49,000 POSTs/s \
to an empty axum server. Both limits are measured before each part (below), and `target here` \
follows: throughputs are multiplied by the smaller of the two shares, times that are mostly one \
sync are divided by the share of the appends, times that are mostly computing by the share of the \
POSTs. A share counts as 1 at most; below one half nothing is judged. Memory, bytes and starts do not \
scale. Where others used more than a tenth of the machine meanwhile, a miss says so.";

fn align(table: &mut Table, right: &[usize]) {
    for index in right {
        if let Some(column) = table.column_mut(*index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}

/// Three digits are all that such figures are worth.
fn short(value: f64) -> String {
    match value {
        value if value >= 100.0 => format!("{value:.0}"),
        value if value >= 10.0 => format!("{value:.1}"),
        value if value >= 1.0 => format!("{value:.2}"),
        value => format!("{value:.3}"),
    }
}

/// The value below which the given share of the samples lies.
pub fn percentile(samples: &mut [f64], share: f64) -> f64 {
    samples.sort_by(f64::total_cmp);
    let at = ((samples.len() as f64 - 1.0) * share).round() as usize;
    samples.get(at).copied().unwrap_or_default()
}
