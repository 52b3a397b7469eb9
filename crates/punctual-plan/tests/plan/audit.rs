//! The ledger that plans write stands the audit, and one that was tampered with does not.

use jiff::{SignedDuration, Timestamp};
use punctual_plan::{CatchUp, Hole, Plan, Recorded, Span, audit_ledger};
use punctual_time::{Timing, Zone};

use crate::stage::{Case, at, clock};

/// Ticks and ranges of a schedule that was planned, slept for these seconds and was planned again, and so on.
fn ledger(case: &mut Case, pauses: &[i64]) -> (Vec<Timestamp>, Vec<Span>) {
    let mut plans: Vec<Plan> = Vec::new();
    for pause in [0].iter().chain(pauses) {
        case.now += SignedDuration::from_secs(*pause);
        plans.push(case.plan());
        case.cursor = plans[plans.len() - 1].cursor;
    }
    let rows = plans.iter().flat_map(|plan| &plan.entries).map(|entry| entry.scheduled_for).collect();
    let span =
        |range: &punctual_plan::Range| Span { first: range.first, last: range.last, count: range.count };
    (rows, plans.iter().flat_map(|plan| &plan.ranges).map(span).collect())
}

fn check(timing: &Timing, rows: &[Timestamp], ranges: &[Span], expected: &[&str]) {
    let audit = audit_ledger(timing, Recorded { rows, ranges }, at("10:00:01")..=at("10:10:00"));
    let said: Vec<String> = audit
        .holes
        .iter()
        .map(|hole| match hole {
            Hole::Missing { first, last, count } => {
                format!("{count} missing {}..{}", clock(*first), clock(*last))
            }
            Hole::Doubled { tick, entries } => format!("{} has {entries}", clock(*tick)),
            Hole::Foreign { at } => format!("{} is no tick", clock(*at)),
            Hole::Miscounted { span, found } => format!("{} counted, {found} found", span.count),
        })
        .collect();
    assert_eq!(said, expected);
}

#[test]
fn the_ledger_of_any_policy_and_outage_is_whole() {
    for catch_up in CatchUp::ALL {
        for zone in ["UTC", "America/New_York", "Australia/Lord_Howe"] {
            let mut case = Case::new("*/7 */3 * * * *", "10:00:00", "10:00:00")
                .policy(|policy| policy.catch_up = *catch_up)
                .timing(|timing| {
                    timing.zone = Zone::get(zone).expect("a zone");
                    timing.windows.only_between = Some("10:20-03:00".parse().expect("a range"));
                });
            let start = case.now;
            let (rows, ranges) = ledger(&mut case, &[25, 4_000, 30, 9_000]);
            let stretch = start + SignedDuration::from_secs(1)..=case.cursor.planned_through;
            let audit = audit_ledger(&case.timing, Recorded { rows: &rows, ranges: &ranges }, stretch);
            assert!(audit.is_proved() && audit.planned > 500, "{catch_up} in {zone}: {:?}", audit.holes);
        }
    }
}

#[test]
fn every_kind_of_hole_is_named() {
    let mut case = Case::new("0 * * * * *", "10:00:00", "10:00:00");
    let (rows, _) = ledger(&mut case, &[600]);
    let timing = &case.timing;
    let rows: Vec<Timestamp> = rows.into_iter().filter(|tick| *tick <= at("10:10:00")).collect();
    check(timing, &rows, &[], &[]);
    check(timing, &rows[3..], &[], &["3 missing 10:01:00..10:03:00"]);
    let mut twice = rows.clone();
    twice.push(at("10:05:00"));
    check(timing, &twice, &[], &["10:05:00 has 2"]);
    let mut foreign = rows.clone();
    foreign.push(at("10:05:01"));
    check(timing, &foreign, &[], &["10:05:01 is no tick"]);
    let span = |count| Span { first: at("10:01:00"), last: at("10:03:00"), count };
    check(timing, &rows[3..], &[span(3)], &[]);
    check(timing, &rows[3..], &[span(4)], &["4 counted, 3 found"]);
    check(timing, &rows[2..], &[span(3)], &["10:03:00 has 2"]);
}
