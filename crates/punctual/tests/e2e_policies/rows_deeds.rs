//! Rows about what people do to schedules: trigger, delete, disable, pause everything.

use crate::row::Row;
use crate::seen::{Run, Seen};

pub(crate) fn rows() -> Vec<Row> {
    vec![
        Row::of("trigger", "plain")
            .schedule("asked", "SECONDLY, enabled: false, UNTIL_TOLD")
            .claim("a disabled schedule runs", |seen| seen.count("asked", "success", "") == 1)
            .claim("the second is skipped", |seen| seen.count("asked", "skipped", "overlap") == 1)
            .claim("it ticks no more than before", |seen| {
                seen.of("asked").iter().all(|run| run.origin == "manual")
            }),
        Row::of("trigger", "forced")
            .schedule("asked-forced", "SECONDLY, enabled: false, UNTIL_TOLD")
            .claim("both run", |seen| {
                seen.of("asked-forced").len() == 2 && seen.never("asked-forced", "skipped")
            })
            .claim("at once", |seen| !seen.is_exclusive(&["asked-forced"])),
        Row::of("delete", "leave what runs")
            .schedule("gone", "SECONDLY, if_running: queue, UNTIL_TOLD")
            .claim("what ran goes on to its end", |seen| ended_after(seen, "gone", "success") == 1)
            .claim("nothing else runs", |seen| seen.started(&["gone"]).len() == 1)
            .claim("the history stays", |seen| !seen.of("gone").is_empty() && seen.status("gone").is_empty()),
        Row::of("delete", "cancel what runs")
            .schedule("gone-at-once", "SECONDLY, if_running: queue, ENDLESSLY")
            .claim("what was in flight is cancelled", |seen| {
                seen.count("gone-at-once", "cancelled", "cancelled") == 1
            })
            .claim("nothing goes on", |seen| seen.never("gone-at-once", "success")),
        Row::of("disable", "catch_up: skip")
            .schedule("away-skip", "SECONDLY, catch_up: skip, WELL")
            .claim("ticks are missed for it", |seen| seen.count("away-skip", "missed", "paused") > 5)
            .claim("it is back", |seen| is_back(seen, "away-skip")),
        Row::of("disable", "catch_up: run_once")
            .schedule("away-once", "SECONDLY, catch_up: run_once, WELL")
            .claim("one runs for all", |seen| seen.count("away-once", "missed", "caught_up") > 5)
            .claim("the log says so", |seen| seen.events("away-once", "schedule.caught_up") == 1)
            .claim("it is back", |seen| is_back(seen, "away-once")),
        Row::of("missed_audit_max", "1")
            .schedule("away-quiet", "SECONDLY, missed_audit_max: 1, WELL")
            .claim("ticks are missed", |seen| seen.count("away-quiet", "missed", "paused") > 5)
            .claim("one has an event and one event sums up", |seen| {
                seen.events("away-quiet", "schedule.missed") == 2
            }),
        Row::of("maintenance", "of an org")
            .within("repairs")
            .schedule("repaired", "SECONDLY, WELL")
            .claim("ticks are missed for it", |seen| seen.count("repaired", "missed", "maintenance") > 5)
            .claim("it is back", |seen| is_back(seen, "repaired")),
    ]
}

/// How many runs of a schedule ended so after it was deleted, as the ticks know that were waiting then.
fn ended_after(seen: &Seen, schedule: &str, status: &str) -> usize {
    let runs = seen.of(schedule);
    let Some(deleted) = runs.iter().find(|run| run.is("skipped", "deleted")) else { return 0 };
    runs.iter().filter(|run| run.status == status && run.completed_at >= deleted.completed_at).count()
}

/// Whether a schedule is active and ran after the restart.
fn is_back(seen: &Seen, schedule: &str) -> bool {
    let is_new = |run: &&&Run| run.status == "success" && run.started_at > Some(seen.restarted_at);
    seen.status(schedule) == "active" && seen.of(schedule).iter().filter(is_new).count() > 1
}
