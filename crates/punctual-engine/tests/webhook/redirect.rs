//! Redirects: followed within reach and bounds, and never with what belongs to somebody else.

use punctual_plan::Webhook;

use super::server::{Reply, Server};
use super::stage::{Stage, end, headers, hook};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// A request with all that must not reach a stranger.
fn laden(url: String) -> Webhook {
    Webhook {
        headers: headers(&[("Authorization", "Bearer ${secret:api}"), ("X-Team", "data")]),
        secrets: vec!["hook".to_owned()],
        ..hook(url)
    }
}

async fn stage() -> Stage {
    let stage = Stage::new();
    stage.put("api", "s3cr3t-value").await;
    stage.put("hook", SECRET).await;
    stage
}

#[tokio::test]
async fn a_redirect_within_a_host_keeps_or_turns_the_request_as_its_status_says() {
    let server = Server::start(|seen| match seen.path.strip_prefix("/go/") {
        Some(code) => Reply::to(code.parse().expect("a status"), &format!("/done/{code}")),
        None => Reply::ok(),
    })
    .await;
    let stage = stage().await;
    let serving = stage.serve().await;
    for (code, method) in [(301, "GET"), (302, "GET"), (303, "GET"), (307, "POST"), (308, "POST")] {
        stage.once(&code.to_string(), laden(server.url(&format!("/go/{code}")))).await;
        assert_eq!(end(&stage.ended(&code.to_string(), 1).await[0]), "success");
        let seen = server.seen(&format!("/done/{code}")).remove(0);
        assert_eq!((seen.method.as_str(), seen.body.is_empty()), (method, method == "GET"), "{code}");
        assert_eq!(seen.header("authorization"), "Bearer s3cr3t-value");
        let verifier = standardwebhooks::Webhook::new(SECRET).expect("a secret");
        assert_eq!(verifier.verify(seen.body.as_bytes(), &seen.headers).is_ok(), method == "POST", "{code}");
    }
    serving.stop().await;
}

#[tokio::test]
async fn another_host_gets_no_credentials_and_no_signature() {
    let other = Server::start(|_| Reply::ok()).await;
    let there = other.url("/there");
    let server = Server::start(move |_| Reply::to(307, &there)).await;
    let stage = stage().await;
    let run = stage.run("away", laden(server.url("/here"))).await;
    assert_eq!(end(&run), "success");
    let (here, there) = (server.seen("/here").remove(0), other.seen("/there").remove(0));
    assert_eq!(there.body, here.body);
    assert_eq!(there.header("webhook-id"), here.header("webhook-id"));
    for name in ["authorization", "x-team", "webhook-signature", "punctual-token"] {
        assert!(!here.header(name).is_empty() && there.headers.get(name).is_none(), "{name}");
    }
}

#[tokio::test]
async fn what_leads_nowhere_or_too_far_is_not_followed() {
    let other = Server::start(|_| Reply::ok()).await;
    let there = other.url("/there");
    let server = Server::start(move |seen| match seen.path.as_str() {
        "/loop" => Reply::to(302, "/loop"),
        "/file" => Reply::to(302, "file:///etc/passwd"),
        "/nowhere" => Reply::code(302),
        "/away" => Reply::to(308, &there),
        _ => Reply::ok(),
    })
    .await;
    let stage = stage().await;
    let serving = stage.serve().await;
    for (path, code, note) in [
        ("/loop", 302, "[not followed: it redirects more often than `redirects` allows]\n"),
        ("/file", 302, "[not followed: it redirects to what is no web address]\n"),
        ("/nowhere", 302, ""),
        ("/away", 308, "[not followed: it redirects to another host, and the body holds a secret]\n"),
    ] {
        let body = Some("${secret:api}".to_owned());
        stage.once(path, Webhook { body, ..laden(server.url(path)) }).await;
        let run = stage.ended(path, 1).await.remove(0);
        assert_eq!(end(&run), format!("failed http_status: {} answered {code}", server.url(path)));
        assert_eq!(stage.whole(&run).await.output.unwrap_or_default(), note);
    }
    serving.stop().await;
    assert_eq!((server.seen("/loop").len(), other.connections()), (4, 0));
}

#[tokio::test]
async fn a_redirect_to_a_private_address_reaches_nobody() {
    let inside = Server::start(|_| Reply::ok()).await;
    let port = inside.address.port();
    let server = Server::start(move |seen| {
        let host = seen.path.trim_start_matches('/').to_owned();
        Reply::to(307, &format!("http://{host}:{port}/inside"))
    })
    .await;
    // Only the first server is within reach: it has an address of its own.
    let stage = Stage { reach: "127.0.0.1", ..stage().await };
    let serving = stage.serve().await;
    for host in
        ["127.0.0.2", "localhost", "[::1]", "0", "169.254.169.254", "[::ffff:127.0.0.2]", "0x7f000002"]
    {
        stage.once(host, hook(server.url(&format!("/{host}")))).await;
        let run = stage.ended(host, 1).await.remove(0);
        let said = end(&run);
        // The name leads to the allowed address as well as to another one, or to it alone.
        let is_refused =
            said.starts_with("failed address_refused: ") || (host == "localhost" && said == "success");
        assert!(is_refused, "{host}: {said}");
    }
    serving.stop().await;
    assert!(inside.seen("/inside").iter().all(|seen| seen.header("host").starts_with("localhost")));
}
