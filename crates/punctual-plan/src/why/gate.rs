//! The links at the instant: catch-up, jitter, dependency, overlap, guard, breaker, limits, wait.

use jiff::{SignedDuration, Timestamp};

use super::facts::{Facts, Matter};
use super::link::{Link, Step};
use super::show::{self, span};
use crate::jitter::fire_at;
use crate::{
    Attempt, Breaker, BreakerRule, CatchUp, Origin, Overlap, Run, RunState, Upstream, Wait, Waiting,
};

pub(super) fn links(facts: &Facts<'_>) -> Vec<Link> {
    vec![
        catch_up(facts),
        jitter(facts),
        dependency(facts),
        overlap(facts),
        guard(facts),
        breaker(facts),
        limits(facts),
        wait(facts),
    ]
}

/// How a run came to its time.
pub(super) enum Timeliness {
    /// It was looked at this long after `fire_at`.
    Looked(SignedDuration),
    /// It was late, and its policy let it fire at this time.
    CaughtUp(Timestamp),
    /// It fired when the schedule was made, by the first-start rule.
    FirstStart(Timestamp),
    /// Nobody has looked at it, or nobody had to.
    Open,
}

/// How a run came to its time.
pub(super) fn timeliness(facts: &Facts<'_>, run: &Run) -> Timeliness {
    let made_at = facts.inquiry.versions.first().map(|version| version.since);
    let own = facts.at.saturating_add(facts.policy().jitter.max).unwrap_or(Timestamp::MAX);
    if run.origin == Origin::Tick && made_at.is_some_and(|made_at| facts.at <= made_at) {
        return Timeliness::FirstStart(run.fire_at);
    }
    if run.origin == Origin::Tick && run.fire_at > own {
        return Timeliness::CaughtUp(run.fire_at);
    }
    let started = run.attempts.first().map(|attempt| attempt.started_at);
    let ended = match &run.state {
        RunState::Skipped { at, .. } | RunState::Missed { at, .. } => Some(*at),
        RunState::Enqueued { since, .. } => Some(*since),
        _ => None,
    };
    let waited = facts.waiting().map(|waiting| waiting.since);
    let looked = waited.or(started).or(ended);
    looked.map_or(Timeliness::Open, |at| Timeliness::Looked(at.duration_since(run.fire_at)))
}

fn catch_up(facts: &Facts<'_>) -> Link {
    let policy = facts.policy();
    let mut rule = format!("`catch_up: {}`, `grace` {}", policy.catch_up, span(policy.grace));
    if let Some(limit) = policy.start_deadline {
        rule += &format!(", `start_deadline` {}", span(limit));
    }
    if let Some(told) = facts.told(Step::CatchUp) {
        return facts.link(Step::CatchUp, format!("{told} ({rule})"));
    }
    let Some(run) = facts.run() else {
        let text = match facts.matter {
            Matter::Unseen => unseen(facts),
            Matter::Range(record) => {
                format!("looked at {} after its time", span(record.recorded_at.duration_since(facts.at)))
            }
            _ => "nothing was looked at".to_owned(),
        };
        return facts.link(Step::CatchUp, format!("{text} ({rule})"));
    };
    if run.origin != Origin::Tick {
        return facts
            .idle(Step::CatchUp, format!("only ticks are caught up with, not `{}` runs", run.origin));
    }
    let text = match timeliness(facts, run) {
        Timeliness::FirstStart(at) => {
            format!("it fired at {}, when the schedule first started", facts.show.at(at))
        }
        Timeliness::CaughtUp(at) => {
            let late = span(at.duration_since(facts.at));
            let within = if policy.catch_up == CatchUp::Skip { ", within its grace" } else { "" };
            let slots = facts.inquiry.slots.map(|slots| format!(" for all {slots} late ticks"));
            let slots = slots.unwrap_or_default();
            format!("{late} late{within}: it was let fire{slots} at {}", facts.show.at(at))
        }
        Timeliness::Looked(late) => format!("looked at {} after its time", span(late)),
        Timeliness::Open => "not due yet".to_owned(),
    };
    facts.link(Step::CatchUp, format!("{text} ({rule})"))
}

fn unseen(facts: &Facts<'_>) -> String {
    let cursor = facts.inquiry.state.cursor;
    format!(
        "no node has looked since {}, and it is {} late: the next one to look judges it",
        facts.show.at(cursor.decided_through),
        span(facts.inquiry.now.duration_since(facts.at))
    )
}

fn jitter(facts: &Facts<'_>) -> Link {
    let jitter = facts.policy().jitter;
    if jitter.max <= SignedDuration::ZERO {
        return facts.idle(Step::Jitter, "it has none");
    }
    let rule = format!("`jitter` up to {} `{}`", span(jitter.max), jitter.mode);
    let Some(timing) = facts.timing.as_ref().filter(|_| facts.is_planned()) else {
        return facts.idle(Step::Jitter, format!("only ticks are moved ({rule})"));
    };
    if let Matter::NotATick(_) | Matter::Unborn(_) | Matter::Gone(_) | Matter::Range(_) = facts.matter {
        return facts.link(Step::Jitter, rule);
    }
    let own = fire_at(facts.schedule().id, timing, jitter, facts.at);
    let moved = own.duration_since(facts.at);
    let way = if moved < SignedDuration::ZERO { "before" } else { "after" };
    let text =
        format!("its time is {}, {} {way} its instant ({rule})", facts.show.at(own), span(moved.abs()));
    facts.link(Step::Jitter, text)
}

fn dependency(facts: &Facts<'_>) -> Link {
    let Some(depends) = &facts.policy().depends_on else {
        return facts.idle(Step::Dependency, "it depends on no schedule");
    };
    let latest = |upstream: &Upstream| match upstream.latest {
        Some((tick, status)) => {
            format!("`{}`: its tick at {} is `{status}` by now", upstream.schedule, facts.show.at(tick))
        }
        None => format!("`{}`: no tick at or before it", upstream.schedule),
    };
    let told = facts.told(Step::Dependency);
    let is_told = |upstream: &&Upstream| {
        told.as_ref().is_some_and(|told| told.contains(&format!("`{}`", upstream.schedule)))
    };
    let others = facts.inquiry.upstream.iter().filter(|upstream| !is_told(upstream)).map(latest);
    let mut said: Vec<String> = told.iter().cloned().chain(others).collect();
    said.push(format!("`depends_timeout` {}", span(depends.timeout)));
    if facts.run().is_some_and(|run| run.origin != Origin::Tick) {
        return facts.idle(Step::Dependency, "only ticks wait for other schedules");
    }
    facts.link(Step::Dependency, said.join("; "))
}

fn overlap(facts: &Facts<'_>) -> Link {
    let policy = facts.policy();
    let lane = policy.lane.as_ref().map(|lane| format!(", lane `{lane}`")).unwrap_or_default();
    let rule = format!("`if_running: {}`{lane}", policy.overlap);
    if let Some(told) = facts.told(Step::Overlap) {
        return facts.link(Step::Overlap, format!("{rule}: {told}"));
    }
    let is_turn = facts.waiting().is_some_and(|waiting| matches!(waiting.wait, Wait::Turn { .. }));
    let text = match policy.overlap {
        Overlap::Allow => format!("{rule}: it runs beside others"),
        _ if is_turn => format!("{rule}: it had to wait for its turn"),
        _ if facts.is_asked(Step::Overlap) => format!("{rule}: no other run kept it"),
        _ => rule,
    };
    facts.link(Step::Overlap, text)
}

fn guard(facts: &Facts<'_>) -> Link {
    if let Some(told) = facts.told(Step::Guard) {
        return facts.link(Step::Guard, told);
    }
    match &facts.policy().guard {
        None => facts.idle(Step::Guard, "it has no guard key"),
        Some(key) if facts.is_asked(Step::Guard) => {
            facts.link(Step::Guard, format!("no other run held `{key}`"))
        }
        Some(key) => facts.link(Step::Guard, format!("its key is `{key}`")),
    }
}

fn breaker(facts: &Facts<'_>) -> Link {
    let target = &facts.schedule().target;
    let BreakerRule { threshold, reset_after } = target.breaker;
    let rule = format!("opens after {} in a row, for {}", show::failures(threshold), span(reset_after));
    if let Some(told) = facts.told(Step::Breaker) {
        return facts.link(Step::Breaker, format!("{told} ({rule})"));
    }
    if facts.run().is_some_and(|run| run.origin == Origin::Manual) {
        return facts.idle(Step::Breaker, "a person's wish ignores it");
    }
    let now = match facts.inquiry.breaker {
        None => {
            let text = format!("where that of `{}` stands is not known ({rule})", target.name);
            return facts.unknown(Step::Breaker, text);
        }
        Some(Breaker::Closed { failures: 0 }) => "closed by now".to_owned(),
        Some(Breaker::Closed { failures }) => {
            format!("closed by now, with {} in a row", show::failures(failures))
        }
        Some(Breaker::Open { until }) => format!("open by now, until {}", facts.show.at(until)),
        Some(Breaker::HalfOpen { probe }) => format!("half open by now, {probe} probes it"),
    };
    facts.link(Step::Breaker, format!("that of `{}` is {now} ({rule})", target.name))
}

fn limits(facts: &Facts<'_>) -> Link {
    if let Some(told) = facts.told(Step::Limits) {
        return facts.link(Step::Limits, told);
    }
    let text = match facts.waiting().map(|waiting| &waiting.wait) {
        Some(Wait::Limit { limit }) => format!("it had to wait for room under the org's limit `{limit}`"),
        Some(Wait::Room { target, .. }) => {
            format!("its org had room; at its target `{target}` too many waited for their launch already")
        }
        _ if facts.is_asked(Step::Limits) => "its org had room".to_owned(),
        _ => "its org's limits did not matter".to_owned(),
    };
    facts.link(Step::Limits, text)
}

fn wait(facts: &Facts<'_>) -> Link {
    let Some(waiting) = facts.waiting() else {
        let text = facts.told(Step::Wait).unwrap_or_else(|| "it did not wait".to_owned());
        return facts.idle(Step::Wait, text);
    };
    let (since, deadline) = (facts.show.at(waiting.since), facts.show.at(waiting.deadline));
    let wanted = facts.with_runs(waiting.wait.to_string());
    let is_waiting = facts.run().is_some_and(|run| matches!(run.state, RunState::Waiting(_)));
    let text = match facts.told(Step::Wait) {
        Some(told) => format!("{told}; since {since}, until {deadline}"),
        None if is_waiting => format!("since {since}, until {deadline} at the latest, for {wanted}"),
        None => match waited_until(facts, waiting) {
            Some(until) => {
                let took = span(until.duration_since(waiting.since));
                format!("it waited {took}, since {since}, until {deadline} at the latest, for {wanted}")
            }
            None => format!("it waited since {since}, until {deadline} at the latest, for {wanted}"),
        },
    };
    match facts.is_decided(Step::Wait) {
        true => facts.link(Step::Wait, text),
        false => Link { effect: super::LinkEffect::LetThrough, ..facts.link(Step::Wait, text) },
    }
}

/// When the run went on after its wait, if it did.
fn waited_until(facts: &Facts<'_>, waiting: &Waiting) -> Option<Timestamp> {
    let run = facts.run()?;
    let after = |attempt: &&Attempt| attempt.started_at >= waiting.since;
    let started = run.attempts.iter().find(after).map(|attempt| attempt.started_at);
    started.or(match &run.state {
        RunState::Enqueued { since, .. } => Some(*since),
        _ => None,
    })
}

/// When a tick fires by itself.
pub(super) fn own_time(facts: &Facts<'_>) -> Timestamp {
    let own = |timing| fire_at(facts.schedule().id, timing, facts.policy().jitter, facts.at);
    facts.timing.as_ref().map_or(facts.at, own)
}
