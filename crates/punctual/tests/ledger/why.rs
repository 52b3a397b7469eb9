//! A simulated story and a real ledger have the same answer to why.

use jiff::{SignedDuration, Timestamp};
use punctual_plan::{Event, Inquiry, Step, why};
use punctual_store::conformance::stage::at;
use punctual_store::{Cut, RunFilter, Scope, Store};
use serde_json::Value;

use crate::asked::lived;
use crate::ground::{Ground, Kind, block_on};
use crate::story::{Story, maintenance, outage, overlapping, pause};

/// The links of an answer but that of the node, which only a real ledger knows.
fn links(answer: &Value) -> Vec<(String, String, String)> {
    let text = |link: &Value, key: &str| link[key].as_str().expect("text").to_owned();
    let links = answer["links"].as_array().expect("a list").iter();
    links
        .map(|link| (text(link, "step"), text(link, "effect"), text(link, "text")))
        .filter(|(step, ..)| step != Step::Node.name())
        .collect()
}

fn check(ground: &Ground, story: &Story, instant: Timestamp) {
    let simulated = story.simulated();
    let expected = why(&Inquiry::of_simulated(&simulated, &simulated.accounts[0], instant));
    let answer = ground.json(&["why", &story.schedule.name, "--at", &instant.to_string()]);
    assert_eq!(answer["verdict"], expected.verdict, "{instant}");
    let own = expected.links.iter().filter(|link| link.step != Step::Node);
    let own: Vec<_> = own
        .map(|link| (link.step.name().to_owned(), link.effect.name().to_owned(), link.text.clone()))
        .collect();
    assert_eq!(links(&answer), own, "{instant}");
}

async fn every_story_agrees(kind: Kind) {
    let stories: [(Story, &[&str]); 4] = [
        (overlapping(), &["10:10:00", "10:20:00", "10:15:00", "10:30:00", "09:50:00"]),
        (outage(), &["10:10:00", "10:50:00", "11:00:00"]),
        (pause(), &["10:10:00", "10:20:00", "10:40:00", "10:50:00"]),
        (maintenance(), &["10:10:00", "10:20:00", "10:40:00", "10:50:00"]),
    ];
    for (story, instants) in stories {
        let ground = lived(kind, &story).await;
        for time in instants {
            check(&ground, &story, at(time));
        }
    }
}

#[test]
fn a_simulated_story_and_a_real_ledger_agree() {
    block_on(every_story_agrees(Kind::Sqlite));
}

#[test]
fn a_simulated_story_and_a_real_ledger_agree_on_postgres() {
    block_on(every_story_agrees(Kind::Postgres));
}

#[test]
fn a_tick_of_a_maintenance_says_so_with_its_note() {
    block_on(async {
        let ground = lived(Kind::Sqlite, &maintenance()).await;
        let why = ground.json(&["why", "mail", "--at", "2026-01-01T10:20:00Z"]);
        let verdict = why["verdict"].as_str().expect("text");
        assert!(verdict.starts_with("it was missed (`maintenance`): maintenance since"), "{verdict}");
        assert!(verdict.ends_with("new disks"), "{verdict}");
        let log = ground.json(&["audit", "log", "--schedule", "mail"]).to_string();
        assert!(log.contains("new disks") && !log.contains("paused by"), "{log}");
    });
}

async fn clocks_are_told(kind: Kind) {
    let ground = lived(kind, &overlapping()).await;
    let stage = ground.stage().await;
    let listed =
        stage.store.runs(Scope::Engine, RunFilter::default(), Cut::first(100)).await.expect("answers");
    let first = listed.rows.iter().find(|row| row.run.scheduled_for == at("10:10:00")).expect("it ran");
    let node = first.node.clone().expect("a node admitted it");
    let by = SignedDuration::from_secs(-90);
    for node in [node, "another".to_owned()] {
        stage.store.note(at("10:09:59"), Event::ClockStepped { node, by }).await.expect("answers");
    }
    let why = ground.json(&["why", "backup", "--at", "2026-01-01T10:10:00Z"]);
    let clock = links(&why).into_iter().find(|(step, ..)| step == "clock").expect("a link").2;
    assert!(clock.contains("was set back by 90.000 s, noticed at"), "{clock}");
    assert!(!clock.contains("`another`"), "only its own node's: {clock}");
    let later = ground.json(&["why", "backup", "--at", "2026-01-01T10:40:00Z"]);
    assert!(!later.to_string().contains("was set back"), "{later}");
    let log = ground.json(&["audit", "log", "--kind", "clock"]).to_string();
    assert_eq!(log.matches("clock.stepped").count(), 2, "{log}");
    let own = ground.json(&["audit", "log", "--schedule", "backup"]).to_string();
    assert!(!own.contains("clock.stepped"), "{own}");
}

#[test]
fn a_clock_that_was_set_about_a_tick_is_told_by_why_and_the_log() {
    block_on(clocks_are_told(Kind::Sqlite));
}

#[test]
fn a_clock_that_was_set_about_a_tick_is_told_by_why_and_the_log_on_postgres() {
    block_on(clocks_are_told(Kind::Postgres));
}

#[test]
fn a_schedule_is_found_by_id_an_instant_is_local_and_a_run_can_be_asked_for() {
    block_on(async {
        let story = overlapping();
        let ground = lived(Kind::Sqlite, &story).await;
        let by_name = ground.json(&["why", "backup", "--at", "2026-01-01T11:20"]);
        let id = story.schedule.id.to_string();
        assert_eq!(by_name, ground.json(&["why", &id[..8], "--at", "2026-01-01T10:20:00Z"]));
        assert_eq!(by_name["decided_by"], "overlap");
        assert_eq!(by_name, ground.json(&["why", "--run", "run-2"]));
        insta::assert_snapshot!(ground.table(&["why", "backup", "--at", "2026-01-01T11:20"]));
    });
}

#[test]
fn a_question_that_cannot_be_meant_is_refused() {
    block_on(async {
        let ground = lived(Kind::Sqlite, &overlapping()).await;
        let cases: [(&[&str], i32, &str); 6] = [
            (&["why", "bakup", "--at", "2026-01-01T11:20"], 3, "did you mean `backup`?"),
            (&["why", "backup", "--at", "noon"], 4, "write `2026-12-24T18:00:00+01:00`"),
            (&["why", "--run", "run-77"], 3, "there is no run-77"),
            (&["why", "--run", "seven"], 4, "write it as `run-12`"),
            (&["why", "backup"], 2, "--at <TIME>"),
            (&["why", "backup", "--at", "2026-01-01T11:20", "--fail", "always"], 2, "without `--file`"),
        ];
        for (line, code, said) in cases {
            let output = ground.run(line);
            let error = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(code), "{line:?}: {error}");
            assert!(error.contains(said), "{line:?}: {error}");
        }
    });
}
