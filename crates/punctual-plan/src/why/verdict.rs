//! The verdict: the whole chain in one sentence.

use jiff::SignedDuration;
use punctual_time::Subject;

use super::after::lateness;
use super::facts::{Facts, Matter, conditions};
use super::gate::{Timeliness, own_time, timeliness};
use super::link::Step;
use super::show::span;
use crate::{CatchUp, Reason, Run, RunState, Status, When};

/// A start up to this long after its time is called on time.
const ON_TIME_MAX: SignedDuration = SignedDuration::from_secs(1);

pub(super) fn sentence(facts: &Facts<'_>) -> String {
    match facts.matter {
        Matter::Run(run) => of_run(facts, run),
        Matter::Range(record) => {
            let range = &record.range;
            format!(
                "it was {}, one of {} ticks in a row {}",
                record.end().status(),
                range.count,
                reason(facts)
            )
        }
        Matter::Unborn(made_at) if facts.at == made_at => {
            "the schedule was made at that very instant, and its first tick comes after it".to_owned()
        }
        Matter::Unborn(made_at) => {
            format!("the schedule did not exist yet: it was made at {}", facts.show.at(made_at))
        }
        Matter::Gone(at) => format!("nothing ran: the schedule was deleted at {}", facts.show.at(at)),
        Matter::NotATick(step) => no_tick(facts, step),
        Matter::Spent(at) => format!("nothing ran: the schedule was exhausted at {}", facts.show.at(at)),
        Matter::Inactive => inactive(facts),
        Matter::Ahead => ahead(facts),
        Matter::Unseen => match facts.suppressed() {
            Some(window) => format!("it will be skipped when a node looks: {window}"),
            None => "it is due, and no node has looked at it yet".to_owned(),
        },
        Matter::Hole => "it was a tick, and the ledger has no entry for it".to_owned(),
    }
}

/// The code and the sentence of the reason.
fn reason(facts: &Facts<'_>) -> String {
    facts.reason().map(|reason| coded(facts, reason)).unwrap_or_default()
}

fn coded(facts: &Facts<'_>, reason: &Reason) -> String {
    format!("(`{}`): {}", reason.code(), facts.show.reason(reason))
}

fn of_run(facts: &Facts<'_>, run: &Run) -> String {
    let ran = if run.attempts.is_empty() { "was" } else { "ran and was" };
    match &run.state {
        RunState::Scheduled { verdict: None } => {
            format!("it is armed and fires at {}", facts.show.at(run.fire_at))
        }
        RunState::Scheduled { verdict: Some(_) } => {
            format!("it will be skipped at its instant {}", reason(facts))
        }
        RunState::Waiting(waiting) => format!(
            "it waits since {} for {}, until {} at the latest",
            facts.show.at(waiting.since),
            waiting.wait,
            facts.show.at(waiting.deadline)
        ),
        RunState::Enqueued { attempt, since } => {
            format!("it was admitted at {} and attempt {attempt} is being launched", facts.show.at(*since))
        }
        RunState::Running { attempt, since } => {
            format!("it runs since {}, attempt {attempt}", facts.show.at(*since))
        }
        RunState::Retrying { attempt, at, .. } => {
            format!(
                "attempt {attempt} comes at {}, for the one before failed {}",
                facts.show.at(*at),
                reason(facts)
            )
        }
        RunState::Success { at } => {
            format!("it ran {} and ended well at {}", timely(facts, run), facts.show.at(*at))
        }
        RunState::Failed { .. } => {
            format!("it was launched {} and failed {}", timely(facts, run), reason(facts))
        }
        RunState::Cancelled { .. } => format!("it {ran} cancelled {}", reason(facts)),
        RunState::Skipped { .. } => format!("it was skipped {}", reason(facts)),
        RunState::Missed { .. } => format!("it was missed {}", reason(facts)),
    }
}

/// `on time`, `5m late`, and how often it was tried.
fn timely(facts: &Facts<'_>, run: &Run) -> String {
    let late = lateness(facts).unwrap_or_default();
    let time = match timeliness(facts, run) {
        Timeliness::CaughtUp(at) => {
            let how = if facts.policy().catch_up == CatchUp::Skip { "" } else { " to catch up" };
            format!("{} late{how}", span(at.duration_since(facts.at)))
        }
        Timeliness::FirstStart(_) => "when the schedule first started".to_owned(),
        _ if late > ON_TIME_MAX && run.waited.is_some() => format!("after waiting for {}", span(late)),
        _ if late > ON_TIME_MAX => format!("{} late", span(late)),
        _ => "on time".to_owned(),
    };
    match run.attempts.len() {
        0 | 1 => time,
        count => format!("{time}, was tried {count} times"),
    }
}

fn no_tick(facts: &Facts<'_>, step: Step) -> String {
    let (Some(explained), When::Ticks(_)) = (&facts.explained, &facts.schedule().when) else {
        return "the schedule has no ticks of its own, and no run of it stands here".to_owned();
    };
    let spec = &facts.schedule().spec;
    let bounds = facts.timing.as_ref().map(|timing| timing.bounds).unwrap_or_default();
    let why = match step {
        Step::Bounds => match (bounds.start_at, bounds.end_at) {
            (Some(start), _) if facts.at < start => {
                format!("it lies before `start_at` {}", facts.show.at(start))
            }
            (_, Some(end)) => format!("it lies after `end_at` {}", facts.show.at(end)),
            _ => String::new(),
        },
        Step::Zone => clock_change(facts),
        _ if facts.is_floating() => "no run before it set one".to_owned(),
        _ => {
            let failed = conditions(explained).into_iter();
            let failed = failed.filter(|check| !check.holds && check.subject != Subject::Days);
            failed.map(|check| check.text).collect::<Vec<_>>().join(" and ")
        }
    };
    format!("it is not a tick of `{spec}`: {why}")
}

/// What a clock change did to an instant that is no tick.
fn clock_change(facts: &Facts<'_>) -> String {
    let checks = facts.explained.iter().flat_map(|explained| &explained.checks);
    let said =
        checks.filter(|check| check.subject == Subject::ClockChange).map(|check| check.text.clone()).next();
    match (said, facts.inquiry.local) {
        (_, Some(local)) if facts.explained.as_ref().is_some_and(|explained| explained.local != local) => {
            format!("the clock skipped {local}, and nothing makes up for it")
        }
        (Some(said), _) => said,
        (None, _) => "the clock was changed".to_owned(),
    }
}

fn inactive(facts: &Facts<'_>) -> String {
    let status = &facts.inquiry.state.status;
    let why = match status {
        Status::Maintenance { note, .. } => format!(" for maintenance: {note}"),
        _ => String::new(),
    };
    let since = facts.inquiry.left_at.map(|at| format!(" since {}", facts.show.at(at))).unwrap_or_default();
    let tense =
        if facts.at > facts.inquiry.now { "nothing will run unless it is resumed" } else { "nothing ran" };
    format!("{tense}: the schedule is `{}`{since}{why}", status.name())
}

fn ahead(facts: &Facts<'_>) -> String {
    match facts.suppressed() {
        Some(window) => format!("it will be skipped: {window}"),
        None => format!("it is still to come and will fire at {}", facts.show.at(own_time(facts))),
    }
}
