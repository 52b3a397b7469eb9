//! Rows about ticks that nobody looked at in time, and about jitter.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use crate::row::{LATE, Row};
use crate::seen::{Run, Seen};

/// The late ticks that ran, as far as the decision reached that missed the most: a busy machine may be late elsewhere.
fn caught_up<'a>(seen: &'a Seen, schedule: &str) -> Vec<&'a Run> {
    let runs = seen.of(schedule);
    let mut decisions: BTreeMap<Option<Timestamp>, Vec<&Run>> = BTreeMap::new();
    for run in runs.iter().filter(|run| run.status == "missed") {
        decisions.entry(run.completed_at).or_default().push(run);
    }
    let Some((decided_at, missed)) = decisions.into_iter().max_by_key(|(_, missed)| missed.len()) else {
        return Vec::new();
    };
    let is_late = |run: &&Run| run.tick > missed[0].tick && Some(run.tick) <= decided_at;
    runs.into_iter().filter(is_late).filter(|run| run.started_at.is_some()).collect()
}

/// The runs that were given another instant by the second server.
fn moved<'a>(seen: &'a Seen, schedule: &str) -> Vec<&'a Run> {
    let before = seen.before.iter().filter(|run| run.schedule == schedule && run.started_at.is_some());
    let known = before.map(|run| run.tick).max();
    let is_new = |run: &&Run| Some(run.tick) > known && run.tick < seen.restarted_at;
    seen.of(schedule).into_iter().filter(is_new).filter(|run| run.moved() >= READY).collect()
}

/// A server plans before it says that it is ready.
const READY: SignedDuration = SignedDuration::from_secs(1);

/// Whether runs fire one after the other, as far from each other as the first two.
fn is_even(runs: &[&Run]) -> bool {
    let steps: Vec<SignedDuration> =
        runs.windows(2).map(|two| two[1].fire_at.duration_since(two[0].fire_at)).collect();
    let is_same = |step: &SignedDuration| (*step - steps[0]).abs() <= SignedDuration::from_millis(2);
    steps.len() > 1 && steps[0] > SignedDuration::from_millis(200) && steps.iter().all(is_same)
}

/// The tick that is caught up after those that were missed: it fires when it is decided, whatever its jitter. One that was to
/// fire early may be it though its instant is still to come.
fn caught_up_at(seen: &Seen, schedule: &str) -> Option<Timestamp> {
    let missed = seen.of(schedule).into_iter().filter(|run| run.status == "missed");
    missed.map(|run| run.tick).max().map(|tick| tick + SignedDuration::from_secs(1))
}

/// Whether each run that was planned before the outage, and fired after it, fired as planned.
fn is_kept(seen: &Seen, schedule: &str) -> bool {
    let caught_up = caught_up_at(seen, schedule);
    let is_planned =
        |run: &&Run| run.schedule == schedule && run.tick > seen.restarted_at && Some(run.tick) != caught_up;
    let pairs: Vec<(&Run, &Run)> = seen
        .before
        .iter()
        .filter(is_planned)
        .filter_map(|run| Some((run, seen.of(schedule).into_iter().find(|other| other.tick == run.tick)?)))
        .collect();
    !pairs.is_empty() && pairs.iter().all(|(before, after)| before.fire_at == after.fire_at)
}

/// How far runs were moved by their jitter. The tick of the first start, and the one that is caught up, fire when they are
/// decided.
fn moves(seen: &Seen, schedule: &str) -> Vec<SignedDuration> {
    let first = seen.of(schedule).iter().map(|run| run.tick).min();
    let caught_up = caught_up_at(seen, schedule);
    let on_time = |run: &&Run| {
        let is_decided_late = Some(run.tick) == first || Some(run.tick) == caught_up;
        run.status == "success" && !is_decided_late && run.late().is_some_and(|late| late < READY)
    };
    seen.of(schedule).into_iter().filter(on_time).map(Run::moved).collect()
}

pub(crate) fn rows() -> Vec<Row> {
    catch_ups().into_iter().chain(graces()).chain(jitters()).collect()
}

fn catch_ups() -> Vec<Row> {
    vec![
        Row::of("catch_up", "skip")
            .schedule("late-skip", "SECONDLY, catch_up: skip, WELL")
            .claim("ticks are missed", |seen| seen.count("late-skip", "missed", "overtaken") > 3)
            .claim("each has an event", |seen| {
                seen.events("late-skip", "schedule.missed") == seen.count("late-skip", "missed", "overtaken")
            }),
        Row::of("catch_up", "run_once")
            .schedule("late-once", "SECONDLY, catch_up: run_once, WELL")
            .claim("one run stands for the others", |seen| seen.count("late-once", "missed", "caught_up") > 3)
            .claim("it is one", |seen| caught_up(seen, "late-once").len() == 1),
        Row::of("catch_up", "run_all")
            .schedule("late-all", "SECONDLY, catch_up: run_all, if_running: allow, WELL")
            .claim("none is missed", |seen| seen.never("late-all", "missed"))
            .claim("late ones run", |seen| seen.late("late-all").len() > 3),
        Row::of("max_catch_up", "2")
            .schedule("late-two", "SECONDLY, catch_up: run_all, max_catch_up: 2, if_running: allow, WELL")
            .claim("two of them run", |seen| caught_up(seen, "late-two").len() == 2)
            .claim("the others are missed", |seen| seen.count("late-two", "missed", "catch_up_limit") > 2),
        Row::of("catch_up", "spread")
            .schedule("late-spread", "SECONDLY, catch_up: spread, if_running: allow, WELL")
            .claim("none is missed", |seen| seen.never("late-spread", "missed"))
            .claim("they fire evenly", |seen| is_even(&moved(seen, "late-spread"))),
    ]
}

/// Schedules with one tick, in the outage.
fn graces() -> Vec<Row> {
    vec![
        Row::of("grace", "longer than the outage")
            .within(LATE)
            .schedule("grace-long", "after: 4s, grace: 60s, WELL")
            .claim("it is late and runs", |seen| seen.count("grace-long", "success", "") == 1)
            .claim("nothing is left of it", |seen| seen.status("grace-long") == "exhausted"),
        Row::of("grace", "shorter than the outage")
            .within(LATE)
            .schedule("grace-short", "after: 4s, grace: 1s, WELL")
            .claim("it is missed", |seen| seen.only("grace-short", "missed", "outage")),
        Row::of("start_deadline", "before the outage ends")
            .within(LATE)
            .schedule("deadline", "after: 4s, grace: 60s, start_deadline: 1s, WELL")
            .claim("it is skipped", |seen| seen.only("deadline", "skipped", "start_deadline")),
        Row::of("start_deadline", "after the outage ends")
            .within(LATE)
            .schedule("deadline-far", "after: 4s, grace: 60s, start_deadline: 50s, WELL")
            .claim("it runs", |seen| seen.only("deadline-far", "success", "")),
    ]
}

fn jitters() -> Vec<Row> {
    vec![
        Row::of("jitter", "after")
            .schedule("jitter-after", "SECONDLY, jitter: 300ms, if_running: allow, WELL")
            .claim("runs fire at their ticks or later, within bounds", |seen| {
                let range = SignedDuration::ZERO..=SignedDuration::from_millis(300);
                let moves = moves(seen, "jitter-after");
                moves.len() > 4 && moves.iter().all(|one| range.contains(one))
            })
            .claim("some fire later", |seen| {
                moves(seen, "jitter-after").iter().any(SignedDuration::is_positive)
            })
            .claim("a restart changes none", |seen| is_kept(seen, "jitter-after")),
        Row::of("jitter", "around")
            .schedule(
                "jitter-around",
                "SECONDLY, jitter: {max: 300ms, mode: around}, if_running: allow, WELL",
            )
            .claim("runs fire around their ticks, within bounds", |seen| {
                let moves = moves(seen, "jitter-around");
                moves.len() > 4 && moves.iter().all(|one| one.abs() <= SignedDuration::from_millis(300))
            })
            .claim("some fire earlier", |seen| {
                moves(seen, "jitter-around").iter().any(SignedDuration::is_negative)
            })
            .claim("a restart changes none", |seen| is_kept(seen, "jitter-around")),
    ]
}
