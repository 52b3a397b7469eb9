//! Tables without lines: columns that a person can read and `awk` can split.

use comfy_table::{ColumnConstraint, ContentArrangement, Table, Width, presets};

/// A terminal that says it is narrower than this does not know its width; nothing is wrapped then.
const WIDTH_MIN: u16 = 40;

/// What the last column needs at least, so that the others may keep their values in one piece.
const LAST_MIN: usize = 20;

/// The space between two columns.
const GAP: usize = 2;

/// Columns whose values people chose: where there is no room, their middle is left out rather than a line broken.
const CHOSEN: [&str; 5] = ["NAME", "SCHEDULE", "TARGET", "CRON", "VALUE"];

/// So much of a chosen name is shown at least.
const CHOSEN_MIN: usize = 12;

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
        self.excess(width) == 0
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
        self.shorten(width);
    }

    /// How many characters there are too many.
    fn excess(&self, width: usize) -> usize {
        let widths = self.widths();
        let last = widths.last().copied().unwrap_or_default();
        (widths.iter().sum::<usize>() - last + last.min(LAST_MIN)).saturating_sub(width)
    }

    /// Shortens chosen names, the widest column first, as far as it takes.
    fn shorten(&mut self, width: usize) {
        let last = self.headings.len().saturating_sub(1);
        let is_chosen = |place: &usize| *place != last && CHOSEN.contains(&self.headings[*place].as_str());
        let mut places: Vec<usize> = (0..self.headings.len()).filter(is_chosen).collect();
        let widths = self.widths();
        places.sort_by_key(|place| std::cmp::Reverse(widths[*place]));
        for place in places {
            let most = (widths[place] - GAP).saturating_sub(self.excess(width)).max(CHOSEN_MIN);
            for cell in self.rows.iter_mut().filter_map(|row| row.get_mut(place)) {
                *cell = without_middle(cell, most);
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

/// A text of at most so many characters: the beginning and the end say most about a name.
fn without_middle(text: &str, most: usize) -> String {
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    let (head, tail) = (most.div_ceil(2) - 1, most / 2);
    text.chars().take(head).chain(['…']).chain(text.chars().skip(count - tail)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chosen_name_loses_its_middle_and_never_breaks() {
        let name = "request/req-ce23bfc6-f9aa-45a3-b339-075d495cfc2b";
        let row = ["run-1", name, "2026-11-15 14:29:53 UTC", "success", "a reason of some words"];
        let row = row.map(str::to_owned).to_vec();
        let headings = ["RUN ID", "SCHEDULE", "SCHEDULED FOR", "STATUS", "REASON"];
        let shown = |width: u16| {
            let mut columns = Columns::new(&headings, vec![row.clone()]);
            columns.fit(&[], usize::from(width));
            columns.show(Some(width))
        };
        assert!(shown(140).contains(name));
        assert_eq!(
            shown(80),
            "RUN ID  SCHEDULE          SCHEDULED FOR            STATUS   REASON\n\
             run-1   request…495cfc2b  2026-11-15 14:29:53 UTC  success  a reason of some\n                                                            words\n"
        );
        assert_eq!(without_middle("ünïcödé", 4), "ü…dé");
    }

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
