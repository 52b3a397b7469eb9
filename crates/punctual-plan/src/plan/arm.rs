//! Arm: the ticks of the window ahead become rows that wait for their instant.

use jiff::{SignedDuration, Timestamp};

use super::{Entry, EntryState, Moment, NonFire, Plan, Subject};
use crate::jitter::fire_at;
use crate::limit::LOOKAHEAD;
use crate::rule::{Rule, holds};
use crate::{PLAN_ENTRIES_MAX, Reason, ScheduleId};

/// Arms the ticks after the cursor that may fire within the window.
pub(super) fn arm(subject: &Subject<'_>, moment: Moment, plan: &mut Plan) {
    let whole = moment.pace.lookahead - stagger(subject.id, moment);
    let window = if holds(Rule::WholeWindow) { whole } else { whole / 2 };
    let ahead = window.saturating_add(subject.early_max());
    let horizon = moment.at.saturating_add(ahead).unwrap_or(Timestamp::MAX);
    let is_floating = subject.is_floating();
    if is_floating && (subject.outstanding > 0 || plan.fires()) {
        return;
    }
    let armed_max = plan.entries.len() + PLAN_ENTRIES_MAX;
    let mut from = plan.cursor.planned_through;
    while let Some(tick) = subject.timing.planned_after(from).filter(|tick| *tick <= horizon) {
        if plan.entries.len() == armed_max {
            plan.cursor.planned_through = from;
            return;
        }
        let entry = armed(subject, moment.at, tick);
        let is_firing = entry.state == EntryState::Scheduled;
        plan.entries.push(entry);
        from = tick;
        if is_floating && is_firing {
            // Where the next one lies is known only when this one has started or ended.
            plan.cursor.planned_through = tick;
            return;
        }
    }
    plan.cursor.planned_through = if is_floating { from } else { from.max(horizon) };
}

/// By how much a window is shorter than it might be: those of a schedule end at instants of its own, as far apart as half a window.
/// Else what was made together, or slept through together, would be planned together for ever, and so much at once that starts come
/// to be late for it. No window is shorter than its half, after which the next one is planned, nor than the usual one, in which few
/// ticks lie anyway.
fn stagger(id: ScheduleId, moment: Moment) -> SignedDuration {
    let lookahead = moment.pace.lookahead;
    let apart = lookahead.saturating_sub(LOOKAHEAD).clamp(SignedDuration::ZERO, lookahead / 2).as_micros();
    // Ids that were made one after the other may differ in few of their bits: this spreads them over all of 2^32.
    let place = (id.0.as_u128() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    let own = (apart * i128::from(place)) >> 32;
    let end = i128::from(moment.at.as_microsecond()) + lookahead.as_micros();
    let shorter = (end - own).checked_rem_euclid(apart).unwrap_or(0);
    SignedDuration::from_micros(i64::try_from(shorter).unwrap_or(0))
}

fn armed(subject: &Subject<'_>, at: Timestamp, tick: Timestamp) -> Entry {
    let own = || fire_at(subject.id, subject.timing, subject.policy.jitter, tick);
    let asked = if holds(Rule::WindowsAskTheTick) { tick } else { own() };
    match subject.timing.suppressed(asked).filter(|_| holds(Rule::WindowsSuppress)) {
        Some(window) if !holds(Rule::NothingEndsAhead) => {
            let end = EntryState::Ended(NonFire::Skipped(Reason::from(window)));
            Entry { scheduled_for: tick, fire_at: tick, state: end }
        }
        Some(window) => {
            Entry { scheduled_for: tick, fire_at: tick, state: EntryState::Suppressed(Reason::from(window)) }
        }
        None => {
            let fire_at = if holds(Rule::NeverBeforeItsPlan) { own().max(at) } else { own() };
            Entry { scheduled_for: tick, fire_at, state: EntryState::Scheduled }
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::Pace;

    fn moment(second: i64, lookahead_s: i64) -> Moment {
        let lookahead = SignedDuration::from_secs(lookahead_s);
        let at = Timestamp::from_second(1_763_000_000 + second).expect("a time of our age");
        Moment { at, pace: Pace { lookahead, ..Pace::default() } }
    }

    #[test]
    fn windows_that_begin_together_end_one_after_the_other() {
        let check = |lookahead_s: i64, most: i64| {
            let mut quarters = [0; 4];
            for number in 0..1_000_u128 {
                let shorter = stagger(ScheduleId(Uuid::from_u128(number)), moment(0, lookahead_s));
                assert!(!shorter.is_negative() && shorter < SignedDuration::from_secs(most));
                quarters[usize::try_from(shorter.as_secs() * 4 / most).expect("a quarter")] += 1;
            }
            assert!(quarters.iter().all(|count| (200..300).contains(count)), "{lookahead_s} s: {quarters:?}");
        };
        check(240, 120);
        check(90, 30);
        check(3_600, 1_800);
        for usual in [60, 30, 2] {
            let shorter = stagger(ScheduleId(Uuid::from_u128(77)), moment(7, usual));
            assert_eq!(shorter, SignedDuration::ZERO);
        }
    }

    #[test]
    fn the_windows_of_a_schedule_end_half_a_window_apart_whenever_they_begin() {
        let id = ScheduleId(Uuid::from_u128(77));
        let end = |second: i64| {
            moment(second, 240).at + SignedDuration::from_secs(240) - stagger(id, moment(second, 240))
        };
        let mut ends: Vec<Timestamp> = (0..1_200).map(end).collect();
        ends.dedup();
        assert!((10..=11).contains(&ends.len()), "{ends:?}");
        assert!(ends.windows(2).all(|two| two[1].duration_since(two[0]).as_secs() == 120), "{ends:?}");
    }
}
