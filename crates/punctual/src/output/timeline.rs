//! A ledger as a picture: one line for each schedule, time from left to right.

use jiff::{SignedDuration, Timestamp};
use punctual::{Trial, Tried};
use punctual_plan::{Account, RunStatus};

use super::{clock, ledger, table};

/// Columns in all, where no terminal says how many it has.
const WIDTH: usize = 80;

/// The fewest columns of the time itself: both ends of the ruler must have room.
const LANE_MIN: usize = 48;

/// Letters of a schedule's name.
const NAME_MAX: usize = 24;

/// What the marks mean, the strongest last: it is the one that is shown where several fall together.
const MARKS: [(char, &str); 7] = [
    ('~', "running"),
    ('.', "missed"),
    ('-', "skipped"),
    ('o', "armed or waiting"),
    ('#', "success"),
    ('c', "cancelled"),
    ('x', "failed"),
];

/// Draws the ledger of a trial.
pub(super) fn draw(trial: &Trial, tried: &Tried) -> String {
    let accounts = &tried.simulated.accounts;
    let outage = Some("(outage)").filter(|_| !trial.outages.is_empty());
    let names = accounts.iter().map(|account| account.schedule().name.as_str()).chain(outage);
    let letters = names.map(|name| name.chars().count()).max().unwrap_or_default().min(NAME_MAX);
    let width = table::width().map_or(WIDTH, usize::from);
    let scale = Scale {
        from: trial.from,
        span: tried.simulated.through.duration_since(trial.from),
        width: width.saturating_sub(letters + 1).max(LANE_MIN),
    };
    let mut said = format!("{:letters$} {}\n", "", ruler(&scale, &ledger::display_zone(tried)));
    let mut drawn = String::new();
    for account in accounts {
        let name: String = account.schedule().name.chars().take(NAME_MAX).collect();
        let lane = lane(account, &scale);
        said += format!("{name:letters$} {lane}").trim_end();
        said.push('\n');
        drawn += &lane;
    }
    if let Some(outage) = outage {
        let mut marks = vec![' '; scale.width];
        for outage in &trial.outages {
            scale.fill(&mut marks, (outage.from, outage.to), '=');
        }
        said += &format!("{outage:letters$} {}\n", marks.into_iter().collect::<String>().trim_end());
    }
    let marks = MARKS.iter().filter(|(mark, _)| drawn.contains(*mark));
    let legend: Vec<String> = marks.map(|(mark, meaning)| format!("{mark} {meaning}")).collect();
    let legend = if legend.is_empty() { "nothing ticks".to_owned() } else { legend.join("  ") };
    said + &format!("\n{legend}\n")
}

/// From time to columns.
struct Scale {
    from: Timestamp,
    span: SignedDuration,
    width: usize,
}

impl Scale {
    fn column(&self, at: Timestamp) -> Option<usize> {
        let passed = at.duration_since(self.from);
        if passed.is_negative() || passed > self.span {
            return None;
        }
        let column = passed.as_millis() * self.width as i128 / self.span.as_millis().max(1);
        usize::try_from(column).ok().map(|column| column.min(self.width - 1))
    }

    fn fill(&self, marks: &mut [char], (from, to): (Timestamp, Timestamp), mark: char) {
        let last = self.from.saturating_add(self.span).unwrap_or(to);
        let (Some(first), Some(last)) = (self.column(from.max(self.from)), self.column(to.min(last))) else {
            return;
        };
        for place in &mut marks[first..=last] {
            *place = stronger(*place, mark);
        }
    }
}

fn stronger(one: char, other: char) -> char {
    let rank = |mark: char| MARKS.iter().position(|(known, _)| *known == mark);
    if rank(other) >= rank(one) { other } else { one }
}

fn ruler(scale: &Scale, zone: &jiff::tz::TimeZone) -> String {
    let end = scale.from.saturating_add(scale.span).unwrap_or(scale.from);
    let (left, right) = (clock(scale.from, zone), clock(end, zone));
    let gap = scale.width.saturating_sub(left.chars().count() + right.chars().count()).max(1);
    format!("{left}{}{right}", " ".repeat(gap))
}

fn lane(account: &Account, scale: &Scale) -> String {
    let mut marks = vec![' '; scale.width];
    for record in &account.ranges {
        scale.fill(&mut marks, (record.range.first, record.range.last), mark(record.end().status()));
    }
    for run in &account.runs {
        for attempt in &run.attempts {
            let end = attempt.ended_at.unwrap_or(Timestamp::MAX);
            scale.fill(&mut marks, (attempt.started_at, end), '~');
        }
        let at = run.attempts.last().and_then(|attempt| attempt.ended_at).unwrap_or(run.scheduled_for);
        scale.fill(&mut marks, (at, at), mark(run.state.status()));
    }
    marks.into_iter().collect::<String>().trim_end().to_owned()
}

fn mark(status: RunStatus) -> char {
    match status {
        RunStatus::Skipped => '-',
        RunStatus::Missed => '.',
        RunStatus::Scheduled | RunStatus::Waiting | RunStatus::Retrying => 'o',
        RunStatus::Success => '#',
        RunStatus::Enqueued | RunStatus::Running => '~',
        RunStatus::Cancelled => 'c',
        RunStatus::Failed => 'x',
    }
}
