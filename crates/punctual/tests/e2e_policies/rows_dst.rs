//! Rows about nights in which the clock changes: past ones, whose ticks are run by a backfill.

use crate::row::Row;
use crate::seen::Seen;

/// The nights around which ticks are run, in Paris: an hour is skipped, and an hour comes twice.
pub(crate) const GAP: [&str; 2] = ["2026-03-28T12:00Z", "2026-03-30T12:00Z"];
pub(crate) const FOLD: [&str; 2] = ["2025-10-25T12:00Z", "2025-10-27T12:00Z"];

/// The schedules and their nights.
pub(crate) const NIGHTS: [(&str, [&str; 2]); 5] =
    [("gap-shift", GAP), ("gap-skip", GAP), ("fold-first", FOLD), ("fold-last", FOLD), ("fold-both", FOLD)];

/// Whether exactly these ticks ran, and ran well.
fn ran(seen: &Seen, schedule: &str, ticks: &[&str]) -> bool {
    let runs = seen.of(schedule);
    runs.iter().all(|run| run.origin == "backfill" && run.status == "success")
        && runs.iter().map(|run| run.tick.to_string()).eq(ticks.iter().copied())
}

pub(crate) fn rows() -> Vec<Row> {
    vec![
        Row::of("dst.gap", "shift")
            .schedule("gap-shift", "NIGHTLY, dst: {gap: shift}, WELL")
            .claim("what the clock skips runs right after the gap", |seen| {
                ran(seen, "gap-shift", &["2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"])
            }),
        Row::of("dst.gap", "skip")
            .schedule("gap-skip", "NIGHTLY, dst: {gap: skip}, WELL")
            .claim("what the clock skips does not run", |seen| {
                ran(seen, "gap-skip", &["2026-03-30T00:30:00Z"])
            }),
        Row::of("dst.fold", "first")
            .schedule("fold-first", "NIGHTLY, dst: {fold: first}, WELL")
            .claim("what comes twice runs the first time", |seen| {
                ran(seen, "fold-first", &["2025-10-26T00:30:00Z", "2025-10-27T01:30:00Z"])
            }),
        Row::of("dst.fold", "last")
            .schedule("fold-last", "NIGHTLY, dst: {fold: last}, WELL")
            .claim("what comes twice runs the last time", |seen| {
                ran(seen, "fold-last", &["2025-10-26T01:30:00Z", "2025-10-27T01:30:00Z"])
            }),
        Row::of("dst.fold", "both").schedule("fold-both", "NIGHTLY, dst: {fold: both}, WELL").claim(
            "what comes twice runs both times",
            |seen| {
                let ticks = ["2025-10-26T00:30:00Z", "2025-10-26T01:30:00Z", "2025-10-27T01:30:00Z"];
                ran(seen, "fold-both", &ticks)
            },
        ),
    ]
}
