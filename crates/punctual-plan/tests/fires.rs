//! Goal: a comparison of fires counts exactly what is added, removed and kept.
//! Method: small tables, and pairs of specs against two sets of instants.

use std::collections::BTreeSet;

use jiff::Timestamp;
use punctual_plan::{Action, FIRES_LISTED_MAX, Process, Schedule, ScheduleId, When, fires_changed};
use punctual_time::{Cron, Interval, Timing, Zone};

fn at(text: &str) -> Timestamp {
    text.parse().expect("an instant")
}

fn schedule(spec: &str, change: impl FnOnce(&mut Timing)) -> Schedule {
    let zone = Zone::get("America/New_York").expect("a zone");
    let mut timing = Timing::new(spec.parse::<Cron>().expect("a valid spec"), zone);
    change(&mut timing);
    Schedule::new(ScheduleId(uuid::Uuid::nil()), "one", timing, Action::Process(Process::new(["true"])))
}

fn week() -> std::ops::Range<Timestamp> {
    at("2026-03-05T00:00:00Z")..at("2026-03-12T00:00:00Z")
}

fn instants(schedule: Option<&Schedule>) -> BTreeSet<Timestamp> {
    let timing = schedule.and_then(|schedule| schedule.when.timing());
    let ticks = timing.map(|timing| timing.ticks(week())).into_iter().flatten();
    ticks.filter(|tick| tick.suppressed.is_none()).map(|tick| tick.at).collect()
}

#[test]
fn the_walk_agrees_with_two_sets_of_instants() {
    let office =
        |timing: &mut Timing| timing.windows.only_between = Some("08:00-18:00".parse().expect("a range"));
    let all = [
        None,
        Some(schedule("0 * * * *", |_| {})),
        Some(schedule("30 2 * * *", |_| {})),
        Some(schedule("*/20 * * * *", office)),
        Some(schedule("*/20 * * * *", |timing| timing.bounds.max_runs = Some(7))),
        Some(schedule("0 9 * * 1-5", |timing| timing.bounds.end_at = Some(at("2026-03-10T00:00:00Z")))),
    ];
    for before in &all {
        for after in &all {
            let (old, new) = (instants(before.as_ref()), instants(after.as_ref()));
            let changed = fires_changed(before.as_ref(), after.as_ref(), week());
            assert_eq!(changed.added, new.difference(&old).copied().collect::<Vec<_>>());
            assert_eq!(changed.removed, old.difference(&new).copied().collect::<Vec<_>>());
            assert_eq!(changed.kept, old.intersection(&new).count() as u64);
            assert_eq!(changed.added_count, changed.added.len() as u64);
            assert_eq!(changed.removed_count, changed.removed.len() as u64);
            assert_eq!(changed.is_empty(), old == new);
        }
    }
}

#[test]
fn lists_are_bounded_and_counts_are_exact() {
    let changed = fires_changed(None, Some(&schedule("* * * * *", |_| {})), week());
    assert_eq!((changed.added.len(), changed.added_count), (FIRES_LISTED_MAX, 7 * 24 * 60));
    assert_eq!(changed.through, week().end);
}

#[test]
fn an_interval_keeps_its_stored_anchor() {
    let every = |created: &str, between: Option<&str>| {
        let mut timing = Timing::new("90m".parse::<Interval>().expect("an interval"), Zone::utc());
        timing.created_at = at(created);
        timing.windows.only_between = between.map(|range| range.parse().expect("a part of the day"));
        Schedule::new(ScheduleId(uuid::Uuid::nil()), "one", timing, Action::Process(Process::new(["true"])))
    };
    let stored = every("2025-05-05T05:05:05Z", None);
    let again = fires_changed(Some(&stored), Some(&every("2026-01-01T00:00:00Z", None)), week());
    assert!(again.is_empty() && again.kept == 112, "{again:?}");
    let less =
        fires_changed(Some(&stored), Some(&every("2026-01-01T00:00:00Z", Some("08:00-20:00"))), week());
    assert_eq!((less.added_count, less.removed_count, less.kept), (0, 56, 56));
}

#[test]
fn the_end_is_excluded_and_a_chain_has_no_fires_of_its_own() {
    let hourly = schedule("0 * * * *", |_| {});
    let range = at("2026-03-05T00:00:00Z")..at("2026-03-05T02:00:00Z");
    assert_eq!(fires_changed(Some(&hourly), None, range.clone()).removed_count, 2);
    let mut chain = hourly.clone();
    chain.when = When::Chain(punctual_plan::Chain::new(hourly.id, punctual_plan::ChainOn::Success));
    assert!(fires_changed(None, Some(&chain), range).is_empty());
}
