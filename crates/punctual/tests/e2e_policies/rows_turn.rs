//! Rows about runs that meet others: overlap, lanes, guards.

use crate::row::Row;
use crate::seen::Seen;

/// Whether runs started in the order of their ticks.
fn is_in_order(seen: &Seen, schedule: &str) -> bool {
    seen.started(&[schedule]).windows(2).all(|two| two[0].tick < two[1].tick)
}

pub(crate) fn rows() -> Vec<Row> {
    overlaps().into_iter().chain(keys()).collect()
}

fn overlaps() -> Vec<Row> {
    vec![
        Row::of("if_running", "skip")
            .schedule("overlap-skip", "SECONDLY, if_running: skip, SLOWLY")
            .claim("no two run at once", |seen| seen.is_exclusive(&["overlap-skip"]))
            .claim("ticks meanwhile are skipped", |seen| seen.count("overlap-skip", "skipped", "overlap") > 2)
            .claim("some succeed", |seen| seen.count("overlap-skip", "success", "") > 1),
        Row::of("if_running", "allow")
            .schedule("overlap-allow", "SECONDLY, if_running: allow, SLOWLY")
            .claim("some run at once", |seen| !seen.is_exclusive(&["overlap-allow"]))
            .claim("none is skipped", |seen| seen.never("overlap-allow", "skipped"))
            .claim("many succeed", |seen| seen.count("overlap-allow", "success", "") > 4),
        Row::of("if_running", "queue")
            .schedule("overlap-queue", "SECONDLY, if_running: queue, SLOWLY")
            .claim("no two run at once", |seen| seen.is_exclusive(&["overlap-queue"]))
            .claim("the order is that of the ticks", |seen| is_in_order(seen, "overlap-queue"))
            .claim("none is skipped", |seen| seen.never("overlap-queue", "skipped"))
            .claim("some wait and then succeed", |seen| {
                seen.late("overlap-queue").iter().any(|run| run.status == "success")
            }),
        Row::of("if_running", "cancel")
            .schedule("overlap-cancel", "SECONDLY, if_running: cancel, SLOWLY")
            .claim("no two run at once", |seen| seen.is_exclusive(&["overlap-cancel"]))
            .claim("what ran is cancelled", |seen| seen.count("overlap-cancel", "cancelled", "cancelled") > 2)
            .claim("none is skipped", |seen| seen.never("overlap-cancel", "skipped")),
    ]
}

fn keys() -> Vec<Row> {
    vec![
        Row::of("guard", "shared by two schedules")
            .schedule("guard-a", "SECONDLY, if_running: allow, guard: door, SLOWLY")
            .schedule("guard-b", "SECONDLY, if_running: allow, guard: door, SLOWLY")
            .claim("no two of both run at once", |seen| seen.is_exclusive(&["guard-a", "guard-b"]))
            .claim("one keeps the other away", |seen| {
                seen.count("guard-a", "skipped", "guard") + seen.count("guard-b", "skipped", "guard") > 4
            }),
        Row::of("lane", "shared by two schedules")
            .schedule("lane-a", "cron: '*/2 * * * * *', lane: bridge, if_running: queue, BRIEFLY")
            .schedule("lane-b", "cron: '*/2 * * * * *', lane: bridge, if_running: queue, BRIEFLY")
            .claim("no two of both run at once", |seen| seen.is_exclusive(&["lane-a", "lane-b"]))
            .claim("both have their turns", |seen| {
                seen.count("lane-a", "success", "") > 2 && seen.count("lane-b", "success", "") > 2
            }),
    ]
}
