//! Who may not, what cannot be meant, and what is too much.

use punctual_app::Database;
use punctual_server::{BODY_BYTES_MAX, Metered, Settings};
use reqwest::Method;
use serde_json::json;

use crate::ground::{Ground, is_private, said};

pub(crate) async fn nobody_gets_in_without_a_token(ground: Ground) {
    let bare = |path: &str| said(ground.client.get(format!("{}{path}", ground.base)));
    for path in ["/livez", "/healthz"] {
        bare(path).await.is(200);
    }
    ground.until_ready().await;
    bare("/readyz").await.is(200);
    for path in ["/metrics", "/api/v1/schedules", "/api/v1/openapi.json", "/api/v1/nodes"] {
        let refused = bare(path).await;
        refused.is_problem(401, "unauthorized");
        assert_eq!(refused.headers["www-authenticate"], "Bearer realm=\"punctual\"");
    }
    for token in ["wrong", "", &ground.token[..20], &format!("{}x", ground.token)] {
        let asked = ground.client.get(format!("{}/api/v1/nodes", ground.base)).bearer_auth(token);
        said(asked).await.is_problem(401, "unauthorized");
    }
    let basic =
        ground.client.get(format!("{}/api/v1/nodes", ground.base)).basic_auth("a", Some(&ground.token));
    said(basic).await.is_problem(401, "unauthorized");
    ground.get("/api/v1/nodes").await.is(200);
    let metrics = ground.get("/metrics").await;
    assert_eq!(
        metrics.is(200).headers["content-type"],
        "application/openmetrics-text; version=1.0.0; charset=utf-8"
    );
    assert!(metrics.body.as_str().is_some_and(|text| text.ends_with("# EOF\n")));
    assert!(is_private(&ground.folder.path().join("token")));
    ground.end().await;
}

pub(crate) async fn what_cannot_be_meant_is_told_with_its_place(ground: Ground) {
    let target = json!({"type": "queue", "queue": "q"});
    let wrong =
        ground.post("/api/v1/schedules", &json!({"name": "a", "cron": "61 * * * *", "target": target})).await;
    wrong.is_problem(422, "invalid");
    assert_eq!(wrong.body["place"], "cron");
    let wrong =
        ground.post("/api/v1/schedules", &json!({"name": "a", "crom": "* * * * *", "target": target})).await;
    wrong.is_problem(422, "invalid");
    assert!(wrong.body["hint"].as_str().is_some_and(|hint| hint.contains("cron")), "{}", wrong.body);
    ground.get("/api/v1/schedules/nobody").await.is_problem(404, "not_found");
    ground.get("/api/v1/runs/run-99").await.is_problem(404, "not_found");
    ground.get("/api/v1/nothing").await.is_problem(404, "not_found");
    ground.get("/api/v1/schedules?colour=red").await.is_problem(400, "malformed");
    ground.get("/api/v1/runs?status=red").await.is_problem(400, "malformed");
    said(ground.request(Method::PUT, "/api/v1/schedules")).await.is_problem(405, "method_not_allowed");
    let raw = |kind: &str, body: String| {
        said(ground.request(Method::POST, "/api/v1/schedules").header("content-type", kind).body(body))
    };
    raw("application/json", "{".to_owned()).await.is_problem(400, "malformed");
    raw("text/plain", "{}".to_owned()).await.is_problem(415, "unsupported");
    let large = format!("{{\"name\":\"{}\"}}", "x".repeat(BODY_BYTES_MAX));
    raw("application/json", large).await.is_problem(413, "too_large");

    let next = ground
        .post(
            "/api/v1/spec/next",
            &json!({"expr": "0 9 * * 1-5", "after": "2026-01-01T00:00:00Z", "count": 2}),
        )
        .await;
    assert_eq!(next.is(200).body["next"], json!(["2026-01-01T09:00:00Z", "2026-01-02T09:00:00Z"]));
    let valid = ground.post("/api/v1/spec/validate", &json!({"expr": "0 9 * * *"})).await;
    assert_eq!(valid.is(200).body["valid"], true);
    ground.post("/api/v1/spec/validate", &json!({"expr": "0 25 * * *"})).await.is_problem(422, "invalid");
    assert!(
        ground.post("/api/v1/spec/describe", &json!({"every": "90s"})).await.is(200).body["describe"]
            .is_string()
    );
    let parsed = ground.post("/api/v1/spec/parse", &json!({"text": "every weekday at 9am"})).await;
    assert_eq!(parsed.is(200).body["cron"], "0 9 * * 1-5");
    ground.end().await;
}

pub(crate) async fn a_program_is_run_only_if_the_server_allows_it(ground: Ground) {
    let program = |name: &str, path: &str| json!({"name": name, "cron": "0 3 1 1 *", "target": {"type": "process", "argv": [path]}});
    ground.post("/api/v1/schedules", &program("a", "/bin/true")).await.is_problem(403, "forbidden");
    let queue = json!({"name": "b", "cron": "0 3 1 1 *", "target": {"type": "queue", "queue": "q"}});
    ground.post("/api/v1/schedules", &queue).await.is(201);
    let turned = json!({"target": {"type": "process", "argv": ["/bin/true"]}});
    let patched = said(ground.request(Method::PATCH, "/api/v1/schedules/b").json(&turned)).await;
    patched.is_problem(403, "forbidden");
    ground.end().await;
}

#[tokio::test]
async fn a_program_that_is_allowed_is_run_over_http() {
    let folder = tempfile::tempdir().expect("a folder");
    let database = Database::Sqlite { path: folder.path().join("punctual.db") };
    let settings =
        Settings { programs: vec!["/bin/true".to_owned()], metrics: Metered::Open, ..Settings::default() };
    let ground = Ground::over(database, folder, settings).await;
    let body =
        json!({"name": "a", "cron": "0 3 1 1 *", "target": {"type": "process", "argv": ["/bin/true"]}});
    ground.post("/api/v1/schedules", &body).await.is(201);
    let run = said(ground.request(Method::POST, "/api/v1/schedules/a/trigger")).await.is(202).body["run_id"]
        .clone();
    let run = run.as_str().expect("a run").to_owned();
    // The server wakes its node after a write: the run does not wait for the next tick of the loop.
    while ground.get(&format!("/api/v1/runs/{run}")).await.body["run"]["status"] != "success" {
        tokio::task::yield_now().await;
    }
    said(ground.client.get(format!("{}/metrics", ground.base))).await.is(200);
    ground.end().await;
}

#[tokio::test]
async fn the_socket_lets_its_owner_act_for_any_org() {
    let ground = Ground::sqlite().await;
    let socket = punctual_server::socket_beside(&ground.database).expect("a socket");
    assert!(is_private(&socket));
    let client = reqwest::Client::builder().unix_socket(socket.as_path()).build().expect("a client");
    let post = |org: &str| {
        let body = json!({"name": "a", "cron": "@daily", "target": {"type": "process", "argv": ["true"]}});
        let asked = client.post("http://localhost/api/v1/schedules").header("punctual-org", org);
        said(asked.header("punctual-user", "ada").json(&body))
    };
    let made = post("acme").await;
    assert_eq!(made.is(201).body["schedule"]["user_id"], "ada");
    assert_eq!(post("other").await.is(201).body["schedule"]["org_id"], "other");
    post("acme").await.is_problem(409, "conflict");
    // The token is of another org, which sees neither.
    assert_eq!(ground.get("/api/v1/schedules").await.body["schedules"], json!([]));
    post("punctual:other").await.is_problem(400, "malformed");
    assert!(ground.token_place().ends_with("punctual.db.token"));
    ground.end().await;
    assert!(!socket.exists());
}
