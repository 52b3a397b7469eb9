//! The ledger is shown as it was asked for.

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
