//! Ticks of a schedule that was paused, changed or gone.

use punctual_plan::{Act, Chain, ChainOn, Failing, Scenario, Schedule, Status, When};

use crate::stage::{Case, act, ask, down, leave, minutes, paris, utc, world};

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = paused();
    cases.extend(changed());
    cases.extend(spent());
    cases
}

/// A schedule that leaves `active` and comes back.
fn away(schedule: Schedule, status: Status, from: &str, to: &str) -> Scenario {
    act(leave(world("09:55:00", "14:00:00", [schedule]), from, status), to, Act::Resume)
}

fn paused() -> Vec<Case> {
    let by = |by: &str| Status::PausedManual { by: by.to_owned(), note: String::new() };
    let invalid = |error: &str| Status::PausedInvalid { error: error.to_owned() };
    let slow = || utc("sync", "*/10 * * * *", |_| {});
    let failing = |max: u32| {
        let one = utc("sync", "*/10 * * * *", move |policy| policy.max_consecutive_failures = Some(max));
        let mut scenario = act(world("09:55:00", "12:00:00", [one]), "11:30:00", Act::Resume);
        scenario.behaviour.failing = Failing::Always;
        scenario
    };
    vec![
        ask("paused by ada", &away(slow(), by("ada"), "10:05:00", "10:35:00"), "sync", "10:20:00"),
        ask(
            "paused by bob, as part of a range",
            &away(paris("sync", "* * * * *", |_| {}), by("bob"), "10:15:30", "13:00:00"),
            "sync",
            "11:00:00",
        ),
        ask(
            "a zone is gone",
            &away(slow(), invalid("no zone `Mars`"), "10:05:00", "10:35:00"),
            "sync",
            "10:20:00",
        ),
        ask(
            "a calendar is gone",
            &away(slow(), invalid("no calendar `x`"), "10:15:00", "10:35:00"),
            "sync",
            "10:30:00",
        ),
        ask("disabled after two failures", &failing(2), "sync", "10:30:00"),
        ask("disabled after five failures", &failing(5), "sync", "11:00:00"),
    ]
}

fn changed() -> Vec<Case> {
    // Nobody looks while it is changed: the ticks between are decided by the change.
    let meanwhile = |when: &str, what: Act| {
        let asleep = down(
            world("09:55:00", "12:00:00", [utc("sync", "*/10 * * * *", |_| {})]),
            "10:05:00",
            "11:30:00",
        );
        act(asleep, when, what)
    };
    let abroad = |when: &str, what: Act| {
        let asleep = down(
            world("09:55:00", "12:00:00", [paris("sync", "*/10 * * * *", |_| {})]),
            "10:05:00",
            "11:30:00",
        );
        act(asleep, when, what)
    };
    let note = |note: &str| Act::Maintain { note: note.to_owned() };
    let edit = Act::Replace(Box::new(utc("sync", "*/15 * * * *", |_| {})));
    let retried = {
        let one = utc("sync", "*/10 * * * *", |policy| policy.retry_after = Some(minutes(4)));
        let mut scenario = world("09:55:00", "10:19:00", [one]);
        scenario.behaviour.failing = Failing::First(3);
        scenario
    };
    vec![
        ask("maintenance", &meanwhile("10:35:00", note("new disks")), "sync", "10:20:00"),
        ask("another maintenance", &abroad("10:45:00", note("a new house")), "sync", "10:40:00"),
        ask("superseded by an edit", &meanwhile("10:35:00", edit), "sync", "10:30:00"),
        ask("a retry superseded by the next tick", &retried, "sync", "10:00:00"),
        ask("deleted", &meanwhile("10:35:00", Act::Delete), "sync", "10:20:00"),
        ask("deleted, in Paris", &abroad("10:55:00", Act::Delete), "sync", "10:50:00"),
        ask("owner removed", &meanwhile("10:35:00", Act::RemoveOwner), "sync", "10:20:00"),
        ask("owner removed, in Paris", &abroad("10:55:00", Act::RemoveOwner), "sync", "10:50:00"),
    ]
}

fn spent() -> Vec<Case> {
    let following = |spec: &str| {
        let load = utc("load", spec, |_| {});
        let mut mail = utc("mail", "0 0 * * *", |_| {});
        let mut chain = Chain { delay: minutes(2), ..Chain::new(load.id, ChainOn::Success) };
        chain.bounds.max_runs = Some(1);
        mail.when = When::Chain(chain);
        world("09:55:00", "11:30:00", [load, mail])
    };
    vec![
        ask("exhausted before it came of another run", &following("*/20 * * * *"), "mail", "10:22:00"),
        ask("exhausted later", &following("5,45 * * * *"), "mail", "10:47:00"),
    ]
}
