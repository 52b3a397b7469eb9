//! The ledger on the screen.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use punctual::Failure;
use punctual::shape::{Range, Run, Runs, Summary, Tally, followed};
use serde_json::json;

use super::run::short;
use super::table::table_without;
use super::{Answer, Live, Output, clock, short_clock};
use crate::cli::door::RunPages;

/// Lines of one table; a longer list has its headings again after so many.
const TABLE_ROWS_MAX: usize = 1_000;

/// Columns that a narrow terminal does without.
const SPARE: [&str; 3] = ["REQUEST ID", "LATE", "DURATION"];

/// Whose schedules a listing shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// One.
    One,
    /// All, each line with its name.
    All,
}

/// A line of the ledger: an entry or a stretch.
enum Entry<'a> {
    Run(&'a Run),
    Range(&'a Range),
}

impl Entry<'_> {
    fn at(&self) -> Timestamp {
        match self {
            Self::Run(run) => run.scheduled_for,
            Self::Range(range) => range.first,
        }
    }
}

/// The ledger as JSON, newest first, with a summary of what is shown; written page by page.
pub(crate) async fn walked(mut pages: RunPages<'_>) -> Result<(), Failure> {
    let mut answer = Answer::begin()?;
    let mut tally = Tally::default();
    answer.begin_list("runs")?;
    while let Some(runs) = pages.next().await? {
        for run in runs {
            tally.add(&run);
            answer.item(&run.plain())?;
        }
        if !answer.is_read() {
            break;
        }
    }
    answer.end_list()?;
    let beside = pages.end();
    answer.list("ranges", &beside.ranges)?;
    answer.value("summary", &tally.summary())?;
    answer.value("more", &beside.more)?;
    answer.end()
}

/// The same for people.
pub(crate) fn history(output: &Output, history: &Runs, shown: Shown) -> Result<(), Failure> {
    if history.runs.is_empty() && history.ranges.is_empty() {
        return output.text("no entry of the ledger fits; a schedule's first tick may still be to come\n");
    }
    let runs = history.runs.iter().map(Entry::Run);
    let mut entries: Vec<Entry<'_>> = runs.chain(history.ranges.iter().map(Entry::Range)).collect();
    entries.sort_by_key(|entry| std::cmp::Reverse(entry.at()));
    let mut headings = vec!["RUN ID", "SCHEDULED FOR", "STATUS", "DURATION", "REQUEST ID", "LATE", "REASON"];
    if shown == Shown::All {
        headings.insert(1, "SCHEDULE");
    }
    for page in entries.chunks(TABLE_ROWS_MAX) {
        let cells = page.iter().map(|entry| entry_cells(entry, history, shown));
        output.text(&table_without(&SPARE, &headings, cells))?;
    }
    let more = if history.more { "there are more before; `--limit` shows them\n" } else { "" };
    output.text(&(summed(&history.summary) + more))
}

fn zone_of(history: &Runs, schedule: &str) -> TimeZone {
    let zones = history.zones.as_ref();
    super::zone(zones.and_then(|zones| zones.get(schedule)).map(String::as_str))
}

fn entry_cells(entry: &Entry<'_>, history: &Runs, shown: Shown) -> Vec<String> {
    let (mut cells, name) = match entry {
        Entry::Run(run) => (run_cells(run, &zone_of(history, &run.schedule_id)), &run.schedule_name),
        Entry::Range(row) => (range_cells(row, &zone_of(history, &row.schedule_id)), &row.schedule_name),
    };
    if shown == Shown::All {
        cells.insert(1, name.clone());
    }
    cells
}

fn run_cells(run: &Run, zone: &TimeZone) -> Vec<String> {
    vec![
        run.id.clone(),
        clock(run.scheduled_for, zone),
        run.status.clone(),
        run.took().map_or("-".to_owned(), short),
        run.request_id.clone().unwrap_or_else(|| "-".to_owned()),
        run.lateness().map_or("-".to_owned(), short),
        run.because.clone().unwrap_or_default(),
    ]
}

fn range_cells(row: &Range, zone: &TimeZone) -> Vec<String> {
    let said = match &row.counts {
        None => row.reason_text.clone(),
        Some(counts) => {
            let counts: Vec<String> =
                counts.iter().map(|(status, count)| format!("{count} {status}")).collect();
            format!("past retention: {}", counts.join(", "))
        }
    };
    vec![
        format!("{} ticks", row.count),
        format!("{} .. {}", clock(row.first, zone), short_clock(row.last, row.first, zone)),
        if row.counts.is_none() { row.status.clone() } else { "digest".to_owned() },
        "-".to_owned(),
        "-".to_owned(),
        "-".to_owned(),
        said,
    ]
}

/// What is new in the ledger, line by line; whether somebody still reads.
pub(crate) fn news(live: &mut Live, news: &Runs, shown: Shown) -> Result<bool, Failure> {
    for row in &news.ranges {
        let json = json!({ "range": row });
        if !live.line(&json, || {
            line(&range_cells(row, &zone_of(news, &row.schedule_id)), &row.schedule_name, shown)
        })? {
            return Ok(false);
        }
    }
    for row in &news.runs {
        let json = followed(row.clone());
        if !live.line(&json, || {
            line(&run_cells(row, &zone_of(news, &row.schedule_id)), &row.schedule_name, shown)
        })? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The cells of an entry as one line.
fn line(cells: &[String], name: &str, shown: Shown) -> String {
    let [id, at, status, took, _, _, reason] = cells else { return cells.join("  ") };
    let name = if shown == Shown::All { format!("  {name}") } else { String::new() };
    format!("{id:<10}  {at}{name}  {status:<9}  {took:<8}  {reason}").trim_end().to_owned()
}

/// What the shown runs add up to, in a line.
fn summed(summary: &Summary) -> String {
    let counts: Vec<String> =
        summary.counts.iter().map(|(status, count)| format!("{count} {status}")).collect();
    let late = summary.lateness_ms.as_ref().map_or(String::new(), |late| {
        format!("; lateness p50 {:.1} ms, p99 {:.1} ms, max {:.1} ms", late.p50, late.p99, late.max)
    });
    format!("{}{late}\n", counts.join(", "))
}
