//! The calls of the workflow system over HTTP, body by body, and the feedback of an executor that takes its time.

use serde_json::{Value, json};

use crate::door::{Door, Executor};
use crate::driver::Person;
use crate::live::until;

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}

#[test]
fn s4_the_five_calls_have_their_names_and_their_bodies() {
    let person = Person::new();
    let file = person.home().join("dag.json");
    std::fs::write(&file, json!({"id": "report", "version": 3, "nodes": []}).to_string()).expect("a file");
    person.json(&["workflow", "put", file.to_str().expect("text")]);
    let serving = person.serve_in_home(&["--listen", "127.0.0.1:0"]);
    let door = Door::of(&person, &serving);
    let full = r#"{"schedule_id":"wf-1","workflow_id":"report","version":3,"user_id":"ada","cron_expr":"0 9 * * 1-5","timezone":"America/New_York","start_at":"2026-01-01T00:00:00Z","end_at":"2099-12-31T23:59:59Z","jitter_ms":1500,"overlap_policy":"queue","catchup_policy":"spread"}"#;
    let (code, made) = door.send("POST", "schedules/upsert", Some(full));
    assert_eq!((code, keys(&made)), (200, vec!["schedule_id", "next_run_at"]), "{made}");
    assert_eq!(made["schedule_id"], "wf-1");
    let least =
        r#"{"workflow_id":"report","version":3,"user_id":"ada","cron_expr":"@daily","timezone":"UTC"}"#;
    let (code, generated) = door.send("POST", "schedules/upsert", Some(least));
    assert_eq!(code, 200, "{generated}");
    assert_ne!(generated["schedule_id"], made["schedule_id"]);

    let got = door.ask("GET", "schedules/wf-1", None);
    for (key, value) in serde_json::from_str::<Value>(full).expect("JSON").as_object().expect("an object") {
        assert_eq!(&got[key], value, "{key}: {got}");
    }
    assert_eq!((&got["paused"], got["preview"].as_array().map(Vec::len)), (&json!(false), Some(5)), "{got}");
    assert_eq!(got["next_run_at"], made["next_run_at"]);
    let (code, _) = door.send("POST", "schedules/pause", Some(r#"{"schedule_id":"wf-1","paused":true}"#));
    assert!((200..300).contains(&code), "{code}");
    door.ask("POST", "schedules/upsert", Some(&serde_json::from_str(full).expect("JSON")));
    let got = door.ask("GET", "schedules/wf-1", None);
    assert_eq!((&got["paused"], &got["next_run_at"]), (&json!(true), &Value::Null), "a pause is kept");
    door.send("POST", "schedules/pause", Some(r#"{"schedule_id":"wf-1","paused":false}"#));
    assert_eq!(door.ask("GET", "schedules/wf-1", None)["paused"], false);

    let start = |version: u32| {
        json!({"workflow_id": "report", "version": version, "user_id": "ada",
            "scheduled_for": "2026-03-01T10:00:00Z", "idempotency_key": "k-1"})
    };
    assert_eq!(door.ask("POST", "run-launcher/start", Some(&start(3))), json!(true));
    assert_eq!(door.ask("POST", "run-launcher/start", Some(&start(3))), json!(true));
    assert_eq!(door.ask("POST", "run-launcher/start", Some(&start(4))), json!(false));

    for (path, body, place) in [
        ("schedules/upsert", full.replace("0 9", "61 9"), "cron_expr"),
        ("schedules/upsert", full.replace("America/New_York", "Mars/Base"), "timezone"),
        ("schedules/upsert", full.replace("\"queue\"", "\"wait\""), "overlap_policy"),
    ] {
        let (code, problem) = door.send("POST", path, Some(&body));
        assert_eq!((code, &problem["code"]), (422, &json!("invalid")), "{problem}");
        assert!(problem.to_string().contains(place), "{problem}");
    }
    let (code, _) = door.send("POST", "schedules/upsert", Some(&full.replace("user_id", "uesr_id")));
    assert!((400..500).contains(&code), "{code}");
    let (code, _) = door.send("DELETE", "schedules/wf-1", None);
    assert!((200..300).contains(&code), "{code}");
    assert_eq!(door.send("GET", "schedules/wf-1", None).0, 404);
    assert_eq!(door.send("POST", "schedules/pause", Some(r#"{"schedule_id":"wf-1","paused":true}"#)).0, 404);
    serving.stop();
}

#[test]
fn s4_an_executor_that_takes_its_time_reports_started_success_and_failed() {
    let person = Person::new();
    let file = person.home().join("dag.json");
    std::fs::write(&file, json!({"id": "report", "version": 3, "nodes": [{"id": "{{ a }}"}]}).to_string())
        .expect("a file");
    person.json(&["workflow", "put", file.to_str().expect("text")]);
    let executor = Executor::start();
    let serving = person.serve_in_home(&[
        "--listen",
        "127.0.0.1:0",
        "--allow-private-targets",
        "yes",
        "--workflow-executor",
        &executor.url,
    ]);
    let door = Door::of(&person, &serving);
    let upsert = json!({"schedule_id": "wf", "workflow_id": "report", "version": 3, "user_id": "ada",
        "cron_expr": "@yearly", "timezone": "UTC", "overlap_policy": "allow"});
    door.ask("POST", "schedules/upsert", Some(&upsert));
    for (word, status) in [("SUCCESS", "success"), ("FAILED", "failed")] {
        person.json(&["schedule", "trigger", "--name", "wf"]);
        let order = executor.orders.recv().expect("it is sent");
        assert_eq!(order.body["dag"]["nodes"][0]["id"], "{{ a }}", "a DAG is sent as it is");
        assert_eq!(keys(&order.body["meta"]), ["source", "user_id", "scheduled_for", "idempotency_key"]);
        assert_eq!(order.header("idempotency-key"), order.body["meta"]["idempotency_key"]);
        let (run, token) =
            (order.header("punctual-run-id").to_owned(), order.header("punctual-token").to_owned());
        let running = until(&person, "wf", |row| row["id"] == json!(run) && row["status"] == "running");
        assert_eq!(running["id"], json!(run));
        let path = format!("runs/{run}/status");
        let started =
            door.ask("POST", &path, Some(&json!({"status": "STARTED", "token": token, "run_id": "dag-77"})));
        assert_eq!((&started["status"], &started["executor_status"]), (&json!("running"), &json!("STARTED")));
        let forged = json!({"status": word, "token": "guessed"}).to_string();
        assert_eq!(door.send("POST", &path, Some(&forged)).0, 409);
        let said = json!({"status": word, "token": token, "error": "node `load` failed", "output": "done"});
        let ended = door.ask("POST", &path, Some(&said));
        assert_eq!((&ended["status"], &ended["executor_status"]), (&json!(status), &json!(word)), "{ended}");
        let row = person.json(&["schedule", "run-details", "--run-id", &run])["run"].clone();
        assert_eq!((&row["status"], &row["output"]), (&json!(status), &json!("done")), "{row}");
        assert_eq!(row["run_id"], "dag-77", "{row}");
    }
    let got = door.ask("GET", "schedules/wf", None);
    let told: Vec<&str> = got["schedule_runs"]
        .as_array()
        .expect("runs")
        .iter()
        .filter_map(|run| run["status"].as_str())
        .collect();
    assert!(told.contains(&"SUCCESS") && told.contains(&"FAILED"), "{got}");
    serving.stop();
}
