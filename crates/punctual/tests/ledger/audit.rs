//! What was planned is recorded, and a hole is found.

use serde_json::{Value, json};

use crate::asked::lived;
use crate::ground::{Ground, Kind, block_on};
use crate::story::{Story, outage, overlapping, pause};

const STRETCH: [&str; 4] = ["--from", "2026-01-01T00:00Z", "--to", "2026-01-01T12:00Z"];

fn line<'a>(words: &[&'a str]) -> Vec<&'a str> {
    [words, &STRETCH].concat()
}

async fn proved(kind: Kind, story: &Story, expected: &Value) -> Ground {
    let ground = lived(kind, story).await;
    let found = ground.json(&line(&["audit", "--all"]));
    let one = &found["audits"][0];
    assert_eq!(
        (&found["whole"], &one["proved"], &one["counts"]),
        (&json!(true), &json!(true), expected),
        "{found}"
    );
    assert_eq!(one["planned"], one["recorded"], "{found}");
    ground
}

async fn holes(kind: Kind) {
    proved(kind, &outage(), &json!({"missed": 5, "success": 1})).await;
    proved(kind, &pause(), &json!({"missed": 3, "success": 2})).await;
    let ground = proved(kind, &overlapping(), &json!({"skipped": 2, "success": 2})).await;
    ground.alter("DELETE FROM runs WHERE key = 2").await;
    let output = ground.run(&line(&["audit", "backup"]));
    assert_eq!(output.status.code(), Some(7), "{}", String::from_utf8_lossy(&output.stderr));
    let found: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let tick = "2026-01-01T10:20:00Z";
    let hole = json!({"hole": "missing", "first": tick, "last": tick, "count": 1});
    assert_eq!(found["audits"][0]["holes"], json!([hole]));
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("error: 1 hole is in the ledger\nhint: "));
    ground.alter("UPDATE runs SET scheduled_for = scheduled_for + 60 WHERE key = 3").await;
    let found = ground.run(&line(&["audit", "backup"]));
    let found: Value = serde_json::from_slice(&found.stdout).expect("JSON");
    let holes: Vec<&Value> =
        found["audits"][0]["holes"].as_array().expect("a list").iter().map(|one| &one["hole"]).collect();
    assert_eq!(holes, ["missing", "foreign"], "{found}");
}

#[test]
fn a_whole_ledger_is_proved_and_a_hole_is_listed() {
    block_on(holes(Kind::Sqlite));
}

#[test]
fn a_whole_ledger_is_proved_and_a_hole_is_listed_on_postgres() {
    block_on(holes(Kind::Postgres));
}

#[test]
fn what_is_paused_or_not_planned_yet_is_open_and_no_hole() {
    block_on(async {
        let ground = lived(Kind::Sqlite, &overlapping()).await;
        let found = ground.json(&["audit", "backup"]);
        assert_eq!(found["audits"][0]["open"]["why"], "no node has planned it further yet", "{found}");
        let stage = ground.stage().await;
        let write = stage.pause("backup", punctual_store::conformance::stage::at("10:47:00")).await;
        stage.write(write).await;
        let found = ground.json(&["audit", "backup"]);
        let why = found["audits"][0]["open"]["why"].as_str().expect("a reason");
        assert!(why.starts_with("it is `paused_manual`"), "{why}");
        assert_eq!(found["audits"][0]["planned"], 4);
    });
}

#[test]
fn versions_are_audited_over_the_time_in_which_they_were_valid() {
    block_on(async {
        let story = overlapping();
        let ground = lived(Kind::Sqlite, &story).await;
        let stage = ground.stage().await;
        let at = punctual_store::conformance::stage::at;
        let hourly = punctual_store::conformance::stage::cron("backup", "0 * * * *");
        let write = stage.edit("backup", hourly, at("10:47:00")).await;
        stage.write(write).await;
        stage.plan(at("10:59:30")).await;
        stage.run_due(at("11:00:00")).await;
        stage.plan(at("11:30:00")).await;
        let found = ground.json(&line(&["audit", "backup"]));
        assert_eq!((&found["whole"], &found["audits"][0]["planned"]), (&json!(true), &json!(5)), "{found}");
    });
}

#[test]
fn an_exhausted_schedule_owes_no_further_ticks() {
    block_on(async {
        let mut story = pause();
        if let punctual_plan::When::Ticks(timing) = &mut story.schedule.when {
            timing.bounds.max_runs = Some(1);
        }
        let ground = Ground::new(Kind::Sqlite).await;
        let stage = ground.stage().await;
        let at = punctual_store::conformance::stage::at;
        stage.create(story.schedule.clone(), at("10:00:00")).await;
        stage.plan(at("10:09:30")).await;
        stage.run_due(at("10:10:00")).await;
        stage.plan(at("10:30:00")).await;
        let found = ground.json(&line(&["audit", "mail"]));
        let one = &found["audits"][0];
        assert_eq!(
            (&one["planned"], &one["open"], &found["whole"]),
            (&json!(1), &Value::Null, &json!(true)),
            "{found}"
        );
        // The log says when a version that was replaced had all its runs.
        let more = stage.row("mail").await.definition.as_ref().clone();
        let edit = stage.edit("mail", more, at("10:47:00")).await;
        stage.write(edit).await;
        let found = ground.json(&line(&["audit", "mail"]));
        assert_eq!((&found["audits"][0]["planned"], &found["whole"]), (&json!(1), &json!(true)), "{found}");
    });
}

#[test]
fn the_log_is_read_by_schedule_kind_and_time_and_a_changed_event_is_found() {
    block_on(async {
        let ground = lived(Kind::Sqlite, &overlapping()).await;
        let kinds = |line: &[&str]| -> Vec<String> {
            let found = ground.json(line);
            let events = found["events"].as_array().expect("a list").iter();
            events.map(|event| event["kind"].as_str().expect("text").to_owned()).collect()
        };
        let skipped = ["schedule.skipped", "schedule.skipped"];
        assert_eq!(kinds(&["audit", "log", "--schedule", "backup", "--kind", "schedule.sk"]), skipped);
        assert_eq!(
            kinds(&["audit", "log", "--kind", "schedule.skipped", "--since", "2026-01-01T10:30Z"]).len(),
            1
        );
        assert_eq!(kinds(&["audit", "log", "--run", "run-2"]), ["schedule.skipped"]);
        let before = ground.json(&["audit", "verify"]);
        assert_eq!((&before["checked"], &before["broken"]), (&json!(0), &Value::Null));
        assert!(before["unsealed"].as_u64() > Some(2), "{before}");
        let stage = ground.stage().await;
        punctual_store::Store::seal_audit(&*stage.store, 1_000).await.expect("it seals");
        assert_eq!(ground.json(&["audit", "verify"])["unsealed"], 0);
        ground
            .alter(
                "DROP TRIGGER audit_events_never_change; UPDATE audit_events SET detail = 'x' WHERE seq = 2",
            )
            .await;
        let output = ground.run(&["audit", "verify"]);
        assert_eq!(output.status.code(), Some(7));
        let found: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!((&found["verified"], &found["broken"]["seq"]), (&json!(false), &json!(2)));
    });
}

#[test]
fn an_audit_reads_as_it_did() {
    block_on(async {
        let ground = lived(Kind::Sqlite, &overlapping()).await;
        let whole = ground.table(&line(&["audit", "--all"]));
        ground.alter("DELETE FROM runs WHERE key IN (1, 2)").await;
        let broken = ground.table(&line(&["audit", "backup"]));
        insta::assert_snapshot!(format!("{whole}\n{broken}"));
    });
}
