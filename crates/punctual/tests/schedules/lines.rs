//! The lines of the second seed, as they stand but for the program's name.

use serde_json::Value;

use crate::place::Place;

/// The commands of the section on schedule management, its five use cases and the orchestrator's.
const CREATIONS: &str = r##"
punctual schedule create \
  --name "daily-code-review" \
  --cron "0 9 * * 1-5" \
  --timezone "America/New_York" \
  --worker-type code-review \
  --prompt "Review all open PRs and provide feedback" \
  --repo-url "git@github.com:acme/api.git" \
  --context '{"review_type": "daily"}'
punctual schedule create \
  --name "weekly-report" \
  --schedule "every monday at 9am" \
  --worker-type general \
  --prompt "Generate weekly project status report"
punctual schedule create \
  --name "daily-pr-review" \
  --cron "0 9 * * 1-5" \
  --timezone "America/New_York" \
  --worker-type code-review \
  --prompt "Review all open PRs. Focus on:
    - Security vulnerabilities
    - Performance issues
    - Code style violations
    Post comments on each PR with findings." \
  --repo-url "git@github.com:acme/api.git"
punctual schedule create \
  --name "weekly-status" \
  --schedule "every monday at 9am" \
  --worker-type general \
  --prompt "Generate a weekly status report including:
    - Commits from the past week
    - PRs merged
    - Open issues
    - Blockers identified
    Post to #engineering Slack channel." \
  --context '{"slack_channel": "C123456"}'
punctual schedule create \
  --name "nightly-sync" \
  --cron "0 2 * * *" \
  --worker-type data \
  --prompt "Run the nightly data synchronization:
    1. Export from production database
    2. Transform data
    3. Load into analytics warehouse
    4. Verify row counts match" \
  --context '{"source_db": "prod", "target_db": "analytics"}'
punctual schedule create \
  --name "health-check" \
  --cron "0 * * * *" \
  --worker-type general \
  --prompt "Check system health:
    - API response times
    - Database connections
    - Queue depths
    - Error rates
    Alert if anything is abnormal." \
  --context '{"alert_channel": "C789012"}'
punctual schedule create \
  --name "security-audit" \
  --cron "0 0 1 * *" \
  --worker-type code-review \
  --prompt "Perform monthly security audit:
    - Scan for dependency vulnerabilities
    - Check for exposed secrets
    - Review access permissions
    - Audit API endpoints
    Generate report and post to security team." \
  --repo-url "git@github.com:acme/api.git" \
  --context '{"audit_type": "monthly", "report_to": "security@acme.com"}'
"##;

const ORCHESTRATOR: &str = r##"
punctual schedule create \
  --name "project-${PROJECT_ID}-daily-check" \
  --cron "0 9 * * 1-5" \
  --worker-type general \
  --prompt "Check progress on project ${PROJECT_NAME}:
    - Review completed tasks
    - Identify blockers
    - Update project plan if needed" \
  --context '{"project_id": "${PROJECT_ID}"}' > /dev/null
punctual schedule list | jq '.schedules[] | select(.name | startswith("project-'"${PROJECT_ID}"'"))' | jq -r .name
punctual schedule delete --name "project-${PROJECT_ID}-daily-check" > /dev/null
"##;

fn lines(place: &Place) {
    place.said(CREATIONS);
    let listed = place.json("schedule list");
    let names: Vec<&str> = listed["schedules"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|one| one["name"].as_str())
        .collect();
    assert_eq!(
        names,
        [
            "daily-code-review",
            "daily-pr-review",
            "health-check",
            "nightly-sync",
            "security-audit",
            "weekly-report",
            "weekly-status"
        ]
    );
    assert!(place.text("schedule list").starts_with("ID        NAME"), "S2's columns");
    let one = &listed["schedules"][0];
    assert_eq!(
        (&one["org_id"], &one["user_id"], &one["branch"]),
        (&"acme".into(), &"ada".into(), &"main".into())
    );
    assert_eq!((&one["queue"], &one["context"]["review_type"]), (&"code-review".into(), &"daily".into()));
    let id = &one["id"].as_str().expect("an id")[..8];
    let got = place.json(&format!("schedule get --id {id}"));
    assert_eq!(got["schedule"]["name"], "daily-code-review");
    assert_eq!(
        place.json("schedule get --name \"health-check\"")["schedule"]["cron_expression"],
        "0 * * * *"
    );
    let changed = place
        .json(&format!("schedule update --id {id} --cron \"0 10 * * 1-5\" --prompt \"Updated prompt here\""));
    assert_eq!(changed["schedule"]["prompt"], "Updated prompt here");
    assert_eq!(
        (&changed["schedule"]["version"], &changed["schedule"]["spec"]),
        (&2.into(), &"0 10 * * 1-5".into())
    );
    assert_eq!(place.json(&format!("schedule disable --id {id}"))["schedule"]["enabled"], false);
    assert_eq!(place.json(&format!("schedule enable --id {id}"))["schedule"]["enabled"], true);
    run(place, id);
    orchestrate(place);
}

/// What runs, and what is read of it.
fn run(place: &Place, id: &str) {
    let triggered = place.json(&format!("schedule trigger --id {id}"));
    assert_eq!(triggered["triggered"], true);
    let request = triggered["request_id"].as_str().expect("a request");
    let runs = place.json(&format!("schedule runs --id {id} --limit 10"));
    assert_eq!(runs["runs"][0]["request_id"], request);
    let run = runs["runs"][0]["id"].as_str().expect("a run");
    place.said(&format!("punctual schedule run-details --run-id {run}"));
    place.said("punctual schedule runs --all --since \"7 days ago\"");
    assert_eq!(place.json(&format!("schedule delete --id {id}"))["deleted"], true);
    assert_eq!(place.text("schedule parse \"every weekday at 9am EST\""), "0 9 * * 1-5 (America/New_York)\n");
    let valid = place.text("schedule validate-cron \"0 9 * * 1-5\"");
    assert!(valid.starts_with("Valid. Next 5 runs:\n  20"), "{valid}");
    assert_eq!(valid.lines().filter(|line| line.contains(" 09:00 UTC (")).count(), 5, "{valid}");
}

/// The orchestrator's section, and a request without a schedule.
fn orchestrate(place: &Place) {
    let project = format!("export PROJECT_ID=42 PROJECT_NAME=shop\n{ORCHESTRATOR}");
    assert_eq!(place.said(&project), "project-42-daily-check\n");
    let made = place.json("request create --worker-type=code-review --prompt=\"Review all open PRs\"");
    let request = made["request_id"].as_str().expect("a request");
    let all = place.json("schedule runs --all");
    let found = all["runs"].as_array().expect("runs").iter().find(|run| run["request_id"] == request);
    assert!(found.is_some(), "{all}");
    let listed: Value = place.json("schedule list");
    assert_eq!(listed["schedules"].as_array().map(Vec::len), Some(6), "a request is no schedule");
}

#[test]
fn the_lines_of_the_seed_run_as_written() {
    lines(&Place::sqlite());
}

#[test]
fn the_lines_of_the_seed_run_as_written_on_postgres() {
    lines(&Place::postgres());
}
