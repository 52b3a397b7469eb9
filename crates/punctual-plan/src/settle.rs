//! Settle: an outcome becomes the run's end or its next attempt, with everything that follows from it.

use core::net::IpAddr;

use jiff::{SignedDuration, Timestamp};

use crate::limit::{LAUNCH_DELAY_MAX, RETRY_AFTER_MAX, RETRY_ATTEMPTS_MAX};
use crate::rule::{Rule, holds};
use crate::{
    Breaker, BreakerRule, Chain, ChainOn, Counters, Delivery, Policy, Reason, RunKey, RunStatus, ScheduleKey,
    Status,
};

/// What a target answers that wants nothing more, ever.
const GONE: u32 = 410;

/// A run that was admitted and has not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InFlight {
    /// The run.
    pub run: RunKey,
    /// Its schedule.
    pub schedule: ScheduleKey,
}

/// How an attempt ended, as its target saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It did its work.
    Succeeded,
    /// Another exit code than zero.
    Exited {
        /// The code.
        code: i32,
    },
    /// Ended by a signal.
    Signalled {
        /// The signal's number.
        signal: i32,
    },
    /// Its executor reported a failure.
    Reported {
        /// What it said.
        error: String,
    },
    /// Did not end in time and was killed.
    TimedOut,
    /// Nothing was heard of it in time.
    Lost,
    /// Never started; trying again may help.
    LaunchFailed {
        /// What the system said.
        error: String,
    },
    /// The workflow store has no such workflow.
    NoWorkflow {
        /// Which workflow.
        workflow: String,
        /// Which version of it.
        version: u32,
    },
    /// Its target answered with a status that is no success.
    Answered {
        /// The status.
        code: u32,
        /// Before when it does not want to be asked again, if it says so.
        retry_at: Option<Timestamp>,
        /// Who answered.
        url: String,
    },
    /// Its target was asked and gave no whole answer: it may have done the work.
    Unanswered {
        /// What was seen of it.
        error: String,
    },
    /// Its target is at an address to which nothing may be sent.
    AddressRefused {
        /// The address.
        address: IpAddr,
        /// What leads there.
        url: String,
    },
    /// A person or a later tick ended it.
    Cancelled {
        /// Who or what.
        by: String,
    },
    /// It was launched by a process that died before it could say how it ended.
    InDoubt,
}

/// What was read beside the run that ends.
#[derive(Clone, Debug)]
pub struct Situation<'a> {
    /// The present.
    pub now: Timestamp,
    /// What its schedule wants.
    pub policy: &'a Policy,
    /// Whether its schedule is active: nothing of one that was paused or deleted is tried again.
    pub is_active: bool,
    /// Which attempt ended, from 1.
    pub attempt: u32,
    /// What the runs of its schedule came to so far.
    pub counters: Counters,
    /// Where it went, as the breaker knows it.
    pub target: &'a str,
    /// Where that target's breaker stands.
    pub breaker: Breaker,
    /// When it opens.
    pub rule: BreakerRule,
    /// Schedules that follow this one.
    pub followers: &'a [Follower],
}

impl<'a> Situation<'a> {
    /// The first attempt of the first run of a schedule that nothing follows.
    pub fn first(policy: &'a Policy, now: Timestamp) -> Self {
        Self {
            now,
            policy,
            is_active: true,
            attempt: 1,
            counters: Counters::default(),
            target: "",
            breaker: Breaker::default(),
            rule: BreakerRule::default(),
            followers: &[],
        }
    }
}

/// A schedule that follows another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Follower {
    /// The schedule that follows.
    pub schedule: ScheduleKey,
    /// When.
    pub chain: Chain,
}

/// What follows from an outcome, in one transaction; the run's claims are freed with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settlement {
    /// The run.
    pub in_flight: InFlight,
    /// What becomes of it.
    pub next: Next,
    /// What the runs of its schedule have come to now.
    pub counters: Counters,
    /// Where the target's breaker moves, if it does.
    pub breaker: Option<Breaker>,
    /// The state that its schedule leaves `active` for, if it does.
    pub disabled: Option<Status>,
    /// Runs of other schedules that come of it.
    pub chained: Vec<Chained>,
    /// What somebody may want to be told.
    pub alerts: Vec<Alert>,
}

/// What becomes of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// It ends.
    End {
        /// As what.
        status: RunStatus,
        /// Why, unless it succeeded.
        reason: Option<Reason>,
        /// When.
        at: Timestamp,
    },
    /// It is tried again.
    Retry {
        /// Which attempt that is.
        attempt: u32,
        /// When.
        at: Timestamp,
        /// Why the one before failed.
        reason: Reason,
    },
}

/// A run that another run's end brings about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chained {
    /// Whose run it is.
    pub schedule: ScheduleKey,
    /// The run that brought it about: at most one comes of each.
    pub upstream: RunKey,
    /// The instant it stands for, in whole seconds.
    pub scheduled_for: Timestamp,
    /// When it fires.
    pub fire_at: Timestamp,
    /// What is known ahead: a window of its schedule keeps it from running.
    pub verdict: Option<Reason>,
}

/// Something that a person may want to know at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Alert {
    /// A run failed for good.
    Failed(Reason),
    /// A schedule was disabled.
    AutoDisabled {
        /// After how many failures in a row.
        failures: u32,
    },
    /// A target's breaker opened.
    BreakerOpened {
        /// The target.
        target: String,
        /// Until when.
        until: Timestamp,
    },
}

/// Decides what follows from an outcome.
///
/// ```
/// use punctual_plan::{InFlight, Next, Outcome, Policy, RunKey, ScheduleKey, Situation, settle};
///
/// let run = InFlight { run: RunKey(1), schedule: ScheduleKey(1) };
/// let policy = Policy::default();
/// let situation = Situation::first(&policy, "2026-01-01T10:00:00Z".parse()?);
/// let end = settle(run, Outcome::Exited { code: 3 }, &situation);
/// assert!(matches!(end.next, Next::End { reason: Some(_), .. }));
/// assert_eq!(end.counters.consecutive_failures, 1);
/// # Ok::<(), jiff::Error>(())
/// ```
pub fn settle(in_flight: InFlight, outcome: Outcome, situation: &Situation<'_>) -> Settlement {
    let breaker = situation.breaker_after(in_flight.run, &outcome);
    let next = situation.next(outcome);
    let mut settlement = Settlement {
        in_flight,
        next,
        counters: situation.counters,
        breaker: (breaker != situation.breaker).then_some(breaker),
        disabled: None,
        chained: Vec::new(),
        alerts: Vec::new(),
    };
    if let Some(Breaker::Open { until }) = settlement.breaker
        && until > situation.now
    {
        settlement.alerts.push(Alert::BreakerOpened { target: situation.target.to_owned(), until });
    }
    if let Next::End { status, reason, .. } = settlement.next.clone() {
        settlement.count(status, situation);
        if matches!(reason, Some(Reason::Gone { .. })) {
            settlement.disable(situation);
        }
        if holds(Rule::ChainWithTheEnd) {
            settlement.chained = situation.chained(in_flight.run, status);
        }
        settlement.alerts.extend(reason.filter(|_| status == RunStatus::Failed).map(Alert::Failed));
    }
    settlement
}

impl Settlement {
    fn count(&mut self, status: RunStatus, situation: &Situation<'_>) {
        self.counters.runs += 1;
        match status {
            RunStatus::Success => {
                self.counters.successes += 1;
                self.counters.consecutive_failures = 0;
            }
            RunStatus::Failed => {
                self.counters.failures += 1;
                self.counters.consecutive_failures += 1;
            }
            _ => return,
        }
        let failures = self.counters.consecutive_failures;
        if status == RunStatus::Failed
            && situation.policy.max_consecutive_failures.is_some_and(|max| failures >= max)
            && holds(Rule::TooManyFailuresDisable)
        {
            self.disable(situation);
        }
    }

    /// Takes the schedule out of `active`, once. One that was paused or deleted meanwhile has left it already.
    fn disable(&mut self, situation: &Situation<'_>) {
        let failures = self.counters.consecutive_failures;
        if self.disabled.is_none() && situation.is_active {
            self.disabled = Some(Status::AutoDisabled { failures });
            self.alerts.push(Alert::AutoDisabled { failures });
        }
    }
}

/// Whether a status is one that another attempt may not meet: the target is busy, or fails.
fn is_passing(code: u32) -> bool {
    matches!(code, 408 | 425 | 429 | 500..=599)
}

impl Situation<'_> {
    fn next(&self, outcome: Outcome) -> Next {
        let end = |status, reason| Next::End { status, reason, at: self.now };
        let timeout_s = self.policy.run_timeout.as_secs();
        let reason = match outcome {
            Outcome::Succeeded => return end(RunStatus::Success, None),
            Outcome::Cancelled { by } => return end(RunStatus::Cancelled, Some(Reason::Cancelled { by })),
            Outcome::InDoubt => {
                let reason = Reason::OutcomeUnknown { found: self.now };
                let is_repeated = self.policy.delivery == Delivery::AtLeastOnce || !holds(Rule::AtMostOnce);
                return self.retry(is_repeated.then_some(SignedDuration::ZERO), RETRY_ATTEMPTS_MAX, reason);
            }
            Outcome::LaunchFailed { error } => {
                let reason = Reason::LaunchFailed { error };
                return self.retry(Some(self.launch_delay()), self.policy.launch.attempts_max, reason);
            }
            Outcome::NoWorkflow { workflow, version } => Reason::WorkflowNotFound { version, workflow },
            Outcome::Answered { code: GONE, url, .. } => return self.retry(None, 0, Reason::Gone { url }),
            Outcome::Answered { code, retry_at, url } if is_passing(code) => {
                let delay = self.launch_delay().max(self.put_off(retry_at));
                return self.retry(
                    Some(delay),
                    self.policy.launch.attempts_max,
                    Reason::HttpStatus { code, url },
                );
            }
            Outcome::Unanswered { error } => {
                let is_repeated = self.policy.delivery == Delivery::AtLeastOnce;
                let delay = is_repeated.then(|| self.launch_delay());
                return self.retry(delay, self.policy.launch.attempts_max, Reason::Unanswered { error });
            }
            Outcome::AddressRefused { address, url } => {
                return self.retry(None, 0, Reason::AddressRefused { address, url });
            }
            Outcome::Answered { code, url, .. } => Reason::HttpStatus { code, url },
            Outcome::Exited { code } => Reason::ExitCode { code },
            Outcome::Signalled { signal } => Reason::Signal { signal },
            Outcome::Reported { error } => Reason::Reported { error },
            Outcome::TimedOut => Reason::Timeout { limit_s: timeout_s },
            // Nobody knows how it ended, or whether it has: it may be repeated only where it may be delivered twice.
            Outcome::Lost => {
                let is_repeated = self.policy.delivery == Delivery::AtLeastOnce || !holds(Rule::AtMostOnce);
                let delay = self.policy.retry_after.filter(|_| is_repeated);
                return self.retry(delay, RETRY_ATTEMPTS_MAX, Reason::Lost { limit_s: timeout_s });
            }
        };
        self.retry(self.policy.retry_after, RETRY_ATTEMPTS_MAX, reason)
    }

    /// Another attempt after a delay, if there is one and attempts are left; else the run fails.
    fn retry(&self, delay: Option<SignedDuration>, attempts_max: u32, reason: Reason) -> Next {
        match delay.filter(|_| self.is_active && self.attempt < attempts_max) {
            Some(delay) => Next::Retry {
                attempt: self.attempt + 1,
                at: self.now.saturating_add(delay).unwrap_or(Timestamp::MAX),
                reason,
            },
            None => Next::End { status: RunStatus::Failed, reason: Some(reason), at: self.now },
        }
    }

    /// Doubled with each attempt, up to a bound.
    fn launch_delay(&self) -> SignedDuration {
        let doublings = self.attempt.saturating_sub(1).min(30);
        let delay = self.policy.launch.delay.checked_mul(1 << doublings);
        delay.unwrap_or(LAUNCH_DELAY_MAX).min(LAUNCH_DELAY_MAX)
    }

    /// How long its target wants to be left alone.
    fn put_off(&self, until: Option<Timestamp>) -> SignedDuration {
        until.map_or(SignedDuration::ZERO, |until| until.duration_since(self.now).min(RETRY_AFTER_MAX))
    }

    fn breaker_after(&self, run: RunKey, outcome: &Outcome) -> Breaker {
        let opened =
            Breaker::Open { until: self.now.saturating_add(self.rule.reset_after).unwrap_or(Timestamp::MAX) };
        match (outcome, self.breaker) {
            (Outcome::Succeeded, _) => Breaker::Closed { failures: 0 },
            // The probe said nothing about the target: the next run probes.
            (Outcome::Cancelled { .. } | Outcome::InDoubt, Breaker::HalfOpen { probe }) if probe == run => {
                Breaker::Open { until: self.now }
            }
            (Outcome::Cancelled { .. } | Outcome::InDoubt, breaker) => breaker,
            (_, Breaker::Closed { failures }) if failures + 1 < self.rule.threshold => {
                Breaker::Closed { failures: failures + 1 }
            }
            (_, Breaker::Closed { .. }) => opened,
            (_, Breaker::HalfOpen { probe }) if probe == run => opened,
            (_, breaker) => breaker,
        }
    }

    fn chained(&self, upstream: RunKey, status: RunStatus) -> Vec<Chained> {
        let wants = |follower: &&Follower| match follower.chain.on {
            ChainOn::Success => status == RunStatus::Success,
            ChainOn::Failure => status == RunStatus::Failed,
            ChainOn::Finish => true,
        };
        let chained = |follower: &Follower| {
            let chain = &follower.chain;
            let fire_at = self.now.saturating_add(chain.delay).ok().filter(|at| chain.contains(*at))?;
            let second = fire_at.as_millisecond().div_euclid(1_000);
            let scheduled_for = Timestamp::from_second(second).ok()?;
            let verdict = chain.windows.suppresses(scheduled_for, &chain.zone).map(Reason::from);
            Some(Chained { schedule: follower.schedule, upstream, scheduled_for, fire_at, verdict })
        };
        self.followers.iter().filter(wants).filter_map(chained).collect()
    }
}
