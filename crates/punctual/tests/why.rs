//! Goal: the program explains any instant of a declared schedule, and says what is wrong with the question.
//! Method: the real binary on an example file, in worlds that the options describe.

use std::process::{Command, Output};

use serde_json::Value;

const SHOP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/examples/shop.yaml");

fn ask(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_punctual"));
    command.args(["why", "--file", SHOP]).args(arguments).env_remove("DATABASE_URL");
    command.output().expect("the program runs")
}

fn answer(arguments: &[&str]) -> Value {
    let output = ask(arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn check(arguments: &[&str], decided_by: &str, verdict: &str) {
    let answer = answer(arguments);
    assert_eq!(
        (answer["decided_by"].as_str(), answer["verdict"].as_str()),
        (Some(decided_by), Some(verdict))
    );
    let steps = answer["links"].as_array().map_or(0, Vec::len);
    assert_eq!(steps, punctual_plan::Step::ALL.len(), "the chain is whole");
}

#[test]
fn an_instant_is_explained_by_the_link_that_decided() {
    check(
        &["backup", "--at", "2026-11-20T02:30"],
        "outcome",
        "it ran on time and ended well at 2026-11-20T02:30:00+01:00 (2026-11-20T01:30:00Z)",
    );
    check(
        &["backup", "--at", "2026-11-20T02:31"],
        "spec",
        "it is not a tick of `30 2 * * *`: minute 31 is not in `30`",
    );
    check(
        &["reminder", "--at", "2026-12-25T10:00"],
        "windows",
        "it was skipped (`calendar`): its date is in the calendar `holidays`",
    );
}

#[test]
fn the_world_that_the_options_describe_counts() {
    let outage = ["reminder", "--at", "2026-11-20T10:00", "--outage", "2026-11-20T08:50..2026-11-20T11:10"];
    let answer = answer(&outage);
    assert_eq!(answer["decided_by"], "catch_up", "{answer}");
    let failed = ["backup", "--at", "2026-11-20T02:30", "--fail", "always", "--set", "retry_after=2h"];
    let text = answer_text(&failed);
    assert!(text.contains("the program ended with exit code 1"), "{text}");
}

fn answer_text(arguments: &[&str]) -> String {
    answer(arguments).to_string()
}

#[test]
fn a_local_time_that_the_clock_skips_is_explained_as_it_was_written() {
    let text = answer_text(&["backup", "--at", "2027-03-28T02:30"]);
    assert!(text.contains("2027-03-28T02:30:00 does not exist there"), "{text}");
}

#[test]
fn a_question_that_cannot_be_meant_is_refused_with_a_hint() {
    let cases: [(&[&str], i32, &str); 3] = [
        (&["bakup", "--at", "2026-11-20T02:30"], 3, "did you mean `backup`?"),
        (&["backup", "--at", "tomorrow"], 4, "write `2026-12-24T18:00:00+01:00`"),
        (
            &["backup", "--at", "2026-11-20T02:30", "--outage", "noon"],
            4,
            "write `2026-11-15T02:00..2026-11-15T14:00`",
        ),
    ];
    for (arguments, code, hint) in cases {
        let output = ask(arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(said.contains(hint), "{said}");
    }
}
