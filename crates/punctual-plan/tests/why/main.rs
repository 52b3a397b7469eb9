//! Goal: every reason and every kind of instant is explained, with the values that decided.
//! Method: recorded answers about simulated worlds, at least two for every reason, and any small world in `any`.
//! `BLESS=1` records the answers anew.

mod any;
mod cases;
mod ends;
mod gate;
mod late;
mod stage;
mod status;
mod windows;

use jiff::Timestamp;
use punctual_plan::{
    Act, Behaviour, CatchUp, Chain, ChainOn, Failing, Inquiry, LinkEffect, Origin, Reason, Scenario, Status,
    Step, When, simulate, why,
};
use punctual_time::{Anchor, Interval, Timing, Zone};
use stage::{Case, act, at, down, leave, minutes, paris, schedule, timing, utc, world};

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/why/golden");

/// Compares the answers of a group with those that were recorded.
fn check(name: &str, recorded: &str, cases: &[Case]) {
    let said: Vec<String> = cases.iter().map(|case| format!("# {}\n{}", case.title, case.why)).collect();
    let said = said.join("\n");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(format!("{GOLDEN}/{name}.txt"), said).expect("the folder of recorded answers");
        return;
    }
    for (now, before) in said.split("\n# ").zip(recorded.split("\n# ")) {
        assert_eq!(now, before, "`BLESS=1` records the answers of `{name}` anew");
    }
    assert_eq!(said.len(), recorded.len(), "`{name}` has other answers than were recorded");
}

fn all_reasons() -> Vec<Case> {
    [late::cases(), windows::cases(), gate::cases(), status::cases(), ends::cases()]
        .into_iter()
        .flatten()
        .collect()
}

#[test]
fn answers_are_as_recorded() {
    check("late", include_str!("golden/late.txt"), &late::cases());
    check("windows", include_str!("golden/windows.txt"), &windows::cases());
    check("gate", include_str!("golden/gate.txt"), &gate::cases());
    check("status", include_str!("golden/status.txt"), &status::cases());
    check("ends", include_str!("golden/ends.txt"), &ends::cases());
    check("cases", include_str!("golden/cases.txt"), &cases::cases());
}

#[test]
fn every_reason_is_explained_twice_with_different_values() {
    let cases = all_reasons();
    for described in Reason::LIST {
        let of_reason =
            |case: &&Case| case.reason.as_ref().is_some_and(|reason| reason.code() == described.code);
        let found: Vec<&Case> = cases.iter().filter(of_reason).collect();
        assert!(found.len() >= 2, "`{}` is explained {} times", described.code, found.len());
        let detail = |case: &Case| case.reason.as_ref().map(Reason::detail);
        assert_ne!(detail(found[0]), detail(found[1]), "`{}` has only one set of values", described.code);
        assert_ne!(found[0].why.decided().text, found[1].why.decided().text);
    }
}

#[test]
fn the_deciding_values_and_the_code_are_in_the_answer() {
    for case in all_reasons() {
        let Some(reason) = &case.reason else { panic!("{} has no reason:\n{}", case.title, case.why) };
        let decided = case.why.decided();
        for value in reason.detail().split(' ') {
            assert!(decided.text.contains(value), "{}: no `{value}` in {}", case.title, decided.text);
        }
        assert!(case.why.verdict.contains(&format!("(`{}`)", reason.code())), "{}", case.why);
    }
}

#[test]
fn every_answer_has_every_link_once_and_one_that_decided() {
    for case in all_reasons().into_iter().chain(cases::cases()) {
        let steps: Vec<Step> = case.why.links.iter().map(|link| link.step).collect();
        assert_eq!(steps, Step::ALL, "{}", case.title);
        let decided = case.why.links.iter().filter(|link| link.effect == LinkEffect::Decided).count();
        assert_eq!(decided, 1, "{}", case.why);
        assert!(case.why.links.iter().all(|link| !link.text.is_empty()), "{}", case.why);
        assert!(!case.why.verdict.contains('\n'), "{}", case.why);
    }
}

/// Everything at once: outages, edits, pauses, windows, bounds, a schedule that floats and one that follows.
fn eventful() -> Scenario {
    let mut poll = paris("poll", "*/7 * * * *", |policy| policy.catch_up = CatchUp::RunOnce);
    timing(&mut poll).windows.only_between = Some("11:00-13:30".parse().expect("a part of the day"));
    let beat = utc("beat", "* * * * *", |policy| policy.retry_after = Some(minutes(2)));
    let mut trial = utc("trial", "*/10 * * * *", |_| {});
    timing(&mut trial).bounds.max_runs = Some(5);
    let mut float = Timing::new("20m".parse::<Interval>().expect("an interval"), Zone::utc());
    (float.created_at, float.anchor) = (at("09:30:00"), Anchor::LastStart);
    let mut mail = utc("mail", "0 0 * * *", |_| {});
    mail.when = When::Chain(Chain::new(trial.id, ChainOn::Finish));
    let edited = utc("poll", "*/11 * * * *", |policy| policy.catch_up = CatchUp::RunAll);
    let all = [poll, beat, trial, schedule("float", float, |_| {}), mail];
    let mut scenario = world("09:30:00", "14:00:00", all);
    scenario.behaviour =
        Behaviour { run_time: minutes(3), failing: Failing::Every(4), ..Behaviour::default() };
    let scenario = down(down(scenario, "10:05:10", "10:40:00"), "12:00:30", "12:04:00");
    let pause = Status::PausedManual { by: "ada".to_owned(), note: String::new() };
    let scenario = leave(act(scenario, "10:50:00", Act::Replace(Box::new(edited))), "11:10:00", pause);
    act(act(scenario, "12:20:00", Act::Resume), "13:15:00", Act::Delete)
}

#[test]
fn every_instant_of_an_eventful_day_has_an_answer_and_the_ledger_no_hole() {
    let simulated = simulate(&eventful());
    for account in &simulated.accounts {
        for second in (at("09:20:00").as_second()..=at("14:30:00").as_second()).step_by(20) {
            let when = Timestamp::from_second(second).expect("an instant");
            let inquiry = Inquiry::of_simulated(&simulated, account, when);
            let answer = why(&inquiry);
            let decided = answer.links.iter().filter(|link| link.effect == LinkEffect::Decided).count();
            assert_eq!((decided, answer.links.len()), (1, Step::ALL.len()), "{answer}");
            assert!(!answer.decided().text.contains("should have one"), "{answer}");
            let is_entry = inquiry.runs.iter().any(|run| run.origin == Origin::Tick);
            assert!(!(is_entry && answer.decided().step == Step::Spec), "{answer}");
        }
    }
}
