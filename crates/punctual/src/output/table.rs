//! Tables without lines: columns that a person can read and `awk` can split.

use comfy_table::{ColumnConstraint, ContentArrangement, Table, Width, presets};

/// A terminal that says it is narrower than this does not know its width; nothing is wrapped then.
const WIDTH_MIN: u16 = 40;

/// What the last column needs at least, so that the others may keep their values in one piece.
const LAST_MIN: usize = 20;

/// The space between two columns.
const GAP: usize = 2;

/// A table with the given headings, as wide as the terminal allows.
pub(super) fn table(headings: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    table_without(&[], headings, rows)
}

/// The same; on a terminal that is too narrow the spare columns are left out, the first of them first.
pub(super) fn table_without(
    spare: &[&str],
    headings: &[&str],
    rows: impl IntoIterator<Item = Vec<String>>,
) -> String {
    let mut columns = Columns::new(headings, rows.into_iter().collect());
    let width = width();
    if let Some(width) = width {
        columns.fit(spare, usize::from(width));
    }
    columns.show(width)
}

/// The columns of the terminal, if there is one that knows.
pub(super) fn width() -> Option<u16> {
    Table::new().width().filter(|width| *width >= WIDTH_MIN)
}

/// What is to be shown.
struct Columns {
    headings: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Columns {
    fn new(headings: &[&str], rows: Vec<Vec<String>>) -> Self {
        Self { headings: headings.iter().map(|&text| text.to_owned()).collect(), rows }
    }

    /// How wide each column is when nothing is wrapped, with the gap behind it.
    fn widths(&self) -> Vec<usize> {
        let cell = |row: &Vec<String>, place: usize| row.get(place).map_or(0, |text| text.chars().count());
        let column = |place: usize| self.rows.iter().map(|row| cell(row, place)).max().unwrap_or_default();
        let headings = self.headings.iter().enumerate();
        headings.map(|(place, text)| column(place).max(text.chars().count()) + GAP).collect()
    }

    /// Whether every column but the last can stay in one piece.
    fn is_fitting(&self, width: usize) -> bool {
        let widths = self.widths();
        let last = widths.last().copied().unwrap_or_default();
        widths.iter().sum::<usize>() - last + last.min(LAST_MIN) <= width
    }

    /// Leaves out as many of the spare columns as it takes.
    fn fit(&mut self, spare: &[&str], width: usize) {
        for heading in spare {
            if self.is_fitting(width) {
                return;
            }
            if let Some(place) = self.headings.iter().position(|text| text == heading) {
                self.headings.remove(place);
                for row in self.rows.iter_mut().filter(|row| place < row.len()) {
                    row.remove(place);
                }
            }
        }
    }

    fn show(self, width: Option<u16>) -> String {
        let widths = self.widths();
        let mut table = Table::new();
        table.load_style(presets::NOTHING);
        let is_fitting = width.is_some_and(|width| self.is_fitting(usize::from(width)));
        if let Some(width) = width {
            table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
        }
        table.set_header(self.headings).add_rows(self.rows);
        for (place, column) in table.column_iter_mut().enumerate() {
            column.set_padding((0, 2));
            if is_fitting && place + 1 < widths.len() {
                let fixed = u16::try_from(widths[place]).unwrap_or(u16::MAX);
                column.set_constraint(ColumnConstraint::Absolute(Width::Fixed(fixed)));
            }
        }
        let lines: Vec<String> = table.lines().map(|line| line.trim_end().to_owned()).collect();
        lines.join("\n") + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(spare: &[&str], width: u16) -> String {
        let row = ["run-1", "2026-11-15 14:29:53 UTC", "req-7d960a8d-5284", "run-7 was still in flight"];
        let row = row.map(str::to_owned).to_vec();
        let mut columns = Columns::new(&["RUN ID", "SCHEDULED FOR", "REQUEST ID", "REASON"], vec![row]);
        columns.fit(spare, usize::from(width));
        columns.show(Some(width))
    }

    #[test]
    fn a_spare_column_is_left_out_where_it_does_not_fit() {
        assert!(shown(&["REQUEST ID"], 100).contains("req-7d960a8d-5284"));
        let narrow = shown(&["REQUEST ID"], 60);
        assert_eq!(
            narrow,
            "RUN ID  SCHEDULED FOR            REASON\n\
             run-1   2026-11-15 14:29:53 UTC  run-7 was still in flight\n"
        );
    }

    #[test]
    fn only_the_last_column_is_wrapped() {
        let narrow = shown(&["REQUEST ID"], 55);
        assert_eq!(
            narrow,
            "RUN ID  SCHEDULED FOR            REASON\n\
             run-1   2026-11-15 14:29:53 UTC  run-7 was still in\n                                 flight\n"
        );
    }
}
