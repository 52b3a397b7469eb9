//! The links after the instant: attempts, node, clock, outcome.

use jiff::{SignedDuration, Timestamp};

use super::facts::{Facts, Matter};
use super::gate::own_time;
use super::link::{Link, LinkEffect, Step};
use super::show::span;
use crate::limit::WHY_ATTEMPTS_MAX;
use crate::{Attempt, Run, RunState};

pub(super) fn links(facts: &Facts<'_>) -> Vec<Link> {
    vec![attempts(facts), node(facts), clock(facts), outcome(facts)]
}

fn attempts(facts: &Facts<'_>) -> Link {
    let Some(run) = facts.run().filter(|run| !run.attempts.is_empty()) else {
        let text = facts.told(Step::Attempts).unwrap_or_else(|| "it was never launched".to_owned());
        return facts.idle(Step::Attempts, text);
    };
    let mut said: Vec<String> = Vec::new();
    let hidden = run.attempts.len().saturating_sub(WHY_ATTEMPTS_MAX);
    for (place, attempt) in run.attempts.iter().enumerate() {
        match place {
            0 => said.push(one(facts, attempt)),
            1 if hidden > 0 => said.push(format!("{hidden} more attempts")),
            _ if place <= hidden => {}
            _ => said.push(one(facts, attempt)),
        }
    }
    if let RunState::Retrying { attempt, at, .. } = &run.state {
        said.push(format!("attempt {attempt} comes at {}", facts.show.at(*at)));
    }
    if let Some(told) = facts.told(Step::Attempts).filter(|told| said.iter().all(|one| !one.contains(told))) {
        said.push(told);
    }
    if let Some(delay) = facts.policy().retry_after {
        said.push(format!("`retry_after` {}", span(delay)));
    }
    facts.link(Step::Attempts, said.join("; "))
}

fn one(facts: &Facts<'_>, attempt: &Attempt) -> String {
    let Attempt { number, started_at, ended_at, reason } = attempt;
    let started = facts.show.at(*started_at);
    match (ended_at, reason) {
        (None, _) => format!("attempt {number} runs since {started}"),
        (Some(ended), reason) => {
            let how = reason
                .as_ref()
                .map_or("ended well".to_owned(), |reason| format!("failed: {}", facts.show.reason(reason)));
            let took = span(ended.duration_since(*started_at));
            format!("attempt {number} from {started} to {} ({took}) {how}", facts.show.at(*ended))
        }
    }
}

fn node(facts: &Facts<'_>) -> Link {
    match &facts.inquiry.node {
        Some(node) => facts.link(Step::Node, format!("`{node}` admitted it")),
        None if facts.is_asked(Step::Node) => facts.unknown(Step::Node, "which one admitted it is not known"),
        None => facts.idle(Step::Node, "none admitted it"),
    }
}

fn clock(facts: &Facts<'_>) -> Link {
    let mut said = match lateness(facts) {
        Some(late) => {
            let fire_at = facts.run().map(|run| facts.show.at(run.fire_at)).unwrap_or_default();
            format!("started {} after its `fire_at` {fire_at}", span(late))
        }
        None => "nothing started".to_owned(),
    };
    for upset in &facts.inquiry.upsets {
        said += &format!("; {}, noticed at {}", upset.what, facts.show.at(upset.at));
    }
    match lateness(facts) {
        None if facts.inquiry.upsets.is_empty() => facts.idle(Step::Clock, said),
        _ => facts.link(Step::Clock, said),
    }
}

/// How long after its time a run started: as it was measured, or as the ledger has it.
pub(super) fn lateness(facts: &Facts<'_>) -> Option<SignedDuration> {
    let run = facts.run()?;
    let started = run.attempts.first().map(|attempt| attempt.started_at.duration_since(run.fire_at));
    facts.inquiry.lateness.or(started)
}

fn outcome(facts: &Facts<'_>) -> Link {
    let text = match facts.matter {
        Matter::Run(run) => ended(facts, run),
        Matter::Range(record) => {
            let range = &record.range;
            format!(
                "`{}`, one of {} ticks from {} to {}, written at {}",
                record.end().status(),
                range.count,
                facts.show.at(range.first),
                facts.show.at(range.last),
                facts.show.at(record.recorded_at)
            )
        }
        Matter::Ahead => ahead(facts),
        Matter::Unseen | Matter::Inactive => "no entry yet".to_owned(),
        Matter::Hole => "the ledger has no entry for this tick and should have one; an audit of the stretch \
                         shows the hole"
            .to_owned(),
        Matter::Unborn(_) | Matter::Gone(_) | Matter::NotATick(_) | Matter::Spent(_) => {
            "no entry, and none is missing".to_owned()
        }
    };
    let link = facts.link(Step::Outcome, text);
    match (facts.matter, link.effect) {
        (Matter::Run(_) | Matter::Range(_), LinkEffect::NotAsked) => {
            Link { effect: LinkEffect::LetThrough, ..link }
        }
        _ => link,
    }
}

/// What will probably happen to a tick that is not planned yet.
fn ahead(facts: &Facts<'_>) -> String {
    let through = facts.show.at(facts.inquiry.state.cursor.planned_through);
    match facts.suppressed() {
        Some(_) => format!("planned through {through}; it will be skipped at its instant"),
        None => format!(
            "planned through {through}; it will be armed for {}, unless something changes before",
            facts.show.at(own_time(facts))
        ),
    }
}

fn ended(facts: &Facts<'_>, run: &Run) -> String {
    let mut text = format!("{} is `{}`", run.key, run.state.status());
    if let Some(at) = since(&run.state) {
        text += &format!(" since {}", facts.show.at(at));
    } else if let RunState::Scheduled { verdict } = &run.state {
        let what = if verdict.is_some() { "to be skipped at" } else { "armed for" };
        text += &format!(", {what} {}", facts.show.at(run.fire_at));
    }
    if let Some(told) = facts.told(Step::Outcome) {
        text += &format!(": {told}");
    }
    for other in facts.inquiry.runs.iter().skip(1) {
        text += &format!("; beside it {} (`{}`) is `{}`", other.key, other.origin, other.state.status());
    }
    text
}

/// Since when a run is what it is.
fn since(state: &RunState) -> Option<Timestamp> {
    match state {
        RunState::Scheduled { .. } | RunState::Retrying { .. } => None,
        RunState::Waiting(waiting) => Some(waiting.since),
        RunState::Enqueued { since, .. } | RunState::Running { since, .. } => Some(*since),
        RunState::Success { at }
        | RunState::Failed { at, .. }
        | RunState::Cancelled { at, .. }
        | RunState::Skipped { at, .. }
        | RunState::Missed { at, .. } => Some(*at),
    }
}
