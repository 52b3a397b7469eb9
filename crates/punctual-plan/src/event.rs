//! Events: what the audit log says about a schedule, as data with one sentence each.
//!
//! They come out of the same decisions as the ledger entries and are written with them.

use core::fmt;

use jiff::{SignedDuration, Timestamp};
use punctual_time::Timing;

use crate::{
    Admission, Breaker, Claim, Closed, EntryState, NonFire, Plan, Policy, Range, Reason, RunKey, Verdict,
};

/// One thing that happened to a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// A tick could not be looked at in time.
    Missed {
        /// The tick.
        tick: Timestamp,
        /// Why.
        reason: Reason,
    },
    /// More ticks were missed than have events of their own.
    MissedMore {
        /// How many more.
        count: u64,
        /// The first of them.
        first: Timestamp,
        /// The last of them.
        last: Timestamp,
    },
    /// A tick was deliberately not run.
    Skipped {
        /// The tick.
        tick: Timestamp,
        /// Why.
        reason: Reason,
    },
    /// More ticks were skipped than have events of their own.
    SkippedMore {
        /// How many more.
        count: u64,
        /// The first of them.
        first: Timestamp,
        /// The last of them.
        last: Timestamp,
    },
    /// Late ticks run after all.
    CaughtUp {
        /// How many run.
        runs: u64,
        /// How many ticks were late in all.
        slots: u64,
    },
    /// The schedule changed: an edit, a pause, a resumption, a deletion.
    Changed {
        /// What was done, in words.
        what: String,
    },
    /// The schedule left `active` by itself.
    Left {
        /// Why.
        reason: Reason,
    },
    /// The breaker of its target moved.
    BreakerMoved {
        /// The target.
        target: String,
        /// Where to.
        to: Breaker,
    },
    /// The clock of a node was set. It belongs to the installation, not to a schedule.
    ClockStepped {
        /// The node.
        node: String,
        /// How far, forward or backward.
        by: SignedDuration,
    },
    /// The machine of a node was suspended. It belongs to the installation, not to a schedule.
    Suspended {
        /// The node.
        node: String,
        /// How long.
        slept: SignedDuration,
    },
}

impl Event {
    /// The stable name, as stored and as shown.
    ///
    /// ```
    /// let event = punctual_plan::Event::CaughtUp { runs: 1, slots: 6 };
    /// assert_eq!((event.name(), event.to_string().as_str()), ("schedule.caught_up", "1 run for 6 late ticks"));
    /// ```
    pub fn name(&self) -> &'static str {
        match self {
            Self::Missed { .. } | Self::MissedMore { .. } => "schedule.missed",
            Self::Skipped { .. } | Self::SkippedMore { .. } => "schedule.skipped",
            Self::CaughtUp { .. } => "schedule.caught_up",
            Self::Changed { .. } => "schedule.changed",
            Self::Left { .. } => "schedule.left_active",
            Self::BreakerMoved { .. } => "breaker.moved",
            Self::ClockStepped { .. } => "clock.stepped",
            Self::Suspended { .. } => "clock.suspended",
        }
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missed { tick, reason } => write!(f, "the tick at {tick} was missed: {reason}"),
            Self::MissedMore { count, first, last } => {
                write!(f, "{count} more ticks from {first} to {last} were missed")
            }
            Self::Skipped { tick, reason } => write!(f, "the tick at {tick} was skipped: {reason}"),
            Self::SkippedMore { count, first, last } => {
                write!(f, "{count} more ticks from {first} to {last} were skipped")
            }
            Self::CaughtUp { runs: 1, slots } => write!(f, "1 run for {slots} late ticks"),
            Self::CaughtUp { runs, slots } => write!(f, "{runs} runs for {slots} late ticks"),
            Self::Changed { what } => f.write_str(what),
            Self::Left { reason } => write!(f, "{reason}"),
            Self::BreakerMoved { target, to } => {
                write!(f, "the circuit breaker of `{target}` is {}", to.name().replace('_', " "))
            }
            Self::ClockStepped { node, by } => {
                let way = if by.is_negative() { "back" } else { "forward" };
                write!(f, "the clock of node `{node}` was set {way} by {}", Millis(by.abs()))
            }
            Self::Suspended { node, slept } => {
                write!(f, "the machine of node `{node}` was suspended for {}", Millis(*slept))
            }
        }
    }
}

/// A length of time in seconds, to the millisecond.
struct Millis(SignedDuration);

impl fmt::Display for Millis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:03} s", self.0.as_secs(), self.0.subsec_millis())
    }
}

/// An event of a plan, and the run that it tells of, if that was in the ledger before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Noted {
    /// The run.
    pub run: Option<RunKey>,
    /// What happened.
    pub event: Event,
}

/// What the audit log says about a plan, made at an instant.
///
/// The first `missed_audit_max` ticks that do not run have an event each, armed rows and unplanned ticks alike; one of
/// each kind sums up the rest. Without a timing, as where a schedule follows another, a plan only closes rows.
pub fn plan_events(plan: &Plan, timing: Option<&Timing>, policy: &Policy, at: Timestamp) -> Vec<Noted> {
    let mut log = Log { events: Vec::new(), left: u64::from(policy.missed_audit_max), missed: 0 };
    let mut closed: Vec<&Closed> = plan.closed.iter().collect();
    closed.sort_by_key(|row| row.scheduled_for);
    for row in closed {
        log.add_one(row.scheduled_for, &row.end, Some(row.run));
    }
    for entry in &plan.entries {
        if let EntryState::Ended(end) = &entry.state {
            log.add_one(entry.scheduled_for, end, None);
        }
    }
    for range in &plan.ranges {
        log.add(range, timing);
    }
    let is_late = |entry: &&crate::Entry| entry.state == EntryState::Scheduled && entry.scheduled_for <= at;
    let runs = plan.entries.iter().filter(is_late).count() as u64 + plan.refired.len() as u64;
    // A single late tick runs as usual: that is no catching up.
    if runs > 0 && runs + log.missed > 1 {
        log.say(None, Event::CaughtUp { runs, slots: runs + log.missed });
    }
    log.events
}

/// What the audit log says about an admission, if anything.
pub fn admission_event(admission: &Admission, tick: Timestamp) -> Option<Event> {
    match &admission.verdict {
        Verdict::Skip(reason) => Some(Event::Skipped { tick, reason: reason.clone() }),
        Verdict::Miss(reason) => Some(Event::Missed { tick, reason: reason.clone() }),
        Verdict::Start => admission.claims.iter().find_map(|claim| probe_event(admission, claim)),
        Verdict::Wait(_) | Verdict::Later(_) | Verdict::Fail(_) => None,
    }
}

/// A start that probes moves its target's breaker.
fn probe_event(admission: &Admission, claim: &Claim) -> Option<Event> {
    let Claim::Probe(_, target) = claim else { return None };
    Some(Event::BreakerMoved { target: target.clone(), to: Breaker::HalfOpen { probe: admission.run } })
}

/// Whether a tick does not run because it came late, not because a window suppresses it.
fn is_late(end: &NonFire) -> bool {
    matches!(end, NonFire::Missed(_) | NonFire::Skipped(Reason::StartDeadline { .. }))
}

struct Log {
    events: Vec<Noted>,
    /// Ticks that may still have an event of their own.
    left: u64,
    missed: u64,
}

impl Log {
    fn say(&mut self, run: Option<RunKey>, event: Event) {
        self.events.push(Noted { run, event });
    }

    fn add_one(&mut self, tick: Timestamp, end: &NonFire, run: Option<RunKey>) {
        self.missed += u64::from(is_late(end));
        if self.left > 0 {
            self.left -= 1;
            self.say(run, end_event(tick, end));
        } else {
            self.sum_up(1, tick, &Range { first: tick, last: tick, count: 1, end: end.clone() });
        }
    }

    fn add(&mut self, range: &Range, timing: Option<&Timing>) {
        if is_late(&range.end) {
            self.missed += range.count;
        }
        let single = self.left.min(range.count);
        self.left -= single;
        let mut tick = range.first;
        for _ in 0..single {
            self.say(None, end_event(tick, &range.end));
            match timing.and_then(|timing| timing.planned_after(tick)) {
                Some(next) => tick = next,
                None => return,
            }
        }
        let count = range.count - single;
        if count > 0 {
            self.sum_up(count, tick, range);
        }
    }

    /// Neighbouring rests of one kind are one event.
    fn sum_up(&mut self, more: u64, from: Timestamp, range: &Range) {
        match (self.events.last_mut().map(|last| &mut last.event), &range.end) {
            (Some(Event::MissedMore { count, last, .. }), NonFire::Missed(_))
            | (Some(Event::SkippedMore { count, last, .. }), NonFire::Skipped(_)) => {
                *count += more;
                *last = range.last;
            }
            (_, NonFire::Missed(_)) => {
                self.say(None, Event::MissedMore { count: more, first: from, last: range.last });
            }
            (_, NonFire::Skipped(_)) => {
                self.say(None, Event::SkippedMore { count: more, first: from, last: range.last });
            }
        }
    }
}

/// The event of a tick that does not run.
pub fn end_event(tick: Timestamp, end: &NonFire) -> Event {
    match end {
        NonFire::Missed(reason) => Event::Missed { tick, reason: reason.clone() },
        NonFire::Skipped(reason) => Event::Skipped { tick, reason: reason.clone() },
    }
}
