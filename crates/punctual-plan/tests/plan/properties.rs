//! What holds for every schedule, outage and way to cut time into plans.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use punctual_plan::{CatchUp, EntryState, Jitter, JitterMode, LOOKAHEAD, Pace, Plan};

use crate::stage::{Case, at, seconds};

const SPECS: &[&str] =
    &["* * * * * *", "*/7 * * * * *", "* * * * *", "0,20 0,3 * * * *", "*/15 9-17 * * MON-FRI", "30 2 * * *"];

prop_compose! {
    fn any_case()(
        spec in prop::sample::select(SPECS),
        catch_up in prop::sample::select(CatchUp::ALL),
        max_catch_up in 0..150u32,
        jitter_s in 0..90i64,
        mode in prop::sample::select(JitterMode::ALL),
        has_window in any::<bool>(),
    ) -> Case {
        Case::new(spec, "10:00:00", "10:00:00")
            .policy(|policy| {
                policy.catch_up = catch_up;
                policy.max_catch_up = max_catch_up;
                policy.jitter = Jitter { max: seconds(jitter_s), mode };
            })
            .timing(|timing| {
                if has_window {
                    timing.windows.only_between = Some("10:30-02:45".parse().expect("a range"));
                }
            })
    }
}

/// Plans again and again with these pauses in between.
fn plans(case: &mut Case, pauses: &[i64]) -> Vec<Plan> {
    let mut plans = Vec::new();
    // A schedule plans its first window when it is made.
    for pause in [0].iter().chain(pauses) {
        case.now += seconds(*pause);
        let plan = case.plan();
        case.cursor = plan.cursor;
        plans.push(plan);
    }
    plans
}

/// Every tick that a plan accounts for, ranges spelled out.
fn accounted(case: &Case, plan: &Plan) -> Vec<Timestamp> {
    let mut ticks: Vec<Timestamp> = plan.entries.iter().map(|entry| entry.scheduled_for).collect();
    for range in &plan.ranges {
        let spelled: Vec<Timestamp> =
            case.timing.ticks(range.first..=range.last).map(|tick| tick.at).collect();
        assert_eq!(spelled.len() as u64, range.count, "{range:?}");
        ticks.extend(spelled);
    }
    ticks
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_tick_has_exactly_one_entry_whatever_the_outages(
        mut case in any_case(),
        pauses in prop::collection::vec(prop_oneof![0..40i64, 0..5_000i64, 50_000..60_000i64], 1..5),
    ) {
        let start = case.cursor.planned_through;
        let plans = plans(&mut case, &pauses);
        let mut seen: Vec<Timestamp> = plans.iter().flat_map(|plan| accounted(&case, plan)).collect();
        seen.sort_unstable();
        let through = case.cursor.planned_through;
        let wanted: Vec<Timestamp> =
            case.timing.ticks(start..=through).map(|tick| tick.at).filter(|tick| *tick > start).collect();
        let differs = seen.iter().zip(&wanted).find(|(seen, wanted)| seen != wanted);
        prop_assert!(seen == wanted, "{differs:?}, {} of {}", seen.len(), wanted.len());
    }

    #[test]
    fn nothing_ends_in_the_future_and_nothing_fires_before_it_is_planned(
        mut case in any_case(),
        pauses in prop::collection::vec(prop_oneof![0..40i64, 0..5_000i64], 1..6),
    ) {
        for pause in pauses {
            let plan = plans(&mut case, &[pause]).remove(1);
            for entry in &plan.entries {
                match &entry.state {
                    EntryState::Ended(_) => prop_assert!(entry.scheduled_for <= case.now),
                    EntryState::Suppressed(_) => prop_assert!(entry.scheduled_for > case.now),
                    EntryState::Scheduled => prop_assert!(entry.fire_at >= case.now),
                }
            }
            prop_assert!(plan.ranges.iter().all(|range| range.last <= case.now));
        }
    }

    #[test]
    fn a_tick_that_is_not_late_fires_between_the_midpoints_to_its_neighbours(
        mut case in any_case(),
        pauses in prop::collection::vec(0..30i64, 1..6),
    ) {
        let mut last = None;
        for entry in plans(&mut case, &pauses).iter().flat_map(|plan| &plan.entries) {
            let tick = entry.scheduled_for;
            let half = |neighbour: Option<Timestamp>| {
                neighbour.map_or(SignedDuration::MAX, |other| other.duration_since(tick).abs() / 2)
            };
            prop_assert!(entry.fire_at.duration_since(tick) <= half(case.timing.planned_after(tick)));
            prop_assert!(tick.duration_since(entry.fire_at) <= half(case.timing.planned_before(tick)));
            prop_assert!(last <= Some(entry.fire_at), "ticks fire in their order");
            last = Some(entry.fire_at);
        }
    }

    #[test]
    fn any_split_of_the_horizon_gives_the_ledger_of_one_plan(
        mut case in any_case(),
        pauses in prop::collection::vec(0..30i64, 1..8),
    ) {
        let planned_in_pieces = plans(&mut case, &pauses);
        let pieces: Vec<_> = planned_in_pieces.into_iter().flat_map(|plan| plan.entries).collect();
        let mut whole = Case { cursor: punctual_plan::Cursor::starting(at("10:00:00")), now: at("10:00:00"), ..case };
        let length = case.now.duration_since(whole.now) + LOOKAHEAD;
        let window = punctual_plan::Window { now: whole.now, pace: Pace { lookahead: length, ..Pace::default() } };
        whole.late.clear();
        let at_once = punctual_plan::plan(&whole.subject(), window);
        // A long window may end before its time, but not before its half.
        let (through, at_once) = (at_once.cursor.planned_through, at_once.entries);
        prop_assert!(through >= whole.now + length / 2);
        let pieces: Vec<_> = pieces.into_iter().filter(|entry| entry.scheduled_for <= through).collect();
        prop_assert!(pieces == at_once, "{} entries in pieces, {} at once", pieces.len(), at_once.len());
    }

    #[test]
    fn no_more_late_ticks_fire_than_the_policy_lets(
        mut case in any_case(),
        outage in 61..50_000i64,
    ) {
        let plan = plans(&mut case, &[outage]).remove(1);
        let late: BTreeSet<Timestamp> = plan
            .entries
            .iter()
            .filter(|entry| entry.state == EntryState::Scheduled && entry.scheduled_for <= case.now)
            .map(|entry| entry.scheduled_for)
            .collect();
        let max = match case.policy.catch_up {
            CatchUp::Skip | CatchUp::RunOnce => 1,
            CatchUp::RunAll | CatchUp::Spread => case.policy.max_catch_up as usize,
        };
        // One more may be ahead of its own jittered instant.
        prop_assert!(late.len() <= max + 1);
    }
}
