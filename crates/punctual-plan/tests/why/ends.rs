//! Runs that were launched and did not end well.

use jiff::SignedDuration;
use punctual_plan::{Act, Behaviour, Delivery, Failing, How, Overlap, Policy, Reason, RunState, Scenario};

use crate::stage::{Case, act, ask, ask_by_hand, at, down, minutes, paris, utc, world};

fn failed(reason: Reason) -> RunState {
    RunState::Failed { reason, at: at("10:00:00") }
}

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = ended_by_others();
    cases.extend(answered());
    cases.extend(answered_over_the_web());
    cases.extend(unanswered());
    cases
}

fn ended_by_others() -> Vec<Case> {
    let busy = |change: fn(&mut Policy)| {
        let mut scenario = world("09:55:00", "10:45:00", [paris("sync", "*/20 * * * *", change)]);
        scenario.behaviour.run_time = minutes(30);
        scenario
    };
    let cancelling = busy(|policy| policy.overlap = Overlap::Cancel);
    let by_ada = act(busy(|_| {}), "10:07:00", Act::Cancel { by: "ada".to_owned() });
    let once = |to: &str| down(busy(|policy| policy.delivery = Delivery::AtMostOnce), "10:05:00", to);
    vec![
        ask("cancelled by a later tick", &cancelling, "sync", "10:00:00"),
        ask("cancelled by a person", &by_ada, "sync", "10:00:00"),
        ask("the node died while it ran", &once("10:07:00"), "sync", "10:00:00"),
        ask("the node died for longer", &once("10:15:00"), "sync", "10:00:00"),
    ]
}

fn answered() -> Vec<Case> {
    let mut exits = world("09:55:00", "10:30:00", [utc("backup", "0 10 * * *", |_| {})]);
    exits.behaviour.failing = Failing::Always;
    let error = |text: &str| failed(Reason::Reported { error: text.to_owned() });
    let missing = |workflow: &str, version: u32| {
        failed(Reason::WorkflowNotFound { version, workflow: workflow.to_owned() })
    };
    vec![
        ask("exit code one", &exits, "backup", "10:00:00"),
        ask_by_hand("exit code three", "backup", failed(Reason::ExitCode { code: 3 })),
        ask_by_hand("killed", "backup", failed(Reason::Signal { signal: 9 })),
        ask_by_hand("asked to stop", "backup", failed(Reason::Signal { signal: 15 })),
        ask_by_hand("reported: no space", "build", error("no space left")),
        ask_by_hand("reported: tests", "build", error("2 tests failed")),
        ask_by_hand("no such workflow", "report", missing("monthly-report", 7)),
        ask_by_hand("no such version", "report", missing("invoices", 2)),
    ]
}

fn answered_over_the_web() -> Vec<Case> {
    let url = |host: &str| format!("https://{host}/hook");
    let status = |code: u32, host: &str| failed(Reason::HttpStatus { code, url: url(host) });
    let gone = |host: &str| failed(Reason::Gone { url: url(host) });
    let silent = |error: &str| failed(Reason::Unanswered { error: error.to_owned() });
    let refused = |address: [u8; 4], host: &str| {
        failed(Reason::AddressRefused { address: address.into(), url: url(host) })
    };
    vec![
        ask_by_hand("not found", "hook", status(404, "shop.example")),
        ask_by_hand("an error for ever", "hook", status(500, "bank.example")),
        ask_by_hand("wants nothing more", "hook", gone("shop.example")),
        ask_by_hand("wants nothing more either", "hook", gone("bank.example")),
        ask_by_hand("closed in the middle", "hook", silent("the connection was closed")),
        ask_by_hand("hung", "hook", silent("nothing came within 30 s")),
        ask_by_hand("leads to this host", "hook", refused([127, 0, 0, 1], "shop.example")),
        ask_by_hand("leads to the metadata", "hook", refused([169, 254, 169, 254], "bank.example")),
    ]
}

fn unanswered() -> Vec<Case> {
    let behaving = |how: How, change: fn(&mut Policy)| -> Scenario {
        let mut scenario = world("09:55:00", "10:59:00", [utc("hook", "0 10 * * *", change)]);
        let run_time = if how == How::Launch { SignedDuration::ZERO } else { minutes(50) };
        scenario.behaviour = Behaviour { run_time, failing: Failing::Always, how };
        scenario
    };
    let slow = |change: fn(&mut Policy)| {
        let mut scenario = behaving(How::Exit, change);
        scenario.behaviour.failing = Failing::Never;
        scenario
    };
    let refused = Reason::LaunchFailed { error: "connection refused".to_owned() };
    vec![
        ask(
            "ten minutes were too short",
            &slow(|policy| policy.run_timeout = minutes(10)),
            "hook",
            "10:00:00",
        ),
        ask(
            "twenty minutes were too short",
            &slow(|policy| policy.run_timeout = minutes(20)),
            "hook",
            "10:00:00",
        ),
        ask(
            "lost for ten minutes",
            &behaving(How::Lost, |policy| policy.run_timeout = minutes(10)),
            "hook",
            "10:00:00",
        ),
        ask(
            "lost for twenty minutes",
            &behaving(How::Lost, |policy| policy.run_timeout = minutes(20)),
            "hook",
            "10:00:00",
        ),
        ask("launched three times in vain", &behaving(How::Launch, |_| {}), "hook", "10:00:00"),
        ask_by_hand("connection refused", "hook", failed(refused)),
    ]
}
