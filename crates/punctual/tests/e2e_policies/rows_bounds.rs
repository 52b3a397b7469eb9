//! Rows about which ticks there are: windows, bounds, anchors.

use jiff::{SignedDuration, Timestamp};

use crate::row::Row;
use crate::seen::{Run, Seen};

pub(crate) fn rows() -> Vec<Row> {
    windows().into_iter().chain(bounds()).chain(anchors()).collect()
}

fn windows() -> Vec<Row> {
    vec![
        Row::of("only_between", "another part of the day")
            .schedule("window", "SECONDLY, only_between: 'AWAY', WELL")
            .claim("it never runs", |seen| seen.only("window", "skipped", "outside_window")),
        Row::of("not_on", "a weekday")
            .schedule("weekday", "SECONDLY, not_on: [TODAY], WELL")
            .claim("it never runs", |seen| seen.only("weekday", "skipped", "not_on")),
        Row::of("not_on", "a calendar")
            .schedule("calendar", "SECONDLY, not_on: [holidays], WELL")
            .claim("it never runs", |seen| seen.only("calendar", "skipped", "calendar")),
        Row::of("quiet_hours", "by name")
            .schedule("quiet", "SECONDLY, quiet_hours: now, WELL")
            .claim("it never runs", |seen| seen.only("quiet", "skipped", "quiet_hours")),
        Row::of("quiet_hours_policy_id", "by name")
            .schedule("quiet-too", "SECONDLY, quiet_hours_policy_id: now, WELL")
            .claim("it never runs", |seen| seen.only("quiet-too", "skipped", "quiet_hours")),
    ]
}

fn bounds() -> Vec<Row> {
    vec![
        Row::of("start_at", "soon")
            .schedule("starts", "every: 1s, start_at: 'SOON', WELL")
            .claim("it runs", |seen| seen.count("starts", "success", "") > 2)
            .claim("its ticks are a second apart from there", |seen| {
                seen.of("starts").iter().all(|run| run.tick.subsec_nanosecond() == 0)
            })
            .claim("later than others", |seen| seen.of("starts")[0].tick > seen.of("ends")[0].tick),
        Row::of("end_at", "soon")
            .schedule("ends", "SECONDLY, end_at: 'SOON', WELL")
            .claim("it ran", |seen| seen.count("ends", "success", "") > 1)
            .claim("it stopped before the outage", |seen| seen.never("ends", "missed"))
            .claim("nothing is left of it", |seen| seen.status("ends") == "exhausted"),
        Row::of("max_runs", "2")
            .schedule("twice", "SECONDLY, max_runs: 2, WELL")
            .claim("two run", |seen| {
                seen.count("twice", "success", "") == 2 && seen.started(&["twice"]).len() == 2
            })
            .claim("nothing is left of it", |seen| seen.status("twice") == "exhausted"),
        Row::of("enabled", "false")
            .schedule("off", "SECONDLY, enabled: false, WELL")
            .claim("it has no run", |seen| seen.of("off").is_empty())
            .claim("it is paused", |seen| seen.status("off") == "paused_manual"),
    ]
}

/// Whether each of the first ticks is an interval after what the run before did, give or take a second.
fn hangs_on(seen: &Seen, schedule: &str, what: fn(&Run) -> Option<Timestamp>) -> bool {
    let is_behind = |two: &[&Run]| {
        let after = what(two[0]).map(|at| two[1].tick.duration_since(at));
        after.is_some_and(|after| (INTERVAL - SECOND..INTERVAL + SECOND).contains(&after))
    };
    // Three ticks are over before the outage.
    let runs = seen.of(schedule);
    runs.len() > 3 && runs[..3].windows(2).all(is_behind)
}

/// A tick is on a whole second.
const SECOND: SignedDuration = SignedDuration::from_secs(1);

/// How far apart the ticks are whose anchors are tried.
const INTERVAL: SignedDuration = SignedDuration::from_secs(2);

fn anchors() -> Vec<Row> {
    vec![
        Row::of("anchor", "fixed")
            .schedule("anchor-fixed", "every: 2s, anchor: fixed, BRIEFLY")
            .claim("ticks are an interval apart", |seen| {
                hangs_on(seen, "anchor-fixed", |run| Some(run.tick))
            }),
        Row::of("anchor_at", "an instant")
            .schedule("anchor-at", "every: 2s, anchor_at: '2026-01-01T00:00:01Z', WELL")
            .claim("it runs", |seen| seen.count("anchor-at", "success", "") > 2)
            .claim("ticks are whole intervals from it", |seen| {
                seen.of("anchor-at").iter().all(|run| run.tick.as_millisecond() % 2_000 == 1_000)
            }),
        Row::of("anchor", "last_start")
            .schedule("anchor-start", "every: 2s, anchor: last_start, BRIEFLY")
            .claim("ticks follow starts", |seen| hangs_on(seen, "anchor-start", |run| run.enqueued_at)),
        Row::of("anchor", "last_finish")
            .schedule("anchor-finish", "every: 2s, anchor: last_finish, BRIEFLY")
            .claim("ticks follow ends", |seen| hangs_on(seen, "anchor-finish", |run| run.completed_at)),
    ]
}
