//! A ledger as a picture: one line for each schedule, time from left to right.

use jiff::{SignedDuration, Timestamp};
use punctual::{Trial, Tried};
use punctual_plan::{Account, RunStatus};

use super::clock;

/// Columns of the picture.
const WIDTH: usize = 72;

/// Letters of a schedule's name.
const NAME_MAX: usize = 24;

/// What the marks mean, the strongest last: it is the one that is shown where several fall together.
const MARKS: [(char, &str); 7] = [
    ('-', "skipped"),
    ('.', "missed"),
    ('o', "armed or waiting"),
    ('#', "success"),
    ('~', "running"),
    ('c', "cancelled"),
    ('x', "failed"),
];

/// Draws the ledger of a trial.
pub(super) fn draw(trial: &Trial, tried: &Tried) -> String {
    let scale = Scale { from: trial.from, span: tried.simulated.through.duration_since(trial.from) };
    let mut said = format!("{:NAME_MAX$} {}\n", "", ruler(&scale));
    for account in &tried.simulated.accounts {
        let name: String = account.schedule().name.chars().take(NAME_MAX).collect();
        said += &format!("{name:NAME_MAX$} {}\n", lane(account, &scale));
    }
    if !trial.outages.is_empty() {
        let mut marks = vec![' '; WIDTH];
        for outage in &trial.outages {
            scale.fill(&mut marks, (outage.from, outage.to), '=');
        }
        said += &format!("{:NAME_MAX$} {}\n", "(outage)", marks.into_iter().collect::<String>().trim_end());
    }
    let legend: Vec<String> = MARKS.iter().map(|(mark, meaning)| format!("{mark} {meaning}")).collect();
    said + &format!("\n{}\n", legend.join("   "))
}

/// From time to columns.
struct Scale {
    from: Timestamp,
    span: SignedDuration,
}

impl Scale {
    fn column(&self, at: Timestamp) -> Option<usize> {
        let passed = at.duration_since(self.from);
        if passed.is_negative() || passed > self.span {
            return None;
        }
        let column = passed.as_millis() * WIDTH as i128 / self.span.as_millis().max(1);
        usize::try_from(column).ok().map(|column| column.min(WIDTH - 1))
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

fn ruler(scale: &Scale) -> String {
    let end = scale.from.saturating_add(scale.span).unwrap_or(scale.from);
    let utc = jiff::tz::TimeZone::UTC;
    let (left, right) = (clock(scale.from, &utc), clock(end, &utc));
    let gap = WIDTH.saturating_sub(left.chars().count() + right.chars().count()).max(1);
    format!("{left}{}{right}", " ".repeat(gap))
}

fn lane(account: &Account, scale: &Scale) -> String {
    let mut marks = vec![' '; WIDTH];
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
        if run.state.status() == RunStatus::Success
            && let Some(place) = scale.column(at).and_then(|column| marks.get_mut(column))
            && *place == '~'
        {
            *place = '#';
        }
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
