//! A simulated ledger as a table that fits a terminal: each day named once, all times in one zone, and as one line what
//! follows each other in a schedule and is alike: non-fires always, runs at their ticks if there are many.

use std::collections::HashMap;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use punctual::{Trial, Tried};
use punctual_plan::{Account, Attempt, Event, Origin, RangeRecord, Run, RunKey, RunState, RunStatus};

use super::plan::zone;
use super::table::table;
use super::{clock, short_clock};

/// Lines of a table; JSON has all.
const ROWS_MAX: usize = 500;

/// Lines of runs in a row that went as planned; what is longer becomes one, so that the others can be seen.
const STREAK_LINES_MAX: usize = 10;

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
    /// What is to be said beside its time if it ran at its tick, or is to run.
    on_time: Option<String>,
}

impl Line {
    /// Whether another line continues this one.
    fn takes(&self, other: &Self) -> bool {
        let is_quiet = matches!(self.status, RunStatus::Skipped | RunStatus::Missed);
        is_quiet && self.status == other.status && self.what == other.what && self.last <= other.first
    }

    /// Whether it went as planned, as another one did.
    fn is_in_streak(&self, other: &Self) -> bool {
        self.on_time.is_some() && self.on_time == other.on_time && self.status == other.status
    }
}

/// Lines with each long streak as one.
fn without_streaks(lines: Vec<Line>) -> Vec<Line> {
    let mut shorter: Vec<Line> = Vec::new();
    let mut rest = lines.into_iter().peekable();
    while let Some(first) = rest.next() {
        let mut streak = vec![first];
        while let Some(next) = rest.next_if(|next| streak[0].is_in_streak(next)) {
            streak.push(next);
        }
        if streak.len() <= STREAK_LINES_MAX {
            shorter.append(&mut streak);
            continue;
        }
        let (count, last) = (streak.len() as u64, streak[streak.len() - 1].last);
        let first = streak.swap_remove(0);
        let what = match first.status {
            RunStatus::Scheduled => String::new(),
            _ => format!("each at its tick{}", first.on_time.as_deref().unwrap_or_default()),
        };
        shorter.push(Line { last, count, what, ..first });
    }
    shorter
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
        without_streaks(merged)
    }

    fn of_run(&self, run: &Run, schedule: &str) -> Line {
        let at = run.scheduled_for;
        let ran = run.attempts.iter().map(|attempt| self.ran(attempt, at)).collect::<Vec<_>>().join(", ");
        let why = why(&run.state).map(|why| self.told(&why, at));
        let planned = match run.attempts.is_empty() {
            true => String::new(),
            false => short_clock(at, at, &self.zone),
        };
        let on_time = ran.strip_prefix(&planned).filter(|rest| !rest.starts_with([',', ':']));
        let is_plain = why.is_none() && run.origin == Origin::Tick && run.attempts.len() < 2;
        let on_time = on_time.filter(|_| is_plain).map(str::to_owned);
        let mut what = [Some(ran).filter(|ran| !ran.is_empty()), why]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(": ");
        if run.origin != Origin::Tick {
            what = format!("{what} ({})", run.origin).trim_start().to_owned();
        }
        let (schedule, status) = (schedule.to_owned(), run.state.status());
        Line { first: at, last: at, count: 1, schedule, status, what, on_time }
    }

    fn of_range(&self, record: &RangeRecord, schedule: &str) -> Line {
        let range = &record.range;
        Line {
            first: range.first,
            last: range.last,
            count: range.count,
            schedule: schedule.to_owned(),
            status: record.end().status(),
            what: self.told(&record.end().reason().to_string(), range.last),
            on_time: None,
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

    /// A sentence with its instants in the zone of the page, and runs by their ticks: the table has no other name for them.
    fn told(&self, sentence: &str, tick: Timestamp) -> String {
        let word = |word: &str| {
            let bare = word.trim_end_matches([',', '.', ':', ';']);
            let run = bare.strip_prefix("run-").and_then(|number| number.parse().ok()).map(RunKey);
            let told = match run.and_then(|run| self.ticks.get(&run)) {
                Some(at) => Some(format!("the run of {}", short_clock(*at, tick, &self.zone))),
                None => bare.parse().ok().map(|at| short_clock(at, tick, &self.zone)),
            };
            told.map_or_else(|| word.to_owned(), |told| told + &word[bare.len()..])
        };
        sentence.split(' ').map(word).collect::<Vec<_>>().join(" ")
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
                let told = self.told(&reason.to_string(), trial.from);
                said += &format!("`{name}` is {} in the end: {told}\n", status.name());
            }
        }
        for (target, breaker) in simulated.breakers.iter().filter(|(_, breaker)| breaker.name() != "closed") {
            said += &format!("the circuit breaker of `{target}` is {} in the end\n", breaker.name());
        }
        said
    }
}

/// Why a run did not succeed, or not yet.
fn why(state: &RunState) -> Option<String> {
    match state {
        RunState::Waiting(waiting) => Some(format!("waits for {}", waiting.wait)),
        RunState::Retrying { at, reason, .. } => Some(format!("{reason}, again at {at}")),
        other => other.reason().map(ToString::to_string),
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
