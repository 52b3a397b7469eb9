//! Tables without lines: columns that a person can read and `awk` can split.

use comfy_table::{ContentArrangement, Table, presets};

/// A terminal that says it is narrower than this does not know its width; nothing is wrapped then.
const WIDTH_MIN: u16 = 40;

/// A table with the given headings, as wide as the terminal allows.
pub(super) fn table(headings: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    if width().is_some() {
        table.set_content_arrangement(ContentArrangement::Dynamic);
    }
    table.set_header(headings).add_rows(rows);
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    let lines: Vec<String> = table.lines().map(|line| line.trim_end().to_owned()).collect();
    lines.join("\n") + "\n"
}

/// The columns of the terminal, if there is one that knows.
pub(super) fn width() -> Option<u16> {
    Table::new().width().filter(|width| *width >= WIDTH_MIN)
}
