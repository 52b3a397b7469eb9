//! Admit: at its instant an armed tick starts, or is closed with the reason.
//!
//! The verdict is made on what was read; the claim it needs is taken by the store in the transaction
//! that writes it, so two nodes that read the same cannot both start a run.

use std::collections::HashMap;

use jiff::Timestamp;

use crate::catch_up::Late;
use crate::{Reason, RunKey, ScheduleKey};

/// An armed row whose instant has come.
#[derive(Clone, Debug)]
pub struct Due {
    /// The row.
    pub run: RunKey,
    /// Its schedule.
    pub schedule: ScheduleKey,
    /// Its tick.
    pub scheduled_for: Timestamp,
    /// From when it may be admitted, and from when its lateness counts.
    pub fire_at: Timestamp,
    /// The schedule's run in flight, if there is one.
    pub active_run: Option<RunKey>,
}

/// The verdict over one due row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admission {
    /// The row.
    pub run: RunKey,
    /// Its schedule.
    pub schedule: ScheduleKey,
    /// What shall happen.
    pub verdict: Verdict,
}

/// What shall happen to a due row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It starts, if the claim on its schedule can be taken.
    Start,
    /// It was looked at in time and does not run.
    Skip(Reason),
    /// It was looked at too late.
    Miss(Reason),
}

/// Judges the rows that are due at `now`; rows whose instant has not come are left out.
///
/// ```
/// use punctual_plan::{Due, RunKey, ScheduleKey, Verdict, admit};
///
/// let now = "2026-01-01T10:00:00.002Z".parse()?;
/// let tick = "2026-01-01T10:00:00Z".parse()?;
/// let due = Due { run: RunKey(1), schedule: ScheduleKey(1), scheduled_for: tick, fire_at: tick, active_run: None };
/// assert_eq!(admit(&[due], now)[0].verdict, Verdict::Start);
/// # Ok::<(), jiff::Error>(())
/// ```
pub fn admit(due: &[Due], now: Timestamp) -> Vec<Admission> {
    let mut last_due: HashMap<ScheduleKey, Timestamp> = HashMap::new();
    let ready = || due.iter().filter(|row| row.fire_at <= now);
    for row in ready() {
        let last = last_due.entry(row.schedule).or_insert(row.scheduled_for);
        *last = row.scheduled_for.max(*last);
    }
    ready()
        .map(|row| {
            let last_due = last_due.get(&row.schedule).copied().unwrap_or(row.scheduled_for);
            Admission { run: row.run, schedule: row.schedule, verdict: judge(row, last_due, now) }
        })
        .collect()
}

fn judge(row: &Due, last_due: Timestamp, now: Timestamp) -> Verdict {
    let late = Late { scheduled_for: row.scheduled_for, fire_at: row.fire_at, last_due };
    match (late.missed(now), row.active_run) {
        (Some(reason), _) => Verdict::Miss(reason),
        (None, Some(run)) => Verdict::Skip(Reason::Overlap { run }),
        (None, None) => Verdict::Start,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        format!("2026-01-01T{text}Z").parse().unwrap()
    }

    /// One line per row, `RUN/SCHEDULE TICK [in flight RUN]`, against one line per verdict.
    fn check(now: &str, rows: &[(i64, i64, &str, Option<i64>)], expected: &[&str]) {
        let due: Vec<Due> = rows
            .iter()
            .map(|(run, schedule, tick, active)| Due {
                run: RunKey(*run),
                schedule: ScheduleKey(*schedule),
                scheduled_for: at(tick),
                fire_at: at(tick),
                active_run: active.map(RunKey),
            })
            .collect();
        let said: Vec<String> = admit(&due, at(now))
            .iter()
            .map(|admission| match &admission.verdict {
                Verdict::Start => format!("{} starts", admission.run),
                Verdict::Skip(reason) => format!("{} skipped: {}", admission.run, reason.code()),
                Verdict::Miss(reason) => format!("{} missed: {}", admission.run, reason.code()),
            })
            .collect();
        assert_eq!(said, expected);
    }

    #[test]
    fn a_row_starts_at_its_instant_and_not_before() {
        check("10:00:00", &[(1, 1, "10:00:00", None)], &["run-1 starts"]);
        check("09:59:59.999", &[(1, 1, "10:00:00", None)], &[]);
    }

    #[test]
    fn a_row_is_skipped_while_the_run_before_it_is_in_flight() {
        check("10:00:00", &[(2, 1, "10:00:00", Some(1))], &["run-2 skipped: overlap"]);
    }

    #[test]
    fn of_several_due_ticks_only_the_last_fires() {
        check(
            "10:00:02",
            &[(1, 1, "10:00:00", None), (2, 1, "10:00:01", None), (3, 2, "10:00:00", None)],
            &["run-1 missed: overtaken", "run-2 starts", "run-3 starts"],
        );
    }

    #[test]
    fn a_tick_fires_within_the_grace_period_and_is_missed_after_it() {
        check("10:01:00", &[(1, 1, "10:00:00", None)], &["run-1 starts"]);
        check("10:01:00.001", &[(1, 1, "10:00:00", None)], &["run-1 missed: outage"]);
    }
}
