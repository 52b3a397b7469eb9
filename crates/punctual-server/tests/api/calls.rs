//! Schedules and runs over HTTP, from their making to their end.

use reqwest::Method;
use serde_json::{Value, json};

use crate::ground::{Ground, said};

/// A schedule that will not tick while a test runs.
fn yearly(name: &str) -> Value {
    json!({"name": name, "cron": "0 3 1 1 *", "timezone": "Europe/Berlin",
        "target": {"type": "queue", "queue": "builds", "prompt": "build it"}})
}

pub(crate) async fn a_schedule_lives_from_its_making_to_its_deletion(ground: Ground) {
    let made = ground.post("/api/v1/schedules", &yearly("nightly")).await;
    assert_eq!(
        (made.is(201).body["created"].clone(), made.headers["etag"].clone()),
        (json!(true), "\"1\"".parse().expect("a plain header"))
    );
    let id = made.body["schedule"]["id"].as_str().expect("an id").to_owned();
    assert_eq!(made.headers["location"], format!("/api/v1/schedules/{id}"));

    let whole = ground.get("/api/v1/schedules/nightly").await;
    assert_eq!(whole.is(200).body["schedule"]["next"].as_array().map(Vec::len), Some(5));
    assert_eq!(ground.get(&format!("/api/v1/schedules/{}", &id[..8])).await.body, whole.body);
    assert!(whole.body.get("keys").is_none());
    let aside = ground.get("/api/v1/schedules/nightly?aside=true").await.body;
    assert_eq!(aside["keys"]["cron"], "0 3 1 1 *");

    let patch = |body: Value| said(ground.request(Method::PATCH, "/api/v1/schedules/nightly").json(&body));
    let would = said(
        ground
            .request(Method::PATCH, "/api/v1/schedules/nightly?dry_run=true")
            .json(&json!({"cron": "@daily"})),
    )
    .await;
    assert_eq!(would.is(200).body["changes"][0]["field"], "spec");
    let changed = patch(json!({"cron": "0 4 * * *", "launch": {"attempts": 5}})).await;
    assert_eq!(changed.is(200).headers["etag"], "\"2\"");
    assert_eq!(changed.body["schedule"]["launch"]["attempts"], 5);
    let cleared = patch(json!({"launch": null})).await;
    assert_eq!(cleared.is(200).body["schedule"]["launch"], Value::Null);

    let versions = ground.get("/api/v1/schedules/nightly/history").await;
    assert_eq!(versions.is(200).body["versions"].as_array().map(Vec::len), Some(3));
    let back = ground.post("/api/v1/schedules/nightly/rollback", &json!({"to": 1})).await;
    assert_eq!(back.is(200).body["schedule"]["spec"], "0 3 1 1 *");

    let off = ground.post("/api/v1/schedules/nightly/disable", &json!({"note": "too loud"})).await;
    assert_eq!(off.is(200).body["schedule"]["status_detail"], "by the API: too loud");
    let on = said(ground.request(Method::POST, "/api/v1/schedules/nightly/enable")).await;
    assert_eq!(on.is(200).body["schedule"]["enabled"], true);
    let ticks = ground.get("/api/v1/schedules/nightly/preview?count=3").await;
    assert_eq!(ticks.is(200).body["ticks"].as_array().map(Vec::len), Some(3));

    let gone = said(ground.request(Method::DELETE, "/api/v1/schedules/nightly")).await;
    assert_eq!(gone.is(200).body["deleted"], true);
    said(ground.request(Method::DELETE, "/api/v1/schedules/nightly")).await.is_problem(404, "not_found");
    ground.post("/api/v1/schedules", &yearly("nightly")).await.is(201);
    ground.end().await;
}

pub(crate) async fn a_pause_lists_what_was_admitted_before_it(ground: Ground) {
    ground.post("/api/v1/schedules", &yearly("nightly")).await.is(201);
    let triggered = said(ground.request(Method::POST, "/api/v1/schedules/nightly/trigger")).await;
    let run = triggered.is(202).body["run_id"].clone();
    let lease = async || ground.post("/api/v1/queues/builds/lease", &json!({"wait_seconds": 20})).await;
    while lease().await.is(200).body["runs"][0]["run_id"] != run {}
    let off = ground.post("/api/v1/schedules/nightly/disable", &json!({})).await;
    assert_eq!(off.is(200).body["still_running"], json!([run]));
    ground.end().await;
}

pub(crate) async fn a_run_that_is_asked_for_is_in_the_ledger_and_can_be_ended(ground: Ground) {
    ground.post("/api/v1/schedules", &yearly("nightly")).await.is(201);
    let triggered = said(ground.request(Method::POST, "/api/v1/schedules/nightly/trigger")).await;
    let run = triggered.is(202).body["run_id"].as_str().expect("a run").to_owned();
    let one = ground.get(&format!("/api/v1/runs/{run}")).await;
    assert_eq!(one.is(200).body["run"]["origin"], "manual");
    let all = ground.get("/api/v1/schedules/nightly/runs").await;
    assert_eq!(all.is(200).body["runs"][0]["id"], json!(run));
    assert_eq!(ground.get("/api/v1/runs?status=success").await.body["runs"], json!([]));
    let output = ground.get(&format!("/api/v1/runs/{run}/output")).await;
    assert_eq!(output.is(200).headers["content-type"], "text/plain; charset=utf-8");
    let why = ground.get(&format!("/api/v1/why?run={run}")).await;
    assert!(why.is(200).body["links"].as_array().is_some_and(|links| !links.is_empty()));

    let ended = loop {
        let ended = said(ground.request(Method::POST, &format!("/api/v1/runs/{run}/cancel"))).await;
        if ended.is(200).body["runs"][0]["cancelled"] == json!(true) {
            break ended;
        }
        tokio::task::yield_now().await;
    };
    assert_eq!(ended.body["runs"][0]["run"]["status"], "cancelled");
    let again = said(ground.request(Method::POST, &format!("/api/v1/runs/{run}/retry"))).await;
    assert_eq!(again.is(202).body["new"], true);
    let item = json!({"target": {"type": "queue", "queue": "reviews", "prompt": "look"}});
    assert!(ground.post("/api/v1/requests", &item).await.is(202).body["run_id"].is_string());
    assert_eq!(
        ground.post("/api/v1/requests?dry_run=true", &item).await.is(200).body,
        json!({"dry_run": true})
    );

    let audit = ground.get("/api/v1/audit").await;
    assert_eq!(audit.is(200).body["whole"], true);
    let log = ground.get("/api/v1/audit/log?kind=schedule.created").await;
    assert_eq!(log.is(200).body["events"][0]["kind"], "schedule.created");
    ground.get("/api/v1/audit/verify").await.is(200);
    assert_eq!(ground.get("/api/v1/nodes").await.is(200).body["nodes"][0]["state"], "alive");
    ground.get("/api/v1/breakers/nightly").await.is(200);
    let closed = said(ground.request(Method::POST, "/api/v1/breakers/nightly/reset")).await;
    assert_eq!(closed.is(200).body["reset"], false);
    ground.end().await;
}

pub(crate) async fn pages_show_everything_once(ground: Ground) {
    let mut names = Vec::new();
    for number in 0..7 {
        let name = format!("s{number}");
        ground.post("/api/v1/schedules", &yearly(&name)).await.is(201);
        said(ground.request(Method::POST, &format!("/api/v1/schedules/{name}/trigger"))).await.is(202);
        names.push(name);
    }
    for (path, rows, key) in
        [("/api/v1/schedules", "schedules", "name"), ("/api/v1/runs", "runs", "schedule_name")]
    {
        let mut seen: Vec<String> = Vec::new();
        let mut after = String::new();
        loop {
            let page = ground.get(&format!("{path}?limit=3{after}")).await;
            let of_page = page.is(200).body[rows].as_array().expect("rows");
            assert!(of_page.len() <= 3);
            seen.extend(of_page.iter().map(|row| row[key].as_str().expect("a name").to_owned()));
            let Some(next) = page.body["next"].as_str() else { break };
            after = format!("&after={}", next.replace('%', "%25").replace('+', "%2B"));
        }
        seen.sort();
        assert_eq!(seen, names, "{path}");
    }
    assert_eq!(ground.get("/api/v1/schedules?search=s3").await.body["schedules"][0]["name"], "s3");
    ground.get("/api/v1/schedules?limit=1001").await.is_problem(400, "malformed");
    ground.get("/api/v1/runs?after=nonsense").await.is_problem(422, "invalid");
    ground.end().await;
}

pub(crate) async fn a_request_with_a_key_does_nothing_twice(ground: Ground) {
    let post = |path: &str, key: &str, body: &Value| {
        said(ground.request(Method::POST, path).header("idempotency-key", key).json(body))
    };
    let first = post("/api/v1/schedules", "\"k1\"", &yearly("a")).await;
    let again = post("/api/v1/schedules", "k1", &yearly("a")).await;
    assert_eq!(first.is(201).body["schedule"]["id"], again.is(200).body["schedule"]["id"]);
    assert_eq!(again.body["created"], false);
    post("/api/v1/schedules", "k1", &yearly("b")).await.is_problem(409, "conflict");

    let run = post("/api/v1/schedules/a/trigger", "k2", &json!({})).await.is(202).body["run_id"].clone();
    assert_eq!(post("/api/v1/schedules/a/trigger", "k2", &json!({})).await.is(202).body["run_id"], run);

    let delete =
        || said(ground.request(Method::DELETE, "/api/v1/schedules/a").header("idempotency-key", "k3"));
    assert_eq!(delete().await.is(200).body["changed"], true);
    assert_eq!(delete().await.is(200).body["deleted"], true);
    post("/api/v1/schedules", &"k".repeat(300), &yearly("c")).await.is_problem(400, "malformed");
    ground.end().await;
}

pub(crate) async fn an_edit_of_another_version_is_refused(ground: Ground) {
    ground.post("/api/v1/schedules", &yearly("a")).await.is(201);
    let patch = |tag: &str, body: Value| {
        said(ground.request(Method::PATCH, "/api/v1/schedules/a").header("if-match", tag).json(&body))
    };
    patch("\"1\"", json!({"grace": "10s"})).await.is(200);
    patch("\"1\"", json!({"grace": "20s"})).await.is_problem(412, "stale");
    assert_eq!(ground.get("/api/v1/schedules/a").await.body["schedule"]["grace"], "10s");
    patch("\"2\"", json!({"grace": "20s"})).await.is(200);
    patch("*", json!({"grace": "30s"})).await.is(200);
    patch("\"new\"", json!({"grace": "40s"})).await.is_problem(400, "malformed");
    ground.end().await;
}
