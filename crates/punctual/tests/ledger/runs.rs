//! The ledger is shown as it was asked for.

use jiff::{SignedDuration, Timestamp};
use punctual_plan::Outcome;
use punctual_store::conformance::stage::{Shape, cron};
use serde_json::Value;

use crate::asked::lived;
use crate::ground::{Ground, Kind, block_on};
use crate::story::{outage, overlapping, pause};

fn ids(ground: &Ground, line: &[&str]) -> Vec<String> {
    let found = ground.json(line);
    let runs = found["runs"].as_array().expect("a list").iter();
    runs.map(|run| run["id"].as_str().expect("an id").to_owned()).collect()
}

async fn filters(kind: Kind) {
    let ground = lived(kind, &overlapping()).await;
    let check = |line: &[&str], expected: &[&str]| assert_eq!(ids(&ground, line), expected, "{line:?}");
    check(&["runs", "backup", "--status", "skipped"], &["run-4", "run-2"]);
    check(
        &["schedule", "runs", "--name", "backup", "--since", "2026-01-01T11:30", "--limit", "1"],
        &["run-4"],
    );
    check(&["runs", "backup", "--until", "2026-01-01T10:10:00Z"], &["run-1"]);
    check(&["runs", "backup", "--origin", "manual"], &[]);
    check(&["runs", "backup", "--since", "a month ago"], &[]);
    check(&["schedule", "runs", "--all", "--status", "success", "--until", "2026-01-01T10:15Z"], &["run-1"]);
    let ground = lived(kind, &pause()).await;
    let paused = ground.json(&["runs", "mail", "--status", "missed"]);
    let count = paused["runs"].as_array().map_or(0, Vec::len) as u64
        + paused["ranges"]
            .as_array()
            .expect("a list")
            .iter()
            .filter_map(|one| one["count"].as_u64())
            .sum::<u64>();
    assert_eq!(count, 3, "{paused}");
}

#[test]
fn runs_are_chosen_by_schedule_state_origin_and_time() {
    block_on(filters(Kind::Sqlite));
}

#[test]
fn runs_are_chosen_by_schedule_state_origin_and_time_on_postgres() {
    block_on(filters(Kind::Postgres));
}

async fn hastened(kind: Kind) {
    let ground = Ground::new(kind).await;
    let stage = ground.stage().await;
    let now = Timestamp::now();
    let schedule = cron("mail", "0 0 1 1 *").policy(|policy| {
        policy.retry_after = Some(SignedDuration::from_hours(1));
    });
    let key = stage.create(schedule, now).await;
    let run = stage.trigger(key, "k", now).await;
    stage.admit(now).await;
    stage.settle(run, Outcome::Exited { code: 1 }, now).await;
    let is_due = async || stage.due(Timestamp::now()).await.rows.iter().any(|row| row.due.run == run);
    assert!(!is_due().await, "its next attempt comes in an hour");
    let retried = ground.json(&["retry", &run.to_string()]);
    assert_eq!((&retried["new"], &retried["run_id"]), (&Value::from(false), &run.to_string().into()));
    assert!(is_due().await, "it comes now");
    assert_eq!(stage.events("run.hastened").await.len(), 1);
}

#[test]
fn a_retry_that_is_planned_comes_now() {
    block_on(hastened(Kind::Sqlite));
}

#[test]
fn a_retry_that_is_planned_comes_now_on_postgres() {
    block_on(hastened(Kind::Postgres));
}

async fn doubtful(kind: Kind) {
    let ground = lived(kind, &overlapping()).await;
    ground.alter("ALTER DATABASE {database} SET synchronous_commit = off").await;
    let output = ground.run(&["system", "doctor"]);
    let found: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let checks = found["checks"].as_array().expect("a list");
    let check = |name: &str| checks.iter().find(|check| check["name"] == name).expect("a check").clone();
    assert_eq!((check("durability")["state"].as_str(), output.status.code()), (Some("fail"), Some(7)));
    assert_eq!(check("clock_offset")["state"], "ok");
}

#[test]
fn a_server_that_may_lose_commits_is_found_on_postgres() {
    block_on(doubtful(Kind::Postgres));
}

#[test]
fn a_listing_and_a_run_read_as_they_did() {
    block_on(async {
        let ground = lived(Kind::Sqlite, &overlapping()).await;
        let late = lived(Kind::Sqlite, &outage()).await;
        let text = [
            ground.table(&["runs", "backup"]),
            late.table(&["runs", "report", "--limit", "3"]),
            ground.table(&["schedule", "runs", "--all", "--limit", "4"]),
            ground.table(&["schedule", "run-details", "--run-id", "run-1"]),
            ground.table(&["logs", "run-1"]),
        ];
        insta::assert_snapshot!(text.join("\n"));
    });
}

#[test]
fn a_run_has_every_field_in_json() {
    block_on(async {
        let ground = lived(Kind::Sqlite, &overlapping()).await;
        let found = ground.json(&["schedule", "run-details", "--run-id", "run-1"]);
        let run: &Value = &found["run"];
        for key in [
            "id",
            "schedule_id",
            "origin",
            "scheduled_for",
            "fire_at",
            "status",
            "reason",
            "idempotency_key",
            "request_id",
            "run_id",
            "attempt",
            "started_at",
            "completed_at",
            "duration",
            "error",
            "output",
            "node",
            "definition_version",
            "tz_version",
            "attempts",
        ] {
            assert!(run.get(key).is_some(), "{key}: {run}");
        }
        assert_eq!((&run["duration"], &run["output"]), (&Value::from(900.0), &Value::from("done\n")));
        assert_eq!(run["attempts"][0]["number"], 1);
    });
}
