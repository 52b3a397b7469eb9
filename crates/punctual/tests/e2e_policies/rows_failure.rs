//! Rows about runs that fail: launches, retries, time, doubt, breakers.

use jiff::SignedDuration;

use crate::row::Row;
use crate::seen::{Run, Seen};

/// The run of a schedule that was tried again, else the first that started.
fn first<'a>(seen: &'a Seen, schedule: &str) -> &'a Run {
    let runs = seen.started(&[schedule]);
    runs.iter().find(|run| run.attempt > 1).or(runs.first()).copied().expect("something started")
}

/// Runs of later ticks that started before that one ended.
fn beside_the_first(seen: &Seen, schedule: &str) -> usize {
    let first = first(seen, schedule);
    let beside = |run: &&&Run| run.tick > first.tick && run.started_at < first.completed_at;
    seen.started(&[schedule]).iter().filter(beside).count()
}

pub(crate) fn rows() -> Vec<Row> {
    retries().into_iter().chain(ends()).collect()
}

fn retries() -> Vec<Row> {
    vec![
        Row::of("launch", "two attempts")
            .schedule(
                "launch",
                "after: 4s, launch: {attempts: 2, delay: 700ms}, target: {type: process, argv: [/no/such/program]}",
            )
            .claim("it fails", |seen| seen.only("launch", "failed", "launch_failed"))
            .claim("at its second attempt", |seen| seen.of("launch")[0].attempt == 2)
            .claim("after the delay", |seen| {
                let run = seen.of("launch")[0];
                run.completed_at.is_some_and(|end| end >= run.fire_at + SignedDuration::from_millis(700))
            }),
        Row::of("retry_after", "a later tick comes first")
            .schedule("again-skip", "cron: '*/2 * * * * *', retry_after: 9s, max_consecutive_failures: 0, BADLY")
            .claim("it takes the place", |seen| seen.count("again-skip", "failed", "superseded") > 2),
        Row::of("retry_after", "keeps its turn under queue")
            .schedule("again-queue", "cron: '*/2 * * * * *', if_running: queue, retry_after: 3s, BADLY_ONCE")
            .claim("the second attempt is good", |seen| first(seen, "again-queue").is("success", "")
                && first(seen, "again-queue").attempt == 2)
            .claim("the others wait for it", |seen| beside_the_first(seen, "again-queue") == 0)
            .claim("and run once each", |seen| {
                seen.started(&["again-queue"]).iter().filter(|run| run.attempt > 1).count() == 1
            }),
        Row::of("retry_after", "is independent under allow")
            .schedule("again-allow", "SECONDLY, if_running: allow, retry_after: 3s, BADLY_ONCE")
            .claim("the second attempt is good", |seen| first(seen, "again-allow").is("success", "")
                && first(seen, "again-allow").attempt == 2)
            .claim("others run meanwhile", |seen| beside_the_first(seen, "again-allow") > 0),
    ]
}

fn ends() -> Vec<Row> {
    vec![
        Row::of("run_timeout", "shorter than the run")
            .schedule("endless", "after: 4s, run_timeout: 1s, ENDLESSLY")
            .claim("it ends", |seen| seen.only("endless", "failed", "timeout")),
        Row::of("delivery", "at_least_once")
            .schedule("doubt-again", "after: 4s, delivery: at_least_once, ENDLESSLY_ONCE")
            .claim("it is repeated", |seen| seen.only("doubt-again", "success", ""))
            .claim("after the outage", |seen| seen.of("doubt-again")[0].attempt == 2),
        Row::of("delivery", "at_most_once")
            .schedule("doubt-once", "after: 4s, delivery: at_most_once, ENDLESSLY_ONCE")
            .claim("nobody knows", |seen| seen.only("doubt-once", "failed", "outcome_unknown"))
            .claim("and it is not repeated", |seen| seen.of("doubt-once")[0].attempt == 1),
        Row::of("circuit_breaker", "closed, open, half_open")
            .and("threshold", "2")
            .and("reset_after", "2s")
            .schedule(
                "breaks",
                "SECONDLY, target: {type: process, cwd: FOLDER, argv: [sh, -c, 'THRICE'], \
                 circuit_breaker: {threshold: 2, reset_after: 2s}}",
            )
            .claim("it opens, is probed in vain, opens, is probed and closes", |seen| {
                seen.moves == ["open", "half_open", "open", "half_open", "closed"]
            })
            .claim("nothing goes through meanwhile", |seen| {
                seen.count("breaks", "skipped", "breaker_open") > 1
            })
            .claim("three fail", |seen| seen.count("breaks", "failed", "exit_code") == 3)
            .claim("then all is well", |seen| seen.count("breaks", "success", "") > 1),
        Row::of("max_consecutive_failures", "2")
            .schedule("hopeless", "SECONDLY, max_consecutive_failures: 2, BADLY")
            .claim("two fail", |seen| {
                seen.count("hopeless", "failed", "exit_code") == 2 && seen.started(&["hopeless"]).len() == 2
            })
            .claim("then it is disabled", |seen| seen.status("hopeless") == "auto_disabled")
            .claim("and the log says so", |seen| seen.events("hopeless", "schedule.left_active") == 1),
        Row::of("max_consecutive_failures", "0")
            .schedule("hopeful", "SECONDLY, max_consecutive_failures: 0, BADLY")
            .claim("it goes on", |seen| seen.count("hopeful", "failed", "exit_code") > 5)
            .claim("and is never disabled", |seen| seen.status("hopeful") == "active"),
    ]
}
