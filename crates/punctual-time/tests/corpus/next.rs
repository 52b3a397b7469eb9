//! Which instants follow: every confirmed row in our dialects, and every probe of a clock change.

use jiff::{SignedDuration, Timestamp};
use punctual_time::{Cron, Dialect, Zone};
use serde_json::Value;

use crate::{Ours, instant, joined_by_and, ours, parse_mended, restricts_both_days, rows, text};

/// The ticks a row expects, and those that we give.
fn ticks(row: &Value, cron: &Cron) -> (Vec<Timestamp>, Vec<Timestamp>) {
    let zone = Zone::get(text(row, "tz")).unwrap();
    let expected: Vec<Timestamp> = match row["expect"].as_array() {
        Some(list) => list.iter().map(|at| instant(at.as_str().unwrap())).collect(),
        None => Vec::new(),
    };
    let mut after = instant(text(row, "after"));
    if row["inclusive"] == true {
        after -= SignedDuration::from_nanos(1);
    }
    let mut found = Vec::new();
    while found.len() < expected.len().max(1) {
        let Some(next) = cron.next(after, &zone) else { break };
        found.push(next);
        after = next;
    }
    (expected, found)
}

#[test]
fn every_probe_of_a_clock_change_holds() {
    for row in rows(include_str!("dst.jsonl")) {
        let cron = Cron::parse(text(&row, "expr"), Dialect::Standard).unwrap();
        let (expected, found) = ticks(&row, &cron);
        assert_eq!(expected, found, "{row}");
    }
}

/// How a row was checked.
#[derive(Default, Debug, PartialEq)]
struct Tally {
    /// As it is written.
    as_written: usize,
    /// After following our hints: `x/n`, wrap-around ranges and `?` outside the day fields are refused.
    as_mended: usize,
    /// Both day fields are restricted and must both match: written with our `+`.
    as_joined: usize,
    /// Seven fields, or another syntax altogether.
    not_our_dialect: usize,
}

#[test]
fn every_confirmed_row_in_our_dialects_holds() {
    let mut tally = Tally::default();
    for row in rows(include_str!("next.jsonl")) {
        if row["agreement"] != "confirmed" || row["dst"] == true || row["dialect"] == "systemd" {
            continue;
        }
        let mut ours = ours(&row);
        if ours.expr.split_ascii_whitespace().count() == 7 && ours.dialect == Dialect::Standard {
            assert_eq!(Cron::parse(&ours.expr, ours.dialect).unwrap_err().code(), "wrong_field_count");
            tally.not_our_dialect += 1;
            continue;
        }
        let is_joined = row["dom_dow"] == "and" && restricts_both_days(&ours.expr);
        if is_joined {
            ours.expr = joined_by_and(&ours.expr);
        }
        let mended = check(&row, &ours);
        match (is_joined, mended) {
            (true, _) => tally.as_joined += 1,
            (false, 0) => tally.as_written += 1,
            (false, _) => tally.as_mended += 1,
        }
    }
    let expected = Tally { as_written: 532, as_mended: 75, as_joined: 63, not_our_dialect: 17 };
    assert_eq!(tally, expected);
}

/// Checks a row and says how many hints had to be followed.
fn check(row: &Value, ours: &Ours) -> usize {
    let (parsed, mended) = parse_mended(ours);
    match parsed {
        Ok(cron) => {
            let (expected, found) = ticks(row, &cron);
            assert_eq!(expected, found, "{row}");
        }
        Err(error) => {
            assert_eq!((error.code(), row["expect"].is_null()), ("never_fires", true), "{error}: {row}");
        }
    }
    mended
}
