//! Late: what was slept through is decided by the catch-up policy, armed rows and unplanned ticks as one.
//!
//! The ticks that still fire are always the latest ones. Everything before them is counted by stretches, so a
//! week of seconds costs no more than a minute of them.

use jiff::{SignedDuration, Timestamp};
use punctual_time::TickStretch;

use super::{Closed, Entry, EntryState, Moment, NonFire, Plan, Refired, Sections, Subject};
use super::{is_caught_up, just_after};
use crate::jitter::fire_at;
use crate::limit::CATCH_UP_MAX;
use crate::rule::{Rule, holds};
use crate::{CatchUp, PLAN_RANGES_MAX, Reason, RunKey};

/// How much of the late stretch was decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// All of it.
    Whole,
    /// Its beginning; the next call goes on.
    Part,
}

/// Decides the unplanned stretch up to now together with the armed rows that were slept through.
///
/// A single late row without an unplanned stretch is left to `admit`: there is nothing that it must be seen with.
pub(super) fn decide(subject: &Subject<'_>, moment: Moment, plan: &mut Plan) -> Extent {
    let Some(late) = Late::find(subject, moment) else { return Extent::Whole };
    let firing = late.firing();
    let sections = late.sections(&firing);
    if sections.ranges.len() > PLAN_RANGES_MAX {
        let part = &sections.ranges[..PLAN_RANGES_MAX];
        plan.cursor.planned_through = part.last().map_or(plan.cursor.planned_through, |range| range.last);
        plan.ranges.extend_from_slice(part);
        return Extent::Part;
    }
    sections.write(plan);
    late.write_rows(&firing, plan);
    for (tick, fire_at) in late.fire_times(&firing) {
        match tick.row {
            Some(run) => plan.refired.push(Refired { run, fire_at }),
            None => plan.entries.push(Entry {
                scheduled_for: tick.scheduled_for,
                fire_at,
                state: EntryState::Scheduled,
            }),
        }
    }
    plan.entries.sort_by_key(|entry| entry.scheduled_for);
    plan.cursor.planned_through = late.last;
    Extent::Whole
}

/// A late tick that fires.
#[derive(Clone, Copy)]
struct Firing {
    scheduled_for: Timestamp,
    /// Its row, if it was armed.
    row: Option<RunKey>,
}

/// The last unplanned tick that is due, if there is one.
fn last_unplanned(subject: &Subject<'_>, moment: Moment) -> Option<Timestamp> {
    let is_unplanned = |tick: &Timestamp| *tick > subject.cursor.planned_through;
    let newest = subject.timing.planned_before(just_after(moment.at)).filter(is_unplanned)?;
    let is_ahead = subject.timing.suppressed(newest).is_none()
        && fire_at(subject.id, subject.timing, subject.policy.jitter, newest) > moment.at;
    // Jitter never reaches the next tick, so only the newest can still be ahead of its own instant.
    if is_ahead { subject.timing.planned_before(newest).filter(is_unplanned) } else { Some(newest) }
}

/// A late stretch and what decides it.
struct Late<'a> {
    subject: &'a Subject<'a>,
    moment: Moment,
    /// The last unplanned tick that is due.
    last: Timestamp,
    /// The last due tick that no window suppresses, armed or not.
    last_due: Option<Timestamp>,
    /// Unplanned due ticks that no window suppresses.
    unplanned: u64,
    /// Due ticks that no window suppresses, armed or not.
    slots: u64,
}

impl<'a> Late<'a> {
    fn find(subject: &'a Subject<'a>, moment: Moment) -> Option<Self> {
        let planned_through = subject.cursor.planned_through;
        let is_unplanned = |tick: &Timestamp| *tick > planned_through;
        let rows = || {
            let late = subject.late.iter().filter(|_| holds(Rule::CatchUpAsOne));
            late.filter(|row| row.verdict.is_none() && !is_caught_up(subject, row))
        };
        let slots = rows().count() as u64;
        let last_row = rows().map(|row| row.scheduled_for).max();
        let Some(last) = last_unplanned(subject, moment) else {
            let armed =
                Self { subject, moment, last: planned_through, last_due: last_row, unplanned: 0, slots };
            return (slots > 1).then_some(armed);
        };
        let unplanned: u64 = subject
            .timing
            .stretches(just_after(subject.cursor.planned_through)..=last)
            .filter(|stretch| stretch.suppressed.is_none())
            .map(|stretch| stretch.count)
            .sum();
        // A search back beyond the cursor could go through years of suppressed ticks.
        let last_unplanned = if unplanned > 0 { subject.timing.prev(just_after(last)) } else { None };
        let last_due = last_unplanned.filter(is_unplanned).or(last_row);
        Some(Self { subject, moment, last, last_due, unplanned, slots: unplanned + slots })
    }

    /// The ticks that fire, latest first.
    fn firing(&self) -> Vec<Firing> {
        let policy = self.subject.policy;
        let max = match policy.catch_up {
            CatchUp::Skip if self.subject.slept.is_some() => 0,
            CatchUp::Skip if !holds(Rule::OvertakenIsMissed) => CATCH_UP_MAX,
            CatchUp::Skip | CatchUp::RunOnce => 1,
            // A run moves the ticks after it: there is only one to catch up with.
            CatchUp::RunAll | CatchUp::Spread if self.subject.is_floating() => 1,
            CatchUp::RunAll | CatchUp::Spread => policy.max_catch_up.min(CATCH_UP_MAX),
        };
        let mut before = just_after(self.last);
        let unplanned = (0..self.unplanned).map_while(|_| {
            let tick = self.unplanned_before(before)?;
            before = tick.scheduled_for;
            Some(tick)
        });
        let rows = self.subject.late.iter().rev().filter(|row| row.verdict.is_none());
        let rows = rows
            .filter(|row| !is_caught_up(self.subject, row))
            .map(|row| Firing { scheduled_for: row.scheduled_for, row: Some(row.run) });
        let is_in_time = |tick: &Firing| !self.is_past_deadline(tick.scheduled_for);
        let is_near = |tick: &Firing| policy.catch_up != CatchUp::Skip || self.is_within_grace(tick);
        unplanned
            .chain(rows)
            .take(max as usize)
            .take_while(|tick| is_in_time(tick) && is_near(tick))
            .collect()
    }

    fn unplanned_before(&self, before: Timestamp) -> Option<Firing> {
        let tick = self.subject.timing.prev(before)?;
        (tick > self.subject.cursor.planned_through).then_some(Firing { scheduled_for: tick, row: None })
    }

    fn is_within_grace(&self, tick: &Firing) -> bool {
        let armed = self.subject.late.iter().find(|row| Some(row.run) == tick.row).map(|row| row.fire_at);
        let jitter = self.subject.policy.jitter;
        let fire_at = armed
            .unwrap_or_else(|| fire_at(self.subject.id, self.subject.timing, jitter, tick.scheduled_for));
        let since = if holds(Rule::LatenessFromFireAt) { fire_at } else { tick.scheduled_for };
        holds(Rule::Grace) && self.moment.at.duration_since(since) <= self.subject.policy.grace
    }

    fn is_past_deadline(&self, tick: Timestamp) -> bool {
        let late = self.moment.at.duration_since(tick);
        self.subject.policy.start_deadline.is_some_and(|limit| late > limit && holds(Rule::StartDeadline))
    }

    /// When the firing ticks fire, oldest first.
    fn fire_times(&self, firing: &[Firing]) -> Vec<(Firing, Timestamp)> {
        let delay = |place: usize| match self.subject.policy.catch_up {
            CatchUp::Skip | CatchUp::RunOnce => SignedDuration::ZERO,
            CatchUp::RunAll => self.moment.pace.batch_delay(place),
            CatchUp::Spread => self.moment.pace.spread_delay(place, firing.len()),
        };
        let later = |place, tick: &Firing| match holds(Rule::LateAtTheDecision) {
            true => self.moment.at.saturating_add(delay(place)).unwrap_or(Timestamp::MAX),
            false => tick.scheduled_for,
        };
        firing.iter().rev().enumerate().map(|(place, tick)| (*tick, later(place, tick))).collect()
    }

    /// Why a due tick that no window suppresses does not fire.
    fn why(&self, tick: Timestamp) -> NonFire {
        let policy = self.subject.policy;
        let past = || {
            let limit_s = policy.start_deadline.map_or(0, |limit| limit.as_secs());
            NonFire::Skipped(Reason::StartDeadline { limit_s, at: self.moment.at })
        };
        match policy.catch_up {
            CatchUp::Skip => NonFire::Missed(match (&self.subject.slept, self.last_due) {
                (Some(slept), _) => slept.clone(),
                (None, _) if self.moment.at.duration_since(tick) > policy.grace => {
                    Reason::Outage { until: self.moment.at, grace_s: policy.grace.as_secs() }
                }
                (None, Some(by)) if by > tick => Reason::Overtaken { by },
                _ if self.is_past_deadline(tick) => return past(),
                // It was to fire ahead of its instant, and is late by more than the grace from then.
                _ => Reason::Outage { until: self.moment.at, grace_s: policy.grace.as_secs() },
            }),
            _ if self.is_past_deadline(tick) => past(),
            CatchUp::RunOnce => {
                NonFire::Missed(Reason::CaughtUp { slots: self.slots, by: self.last_due.unwrap_or(tick) })
            }
            CatchUp::RunAll | CatchUp::Spread => {
                NonFire::Missed(Reason::CatchUpLimit { max: policy.max_catch_up, slots: self.slots })
            }
        }
    }

    /// Instants at which [`Late::why`] may change its answer.
    fn borders(&self) -> Vec<Timestamp> {
        let policy = self.subject.policy;
        let back = |limit: SignedDuration| self.moment.at.saturating_sub(limit).unwrap_or(Timestamp::MIN);
        let mut borders: Vec<Timestamp> = match policy.catch_up {
            CatchUp::Skip => [Some(back(policy.grace)), self.last_due].into_iter().flatten().collect(),
            _ => policy.start_deadline.map(back).into_iter().collect(),
        };
        borders.sort_unstable();
        borders
    }

    /// The unplanned ticks that do not fire, as stretches of one end each, in the order of their ticks.
    fn sections(&self, firing: &[Firing]) -> Sections<'a> {
        let fired_from = firing.iter().filter(|tick| tick.row.is_none()).map(|tick| tick.scheduled_for).min();
        let borders = self.borders();
        let mut sections = Sections::new(self.subject.timing);
        let after = self.subject.cursor.planned_through;
        if self.last <= after {
            return sections;
        }
        for stretch in self.subject.timing.stretches(just_after(after)..=self.last) {
            match &stretch.suppressed {
                Some(window) => {
                    sections.add(&stretch, NonFire::Skipped(Reason::from(window.clone())));
                }
                None => {
                    let end = fired_from
                        .map_or(just_after(stretch.last), |from| from.min(just_after(stretch.last)));
                    self.split(stretch.first, end, &borders)
                        .iter()
                        .for_each(|piece| sections.add(piece, self.why(piece.first)));
                }
            }
        }
        sections
    }

    /// The ticks from `first` and before `end`, cut at the borders.
    fn split(&self, first: Timestamp, end: Timestamp, borders: &[Timestamp]) -> Vec<TickStretch> {
        let cuts = borders.iter().copied().filter(|border| *border > first && *border < end);
        let starts: Vec<Timestamp> = std::iter::once(first).chain(cuts).collect();
        let ends = starts[1..].iter().copied().chain([end]);
        let pieces = starts.iter().zip(ends).filter(|(start, end)| *start < end);
        pieces.flat_map(|(start, end)| self.subject.timing.stretches(*start..end)).collect()
    }

    /// Ends the armed rows that do not fire; those that were caught up before are left alone.
    fn write_rows(&self, firing: &[Firing], plan: &mut Plan) {
        let is_firing = |run: RunKey| firing.iter().any(|tick| tick.row == Some(run));
        if !holds(Rule::LateRowsEnd) {
            return;
        }
        for row in self.subject.late.iter().filter(|row| !is_firing(row.run)) {
            let end = match &row.verdict {
                Some(reason) => NonFire::Skipped(reason.clone()),
                None if is_caught_up(self.subject, row) => continue,
                None => self.why(row.scheduled_for),
            };
            plan.closed.push(Closed { run: row.run, scheduled_for: row.scheduled_for, end });
        }
    }
}
