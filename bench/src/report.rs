//! Figures: a JSON line each as they come, a table at the end.

use comfy_table::{Table, presets::ASCII_MARKDOWN};
use serde::Serialize;

#[derive(Default)]
pub struct Report {
    figures: Vec<Figure>,
}

#[derive(Serialize)]
struct Figure {
    metric: &'static str,
    value: f64,
    unit: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
}

impl Report {
    pub fn add(&mut self, metric: &'static str, value: f64, unit: &'static str) {
        self.push(Figure {
            metric,
            value,
            unit,
            target: None,
        });
    }

    /// A figure with the value that it has to reach on this machine.
    pub fn add_target(
        &mut self,
        metric: &'static str,
        value: f64,
        unit: &'static str,
        target: String,
    ) {
        self.push(Figure {
            metric,
            value,
            unit,
            target: Some(target),
        });
    }

    fn push(&mut self, figure: Figure) {
        println!("{}", serde_json::to_string(&figure).unwrap_or_default());
        self.figures.push(figure);
    }

    pub fn get(&self, metric: &str) -> Option<f64> {
        self.figures
            .iter()
            .find(|figure| figure.metric == metric)
            .map(|figure| figure.value)
    }

    pub fn print(&self) {
        let mut table = Table::new();
        table.load_style(ASCII_MARKDOWN);
        table.set_header(["metric", "value", "unit", "target here"]);
        for figure in &self.figures {
            let value = match figure.value {
                value if value >= 100.0 => format!("{value:.0}"),
                value => format!("{value:.3}"),
            };
            let target = figure.target.clone().unwrap_or_default();
            table.add_row([
                figure.metric.to_owned(),
                value,
                figure.unit.to_owned(),
                target,
            ]);
        }
        println!("\n{table}");
    }
}

/// The value below which the given share of the samples lies.
pub fn percentile(samples: &mut [f64], share: f64) -> f64 {
    samples.sort_by(f64::total_cmp);
    let at = ((samples.len() as f64 - 1.0) * share).round() as usize;
    samples.get(at).copied().unwrap_or_default()
}
