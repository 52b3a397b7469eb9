//! A server that stops lets nobody wait, and runs that are asked for belong to the trace of whoever asks.

use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::ground::{Ground, said};

const TRACE: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/// Reads until a text has come.
async fn read_until(stream: &mut TcpStream, wanted: &str) -> String {
    let mut read = Vec::new();
    while !String::from_utf8_lossy(&read).contains(wanted) {
        let byte = stream.read_u8().await;
        read.push(byte.unwrap_or_else(|_| panic!("no `{wanted}`: {}", String::from_utf8_lossy(&read))));
    }
    String::from_utf8(read).expect("text")
}

/// A connection with a token in what it asks first.
async fn ask(ground: &Ground, line: &str, rest: &str) -> TcpStream {
    let address = ground.base.trim_start_matches("http://").to_owned();
    let mut stream = TcpStream::connect(&address).await.expect("it listens");
    let head =
        format!("{line} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {}\r\n{rest}\r\n", ground.token);
    stream.write_all(head.as_bytes()).await.expect("it hears");
    stream
}

pub(crate) async fn a_stop_answers_those_who_wait(ground: Ground) {
    let body = json!({"worker": "w", "wait_seconds": 20}).to_string();
    let rest = format!(
        "content-type: application/json\r\nexpect: 100-continue\r\ncontent-length: {}\r\n",
        body.len()
    );
    let mut lease = ask(&ground, "POST /api/v1/queues/q/lease", &rest).await;
    // The server asks for the body once somebody reads it: from then on the call is under way.
    read_until(&mut lease, "100 Continue\r\n\r\n").await;
    lease.write_all(body.as_bytes()).await.expect("it hears");
    let mut outbox = ask(&ground, "GET /api/v1/outbox/stream", "").await;
    read_until(&mut outbox, "\r\n\r\n").await;
    let (answer, ()) = tokio::join!(read_until(&mut lease, "}"), ground.end());
    assert!(answer.starts_with("HTTP/1.1 200 OK") && answer.ends_with(r#"{"runs":[]}"#), "{answer}");
    let mut left = Vec::new();
    outbox.read_to_end(&mut left).await.expect("the stream ends");
    assert!(left.ends_with(b"0\r\n\r\n"), "it ends as it should: {}", String::from_utf8_lossy(&left));
}

pub(crate) async fn a_run_belongs_to_the_trace_of_whoever_asks_for_it(ground: Ground) {
    let queue = json!({"name": "traced", "cron": "* * * * *", "start_at": "2020-01-01T00:00:00Z",
        "end_at": "2999-01-01T00:00:00Z", "enabled": false, "if_running": "allow",
        "target": {"type": "queue", "queue": "q"}});
    ground.post("/api/v1/schedules", &queue).await.is(201);
    let trigger = async |trace: &str| {
        let asked = ground.request(Method::POST, "/api/v1/schedules/traced/trigger");
        let triggered = said(asked.header("traceparent", trace)).await;
        triggered.is(202).body["run_id"].as_str().expect("a run").to_owned()
    };
    let lease = async || loop {
        let body = json!({"wait_seconds": 20});
        if let Value::Object(run) =
            &ground.post("/api/v1/queues/q/lease", &body).await.is(200).body["runs"][0]
        {
            break run.clone();
        }
    };
    let brought = trigger(TRACE).await;
    let shown =
        async |run: &str| ground.get(&format!("/api/v1/runs/{run}")).await.is(200).body["run"].clone();
    assert_eq!(shown(&brought).await["traceparent"], TRACE, "from the request on");
    let leased = lease().await;
    assert_eq!((&leased["run_id"], &leased["traceparent"]), (&json!(brought), &json!(TRACE)));
    let own = trigger("00-not-a-trace").await;
    let leased = lease().await;
    assert_eq!((&leased["run_id"], &leased["traceparent"]), (&json!(own), &shown(&own).await["traceparent"]));
    assert!(leased["traceparent"].as_str().is_some_and(|trace| trace.len() == 55 && trace != TRACE));

    let past = json!({"from": "2026-01-01T00:00:00Z", "to": "2026-01-01T00:02:00Z"});
    let path = "/api/v1/schedules/traced/backfill";
    let would = ground.post(&format!("{path}?dry_run=true"), &past).await;
    assert_eq!(would.is(200).body["ticks"].as_array().map(Vec::len), Some(3));
    let asked =
        || ground.request(Method::POST, path).header("traceparent", TRACE).header("idempotency-key", "k");
    let added = said(asked().json(&past)).await.is(202).body["runs"].clone();
    let again = said(asked().json(&past)).await.is(202).body["runs"].clone();
    assert_eq!((&added[0]["new"], &again[0]["new"]), (&json!(true), &json!(false)));
    assert_eq!(added[0]["run_id"], again[0]["run_id"]);
    let run = added[2]["run_id"].as_str().expect("a run").to_owned();
    assert_eq!(shown(&run).await["traceparent"], TRACE);
    ground.post(path, &json!({"from": "2026-01-02", "to": "2026-01-01"})).await.is_problem(422, "invalid");
    ground.end().await;
}

pub(crate) async fn a_workflow_and_a_file_are_kept_over_http(ground: Ground) {
    let dag = json!({"id": "report", "version": 1, "nodes": [{"id": "load"}],
        "triggers": [{"id": "daily", "type": "schedule_based", "cron_expr": "0 6 1 1 *"}]});
    let put = async |path: &str| ground.post(path, &json!({"dag": dag})).await;
    assert_eq!(put("/api/v1/workflows?dry_run=true").await.is(200).body["dry_run"], true);
    assert_eq!(put("/api/v1/workflows").await.is(201).body["dag"], "added");
    assert_eq!(put("/api/v1/workflows").await.is(200).body["dag"], "unchanged");
    let kept = ground.get("/api/v1/workflows/report?version=1").await;
    assert_eq!(kept.is(200).body["workflow"]["dag"], dag);
    assert_eq!(
        ground.get("/api/v1/workflows").await.body["workflows"][0]["schedules"],
        json!(["report/daily"])
    );
    let delete = |path: &'static str| said(ground.request(Method::DELETE, path));
    delete("/api/v1/workflows/report?version=1").await.is_problem(409, "conflict");
    assert_eq!(delete("/api/v1/workflows/report").await.is(200).body["removed"][0]["version"], 1);
    ground.get("/api/v1/workflows/report").await.is_problem(404, "not_found");

    let text = "schedules:\n- {name: a, cron: 0 3 1 1 *, target: {type: queue, queue: q}}\n\
                - {name: b, cron: 0 4 1 1 *, target: {type: process, argv: [/bin/true]}}\n";
    let files = |text: &str| json!({"files": [{"name": "jobs.yaml", "text": text}]});
    ground.post("/api/v1/schedules/file", &files(text)).await.is_problem(403, "forbidden");
    let text = text.replace("process, argv: [/bin/true]", "queue, queue: q");
    let would = ground.post("/api/v1/schedules/file?dry_run=true", &files(&text)).await;
    assert_eq!(would.is(200).body["schedules"][1]["name"], "b");
    let made = ground.post("/api/v1/schedules/file", &files(&text)).await;
    assert_eq!(made.is(201).body["schedules"].as_array().map(Vec::len), Some(2));
    ground.post("/api/v1/schedules/file", &files(&text)).await.is_problem(409, "conflict");
    ground.post("/api/v1/schedules/file", &files("schedules: [{nam: a}]")).await.is_problem(422, "invalid");

    assert_eq!(ground.post("/api/v1/maintenance", &json!({"note": "disks"})).await.is(200).body["paused"], 2);
    assert_eq!(ground.get("/api/v1/maintenance").await.body["maintenance"][0]["note"], "disks");
    assert_eq!(delete("/api/v1/maintenance").await.is(200).body["resumed"], 2);
    ground.end().await;
}
