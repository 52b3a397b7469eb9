//! What a receiver is sent.

use base64::Engine as _;
use punctual_plan::{CloudEvents, Method, Webhook, run_key};
use serde_json::Value;

use super::server::{Reply, Seen, Server};
use super::stage::{Stage, end, headers, hook};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

fn another_secret() -> String {
    format!("whsec_{}", base64::engine::general_purpose::STANDARD.encode([9; 32]))
}

/// Verified by an implementation that is not ours.
fn verifies(secret: &str, seen: &Seen) -> bool {
    let verifier = standardwebhooks::Webhook::new(secret).expect("a secret");
    verifier.verify(seen.body.as_bytes(), &seen.headers).is_ok()
}

async fn echoing() -> Server {
    Server::start(|seen| match seen.path.as_str() {
        "/twice" if seen.header("punctual-attempt") == "1" => Reply::code(500),
        _ => Reply::Answer(200, Vec::new(), format!("{:?} {}", seen.headers, seen.body)),
    })
    .await
}

#[tokio::test]
async fn a_run_is_sent_as_json_and_signed() {
    let (stage, server) = (Stage::new(), echoing().await);
    stage.put("hook", SECRET).await;
    let run =
        stage.run("signed", Webhook { secrets: vec!["hook".to_owned()], ..hook(server.url("/a")) }).await;
    assert_eq!(end(&run), "success");
    let seen = server.seen("/a").remove(0);
    assert!(verifies(SECRET, &seen), "{seen:?}");
    assert!(!verifies(&another_secret(), &seen));
    let key = run_key(run.schedule_id, run.run.origin, "", run.run.scheduled_for);
    let body: Value = serde_json::from_str(&seen.body).expect("JSON");
    let names = ["webhook-id", "idempotency-key"].map(|name| seen.header(name).to_owned());
    assert_eq!(names, [key.clone(), key.clone()]);
    assert_eq!((seen.method.as_str(), body["idempotency_key"].as_str()), ("POST", Some(key.as_str())));
    assert_eq!(body["run_id"].as_str(), Some(seen.header("punctual-run-id")));
    assert_eq!((body["payload"]["size"].as_u64(), body["attempt"].as_u64()), (Some(3), Some(1)));
    assert_eq!(body["scheduled_for"].as_str().map(str::to_owned), Some(run.run.scheduled_for.to_string()));
    assert_eq!(seen.header("content-type"), "application/json");
    let trace = run.trace.expect("an admitted run has a trace").to_string();
    assert_eq!((seen.header("traceparent"), body["traceparent"].as_str()), (&*trace, Some(&*trace)));
    assert!(body.get("token").is_none() && seen.header("punctual-token").len() == 32);
    let output = run.output.expect("the answer is kept");
    assert!(!output.contains(seen.header("punctual-token")), "the token is nobody's business: {output}");
}

#[tokio::test]
async fn while_one_secret_replaces_another_both_sign() {
    let (stage, server) = (Stage::new(), echoing().await);
    stage.put("new", &another_secret()).await;
    stage.put("old", SECRET).await;
    let secrets = vec!["new".to_owned(), "${secret:old}".to_owned()];
    let run = stage.run("rotated", Webhook { secrets, ..hook(server.url("/a")) }).await;
    assert_eq!(end(&run), "success");
    let seen = server.seen("/a").remove(0);
    assert_eq!(seen.header("webhook-signature").split(' ').count(), 2);
    assert!(verifies(SECRET, &seen) && verifies(&another_secret(), &seen));
}

#[tokio::test]
async fn every_attempt_has_the_same_key_and_a_signature_of_its_own() {
    let (stage, server) = (Stage::new(), echoing().await);
    stage.put("hook", SECRET).await;
    let run =
        stage.run("twice", Webhook { secrets: vec!["hook".to_owned()], ..hook(server.url("/twice")) }).await;
    assert_eq!((end(&run).as_str(), run.run.attempts.len()), ("success", 2));
    let seen = server.seen("/twice");
    assert!(seen.iter().all(|seen| verifies(SECRET, seen)));
    let header = |name: &str| [seen[0].header(name), seen[1].header(name)];
    assert_eq!(header("webhook-id")[0], header("webhook-id")[1]);
    assert_eq!(header("punctual-attempt"), ["1", "2"]);
    assert_ne!(header("punctual-token")[0], header("punctual-token")[1]);
    assert_eq!(header("traceparent")[0], header("traceparent")[1], "one trace for the run");
}

#[tokio::test]
async fn headers_and_body_are_filled_in_and_secrets_are_not_seen_again() {
    let (stage, server) = (Stage::new(), echoing().await);
    stage.put("api", "s3cr3t-value").await;
    stage.put("path", "h1dden").await;
    let webhook = Webhook {
        method: Method::Put,
        headers: headers(&[
            ("Authorization", "Bearer ${secret:api}"),
            ("X-Run", "{{ run_id }}/{{ attempt }}"),
            ("Content-Type", "application/vnd.ours+json"),
        ]),
        body: Some(
            r#"{"say": {{ payload.say | json }}, "plain": "{{ schedule_name }}", "b": "{{{{ x }}"}"#
                .to_owned(),
        ),
        ..hook(server.url("/${secret:path}?key=${secret:api}"))
    };
    let run = stage.run("filled", webhook).await;
    let seen = server.seen("/h1dden?key=s3cr3t-value").remove(0);
    assert_eq!(seen.body, r#"{"say": "a \"b\"", "plain": "filled", "b": "{{ x }}"}"#);
    assert_eq!((seen.method.as_str(), seen.header("authorization")), ("PUT", "Bearer s3cr3t-value"));
    assert_eq!(seen.header("x-run"), format!("{}/1", run.run.key));
    assert_eq!(seen.header("content-type"), "application/vnd.ours+json");
    let output = run.output.expect("the answer is kept");
    assert!(
        output.contains("Bearer ***") && !output.contains("s3cr3t") && !output.contains("h1dden"),
        "{output}"
    );
}

#[tokio::test]
async fn what_cannot_be_filled_in_is_named_and_nothing_is_sent() {
    let (stage, server) = (Stage::new(), echoing().await);
    stage.put("short", "whsec_c2hvcnQ=").await;
    let serving = stage.serve().await;
    let url = server.url("/a");
    for (name, webhook, expected) in [
        (
            "a",
            Webhook { body: Some("{{ payload.gone }}".to_owned()), ..hook(&url) },
            "the run has no `payload.gone`",
        ),
        (
            "b",
            Webhook { secrets: vec!["gone".to_owned()], ..hook(&url) },
            "cannot resolve `${secret:gone}`: there is no secret `gone`",
        ),
        (
            "c",
            Webhook { secrets: vec!["short".to_owned()], ..hook(&url) },
            "the secret `short` cannot sign: a key has 24 to 64 bytes, and this one 5",
        ),
    ] {
        stage.once(name, webhook).await;
        let run = stage.ended(name, 1).await.remove(0);
        assert_eq!(end(&run), format!("failed launch_failed: it could not be launched: {expected}"));
    }
    serving.stop().await;
    assert!(server.seen("/a").is_empty());
}

#[tokio::test]
async fn a_run_may_be_a_cloud_event_by_headers_or_by_its_body() {
    let (stage, server) = (Stage::new(), echoing().await);
    stage.put("hook", SECRET).await;
    let event = |mode, path: &str| Webhook {
        cloud_events: mode,
        secrets: vec!["hook".to_owned()],
        ..hook(server.url(path))
    };
    let serving = stage.serve().await;
    stage.once("binary", event(CloudEvents::Binary, "/binary")).await;
    stage.once("structured", event(CloudEvents::Structured, "/structured")).await;
    let text = Webhook { body: Some("no json".to_owned()), ..event(CloudEvents::Structured, "/text") };
    stage.once("text", text).await;
    for name in ["binary", "structured", "text"] {
        assert_eq!(end(&stage.ended(name, 1).await[0]), "success");
    }
    serving.stop().await;

    let binary = server.seen("/binary").remove(0);
    assert_eq!(binary.header("ce-specversion"), "1.0");
    assert_eq!(binary.header("ce-type"), "dev.punctual.run.due.v1");
    assert_eq!(binary.header("ce-id"), binary.header("webhook-id"));
    assert_eq!(binary.header("ce-traceparent"), binary.header("traceparent"));
    assert!(binary.header("ce-source").starts_with("/orgs/default/schedules/"));
    assert_eq!(binary.header("content-type"), "application/json");
    let data: Value = serde_json::from_str(&binary.body).expect("JSON");
    assert_eq!(data["scheduled_for"], binary.header("ce-time"));

    let structured = server.seen("/structured").remove(0);
    assert!(verifies(SECRET, &structured) && structured.headers.get("ce-id").is_none());
    assert_eq!(structured.header("content-type"), "application/cloudevents+json");
    let event: Value = serde_json::from_str(&structured.body).expect("JSON");
    assert_eq!(
        (&event["specversion"], &event["datacontenttype"]),
        (&"1.0".into(), &"application/json".into())
    );
    assert_eq!(event["id"], structured.header("webhook-id"));
    assert_eq!(event["traceparent"], structured.header("traceparent"));
    assert_eq!(event["data"]["run_id"], structured.header("punctual-run-id"));

    let text: Value = serde_json::from_str(&server.seen("/text")[0].body).expect("JSON");
    assert_eq!(
        (&text["data"], &text["datacontenttype"]),
        (&"no json".into(), &"text/plain; charset=utf-8".into())
    );
}

#[tokio::test]
async fn connections_are_used_again() {
    let (stage, server) = (Stage::new(), echoing().await);
    let serving = stage.serve().await;
    stage.every_second("often", hook(server.url("/often"))).await;
    stage.ended("often", 3).await;
    serving.stop().await;
    assert!(server.seen("/often").len() >= 3);
    assert_eq!(server.connections(), 1);
    assert!(server.seen("/often").iter().all(|seen| seen.connection == 0));
}
