//! Goal: the promises hold for schedules of all kinds, whatever happens to them.
//! Method: a reduced run of `cargo run --release -p punctual-plan --example volume`, whose modules are here: `story`
//! simulates several schedules, `strip` plans one by hand. A failing seed is printed with the smallest case it needs.

mod dice;
#[path = "../proof/promises.rs"]
mod promises;
mod schedule;
mod split;
mod story;
mod strip;

/// Enough for every kind of schedule to come up; the example has the volume.
const STORIES: u64 = 200;
const STRIPS: u64 = 60;
const SPLITS: u64 = 100;

/// What seeds came to: plans, ticks, and what is broken.
type Sum = (u64, u64, Vec<String>);

fn add(sum: Sum, plans: u64, ticks: u64, broken: Option<String>) -> Sum {
    (sum.0 + plans, sum.1 + ticks, sum.2.into_iter().chain(broken).collect())
}

fn check((plans, ticks, broken): &Sum) {
    assert!(broken.is_empty(), "{}", broken[0]);
    assert!(*plans > 3_000 && *ticks > 3_000, "{plans} plans and {ticks} ticks prove little");
}

#[test]
fn every_story_keeps_the_promises() {
    let told = (0..STORIES).map(story::tell);
    check(&told.fold(Sum::default(), |sum, one| add(sum, one.plans, one.ticks, one.broken)));
}

#[test]
fn every_plan_accounts_for_its_ticks() {
    let strips = (0..STRIPS).map(strip::run);
    check(&strips.fold(Sum::default(), |sum, one| add(sum, one.plans, one.ticks, one.broken)));
}

#[test]
fn every_split_of_the_horizon_gives_the_same_ledger() {
    let splits = (0..SPLITS).map(split::run);
    check(&splits.fold(Sum::default(), |sum, one| add(sum, one.plans, one.ticks, one.broken)));
}
