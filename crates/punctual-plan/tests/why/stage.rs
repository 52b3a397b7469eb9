//! Small worlds to ask about, and how their answers are kept.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use punctual_plan::{
    Act, Action, Edit, Inquiry, Member, Outage, Policy, Process, Reason, Run, RunState, Scenario, Schedule,
    ScheduleId, Simulated, Status, When, Why, simulate, why,
};
use punctual_time::{Cron, Timing, Zone};

/// A time of day on the first of January, or a whole instant.
pub(crate) fn at(text: &str) -> Timestamp {
    let whole = if text.contains('T') { text.to_owned() } else { format!("2026-01-01T{text}Z") };
    whole.parse().expect("an instant")
}

pub(crate) fn minutes(count: i64) -> SignedDuration {
    SignedDuration::from_mins(count)
}

pub(crate) fn cron(spec: &str, zone: &str) -> Timing {
    Timing::new(spec.parse::<Cron>().expect("a valid spec"), Zone::get(zone).expect("a zone"))
}

pub(crate) fn schedule(name: &str, timing: Timing, change: impl FnOnce(&mut Policy)) -> Schedule {
    let id = ScheduleId(uuid::Uuid::from_u128(
        name.bytes().map(u128::from).fold(7, |hash, byte| hash * 31 + byte),
    ));
    let mut schedule = Schedule::new(id, name, timing, Action::Process(Process::new(["true"])));
    change(Arc::make_mut(&mut schedule.policy));
    schedule
}

/// A schedule in UTC.
pub(crate) fn utc(name: &str, spec: &str, change: impl FnOnce(&mut Policy)) -> Schedule {
    schedule(name, cron(spec, "UTC"), change)
}

/// A schedule in Paris.
pub(crate) fn paris(name: &str, spec: &str, change: impl FnOnce(&mut Policy)) -> Schedule {
    schedule(name, cron(spec, "Europe/Paris"), change)
}

pub(crate) fn timing(schedule: &mut Schedule) -> &mut Timing {
    match &mut schedule.when {
        When::Ticks(timing) => timing,
        When::Chain(_) => panic!("it has ticks"),
    }
}

pub(crate) fn world(from: &str, to: &str, schedules: impl IntoIterator<Item = Schedule>) -> Scenario {
    Scenario::new(at(from), at(to), schedules.into_iter().map(Member::new).collect())
}

pub(crate) fn down(mut scenario: Scenario, from: &str, to: &str) -> Scenario {
    scenario.outages.push(Outage { from: at(from), to: at(to) });
    scenario
}

/// Something is done to the first schedule.
pub(crate) fn act(mut scenario: Scenario, when: &str, act: Act) -> Scenario {
    let schedule = scenario.schedules[0].schedule.id;
    scenario.edits.push(Edit { at: at(when), schedule, act });
    scenario
}

pub(crate) fn leave(scenario: Scenario, when: &str, status: Status) -> Scenario {
    act(scenario, when, Act::Leave(status))
}

/// An answer under its title, with the reason that the ledger has for it.
pub(crate) struct Case {
    pub(crate) title: String,
    pub(crate) why: Why,
    pub(crate) reason: Option<Reason>,
}

/// Asks about a schedule of a world, by name.
pub(crate) fn ask(title: &str, scenario: &Scenario, name: &str, when: &str) -> Case {
    answer(title, &simulate(scenario), name, at(when))
}

/// Asks about a world in which the first run ended as no simulation lets it end.
pub(crate) fn ask_by_hand(title: &str, name: &str, state: RunState) -> Case {
    let mut simulated = simulate(&world("09:55:00", "10:30:00", [utc(name, "0 10 * * *", |_| {})]));
    let run: &mut Run = &mut simulated.accounts[0].runs[0];
    match &state {
        RunState::Skipped { .. } => run.attempts.clear(),
        state => run.attempts[0].reason = state.reason().cloned(),
    }
    run.state = state;
    answer(title, &simulated, name, at("10:00:00"))
}

/// Asks about an instant of a world that was simulated.
pub(crate) fn answer(title: &str, simulated: &Simulated, name: &str, when: Timestamp) -> Case {
    answer_with(title, simulated, (name, when), |_| {})
}

/// The same, with something else known about it.
pub(crate) fn answer_with<'a>(
    title: &str,
    simulated: &'a Simulated,
    (name, when): (&str, Timestamp),
    change: impl FnOnce(&mut Inquiry<'a>),
) -> Case {
    let account = simulated.accounts.iter().find(|account| account.schedule().name == name);
    let mut inquiry = Inquiry::of_simulated(simulated, account.expect("a schedule of that name"), when);
    change(&mut inquiry);
    let by_row = inquiry.runs.first().map(|run| run.state.reason().cloned());
    let by_range = || inquiry.range.map(|record| record.end().reason().clone());
    let reason = by_row.unwrap_or_else(by_range);
    Case { title: title.to_owned(), why: why(&inquiry), reason }
}
