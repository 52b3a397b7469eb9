//! A simulated ledger as a table that fits a terminal: each day named once, all times in one zone, and equal non-fires
//! of a schedule that follow each other as one line.

use std::collections::HashMap;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use punctual::{Trial, Tried};
use punctual_plan::{Account, Attempt, Event, Origin, RangeRecord, Reason, Run, RunKey, RunStatus};

use super::plan::zone;
use super::table::table;
use super::{clock, short_clock};

/// Lines of a table; JSON has all.
const ROWS_MAX: usize = 500;

/// The ledger of a trial for people.
pub(super) fn text(trial: &Trial, tried: &Tried) -> String {
    let page = Page::new(tried);
    let stretch = format!(
        "from {} to {}, all times in {}",
        clock(trial.from, &page.zone),
        clock(tried.simulated.through, &page.zone),
        zone_name(tried)
    );
    let mut lines: Vec<Line> =
        tried.simulated.accounts.iter().flat_map(|account| page.lines(account)).collect();
    if lines.is_empty() {
        return format!("nothing ticks {stretch}\n{}", page.ends(trial, tried));
    }
    lines.sort_by_key(|line| line.first);
    let beyond = lines.len().saturating_sub(ROWS_MAX);
    let mut said = page.table(lines.into_iter().take(ROWS_MAX));
    if beyond > 0 {
        said += &format!("… and {beyond} more; `--json` has all of them\n");
    }
    said += &format!("\n{stretch}\n{}\n{}", counts(tried), page.ends(trial, tried));
    if tried.simulated.through < trial.to {
        said += "the trial ended early: it has more runs than one trial keeps\n";
    }
    said
}

/// The zone that times are told in: that of all schedules if they have the same, else that of the file.
pub(super) fn display_zone(tried: &Tried) -> TimeZone {
    shared_zone(tried).to_jiff()
}

fn zone_name(tried: &Tried) -> &str {
    shared_zone(tried).name()
}

fn shared_zone(tried: &Tried) -> &punctual_time::Zone {
    let mut zones = tried.declared.schedules.iter().map(zone);
    let first = zones.next().filter(|first| zones.all(|other| other.name() == first.name()));
    first.unwrap_or(&tried.declared.settings.timezone)
}

/// Some ticks of a schedule that came to the same.
struct Line {
    first: Timestamp,
    last: Timestamp,
    count: u64,
    schedule: String,
    status: RunStatus,
    /// When it ran, or why not.
    what: String,
}

impl Line {
    /// Whether another line continues this one.
    fn takes(&self, other: &Self) -> bool {
        let is_quiet = matches!(self.status, RunStatus::Skipped | RunStatus::Missed);
        is_quiet && self.status == other.status && self.what == other.what && self.last <= other.first
    }
}

/// What all lines share.
struct Page {
    zone: TimeZone,
    /// The ticks of runs that reasons name.
    ticks: HashMap<RunKey, Timestamp>,
}

impl Page {
    fn new(tried: &Tried) -> Self {
        let runs = tried.simulated.accounts.iter().flat_map(|account| &account.runs);
        Self { zone: display_zone(tried), ticks: runs.map(|run| (run.key, run.scheduled_for)).collect() }
    }

    fn lines(&self, account: &Account) -> Vec<Line> {
        let name = &account.schedule().name;
        let runs = account.runs.iter().map(|run| self.of_run(run, name));
        let ranges = account.ranges.iter().map(|record| self.of_range(record, name));
        let mut lines: Vec<Line> = runs.chain(ranges).collect();
        lines.sort_by_key(|line| line.first);
        let mut merged: Vec<Line> = Vec::new();
        for line in lines {
            match merged.last_mut().filter(|last| last.takes(&line)) {
                Some(last) => (last.last, last.count) = (line.last, last.count + line.count),
                None => merged.push(line),
            }
        }
        merged
    }

    fn of_run(&self, run: &Run, schedule: &str) -> Line {
        let at = run.scheduled_for;
        let ran = run.attempts.iter().map(|attempt| self.ran(attempt, at)).collect::<Vec<_>>().join(", ");
        let why = run.state.reason().map(|reason| self.told(reason, at));
        let mut what = [Some(ran).filter(|ran| !ran.is_empty()), why]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(": ");
        if run.origin != Origin::Tick {
            what = format!("{what} ({})", run.origin).trim_start().to_owned();
        }
        let (schedule, status) = (schedule.to_owned(), run.state.status());
        Line { first: at, last: at, count: 1, schedule, status, what }
    }

    fn of_range(&self, record: &RangeRecord, schedule: &str) -> Line {
        let range = &record.range;
        Line {
            first: range.first,
            last: range.last,
            count: range.count,
            schedule: schedule.to_owned(),
            status: record.end().status(),
            what: self.told(record.end().reason(), range.last),
        }
    }

    /// When an attempt started, and how long it took.
    fn ran(&self, attempt: &Attempt, tick: Timestamp) -> String {
        let start = short_clock(attempt.started_at, tick, &self.zone);
        let took = attempt.ended_at.map(|end| end.duration_since(attempt.started_at));
        match took.filter(|took| *took > SignedDuration::ZERO) {
            Some(took) => format!("{start} for {took:#}"),
            None => start,
        }
    }

    /// A reason with its instants in the zone of the page, and runs by their ticks: the table has no other name for them.
    fn told(&self, reason: &Reason, tick: Timestamp) -> String {
        let word = |word: &str| {
            let bare = word.trim_end_matches([',', '.', ':', ';']);
            let run = bare.strip_prefix("run-").and_then(|number| number.parse().ok()).map(RunKey);
            let told = match run.and_then(|run| self.ticks.get(&run)) {
                Some(at) => Some(format!("the run of {}", short_clock(*at, tick, &self.zone))),
                None => bare.parse().ok().map(|at| short_clock(at, tick, &self.zone)),
            };
            told.map_or_else(|| word.to_owned(), |told| told + &word[bare.len()..])
        };
        reason.to_string().split(' ').map(word).collect::<Vec<_>>().join(" ")
    }

    fn table(&self, lines: impl Iterator<Item = Line>) -> String {
        let mut day = String::new();
        let rows = lines.map(|line| {
            let today = line.first.to_zoned(self.zone.clone()).strftime("%Y-%m-%d").to_string();
            let is_new = std::mem::replace(&mut day, today.clone()) != today;
            let tick = short_clock(line.first, line.first, &self.zone);
            let (tick, status) = match line.count {
                1 => (tick, line.status.to_string()),
                count => (
                    format!("{tick} … {}", short_clock(line.last, line.first, &self.zone)),
                    format!("{count} × {}", line.status),
                ),
            };
            vec![if is_new { today } else { String::new() }, tick, line.schedule, status, line.what]
        });
        table(&["DAY", "TICK", "SCHEDULE", "STATUS", "RAN, OR WHY NOT"], rows)
    }

    /// The schedules that are not active in the end, and the breakers that are not closed.
    fn ends(&self, trial: &Trial, tried: &Tried) -> String {
        let mut said = String::new();
        let simulated = &tried.simulated;
        for account in &simulated.accounts {
            let (name, status) = (&account.schedule().name, &account.state.status);
            if let Some(at) = account.deleted_at {
                said += &format!("`{name}` was deleted at {}\n", clock(at, &self.zone));
            } else if let Some(reason) = status.reason(left_at(trial, tried, account)) {
                let told = self.told(&reason, trial.from);
                said += &format!("`{name}` is {} in the end: {told}\n", status.name());
            }
        }
        for (target, breaker) in simulated.breakers.iter().filter(|(_, breaker)| breaker.name() != "closed") {
            said += &format!("the circuit breaker of `{target}` is {} in the end\n", breaker.name());
        }
        said
    }
}

/// When a schedule left `active`; one that never was left it at the start.
fn left_at(trial: &Trial, tried: &Tried, account: &Account) -> Timestamp {
    let mut log = tried.simulated.log.iter().rev();
    let left = log.find(|logged| {
        logged.schedule == account.key && matches!(logged.event, Event::Left { .. } | Event::Changed { .. })
    });
    left.map_or(trial.from, |logged| logged.at)
}

/// How many ticks ended how.
fn counts(tried: &Tried) -> String {
    let of = |status: RunStatus| -> u64 {
        let accounts = tried.simulated.accounts.iter();
        accounts
            .map(|account| {
                let rows = account.runs.iter().filter(|run| run.state.status() == status).count() as u64;
                let ranges = account.ranges.iter().filter(|record| record.end().status() == status);
                rows + ranges.map(|record| record.range.count).sum::<u64>()
            })
            .sum()
    };
    let counted = RunStatus::ALL.iter().map(|status| (of(*status), status)).filter(|(count, _)| *count > 0);
    counted.map(|(count, status)| format!("{count} {status}")).collect::<Vec<_>>().join(", ")
}
