//! Stirred: what was written that verdicts over due rows may depend on.
//!
//! Most writes may concern any of them, and are only counted. An end from which nothing else follows concerns the verdicts over
//! its own schedule alone: with a million schedules there are always some, and verdicts over the others stand.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use punctual_plan::ScheduleKey;

use crate::Moment;

/// Schedules of which runs have ended that are remembered: about twenty seconds of what a machine can do.
const REMEMBERED_MAX: usize = 500_000;

/// Schedules of which runs have ended, in their order.
pub(super) type Ended = Arc<[ScheduleKey]>;

/// What has been written.
#[derive(Clone, Debug, Default)]
pub(super) struct Stirred(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    stirred: AtomicU64,
    ends: Mutex<Ends>,
}

#[derive(Debug, Default)]
struct Ends {
    /// How often some have ended.
    count: u64,
    /// The last of them, the newest behind.
    remembered: VecDeque<Ended>,
    schedules: usize,
}

impl Stirred {
    /// The present: what is read after it was asked for holds while [`Self::holds`] says so.
    pub(super) fn moment(&self) -> Moment {
        let ends = self.0.ends.lock().unwrap_or_else(PoisonError::into_inner).count;
        Moment { stirred: self.0.stirred.load(Ordering::SeqCst), ends }
    }

    /// Something was written that any verdict may depend on.
    pub(super) fn stir(&self) {
        self.0.stirred.fetch_add(1, Ordering::SeqCst);
    }

    /// Runs of these schedules have ended, and nothing else was written.
    pub(super) fn ended(&self, schedules: Ended) {
        let mut ends = self.0.ends.lock().unwrap_or_else(PoisonError::into_inner);
        ends.count += 1;
        ends.schedules += schedules.len();
        ends.remembered.push_back(schedules);
        while ends.schedules > REMEMBERED_MAX
            && let Some(oldest) = ends.remembered.pop_front()
        {
            ends.schedules -= oldest.len();
        }
    }

    /// Whether verdicts over these schedules, in their order, which were made on what was read after a moment, still hold.
    pub(super) fn holds(&self, moment: Moment, schedules: &[ScheduleKey]) -> bool {
        let ends = self.0.ends.lock().unwrap_or_else(PoisonError::into_inner);
        if self.0.stirred.load(Ordering::SeqCst) != moment.stirred {
            return false;
        }
        let since = usize::try_from(ends.count - moment.ends).unwrap_or(usize::MAX);
        since <= ends.remembered.len()
            && ends.remembered.iter().rev().take(since).all(|ended| are_apart(ended, schedules))
    }
}

/// Whether two lists, both in order, have nothing in common.
fn are_apart(one: &[ScheduleKey], other: &[ScheduleKey]) -> bool {
    let (mut one, mut other) = (one.iter().peekable(), other.iter().peekable());
    while let (Some(left), Some(right)) = (one.peek(), other.peek()) {
        match left.cmp(right) {
            std::cmp::Ordering::Less => one.next(),
            std::cmp::Ordering::Greater => other.next(),
            std::cmp::Ordering::Equal => return false,
        };
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(keys: &[i64]) -> Vec<ScheduleKey> {
        keys.iter().copied().map(ScheduleKey).collect()
    }

    #[test]
    fn verdicts_hold_beside_ends_of_other_schedules() {
        let stirred = Stirred::default();
        stirred.ended(keys(&[2, 4]).into());
        let moment = stirred.moment();
        assert!(stirred.holds(moment, &keys(&[2, 3])), "that was before");
        stirred.ended(keys(&[1, 5, 9]).into());
        stirred.ended(keys(&[7]).into());
        assert!(stirred.holds(moment, &keys(&[2, 4, 6, 8])));
        assert!(!stirred.holds(moment, &keys(&[2, 9])), "its own run has ended");
        assert!(!stirred.holds(moment, &keys(&[7])));
        stirred.stir();
        assert!(!stirred.holds(moment, &keys(&[2])), "anything may have changed");
        assert!(stirred.holds(stirred.moment(), &keys(&[7])));
    }

    #[test]
    fn what_is_not_remembered_may_have_been_any_of_them() {
        let stirred = Stirred::default();
        let moment = stirred.moment();
        let many: Vec<ScheduleKey> = (0..REMEMBERED_MAX as i64).map(ScheduleKey).collect();
        stirred.ended(many.into());
        assert!(stirred.holds(moment, &keys(&[-1])));
        stirred.ended(keys(&[1]).into());
        assert!(!stirred.holds(moment, &keys(&[-1])));
        assert!(stirred.holds(stirred.moment(), &keys(&[1])));
    }
}
