//! Tables: with colours and fitted to the terminal, or plain aligned text.

use anstyle::Style;
use comfy_table::{
    Attribute, Cell, CellAlignment, Color, ColumnConstraint, ContentArrangement, presets,
};

use super::{stdout_has_colour, stdout_is_terminal, visible};

pub struct Table {
    header: Vec<&'static str>,
    /// The columns whose cells end below each other.
    numbers: std::ops::Range<usize>,
    rows: Vec<Row>,
}

/// A row of cells, each with its style.
#[derive(Default)]
pub struct Row(Vec<(String, Style)>);

impl Row {
    pub fn cell(mut self, text: impl Into<String>) -> Self {
        self.0.push((text.into(), Style::new()));
        self
    }

    pub fn styled(mut self, text: impl Into<String>, style: Style) -> Self {
        self.0.push((text.into(), style));
        self
    }
}

impl Table {
    pub fn new(header: impl Into<Vec<&'static str>>) -> Self {
        Self {
            header: header.into(),
            numbers: 0..0,
            rows: Vec::new(),
        }
    }

    /// Lets the cells of these columns end below each other, as numbers do.
    pub fn numbers(mut self, columns: std::ops::Range<usize>) -> Self {
        self.numbers = columns;
        self
    }

    pub fn push(&mut self, row: Row) {
        self.rows.push(row);
    }

    pub fn print(&self) {
        super::data(&self.render(stdout_is_terminal(), stdout_has_colour()));
    }

    /// In full width; the caller cuts the lines to fit.
    pub fn wide(&self) -> String {
        self.render(false, stdout_has_colour())
    }

    fn render(&self, terminal: bool, colour: bool) -> String {
        let mut table = comfy_table::Table::new();
        table.load_style(presets::NOTHING);
        if terminal {
            table.set_content_arrangement(ContentArrangement::Dynamic);
        }
        if colour {
            table.enforce_styling();
        } else if !terminal {
            table.force_no_tty();
        }
        if !self.header.is_empty() {
            table.set_header(self.header.iter().map(|title| {
                let cell = Cell::new(title.to_uppercase());
                if colour {
                    cell.add_attribute(Attribute::Dim)
                } else {
                    cell
                }
            }));
        }
        for Row(cells) in &self.rows {
            table.add_row(cells.iter().map(|(text, style)| cell(text, *style, colour)));
        }
        for (at, column) in table.column_iter_mut().enumerate() {
            column.set_padding((0, 2));
            if self.numbers.contains(&at) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        // What a row is called by is copied from here: it is never broken in two.
        if let Some(first) = table.column_mut(0) {
            first.set_constraint(ColumnConstraint::ContentWidth);
        }
        table.trim_fmt()
    }
}

fn cell(text: &str, style: Style, colour: bool) -> Cell {
    let mut cell = Cell::new(visible(text));
    if !colour {
        return cell;
    }
    if let Some(anstyle::Color::Ansi(found)) = style.get_fg_color() {
        cell = cell.fg(match found {
            anstyle::AnsiColor::Green => Color::Green,
            anstyle::AnsiColor::Red => Color::Red,
            anstyle::AnsiColor::Yellow => Color::Yellow,
            anstyle::AnsiColor::Blue => Color::Blue,
            anstyle::AnsiColor::Cyan => Color::Cyan,
            _ => Color::Reset,
        });
    }
    let effects = style.get_effects();
    if effects.contains(anstyle::Effects::BOLD) {
        cell = cell.add_attribute(Attribute::Bold);
    }
    if effects.contains(anstyle::Effects::DIMMED) {
        cell = cell.add_attribute(Attribute::Dim);
    }
    cell
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::paint;

    #[test]
    fn piped_it_is_plain_and_aligned() {
        let mut table = Table::new(["id", "status"]);
        table.push(
            Row::default()
                .cell("a-long-one")
                .styled("failed", paint::BAD),
        );
        table.push(Row::default().cell("b").cell("line\nbreak"));
        assert_eq!(
            table.render(false, false),
            "ID          STATUS\na-long-one  failed\nb           line break"
        );
        assert!(table.render(false, true).contains("\u{1b}["));
    }

    #[test]
    fn numbers_end_below_each_other() {
        let mut table = Table::new(["queue", "waiting", "process"]).numbers(1..2);
        table.push(Row::default().cell("a").cell("7").cell("x"));
        table.push(Row::default().cell("b").cell("1234").cell("y"));
        assert_eq!(
            table.render(false, false),
            "QUEUE  WAITING  PROCESS\na            7  x\nb         1234  y"
        );
    }
}
