//! Rows about schedules that wait for others: dependencies, chains, limits of an org.

use std::collections::BTreeMap;

use jiff::SignedDuration;

use crate::row::Row;
use crate::seen::{Run, Seen};

/// The settings of the orgs that have limits.
pub(crate) const SETTINGS: [(&str, &str); 4] = [
    ("hasty-wait", "limits: {runs_per_minute: 3, over: wait}"),
    ("hasty-skip", "limits: {runs_per_minute: 3, over: skip}"),
    ("crowded-wait", "limits: {runs_in_flight: 1, over: wait}"),
    ("crowded-skip", "limits: {runs_in_flight: 1, over: skip}"),
];

pub(crate) fn rows() -> Vec<Row> {
    dependencies().into_iter().chain(chains()).chain(limits()).collect()
}

/// Whether each run started after the upstream run of its tick had succeeded.
fn follows(seen: &Seen, schedule: &str, upstream: &str) -> bool {
    let upstream: BTreeMap<_, &Run> = seen.of(upstream).into_iter().map(|run| (run.tick, run)).collect();
    let is_behind = |run: &&Run| {
        upstream.get(&run.tick).is_some_and(|up| up.status == "success" && up.completed_at <= run.started_at)
    };
    let runs = seen.started(&[schedule]);
    runs.len() > 2 && runs.iter().all(is_behind)
}

/// Whether a chained schedule has a run for each such end of its upstream, but for the last, which may come too late.
fn mirrors(seen: &Seen, schedule: &str, ends: &[&str]) -> bool {
    let upstream = seen.of("turns").iter().filter(|run| ends.contains(&run.status.as_str())).count();
    let chained = seen.of(schedule).iter().filter(|run| run.origin == "chained").count();
    upstream > 1 && chained > 1 && (chained == upstream || chained + 1 == upstream)
}

/// How many runs were admitted in the busiest minute.
fn busiest_minute(seen: &Seen, schedule: &str) -> usize {
    let mut minutes: BTreeMap<i64, usize> = BTreeMap::new();
    for admitted in seen.of(schedule).iter().filter_map(|run| run.enqueued_at) {
        *minutes.entry(admitted.as_second() / 60).or_default() += 1;
    }
    minutes.into_values().max().unwrap_or_default()
}

fn dependencies() -> Vec<Row> {
    vec![
        Row::of("depends_on", "one that succeeds")
            .schedule("up-well", "cron: '*/2 * * * * *', BRIEFLY")
            .schedule("down-well", "cron: '*/2 * * * * *', depends_on: up-well, WELL")
            .claim("it runs behind it", |seen| follows(seen, "down-well", "up-well")),
        Row::of("depends_on", "one that fails")
            .schedule("up-badly", "cron: '*/2 * * * * *', max_consecutive_failures: 0, BADLY")
            .schedule("down-badly", "cron: '*/2 * * * * *', depends_on: [up-badly], WELL")
            .claim("it never runs", |seen| seen.started(&["down-badly"]).is_empty())
            .claim("for that reason", |seen| seen.count("down-badly", "skipped", "upstream_failed") > 2),
        Row::of("depends_on", "one without a tick")
            .schedule("up-never", "at: '2099-01-01T00:00:00Z', WELL")
            .schedule("down-never", "cron: '*/2 * * * * *', depends_on: up-never, WELL")
            .claim("it never runs", |seen| seen.started(&["down-never"]).is_empty())
            .claim("for that reason", |seen| seen.count("down-never", "skipped", "upstream_absent") > 2),
        Row::of("depends_timeout", "shorter than the wait")
            .schedule("up-endless", "after: 4s, delivery: at_most_once, ENDLESSLY")
            .schedule("down-endless", "SECONDLY, depends_on: up-endless, depends_timeout: 1s, WELL")
            .claim("it never runs", |seen| seen.started(&["down-endless"]).is_empty())
            .claim("it waits no longer", |seen| seen.count("down-endless", "skipped", "waited_too_long") > 0),
    ]
}

fn chains() -> Vec<Row> {
    vec![
        Row::of("on", "success")
            .schedule("turns", "cron: '*/2 * * * * *', IN_TURNS")
            .schedule("on-success", "on: {schedule: turns, outcome: success}, if_running: allow, WELL")
            .claim("each success is followed", |seen| mirrors(seen, "on-success", &["success"])),
        Row::of("on", "failure")
            .schedule("on-failure", "on: {schedule: turns, outcome: failure}, if_running: allow, WELL")
            .claim("each failure is followed", |seen| mirrors(seen, "on-failure", &["failed"])),
        Row::of("on", "finish")
            .schedule(
                "on-finish",
                "on: {schedule: turns, outcome: finish, delay: 500ms}, if_running: allow, WELL",
            )
            .claim("each end is followed", |seen| mirrors(seen, "on-finish", &["success", "failed"]))
            .claim("with the delay", |seen| {
                let ends: Vec<_> = seen.of("turns").iter().filter_map(|run| run.completed_at).collect();
                let delay = SignedDuration::from_millis(500);
                let is_delayed = |run: &&Run| {
                    ends.iter().any(|end| (run.fire_at.duration_since(*end) - delay).abs() < delay / 10)
                };
                seen.started(&["on-finish"]).iter().all(is_delayed)
            }),
    ]
}

fn limits() -> Vec<Row> {
    vec![
        Row::of("runs_per_minute", "3")
            .and("over", "wait")
            .within("hasty-wait")
            .schedule("minute-wait", "SECONDLY, if_running: allow, WELL")
            .claim("no minute has more", |seen| (1..=3).contains(&busiest_minute(seen, "minute-wait")))
            .claim("the others wait", |seen| seen.count("minute-wait", "waiting", "") > 0)
            .claim("none is skipped", |seen| seen.never("minute-wait", "skipped")),
        Row::of("runs_per_minute", "3")
            .and("over", "skip")
            .within("hasty-skip")
            .schedule("minute-skip", "SECONDLY, if_running: allow, WELL")
            .claim("no minute has more", |seen| (1..=3).contains(&busiest_minute(seen, "minute-skip")))
            .claim("the others are skipped", |seen| seen.count("minute-skip", "skipped", "org_limit") > 2)
            .claim("none waits", |seen| seen.never("minute-skip", "waiting")),
        Row::of("runs_in_flight", "1")
            .and("over", "wait")
            .within("crowded-wait")
            .schedule("flight-wait-a", "cron: '*/2 * * * * *', if_running: allow, BRIEFLY")
            .schedule("flight-wait-b", "cron: '*/2 * * * * *', if_running: allow, BRIEFLY")
            .claim("no two run at once", |seen| seen.is_exclusive(&["flight-wait-a", "flight-wait-b"]))
            .claim("none is skipped", |seen| {
                seen.never("flight-wait-a", "skipped") && seen.never("flight-wait-b", "skipped")
            })
            .claim("both run", |seen| {
                seen.count("flight-wait-a", "success", "") > 2
                    && seen.count("flight-wait-b", "success", "") > 2
            }),
        Row::of("runs_in_flight", "1")
            .and("over", "skip")
            .within("crowded-skip")
            .schedule("flight-skip-a", "SECONDLY, if_running: allow, SLOWLY")
            .schedule("flight-skip-b", "SECONDLY, if_running: allow, SLOWLY")
            .claim("no two run at once", |seen| seen.is_exclusive(&["flight-skip-a", "flight-skip-b"]))
            .claim("the others are skipped", |seen| {
                seen.count("flight-skip-a", "skipped", "org_limit")
                    + seen.count("flight-skip-b", "skipped", "org_limit")
                    > 4
            }),
    ]
}
