//! Stories: several schedules with outages, failures and edits, simulated and held against the promises.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use punctual_plan::{
    Act, Behaviour, Chain, ChainOn, Dependency, Edit, Failing, How, Member, OrgLimits, Outage, OverLimit,
    Pace, Request, Scenario, Schedule, ScheduleId, Status, When, simulate,
};

use crate::dice::Dice;
use crate::promises;
use crate::schedule;

/// Simulations that are spent on making a failing story smaller: enough to halve each of its parts several times.
const SHRINK_TRIES_MAX: usize = 300;

/// What a story came to.
pub(crate) struct Told {
    pub(crate) plans: u64,
    pub(crate) ticks: u64,
    /// What is broken, with the smallest story that breaks it.
    pub(crate) broken: Option<String>,
}

/// Tells the story of a seed.
pub(crate) fn tell(seed: u64) -> Told {
    let scenario = scenario(seed);
    let simulated = simulate(&scenario);
    let verdict = promises::check(&scenario, &simulated);
    let broken = (!verdict.broken.is_empty()).then(|| {
        let small = shrink(scenario);
        let said = promises::check(&small, &simulate(&small)).broken;
        format!("seed {seed}: {:?}\n{}", &said[..said.len().min(5)], describe(&small))
    });
    Told { plans: simulated.plans, ticks: verdict.ticks, broken }
}

fn is_often(schedule: &Schedule) -> bool {
    let gap = schedule.when.timing().and_then(|timing| timing.spec.smallest_gap());
    gap.is_some_and(|gap| gap < SignedDuration::from_secs(60))
}

fn scenario(seed: u64) -> Scenario {
    let mut dice = Dice::new(seed);
    let from = schedule::start(&mut dice);
    let count = 1 + dice.below(4) as usize;
    let mut schedules: Vec<Schedule> =
        (0..count).map(|place| schedule::schedule(&mut dice, place, from)).collect();
    relate(&mut dice, &mut schedules);
    let seconds = if schedules.iter().any(is_often) { 3_000 } else { 60_000 };
    let length = SignedDuration::from_secs(seconds / 4 + dice.below(seconds));
    let members = schedules.into_iter().map(|schedule| Member {
        schedule,
        status: if dice.percent(4) { paused() } else { Status::Active },
        starts_at_once: dice.percent(10),
    });
    let mut scenario = Scenario::new(from, from + length, members.collect());
    scenario.pace = Pace {
        lookahead: SignedDuration::from_secs(dice.pick(&[2, 60, 60, 600])),
        catch_up_per_tick_max: dice.pick(&[1, 7, 100]),
        ..Pace::default()
    };
    scenario.outages = outages(&mut dice, from, length);
    scenario.limits = dice.percent(15).then(|| limits(&mut dice));
    for member in &scenario.schedules {
        scenario.behaviours.insert(member.schedule.name.clone(), behaviour(&mut dice));
    }
    scenario.edits = edits(&mut dice, &scenario, length);
    scenario
}

fn paused() -> Status {
    Status::PausedManual { by: "ada".to_owned(), note: String::new() }
}

/// Lanes, dependencies and chains between them.
fn relate(dice: &mut Dice, schedules: &mut [Schedule]) {
    let ids: Vec<ScheduleId> = schedules.iter().map(|schedule| schedule.id).collect();
    for (place, schedule) in schedules.iter_mut().enumerate() {
        let policy = Arc::make_mut(&mut schedule.policy);
        if dice.percent(15) {
            policy.lane = Some("shared".to_owned());
        }
        let upstream = ids[dice.below(place as i64) as usize];
        if place > 0 && dice.percent(15) {
            let timeout = SignedDuration::from_secs(dice.pick(&[10, 600, 3_600]));
            policy.depends_on = Some(Dependency { timeout, ..Dependency::on(vec![upstream]) });
        }
        if place > 0 && dice.percent(15) {
            let delay = SignedDuration::from_secs(dice.pick(&[0, 30, 300]));
            schedule.when = When::Chain(Chain { delay, ..Chain::new(upstream, dice.pick(ChainOn::ALL)) });
        }
    }
}

fn outages(dice: &mut Dice, from: Timestamp, length: SignedDuration) -> Vec<Outage> {
    let mut outages = Vec::new();
    let mut at = from;
    for _ in 0..dice.below(4) {
        let begin = at + dice.seconds(length.as_secs() / 3);
        let end = begin + SignedDuration::from_secs(dice.pick(&[0, 1, 30, 59, 61, 600, 5_000, 20_000]));
        outages.push(Outage { from: begin, to: end });
        at = end + SignedDuration::from_secs(1);
    }
    outages
}

fn limits(dice: &mut Dice) -> OrgLimits {
    OrgLimits {
        per_minute_max: dice.percent(60).then_some(3),
        in_flight_max: dice.percent(60).then_some(2),
        over: dice.pick(OverLimit::ALL),
    }
}

fn behaviour(dice: &mut Dice) -> Behaviour {
    let failing = match dice.below(6) {
        0 => Failing::Always,
        1 => Failing::Every(2),
        2 => Failing::First(3),
        _ => Failing::Never,
    };
    let run_time = SignedDuration::from_secs(dice.pick(&[0, 0, 1, 20, 70, 400, 2_000]));
    Behaviour { run_time, failing, how: dice.pick(&[How::Exit, How::Launch, How::Lost]) }
}

fn edits(dice: &mut Dice, scenario: &Scenario, length: SignedDuration) -> Vec<Edit> {
    let mut edits: Vec<Edit> = Vec::new();
    for number in 0..dice.below(7) {
        let place = dice.below(scenario.schedules.len() as i64) as usize;
        let schedule = &scenario.schedules[place].schedule;
        let at = scenario.from
            + dice.seconds(length.as_secs())
            + SignedDuration::from_millis(dice.pick(&[0, 0, 1, 500]));
        let is_forced = dice.percent(30);
        let nonce = format!("{}-{number}", if is_forced { "force" } else { "ask" });
        let act = match dice.below(12) {
            0..=2 => Act::Leave(paused()),
            3..=5 => Act::Resume,
            6 => Act::Replace(Box::new(edited(dice, schedule, scenario.from))),
            7 => Act::Share {
                what: "the calendar `holidays`".to_owned(),
                schedule: Box::new(edited(dice, schedule, scenario.from)),
            },
            8 => Act::Maintain { note: "moving house".to_owned() },
            9 if dice.percent(30) => Act::Delete,
            9 => Act::Cancel { by: "ada".to_owned() },
            _ => Act::Trigger(Request { nonce, is_forced }),
        };
        edits.push(Edit { at, schedule: schedule.id, act });
    }
    edits.sort_by_key(|edit| edit.at);
    edits
}

/// Another definition of the same schedule; what hangs on another one stays so.
fn edited(dice: &mut Dice, schedule: &Schedule, from: Timestamp) -> Schedule {
    let place = schedule.id.0.as_u128() as usize - 1;
    let mut new = schedule::schedule(dice, place, from);
    if is_often(&new) || matches!(schedule.when, When::Chain(_)) {
        new.when = schedule.when.clone();
    }
    let lane = schedule.policy.lane.clone().filter(|_| dice.percent(70));
    Arc::make_mut(&mut new.policy).lane = lane;
    new.target = Arc::clone(&schedule.target);
    new
}

fn is_broken(scenario: &Scenario) -> bool {
    !promises::check(scenario, &simulate(scenario)).broken.is_empty()
}

/// Halves what happens, and the time it happens in, as long as the promise stays broken.
fn shrink(mut scenario: Scenario) -> Scenario {
    let mut tries = 0;
    loop {
        let is_worth_it = |candidate: &Scenario| {
            tries += 1;
            tries <= SHRINK_TRIES_MAX && is_broken(candidate)
        };
        match smaller(&scenario).into_iter().find(is_worth_it) {
            Some(smaller) => scenario = smaller,
            None => return scenario,
        }
    }
}

fn smaller(scenario: &Scenario) -> Vec<Scenario> {
    let mut candidates = Vec::new();
    let mut add = |change: &dyn Fn(&mut Scenario)| {
        let mut candidate = scenario.clone();
        change(&mut candidate);
        candidates.push(candidate);
    };
    let length = scenario.to.duration_since(scenario.from);
    if length > SignedDuration::from_secs(2) {
        add(&|one| one.to = one.from + length / 2);
        add(&|one| one.to = one.from + length / 10 * 9);
    }
    (0..scenario.edits.len()).for_each(|place| add(&|one| _ = one.edits.remove(place)));
    (0..scenario.outages.len()).for_each(|place| add(&|one| _ = one.outages.remove(place)));
    if scenario.schedules.len() > 1 {
        (0..scenario.schedules.len()).for_each(|place| add(&|one| _ = one.schedules.remove(place)));
    }
    if scenario.limits.is_some() {
        add(&|one| one.limits = None);
    }
    candidates
}

fn describe(scenario: &Scenario) -> String {
    let mut lines = vec![format!("from {} to {} {:?}", scenario.from, scenario.to, scenario.pace)];
    lines.push(format!("limits {:?}", scenario.limits));
    for Member { schedule, status, starts_at_once } in &scenario.schedules {
        lines.push(format!(
            "{} {} {status:?} first start {starts_at_once}",
            schedule.name,
            schedule.timezone()
        ));
        lines.push(format!("  {:?}\n  {:?}", schedule.when, schedule.policy));
        lines.push(format!("  {:?}", scenario.behaviours.get(&schedule.name)));
    }
    lines.extend(scenario.outages.iter().map(|outage| format!("outage {} to {}", outage.from, outage.to)));
    lines.extend(scenario.edits.iter().map(|edit| format!("{} {} {:?}", edit.at, edit.schedule, edit.act)));
    lines.join("\n")
}
