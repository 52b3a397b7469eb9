//! Facts: what the matter is with the instant, which link decided, and how far the chain was asked.

use jiff::Timestamp;
use punctual_time::{Check, Explanation, Field, Spec, Subject, Suppression, Timing, Zone};

use super::inquiry::{runs_in, whole_second};
use super::link::{Link, LinkEffect, Step};
use super::show::Show;
use super::{Inquiry, Neighbour};
use crate::plan::just_after;
use crate::{Origin, Policy, RangeRecord, Reason, Run, RunState, Schedule, Version, Wait, Waiting, When};

/// What an instant is for a schedule.
#[derive(Clone, Copy)]
pub(super) enum Matter<'a> {
    /// It has a ledger row.
    Run(&'a Run),
    /// It is part of a stretch of the ledger.
    Range(&'a RangeRecord),
    /// The schedule was made at or after it.
    Unborn(Timestamp),
    /// The schedule was deleted before it.
    Gone(Timestamp),
    /// The spec does not tick then; this link says why.
    NotATick(Step),
    /// The schedule has had all its ticks before it.
    Spent(Timestamp),
    /// The schedule is not active, and the tick not decided yet.
    Inactive,
    /// It is still to come.
    Ahead,
    /// It is past, and no node has looked yet.
    Unseen,
    /// It is past, should have an entry, and has none.
    Hole,
}

/// Everything that the links are made of.
pub(super) struct Facts<'a> {
    pub(super) inquiry: &'a Inquiry<'a>,
    /// The second asked about.
    pub(super) at: Timestamp,
    /// The version that the instant belongs to.
    pub(super) version: &'a Version,
    /// Its ticks, with the runs so far in it; none if it follows another schedule.
    pub(super) timing: Option<Timing>,
    pub(super) explained: Option<Explanation>,
    pub(super) matter: Matter<'a>,
    pub(super) show: Show,
    decided: Step,
    reached: Step,
}

impl<'a> Facts<'a> {
    pub(super) fn find(inquiry: &'a Inquiry<'a>) -> Self {
        let at = whole_second(inquiry.at);
        let version = version(inquiry, at);
        let timing = version.schedule.when.timing().map(|timing| current(timing, inquiry));
        let explained = timing.as_ref().map(|timing| timing.explain(at));
        let mut facts = Self {
            inquiry,
            at,
            version,
            timing,
            explained,
            matter: Matter::Hole,
            show: Show::new(zone(&version.schedule)),
            decided: Step::Outcome,
            reached: Step::Outcome,
        };
        facts.matter = facts.matter();
        facts.decided = facts.decided();
        facts.reached = facts.reached();
        facts
    }

    pub(super) fn schedule(&self) -> &'a Schedule {
        &self.version.schedule
    }

    pub(super) fn policy(&self) -> &'a Policy {
        &self.version.schedule.policy
    }

    pub(super) fn zone(&self) -> &'a Zone {
        zone(&self.version.schedule)
    }

    pub(super) fn run(&self) -> Option<&'a Run> {
        match self.matter {
            Matter::Run(run) => Some(run),
            _ => None,
        }
    }

    /// Whether it came by the schedule itself: a person's wish is not asked for its spec and windows.
    pub(super) fn is_planned(&self) -> bool {
        self.run().is_none_or(|run| matches!(run.origin, Origin::Tick | Origin::Chained))
    }

    /// Whether each tick hangs on the run before it.
    pub(super) fn is_floating(&self) -> bool {
        self.timing.as_ref().is_some_and(Timing::is_floating)
    }

    /// The reason in the ledger, or the one that is known ahead.
    pub(super) fn reason(&self) -> Option<&'a Reason> {
        match self.matter {
            Matter::Run(run) => run.state.reason(),
            Matter::Range(record) => Some(record.end().reason()),
            _ => None,
        }
    }

    /// The window that suppresses a tick of this instant.
    pub(super) fn suppressed(&self) -> Option<Suppression> {
        match &self.schedule().when {
            When::Ticks(timing) => timing.suppressed(self.at),
            When::Chain(chain) => chain.windows.suppresses(self.at, &chain.zone),
        }
    }

    /// What its run waits or waited for.
    pub(super) fn waiting(&self) -> Option<&'a Waiting> {
        self.run().and_then(|run| match &run.state {
            RunState::Waiting(waiting) => Some(waiting),
            _ => run.waited.as_ref(),
        })
    }

    /// A link that was asked in its turn, or not if the chain ended before.
    pub(super) fn link(&self, step: Step, text: impl Into<String>) -> Link {
        let effect = if step == self.decided {
            LinkEffect::Decided
        } else if step <= self.reached {
            LinkEffect::LetThrough
        } else {
            LinkEffect::NotAsked
        };
        Link { step, effect, text: text.into() }
    }

    /// A link that this schedule or run has no use for.
    pub(super) fn idle(&self, step: Step, text: impl Into<String>) -> Link {
        self.other(step, LinkEffect::NotAsked, text.into())
    }

    /// A link that whoever asks knows nothing about.
    pub(super) fn unknown(&self, step: Step, text: impl Into<String>) -> Link {
        self.other(step, LinkEffect::Unknown, text.into())
    }

    fn other(&self, step: Step, effect: LinkEffect, text: String) -> Link {
        Link { step, effect: if step == self.decided { LinkEffect::Decided } else { effect }, text }
    }

    pub(super) fn is_decided(&self, step: Step) -> bool {
        self.decided == step
    }

    /// Whether a link was asked before the chain ended.
    pub(super) fn is_asked(&self, step: Step) -> bool {
        step <= self.reached
    }

    /// The sentence of the reason, if this link decided by one, with what is known of the runs that it names.
    pub(super) fn told(&self, step: Step) -> Option<String> {
        let reason = self.reason().filter(|_| self.is_decided(step))?;
        Some(self.with_runs(self.show.reason(reason)))
    }

    /// A sentence with what is known of the runs that it names.
    pub(super) fn with_runs(&self, mut sentence: String) -> String {
        for key in runs_in(&sentence) {
            if let Some(other) = self.inquiry.neighbours.iter().find(|other| other.run == key) {
                sentence += &format!("; {}", self.introduce(other));
            }
        }
        sentence
    }

    fn introduce(&self, other: &Neighbour) -> String {
        let Neighbour { run, schedule, scheduled_for, status } = other;
        format!("{run} is that of `{schedule}` for {}, `{status}` by now", self.show.at(*scheduled_for))
    }

    /// The last tick before the instant, by the version that was valid then.
    pub(super) fn tick_before(&self) -> Option<Timestamp> {
        let versions = self.inquiry.versions;
        versions.iter().enumerate().rev().find_map(|(place, version)| {
            let end = versions.get(place + 1).map_or(self.at, |next| just_after(next.since).min(self.at));
            let timing = current(version.schedule.when.timing()?, self.inquiry);
            timing.planned_before(end).filter(|tick| *tick > version.since)
        })
    }

    /// The first tick after the instant, by the version that was or will be valid then.
    pub(super) fn tick_after(&self) -> Option<Timestamp> {
        let versions = self.inquiry.versions;
        let over = self.inquiry.deleted_at.unwrap_or(Timestamp::MAX);
        let found = versions.iter().enumerate().find_map(|(place, version)| {
            let replaced_at = versions.get(place + 1).map(|next| next.since);
            let end = replaced_at.into_iter().chain(version.exhausted_at).min().unwrap_or(Timestamp::MAX);
            let timing = current(version.schedule.when.timing()?, self.inquiry);
            timing.planned_after(self.at.max(version.since)).filter(|tick| *tick <= end)
        });
        found.filter(|tick| *tick <= over)
    }

    fn matter(&self) -> Matter<'a> {
        let Inquiry { now, versions, state, .. } = *self.inquiry;
        if let Some(run) = self.inquiry.runs.first() {
            return Matter::Run(run);
        }
        let is_tick = self.explained.as_ref().is_some_and(|explained| explained.is_tick);
        if let Some(record) = self.inquiry.range.filter(|_| is_tick || self.is_floating()) {
            return Matter::Range(record);
        }
        let made_at = versions.first().map_or(Timestamp::MIN, |version| version.since);
        if self.at <= made_at {
            return Matter::Unborn(made_at);
        }
        if let Some(deleted_at) = self.inquiry.deleted_at.filter(|deleted_at| self.at > *deleted_at) {
            return Matter::Gone(deleted_at);
        }
        let is_past_floating = self.is_floating() && self.at <= now;
        if is_past_floating || !is_tick {
            return Matter::NotATick(self.missing());
        }
        let left_at = self.inquiry.left_at.unwrap_or(Timestamp::MIN);
        if let Some(exhausted_at) = self.version.exhausted_at.filter(|exhausted_at| self.at > *exhausted_at) {
            return Matter::Spent(exhausted_at);
        }
        match self.at {
            at if !state.status.is_active() && at > left_at => Matter::Inactive,
            at if at > now => Matter::Ahead,
            at if at > state.cursor.planned_through => Matter::Unseen,
            _ => Matter::Hole,
        }
    }

    /// The link that keeps an instant from being a tick.
    fn missing(&self) -> Step {
        let (Some(timing), Some(explained)) = (&self.timing, &self.explained) else { return Step::Spec };
        let is_before_start = timing.bounds.start_at.is_some_and(|start| self.at < start);
        let mut unbounded = timing.clone();
        unbounded.created_at = timing.bounds.start_at.unwrap_or(timing.created_at);
        unbounded.bounds.start_at = None;
        unbounded.bounds.end_at = None;
        let is_interval = matches!(timing.spec, Spec::Every(_));
        if unbounded.explain(self.at).is_tick || is_interval && is_before_start {
            return Step::Bounds;
        }
        let is_swallowed = self.inquiry.local.is_some_and(|local| local != explained.local);
        if is_swallowed || is_match(explained) { Step::Zone } else { Step::Spec }
    }

    fn decided(&self) -> Step {
        match self.matter {
            Matter::Run(run) => match &run.state {
                RunState::Waiting(_) => Step::Wait,
                RunState::Retrying { .. } => Step::Attempts,
                state => state.reason().map_or(Step::Outcome, step_of),
            },
            Matter::Range(record) => step_of(record.end().reason()),
            Matter::Unborn(_) => Step::Version,
            Matter::Gone(_) | Matter::Inactive => Step::Status,
            Matter::NotATick(step) => step,
            Matter::Spent(_) => Step::Bounds,
            Matter::Ahead if self.suppressed().is_some() => Step::Windows,
            Matter::Unseen if self.suppressed().is_some() => Step::Windows,
            Matter::Unseen => Step::CatchUp,
            Matter::Ahead | Matter::Hole => Step::Outcome,
        }
    }

    /// The last link that was asked.
    fn reached(&self) -> Step {
        let waited = self.waiting().map_or(Step::Spec, |waiting| match waiting.wait {
            Wait::Upstream { .. } => Step::Dependency,
            Wait::Turn { .. } => Step::Overlap,
            Wait::Limit { .. } | Wait::Room { .. } => Step::Limits,
        });
        let reached = match self.matter {
            Matter::Run(run) if !run.attempts.is_empty() => Step::Outcome,
            Matter::Run(run) if run.state.status().is_in_flight() => Step::Outcome,
            Matter::Run(Run { state: RunState::Waiting(_), .. }) => waited,
            Matter::Run(Run { state: RunState::Scheduled { verdict: None }, .. }) => Step::Jitter,
            Matter::Run(_) | Matter::Range(_) => self.reason().map_or(Step::Jitter, last_asked),
            Matter::Ahead | Matter::Hole => Step::Jitter,
            Matter::Inactive | Matter::Spent(_) => Step::Windows,
            Matter::Unseen | Matter::Unborn(_) | Matter::Gone(_) | Matter::NotATick(_) => self.decided,
        };
        reached.max(waited)
    }
}

/// The version that an instant belongs to: a tick at the very instant of a change belongs to the one before.
fn version<'a>(inquiry: &'a Inquiry<'a>, at: Timestamp) -> &'a Version {
    let number = inquiry.runs.first().map(|run| run.version).or(inquiry.range.map(|record| record.version));
    let named =
        number.and_then(|number| inquiry.versions.iter().find(|version| version.schedule.version == number));
    let valid = || inquiry.versions.iter().rev().find(|version| version.since < at);
    named.or_else(valid).or(inquiry.versions.first()).expect("a schedule has a version")
}

/// The ticks of a version as they stand after the runs so far.
fn current(timing: &Timing, inquiry: &Inquiry<'_>) -> Timing {
    let mut timing = timing.clone();
    timing.runs = inquiry.state.counters.admitted;
    timing.last = inquiry.state.anchors.last(timing.anchor).or(timing.last);
    timing
}

pub(super) fn zone(schedule: &Schedule) -> &Zone {
    match &schedule.when {
        When::Ticks(timing) => &timing.zone,
        When::Chain(chain) => &chain.zone,
    }
}

/// The conditions of the spec alone, one by one.
pub(super) fn conditions(explained: &Explanation) -> Vec<Check> {
    let is_of_spec = |check: &&Check| {
        matches!(check.subject, Subject::Field(_) | Subject::Days | Subject::Interval | Subject::Instant)
    };
    explained.checks.iter().filter(is_of_spec).cloned().collect()
}

/// Whether the local time is one that the spec names; clock changes, bounds and windows aside.
pub(super) fn is_match(explained: &Explanation) -> bool {
    let conditions = conditions(explained);
    let joins_days = conditions.iter().any(|check| check.subject == Subject::Days);
    conditions.iter().all(|check| match check.subject {
        Subject::Field(Field::DayOfMonth | Field::DayOfWeek) if joins_days => true,
        _ => check.holds,
    })
}

/// How [`crate::admit()`] names a later run of the same schedule.
const LATER_RUN: &str = "its later ";

/// The link that a reason belongs to.
fn step_of(reason: &Reason) -> Step {
    match reason {
        Reason::Overtaken { .. }
        | Reason::Outage { .. }
        | Reason::CaughtUp { .. }
        | Reason::CatchUpLimit { .. }
        | Reason::StartDeadline { .. } => Step::CatchUp,
        Reason::Overlap { .. } | Reason::QueueFull { .. } => Step::Overlap,
        Reason::WaitedTooLong { .. } => Step::Wait,
        Reason::OutsideWindow { .. }
        | Reason::NotOn { .. }
        | Reason::Calendar { .. }
        | Reason::QuietHours { .. } => Step::Windows,
        Reason::Guard { .. } => Step::Guard,
        Reason::BreakerOpen { .. } | Reason::BreakerProbe { .. } => Step::Breaker,
        Reason::UpstreamFailed { .. } | Reason::UpstreamAbsent { .. } => Step::Dependency,
        Reason::OrgLimit { .. } => Step::Limits,
        Reason::MaxRuns { .. } => Step::Bounds,
        Reason::Paused { .. }
        | Reason::Maintenance { .. }
        | Reason::Invalid { .. }
        | Reason::AutoDisabled { .. }
        | Reason::Exhausted { .. }
        | Reason::Deleted { .. }
        | Reason::OwnerRemoved { .. } => Step::Status,
        Reason::Superseded { by } | Reason::Cancelled { by } if by.starts_with(LATER_RUN) => Step::Overlap,
        Reason::Superseded { .. } => Step::Version,
        Reason::Cancelled { .. } => Step::Outcome,
        Reason::OutcomeUnknown { .. }
        | Reason::ExitCode { .. }
        | Reason::Signal { .. }
        | Reason::Reported { .. }
        | Reason::Timeout { .. }
        | Reason::Lost { .. }
        | Reason::LaunchFailed { .. }
        | Reason::HttpStatus { .. }
        | Reason::Gone { .. }
        | Reason::Unanswered { .. }
        | Reason::AddressRefused { .. }
        | Reason::WorkflowNotFound { .. } => Step::Attempts,
    }
}

/// The last link that was asked before a tick ended for a reason: some reasons were found later than their link stands.
fn last_asked(reason: &Reason) -> Step {
    match (reason, step_of(reason)) {
        (Reason::MaxRuns { .. } | Reason::WaitedTooLong { .. }, _) => Step::Jitter,
        (_, Step::Status | Step::Version) => Step::Windows,
        (_, step) => step,
    }
}
