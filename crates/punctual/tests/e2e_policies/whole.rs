//! The table is whole: every variant of every enum that is a policy, and every key of the schema that is one.

use std::collections::BTreeSet;

use punctual::declare;
use punctual_plan::{CatchUp, ChainOn, Delivery, JitterMode, Named, OrgLimit, OverLimit, Overlap};
use punctual_time::{Anchor, Fold, Gap};

use crate::rows;

/// Keys of a schedule that say what and when, not what happens to a tick.
const OTHERS: [&str; 14] = [
    "name",
    "target",
    "template",
    "set",
    "description",
    "tags",
    "every",
    "cron",
    "at",
    "after",
    "schedule",
    "dialect",
    "timezone",
    "payload",
];

/// The limit on schedules refuses them when they are made; nothing of it can be seen in a ledger.
const REFUSING: &str = "schedules";

fn names<T: Named>(key: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    T::ALL.iter().map(move |value| (key, value.name()))
}

/// All anchors; a new one makes this fail to compile.
fn anchors() -> impl Iterator<Item = (&'static str, &'static str)> {
    let next = |anchor: &Anchor| match anchor {
        Anchor::Fixed => Some(Anchor::LastStart),
        Anchor::LastStart => Some(Anchor::LastFinish),
        Anchor::LastFinish => None,
    };
    std::iter::successors(Some(Anchor::Fixed), next).map(|anchor| ("anchor", anchor.name()))
}

/// What is done about clock changes; a new way makes this fail to compile.
fn clock_changes() -> impl Iterator<Item = (&'static str, &'static str)> {
    let next_gap = |gap: &Gap| match gap {
        Gap::Shift => Some(Gap::Skip),
        Gap::Skip => None,
    };
    let next_fold = |fold: &Fold| match fold {
        Fold::First => Some(Fold::Last),
        Fold::Last => Some(Fold::Both),
        Fold::Both => None,
    };
    let gaps = std::iter::successors(Some(Gap::Shift), next_gap).map(|gap| ("dst.gap", gap.name()));
    let folds = std::iter::successors(Some(Fold::First), next_fold).map(|fold| ("dst.fold", fold.name()));
    gaps.chain(folds)
}

#[test]
fn every_value_of_every_policy_has_a_row() {
    let shown: BTreeSet<(&str, &str)> = rows().into_iter().flat_map(|row| row.shows).collect();
    let values = names::<Overlap>("if_running")
        .chain(names::<CatchUp>("catch_up"))
        .chain(names::<JitterMode>("jitter"))
        .chain(names::<Delivery>("delivery"))
        .chain(names::<OverLimit>("over"))
        .chain(names::<ChainOn>("on"))
        .chain(anchors())
        .chain(clock_changes());
    let missing: Vec<_> = values.filter(|value| !shown.contains(value)).collect();
    assert!(missing.is_empty(), "no row shows {missing:?}");
    // Each limit is seen with both things that can happen beyond it.
    for (limit, over) in
        OrgLimit::ALL.iter().flat_map(|limit| OverLimit::ALL.iter().map(move |over| (limit, over)))
    {
        let both = |row: &crate::Row| {
            row.shows.iter().any(|(key, _)| *key == limit.name())
                && row.shows.contains(&("over", over.name()))
        };
        assert!(rows().iter().any(both), "no row shows {limit} with {over}");
    }
}

#[test]
fn every_key_that_is_a_policy_has_a_row() {
    // Of a key that has others below it, such as `dst.gap`, the first part is in the schema's list.
    let first = |(key, _): (&'static str, &'static str)| key.split('.').next().unwrap_or(key);
    let shown: BTreeSet<&str> = rows().into_iter().flat_map(|row| row.shows).map(first).collect();
    let defs = &declare::schema()["$defs"];
    let keys = ["Schedule", "Limits", "Breaker"]
        .into_iter()
        .flat_map(|part| defs[part]["properties"].as_object().expect("keys").keys());
    let is_missing =
        |key: &&String| !shown.contains(key.as_str()) && !OTHERS.contains(&key.as_str()) && *key != REFUSING;
    let missing: Vec<&String> = keys.filter(is_missing).collect();
    assert!(missing.is_empty(), "no row shows {missing:?}");
}
