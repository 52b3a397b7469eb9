//! Ticks that nobody looked at in time.

use punctual_plan::{CatchUp, Policy, Scenario, Schedule};

use crate::stage::{Case, ask, down, minutes, paris, utc, world};

fn slept(schedule: Schedule, to: &str) -> Scenario {
    down(world("09:59:50", "14:00:00", [schedule]), "10:05:00", to)
}

fn catch_up(policy: CatchUp, max: u32) -> impl FnOnce(&mut Policy) {
    move |wanted| {
        wanted.catch_up = policy;
        wanted.max_catch_up = max;
    }
}

pub(crate) fn cases() -> Vec<Case> {
    let seconds = world("10:00:00", "10:00:20", [utc("beat", "* * * * * *", |_| {})]);
    let seconds = down(seconds, "10:00:02.5", "10:00:05.5");
    let seconds = down(seconds, "10:00:09.5", "10:00:12.5");
    let deadline = |limit: i64| {
        move |policy: &mut Policy| {
            policy.catch_up = CatchUp::RunAll;
            policy.start_deadline = Some(minutes(limit));
        }
    };
    vec![
        ask("overtaken by a second", &seconds, "beat", "10:00:04"),
        ask("overtaken later", &seconds, "beat", "10:00:10"),
        ask("outage", &slept(utc("poll", "*/20 * * * *", |_| {}), "11:05:00"), "poll", "10:20:00"),
        ask(
            "outage, as part of a range, in Paris",
            &slept(paris("poll", "* * * * *", |policy| policy.grace = minutes(5)), "12:50:00"),
            "poll",
            "11:30:00",
        ),
        ask(
            "caught up by the last of three",
            &slept(utc("poll", "*/20 * * * *", catch_up(CatchUp::RunOnce, 100)), "11:05:00"),
            "poll",
            "10:40:00",
        ),
        ask(
            "caught up by the last of many",
            &slept(paris("poll", "* * * * *", catch_up(CatchUp::RunOnce, 100)), "12:50:00"),
            "poll",
            "11:30:00",
        ),
        ask(
            "beyond the one that is caught up with",
            &slept(utc("poll", "*/20 * * * *", catch_up(CatchUp::RunAll, 1)), "11:05:00"),
            "poll",
            "10:40:00",
        ),
        ask(
            "beyond the two that are spread",
            &slept(utc("poll", "*/10 * * * *", catch_up(CatchUp::Spread, 2)), "11:05:00"),
            "poll",
            "10:40:00",
        ),
        ask(
            "past a start deadline of ten minutes",
            &slept(utc("poll", "*/20 * * * *", deadline(10)), "11:05:00"),
            "poll",
            "10:20:00",
        ),
        ask(
            "past a start deadline of half an hour, in Paris",
            &slept(paris("poll", "*/20 * * * *", deadline(30)), "12:07:00"),
            "poll",
            "11:20:00",
        ),
    ]
}
