//! Goal: the audit's own oracle and the search that plans find the same ticks, and no damage to a ledger goes unseen.
//! Method: the ticks of a definition as the ledger, over tables, over random definitions, and damaged in every way.

mod agreement;
mod any;
mod damage;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use punctual_plan::{Audit, Recorded, audit_ledger};
use punctual_time::{DstRule, Fold, Gap, Timing, Zone};

/// From when to when, both included.
type Stretch = std::ops::RangeInclusive<Timestamp>;

fn at(text: &str) -> Timestamp {
    text.parse().expect("an instant")
}

fn zone(name: &str) -> Zone {
    Zone::get(name).expect("a zone")
}

/// An instant and as much before it as after it.
fn around(instant: Timestamp, half: SignedDuration) -> Stretch {
    instant - half..=instant + half
}

/// The ticks that the search finds.
fn searched(timing: &Timing, stretch: &Stretch) -> Vec<Timestamp> {
    timing.ticks(stretch.clone()).map(|tick| tick.at).collect()
}

/// A ledger that has what the search found, audited.
fn audit_search(timing: &Timing, stretch: &Stretch) -> (usize, Audit) {
    let rows = searched(timing, stretch);
    (rows.len(), audit_ledger(timing, Recorded { rows: &rows, ranges: &[] }, stretch.clone()))
}

/// The search and the oracle agree.
fn check(timing: &Timing, stretch: &Stretch) {
    let (found, audit) = audit_search(timing, stretch);
    assert!(
        audit.is_proved() && audit.planned == found as u64,
        "`{}` in {} by {:?} from {:?} over {stretch:?}: {:?}",
        timing.spec,
        timing.zone,
        timing.dst,
        timing.bounds.start_at,
        audit.holes,
    );
}

/// Every answer to clock changes that a schedule can give, none among them.
fn rules() -> impl Iterator<Item = DstRule> {
    let gaps = [None, Some(Gap::Shift), Some(Gap::Skip)];
    let folds = [None, Some(Fold::First), Some(Fold::Last), Some(Fold::Both)];
    gaps.into_iter().flat_map(move |gap| folds.into_iter().map(move |fold| DstRule { gap, fold }))
}

/// When a zone's clock changes within a year.
fn changes(zone: &TimeZone, year: i16) -> Vec<Timestamp> {
    let from = at(&format!("{year}-01-01T00:00:00Z"));
    let to = at(&format!("{}-01-01T00:00:00Z", year + 1));
    let instants = zone.following(from).map(|change| change.timestamp());
    instants.take_while(|instant| *instant < to).collect()
}
