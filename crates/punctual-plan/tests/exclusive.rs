//! Goal: no batch of due rows, whatever its world, starts two runs where one is allowed (promise 13).
//! Method: random rows, policies, guards and runs in flight; the starts of one batch are counted per claim.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use punctual_plan::{
    CatchUp, Claim, Due, Lane, OrgKey, Overlap, Policy, RunKey, ScheduleKey, Standing, Traffic, Verdict,
    World, admit,
};

fn start() -> Timestamp {
    "2026-01-01T10:00:00Z".parse().expect("an instant")
}

prop_compose! {
    fn any_policy(run: i64)(
        overlap in prop::sample::select(Overlap::ALL),
        catch_up in prop::sample::select(CatchUp::ALL),
        guard in prop::option::of(prop::sample::select(vec!["a", "b"])),
        is_running in any::<bool>(),
    ) -> (Policy, Option<RunKey>) {
        let policy = Policy { overlap, catch_up, guard: guard.map(str::to_owned), ..Policy::default() };
        (policy, is_running.then_some(RunKey(run)))
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn at_most_one_run_of_a_schedule_and_of_a_guard_is_in_flight(
        standings in (any_policy(1_001), any_policy(1_002), any_policy(1_003)),
        ticks in prop::collection::vec((1..=3i64, 0..50i64), 1..30),
    ) {
        let mut world = World::free(start() + SignedDuration::from_secs(55));
        for (key, (policy, running)) in (1..).map(ScheduleKey).zip([standings.0, standings.1, standings.2]) {
            if let (Some(guard), Some(run)) = (&policy.guard, running) {
                world.guards.insert((OrgKey(1), guard.clone()), run);
            }
            let in_flight = running.into_iter().collect();
            world.lanes.insert(Lane::Schedule(key), Traffic { in_flight, ..Traffic::default() });
            world.schedules.insert(key, Standing { policy: Arc::new(policy), ..Standing::default() });
        }
        let before = world.clone();
        let rows: Vec<Due> = (1..)
            .zip(&ticks)
            .map(|(run, (key, second))| {
                Due::tick(RunKey(run), ScheduleKey(*key), start() + SignedDuration::from_secs(*second))
            })
            .collect();
        let admissions = admit(&rows, &mut world);
        prop_assert_eq!(admissions.len(), rows.len(), "every due row has its verdict");
        let mut holders: HashMap<Claim, usize> = HashMap::new();
        for admission in admissions.iter().filter(|one| one.verdict == Verdict::Start) {
            let in_flight = &before.lanes[&Lane::Schedule(admission.schedule)].in_flight;
            let is_exclusive = before.schedules[&admission.schedule].policy.overlap.is_exclusive();
            prop_assert!(!is_exclusive || in_flight.is_empty(), "{:?} starts beside {:?}", admission, in_flight);
            prop_assert!(admission.claims.is_sorted(), "claims are taken in one order");
            for claim in &admission.claims {
                *holders.entry(claim.clone()).or_insert(0) += 1;
                if let Claim::Guard(org, key) = claim {
                    prop_assert!(!before.guards.contains_key(&(*org, key.clone())));
                }
            }
        }
        prop_assert!(holders.values().all(|count| *count == 1), "{:?}", holders);
    }
}
