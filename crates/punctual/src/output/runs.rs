//! The ledger on the screen.

use std::collections::HashMap;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use punctual::{Failure, History, Walk, lateness, request_id};
use punctual_plan::{RunStatus, ScheduleId};
use punctual_store::{RangeRow, RunRow};
use serde_json::{Map, Value, json};

use super::run::{RunJson, because, duration, short};
use super::table::table_without;
use super::{Answer, Live, Output, clock};

/// A stretch in JSON.
fn range_json(range: &RangeRow) -> Value {
    let counts: Map<String, Value> =
        range.counts.iter().map(|(status, count)| (status.name().to_owned(), json!(count))).collect();
    json!({
        "schedule_id": range.schedule_id.to_string(),
        "schedule_name": range.schedule_name,
        "first": range.range.first,
        "last": range.range.last,
        "count": range.range.count,
        "status": range.range.end.status().name(),
        "reason": range.range.end.reason().code(),
        "reason_text": range.range.end.reason().to_string(),
        "counts": (!counts.is_empty()).then_some(counts),
    })
}

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
    Run(&'a RunRow),
    Range(&'a RangeRow),
}

impl Entry<'_> {
    fn at(&self) -> Timestamp {
        match self {
            Self::Run(row) => row.run.scheduled_for,
            Self::Range(row) => row.range.first,
        }
    }
}

/// The ledger as JSON, newest first, with a summary of what is shown; written page by page.
pub(crate) async fn walked(mut walk: Walk<'_>) -> Result<(), Failure> {
    let mut answer = Answer::begin()?;
    let mut summary = Summary::default();
    answer.begin_list("runs")?;
    while let Some(runs) = walk.next().await? {
        for run in &runs {
            summary.add(run);
            answer.item(&RunJson::new(run))?;
        }
        if !answer.is_read() {
            break;
        }
    }
    answer.end_list()?;
    let rest = walk.end();
    answer.list("ranges", rest.ranges.iter().map(range_json))?;
    answer.value("summary", &summary.json())?;
    answer.value("more", &rest.is_more)?;
    answer.end()
}

/// The same for people.
pub(crate) fn history(output: &Output, history: &History, shown: Shown) -> Result<(), Failure> {
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
    let mut summary = Summary::default();
    history.runs.iter().for_each(|run| summary.add(run));
    let more = if history.is_more { "there are more before; `--limit` shows them\n" } else { "" };
    output.text(&(summary.text() + more))
}

fn zone_of(history: &History, schedule: ScheduleId) -> TimeZone {
    history.zones.get(&schedule).map_or(TimeZone::UTC, punctual_time::Zone::to_jiff)
}

fn entry_cells(entry: &Entry<'_>, history: &History, shown: Shown) -> Vec<String> {
    let (mut cells, name) = match entry {
        Entry::Run(row) => (run_cells(row, &zone_of(history, row.schedule_id)), &row.schedule_name),
        Entry::Range(row) => (range_cells(row, &zone_of(history, row.schedule_id)), &row.schedule_name),
    };
    if shown == Shown::All {
        cells.insert(1, name.clone());
    }
    cells
}

fn run_cells(run: &RunRow, zone: &TimeZone) -> Vec<String> {
    vec![
        run.run.key.to_string(),
        clock(run.run.scheduled_for, zone),
        run.run.state.status().to_string(),
        duration(run).map_or("-".to_owned(), short),
        request_id(run).unwrap_or("-").to_owned(),
        lateness(run).map_or("-".to_owned(), short),
        because(&run.run.state),
    ]
}

fn range_cells(row: &RangeRow, zone: &TimeZone) -> Vec<String> {
    let said = match row.counts.is_empty() {
        true => row.range.end.reason().to_string(),
        false => {
            let counts: Vec<String> =
                row.counts.iter().map(|(status, count)| format!("{count} {status}")).collect();
            format!("past retention: {}", counts.join(", "))
        }
    };
    vec![
        format!("{} ticks", row.range.count),
        format!("{} .. {}", clock(row.range.first, zone), clock(row.range.last, zone)),
        if row.counts.is_empty() { row.range.end.status().to_string() } else { "digest".to_owned() },
        "-".to_owned(),
        "-".to_owned(),
        "-".to_owned(),
        said,
    ]
}

/// What is new in the ledger, line by line; whether somebody still reads.
pub(crate) fn news(live: &mut Live, news: &History, shown: Shown) -> Result<bool, Failure> {
    for row in &news.ranges {
        let json = json!({"range": range_json(row)});
        if !live.line(&json, || {
            line(&range_cells(row, &zone_of(news, row.schedule_id)), &row.schedule_name, shown)
        })? {
            return Ok(false);
        }
    }
    for row in &news.runs {
        let json = json!({"run": RunJson::new(row)});
        if !live.line(&json, || {
            line(&run_cells(row, &zone_of(news, row.schedule_id)), &row.schedule_name, shown)
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

/// In milliseconds, to the microsecond that the ledger keeps.
fn milliseconds(time: SignedDuration) -> f64 {
    (time.as_secs_f64() * 1_000_000.0).round() / 1_000.0
}

/// What the shown runs add up to.
#[derive(Default)]
struct Summary {
    counts: HashMap<RunStatus, usize>,
    late: Vec<f64>,
}

/// How late runs were launched, in milliseconds.
struct Lateness {
    p50: f64,
    p99: f64,
    max: f64,
}

impl Summary {
    fn add(&mut self, run: &RunRow) {
        *self.counts.entry(run.run.state.status()).or_default() += 1;
        self.late.extend(lateness(run).map(milliseconds));
    }

    /// How many of each state, in the order of the states.
    fn counts(&self) -> impl Iterator<Item = (RunStatus, usize)> + '_ {
        RunStatus::ALL.iter().filter_map(|status| Some((*status, *self.counts.get(status)?)))
    }

    fn lateness(&self) -> Option<Lateness> {
        let mut late = self.late.clone();
        late.sort_by(f64::total_cmp);
        Lateness::of(&late)
    }

    fn json(&self) -> Value {
        let counts: Map<String, Value> =
            self.counts().map(|(status, count)| (status.name().to_owned(), json!(count))).collect();
        let lateness = self.lateness().map(|late| json!({"p50": late.p50, "p99": late.p99, "max": late.max}));
        json!({"counts": counts, "lateness_ms": lateness})
    }

    fn text(&self) -> String {
        let counts: Vec<String> = self.counts().map(|(status, count)| format!("{count} {status}")).collect();
        let late = self.lateness().map_or(String::new(), |late| {
            format!("; lateness p50 {:.1} ms, p99 {:.1} ms, max {:.1} ms", late.p50, late.p99, late.max)
        });
        format!("{}{late}\n", counts.join(", "))
    }
}

impl Lateness {
    /// Nearest-rank percentiles of sorted values.
    fn of(sorted: &[f64]) -> Option<Self> {
        let rank =
            |percent: usize| sorted.get((sorted.len() * percent).div_ceil(100).saturating_sub(1)).copied();
        Some(Self { p50: rank(50)?, p99: rank(99)?, max: rank(100)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_occurred() {
        let values: Vec<f64> = (1..=200).map(f64::from).collect();
        let late = Lateness::of(&values).expect("there are values");
        assert_eq!((late.p50, late.p99, late.max), (100.0, 198.0, 200.0));
        assert!(Lateness::of(&[]).is_none());
    }
}
