//! The scheduler of workflows: registrar, run launcher, executor; once per tick, across versions, pauses and restarts.

use std::collections::HashMap;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use jiff::Timestamp;
use punctual::{App, Database, Identity, PauseSchedule, StartRun, UpsertSchedule};
use serde_json::{Value, json};

use crate::driver::{Person, Serving};
use crate::live::{until, until_status};

/// A workflow system: its registrar's calls, and an executor that notes what it is handed.
struct Flows {
    person: Person,
    runtime: tokio::runtime::Runtime,
}

impl Flows {
    fn new() -> Self {
        let flows =
            Self { person: Person::new(), runtime: tokio::runtime::Runtime::new().expect("a runtime") };
        flows.put(1);
        flows
    }

    fn put(&self, version: u32) {
        let file = self.person.home().join(format!("{version}.json"));
        let dag = json!({"id": "report", "version": version, "nodes": [{"id": "load"}, {"id": "send"}]});
        std::fs::write(&file, dag.to_string()).expect("a file");
        self.person.json(&["workflow", "put", file.to_str().expect("text")]);
    }

    fn notes(&self) -> PathBuf {
        self.person.home().join("notes")
    }

    fn serve(&self) -> Serving {
        // One write for each call, since two may be handed over at once.
        let script = format!("body=$(cat) && printf '%s\\n' \"$body\" >> {}", self.notes().display());
        let executor = json!(["sh", "-c", script]).to_string();
        self.person.serve_with(&[("PUNCTUAL_WORKFLOW_EXECUTOR", executor)])
    }

    /// What the executor was handed, in order.
    fn handed(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.notes()).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }

    fn ask<T>(&self, ask: impl AsyncFnOnce(&App) -> Result<T, punctual::Failure>) -> T {
        self.runtime.block_on(async {
            let database = Database::choose(Some(self.person.database().to_str().expect("text")));
            let app = App::open(&database.expect("a database"), Identity::default()).await.expect("it opens");
            ask(&app).await.unwrap_or_else(|failure| panic!("{failure}"))
        })
    }
}

/// The hash of a text, by a program that shares no code with ours.
fn sha256(text: &str) -> String {
    let mut command = Command::new("sha256sum");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("sha256sum exists");
    child.stdin.take().expect("a pipe").write_all(text.as_bytes()).expect("it reads");
    let said = child.wait_with_output().expect("it ends").stdout;
    String::from_utf8_lossy(&said).split(' ').next().unwrap_or_default().to_owned()
}

fn wish(version: u32) -> UpsertSchedule {
    let body = json!({"schedule_id": "deploy-42", "workflow_id": "report", "version": version, "user_id": "ada",
        "cron_expr": "* * * * * *", "timezone": "America/New_York", "overlap_policy": "allow",
        "catchup_policy": "none"});
    serde_json::from_value(body).expect("the body of the call")
}

#[test]
fn s4_a_registered_workflow_is_started_once_per_tick_across_versions_pauses_and_restarts() {
    let flows = Flows::new();
    let serving = flows.serve();
    let upserted = flows.ask(async |app| app.upsert_schedule(&wish(1)).await);
    assert_eq!(upserted.schedule_id, "deploy-42");
    assert!(upserted.next_run_at.is_some());
    let run = until_status(&flows.person, "deploy-42", "success");
    let id = run["schedule_id"].as_str().expect("an id");
    let tick: Timestamp = run["scheduled_for"].as_str().expect("a time").parse().expect("an instant");
    let key = sha256(&format!("{id}:{}", tick.as_second()));
    let handed = flows.handed();
    let one =
        handed.iter().find(|one| one["meta"]["idempotency_key"] == json!(key)).expect("it was handed over");
    let meta = json!({"source": "schedule", "user_id": "ada", "scheduled_for": run["scheduled_for"], "idempotency_key": key});
    assert_eq!((&one["meta"], &one["dag"]["version"]), (&meta, &json!(1)));

    // The same again changes nothing; another version moves it; a version that is not there fails with its reason.
    let before =
        flows.person.json(&["schedule", "get", "--name", "deploy-42"])["schedule"]["version"].clone();
    flows.ask(async |app| app.upsert_schedule(&wish(1)).await);
    assert_eq!(flows.person.json(&["schedule", "get", "--name", "deploy-42"])["schedule"]["version"], before);
    flows.ask(async |app| app.upsert_schedule(&wish(2)).await);
    let missing = until(&flows.person, "deploy-42", |run| run["status"] == "failed");
    assert_eq!((&missing["reason"], &missing["attempt"]), (&json!("workflow_not_found"), &json!(1)));
    flows.put(2);
    // Failures in a row may have disabled it meanwhile.
    let resume = PauseSchedule { schedule_id: "deploy-42".to_owned(), paused: false };
    flows.ask(async |app| app.pause_schedule(&resume).await);
    let moved = until(&flows.person, "deploy-42", |run| {
        run["status"] == "success" && run["scheduled_for"].as_str() > missing["scheduled_for"].as_str()
    });
    let found =
        flows.handed().into_iter().find(|one| one["meta"]["idempotency_key"] == moved["idempotency_key"]);
    assert_eq!(found.expect("it was handed over")["dag"]["version"], 2);

    // A kill -9 and a restart: every key that was handed over has been so once per attempt.
    serving.kill();
    let serving = flows.serve();
    until(&flows.person, "deploy-42", |run| {
        run["status"] == "success" && run["scheduled_for"].as_str() > moved["scheduled_for"].as_str()
    });
    let mut seen: HashMap<String, u32> = HashMap::new();
    for one in flows.handed() {
        *seen.entry(format!("{} {}", one["meta"]["idempotency_key"], one["run"]["attempt"])).or_default() +=
            1;
    }
    assert!(seen.values().all(|count| *count == 1), "{seen:?}");

    serving.stop();
}

#[test]
fn s4_a_pause_is_kept_by_the_next_deployment_and_a_preview_has_five_fire_times() {
    let flows = Flows::new();
    flows.ask(async |app| app.upsert_schedule(&wish(1)).await);
    let resume = PauseSchedule { schedule_id: "deploy-42".to_owned(), paused: false };
    let pause = PauseSchedule { schedule_id: "deploy-42".to_owned(), paused: true };
    flows.ask(async |app| app.pause_schedule(&pause).await);
    let again = flows.ask(async |app| app.upsert_schedule(&wish(1)).await);
    assert_eq!(again.next_run_at, None);
    let got = flows.ask(async |app| app.get_schedule("deploy-42").await).expect("a workflow's");
    assert!(got.paused && got.preview.is_empty() && got.version == 1);
    flows.ask(async |app| app.pause_schedule(&resume).await);
    let got = flows.ask(async |app| app.get_schedule("deploy-42").await).expect("a workflow's");
    assert_eq!((got.paused, got.preview.len()), (false, 5));
    assert_eq!((got.overlap_policy.as_str(), got.catchup_policy.as_str()), ("allow", "none"));
    flows.ask(async |app| app.delete_schedule("deploy-42").await);
    assert!(flows.person.json(&["schedule", "list"])["schedules"].as_array().is_some_and(Vec::is_empty));
}

#[test]
fn s4_the_run_launcher_starts_once_for_each_key_and_knows_what_is_not_there() {
    let flows = Flows::new();
    let serving = flows.serve();
    let start = |version: u32, key: &str| StartRun {
        workflow_id: "report".to_owned(),
        version,
        user_id: "bob".to_owned(),
        scheduled_for: "2026-03-01T10:00:00Z".parse().expect("an instant"),
        idempotency_key: key.to_owned(),
    };
    assert!(!flows.ask(async |app| app.start_run(&start(7, "a")).await));
    for key in ["a", "a", "b"] {
        assert!(flows.ask(async |app| app.start_run(&start(1, key)).await));
    }
    while flows.handed().len() < 2 {
        std::thread::yield_now();
    }
    serving.stop();
    let mut metas: Vec<Value> = flows.handed().into_iter().map(|one| one["meta"].clone()).collect();
    metas.sort_by_key(ToString::to_string);
    let meta = |key: &str| json!({"source": "schedule", "user_id": "bob", "scheduled_for": "2026-03-01T10:00:00Z", "idempotency_key": key});
    assert_eq!(metas, [meta("a"), meta("b")]);
    assert!(flows.person.json(&["schedule", "list"])["schedules"].as_array().is_some_and(Vec::is_empty));
}
