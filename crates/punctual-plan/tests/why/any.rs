//! Any small world: every instant has an answer, and no tick of the past is without its entry.

use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use punctual_plan::{
    Act, Behaviour, CatchUp, Edit, Failing, How, Inquiry, Jitter, JitterMode, LinkEffect, Origin, Outage,
    Overlap, Policy, Scenario, Status, Step, simulate, why,
};

use crate::stage::{at, cron, schedule, timing, world};

const SPECS: [&str; 5] = ["* * * * *", "*/7 * * * *", "*/20 * * * * *", "13 * * * *", "*/15 10-11 * * *"];

/// Minutes after the beginning.
fn minute(count: i64) -> Timestamp {
    at("09:30:00") + SignedDuration::from_mins(count)
}

fn acts() -> impl Strategy<Value = Act> {
    let status = prop_oneof![
        Just(Status::PausedManual { by: "ada".to_owned(), note: String::new() }),
        Just(Status::PausedInvalid { error: "no zone".to_owned() }),
    ];
    prop_oneof![
        2 => status.prop_map(Act::Leave),
        3 => Just(Act::Resume),
        2 => (0..SPECS.len()).prop_map(|spec| {
            Act::Replace(Box::new(schedule("any", cron(SPECS[spec], "UTC"), |_| {})))
        }),
        1 => Just(Act::Maintain { note: "disks".to_owned() }),
        1 => Just(Act::Delete),
    ]
}

fn policies() -> impl Strategy<Value = Policy> {
    let overlap = prop::sample::select(Overlap::ALL);
    let catch_up = prop::sample::select(CatchUp::ALL);
    let deadline = prop::option::of(1..30i64);
    let retry = prop::option::of(1..5i64);
    let jitter = (0..90i64, prop::sample::select(JitterMode::ALL));
    (overlap, catch_up, 1..5u32, deadline, retry, jitter).prop_map(
        |(overlap, catch_up, max, deadline, retry, (jitter, mode))| Policy {
            overlap,
            catch_up,
            max_catch_up: max,
            start_deadline: deadline.map(SignedDuration::from_mins),
            retry_after: retry.map(SignedDuration::from_mins),
            jitter: Jitter { max: SignedDuration::from_secs(jitter), mode },
            ..Policy::default()
        },
    )
}

fn scenarios() -> impl Strategy<Value = Scenario> {
    let edits = prop::collection::vec((0..180i64, acts()), 0..5);
    let outages = prop::collection::vec((0..180i64, 1..40i64), 0..3);
    let bounds = (prop::option::of(1..6u64), prop::option::of(0..180i64), prop::bool::ANY);
    let behaviour = (0..10i64, 0..4u32);
    (0..SPECS.len(), policies(), edits, outages, bounds, behaviour).prop_map(
        |(spec, policy, edits, outages, (max_runs, end, is_quiet), (run_time, failing))| {
            let mut one = schedule("any", cron(SPECS[spec], "UTC"), |wanted| *wanted = policy);
            let (id, timing) = (one.id, timing(&mut one));
            timing.bounds.max_runs = max_runs;
            timing.bounds.end_at = end.map(minute);
            timing.windows.only_between = is_quiet.then(|| "10:10-11:40".parse().expect("a part of the day"));
            let mut scenario = world("09:30:00", "12:30:00", [one]);
            scenario.behaviour = Behaviour {
                run_time: SignedDuration::from_mins(run_time),
                failing: if failing == 0 { Failing::Never } else { Failing::Every(failing) },
                how: How::Exit,
            };
            scenario.edits =
                edits.into_iter().map(|(when, act)| Edit { at: minute(when), schedule: id, act }).collect();
            scenario.edits.sort_by_key(|edit| edit.at);
            scenario.outages = outages
                .into_iter()
                .map(|(from, long)| Outage { from: minute(from), to: minute(from + long) })
                .collect();
            scenario.outages.sort_by_key(|outage| outage.from);
            scenario
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_instant_of_any_world_is_explained(scenario in scenarios()) {
        let simulated = simulate(&scenario);
        let account = &simulated.accounts[0];
        for step in -10..=600 {
            let when = minute(0) + SignedDuration::from_secs(step * 20);
            let inquiry = Inquiry::of_simulated(&simulated, account, when);
            let answer = why(&inquiry);
            let decided = answer.links.iter().filter(|link| link.effect == LinkEffect::Decided).count();
            prop_assert_eq!((decided, answer.links.len()), (1, Step::ALL.len()));
            prop_assert!(!answer.decided().text.contains("should have one"), "{}", answer);
            let is_tick = inquiry.runs.iter().any(|run| run.origin == Origin::Tick);
            prop_assert!(!is_tick || answer.decided().step != Step::Spec, "{}", answer);
        }
    }
}
