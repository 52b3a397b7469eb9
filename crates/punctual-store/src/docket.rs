//! The docket: reports are judged one after the other, each seeing what those before it changed.
//!
//! A store fills it with what it has read under its locks, asks for the verdict over each report, and writes what
//! comes out. The rules are the same for every database because they are here once.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::Timestamp;
use punctual_plan::rule::{Rule, holds};
use punctual_plan::{
    Breaker, Counters, Fence, Follower, InFlight, Next, OrgKey, Outcome, RunKey, RunStatus, Schedule,
    ScheduleKey, Settlement, Situation, settle,
};

use crate::{AttemptToken, Report};

/// A run as it stood when it was read.
#[derive(Clone, Debug)]
pub(crate) struct Standing {
    pub(crate) schedule: ScheduleKey,
    pub(crate) org: OrgKey,
    pub(crate) status: RunStatus,
    pub(crate) attempt: u32,
    pub(crate) fence: Option<Fence>,
    /// Tokens of its attempts so far, by number.
    pub(crate) tokens: Vec<(u32, String)>,
    /// The definition of the version it belongs to.
    pub(crate) definition: Arc<Schedule>,
}

/// A schedule as it stood when it was read.
#[derive(Clone, Debug)]
pub(crate) struct Tally {
    pub(crate) counters: Counters,
    pub(crate) is_active: bool,
    pub(crate) followers: Vec<Follower>,
}

/// What a store has read.
#[derive(Debug, Default)]
pub(crate) struct Docket {
    pub(crate) runs: HashMap<RunKey, Standing>,
    pub(crate) schedules: HashMap<ScheduleKey, Tally>,
    pub(crate) breakers: HashMap<(OrgKey, String), Breaker>,
}

/// What a report comes to.
#[derive(Debug)]
pub(crate) struct Judgement {
    pub(crate) settlement: Settlement,
    pub(crate) org: OrgKey,
    pub(crate) definition: Arc<Schedule>,
    /// The state that the run was in.
    pub(crate) was: RunStatus,
    /// Which attempt is closed by it.
    pub(crate) attempt: u32,
    /// Where its target's breaker stood before.
    pub(crate) breaker_before: Breaker,
}

impl Judgement {
    /// Whether nothing follows from it but that the run has ended.
    pub(crate) fn is_plain(&self) -> bool {
        let Settlement { next, chained, disabled, breaker, .. } = &self.settlement;
        matches!(next, Next::End { .. }) && chained.is_empty() && disabled.is_none() && breaker.is_none()
    }
}

impl Docket {
    /// Judges a report; none if the one who made it has no say over the run any more.
    pub(crate) fn judge(&mut self, report: &Report, now: Timestamp) -> Option<Judgement> {
        let run = self.runs.get_mut(&report.run)?;
        if !may_report(run, report) {
            return None;
        }
        let tally = self.schedules.get_mut(&run.schedule)?;
        let target = (run.org, run.definition.target.name.clone());
        let breaker = self.breakers.get(&target).copied().unwrap_or_default();
        let situation = Situation {
            // It ended when it ended, not when that was written down.
            now: report.at.min(now),
            policy: &run.definition.policy,
            is_active: tally.is_active,
            attempt: run.attempt,
            counters: tally.counters,
            target: &target.1,
            breaker,
            rule: run.definition.target.breaker,
            followers: &tally.followers,
        };
        let in_flight = InFlight { run: report.run, schedule: run.schedule };
        let settlement = settle(in_flight, report.outcome.clone(), &situation);
        let judgement = Judgement {
            org: run.org,
            definition: Arc::clone(&run.definition),
            was: run.status,
            attempt: run.attempt,
            breaker_before: breaker,
            settlement,
        };
        tally.counters = judgement.settlement.counters;
        tally.is_active &= judgement.settlement.disabled.is_none();
        if let Some(moved) = judgement.settlement.breaker {
            self.breakers.insert(target, moved);
        }
        run.status = match &judgement.settlement.next {
            Next::End { status, .. } => *status,
            Next::Retry { .. } => RunStatus::Retrying,
        };
        Some(judgement)
    }
}

/// Whether a report counts: it comes from who holds the present attempt, or tells of a late success of an older one.
fn may_report(run: &Standing, report: &Report) -> bool {
    if run.status.is_terminal() && holds(Rule::EndsStay) {
        return false;
    }
    let is_over = run.status.is_terminal();
    let is_present = report.attempt == run.attempt && (run.status.is_in_flight() || is_over);
    let is_success = report.outcome == Outcome::Succeeded && holds(Rule::LateSuccess);
    let is_late_success = is_success && report.attempt <= run.attempt;
    match &report.token {
        AttemptToken::Node(fence) => {
            let is_held = run.fence == Some(*fence) || !holds(Rule::FenceOfTheRow);
            is_held && (is_present || is_late_success)
        }
        AttemptToken::Holder(token) => {
            let is_held = run.tokens.iter().any(|(number, held)| *number == report.attempt && held == token);
            (is_held || !holds(Rule::TokenOfTheAttempt)) && (is_present || is_late_success)
        }
    }
}
