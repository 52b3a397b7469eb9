//! Goal: no batch of due rows, whatever its world, starts two runs where one is allowed (promise 13).
//! Method: random rows, policies, guards and runs in flight; the starts of one batch are counted per claim.

use std::collections::HashMap;

use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use punctual_plan::{
    CatchUp, Claim, Due, OrgKey, Overlap, Policy, RunKey, ScheduleKey, Standing, Verdict, World, admit,
};

fn start() -> Timestamp {
    "2026-01-01T10:00:00Z".parse().expect("an instant")
}

prop_compose! {
    fn any_standing(run: i64)(
        overlap in prop::sample::select(Overlap::ALL),
        catch_up in prop::sample::select(CatchUp::ALL),
        guard in prop::option::of(prop::sample::select(vec!["a", "b"])),
        is_running in any::<bool>(),
    ) -> Standing {
        let policy = Policy { overlap, catch_up, guard: guard.map(str::to_owned), ..Policy::default() };
        let in_flight = if is_running { vec![RunKey(run)] } else { Vec::new() };
        Standing { policy, in_flight, ..Standing::default() }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn at_most_one_run_of_a_schedule_and_of_a_guard_is_in_flight(
        standings in (any_standing(1_001), any_standing(1_002), any_standing(1_003)),
        ticks in prop::collection::vec((1..=3i64, 0..50i64), 1..30),
    ) {
        let mut world = World::free(start() + SignedDuration::from_secs(55));
        for (key, standing) in (1..).map(ScheduleKey).zip([standings.0, standings.1, standings.2]) {
            if let (Some(guard), Some(run)) = (&standing.policy.guard, standing.in_flight.first()) {
                world.guards.insert((OrgKey(1), guard.clone()), *run);
            }
            world.schedules.insert(key, standing);
        }
        let before = world.clone();
        let rows: Vec<Due> = (1..)
            .zip(&ticks)
            .map(|(run, (key, second))| {
                Due::tick(RunKey(run), ScheduleKey(*key), start() + SignedDuration::from_secs(*second))
            })
            .collect();
        let admissions = admit(&rows, world);
        prop_assert_eq!(admissions.len(), rows.len(), "every due row has its verdict");
        let mut holders: HashMap<Claim, usize> = HashMap::new();
        for admission in admissions.iter().filter(|one| one.verdict == Verdict::Start) {
            let standing = &before.schedules[&admission.schedule];
            let is_free = !standing.policy.overlap.is_exclusive() || standing.in_flight.is_empty();
            prop_assert!(is_free, "{:?} starts beside {:?}", admission, standing.in_flight);
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
