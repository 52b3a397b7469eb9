//! Receivers that behave badly: each run ends rightly, in little memory, and nobody else is delayed.

use std::sync::Arc;

use jiff::SignedDuration;
use punctual_plan::{RunStatus, Status};
use punctual_store::RunRow;
use tokio::sync::Notify;

use super::server::{Reply, Server};
use super::stage::{Stage, end, hasty, hook, span};

/// How much memory this process has needed at most, in bytes.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux tells");
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).expect("its peak");
    line.split_whitespace().nth(1).and_then(|figure| figure.parse::<u64>().ok()).expect("a figure") * 1024
}

/// A server with a path for every kind of bad day.
async fn bad_days(release: Arc<Notify>) -> Server {
    Server::start(move |seen| match seen.path.as_str() {
        "/hang" => Reply::Hang,
        "/slow" => Reply::Wait(Arc::clone(&release)),
        "/drip" => Reply::Drip,
        "/break" => Reply::BreakOff,
        "/close" => Reply::Close,
        "/gone" => Reply::Answer(410, Vec::new(), "nobody lives here".to_owned()),
        "/busy" if seen.header("punctual-attempt") == "1" => {
            Reply::Answer(429, vec![("retry-after", "2".to_owned())], "later".to_owned())
        }
        "/fails" => Reply::Answer(500, Vec::new(), "stack trace".to_owned()),
        "/missing" => Reply::code(404),
        "/private" => Reply::to(307, "http://10.0.0.1/inside"),
        "/huge" => Reply::Huge(10 << 20),
        _ => Reply::ok(),
    })
    .await
}

fn attempts(run: &RunRow) -> usize {
    run.run.attempts.len()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_bad_day_ends_rightly_and_delays_nobody() {
    let (stage, release) = (Stage::new(), Arc::new(Notify::new()));
    let server = bad_days(Arc::clone(&release)).await;
    let url = |path: &str| server.url(path);
    let serving = stage.serve().await;
    for (name, patience) in [("hang", 400), ("drip", 400), ("break", 5_000), ("close", 5_000)] {
        stage.once(name, hasty(url(&format!("/{name}")), patience)).await;
    }
    for name in ["slow", "gone", "busy", "fails", "missing", "private", "huge"] {
        stage.once(name, hook(url(&format!("/{name}")))).await;
    }
    stage.every_second("quick", hook(url("/quick"))).await;

    // The slow one is only let go once others have been and gone.
    server.wait_for("/slow", 1).await;
    let before = stage.ended("quick", 1).await.len();
    stage.ended("quick", before + 3).await;
    release.notify_one();

    let slow = stage.whole(&stage.ended("slow", 1).await[0]).await;
    assert_eq!((end(&slow).as_str(), slow.output.as_deref()), ("success", Some("at last")));
    let (from, to) = span(&slow);
    let beside = stage.ended("quick", 1).await.into_iter().filter(|run| {
        let (began, ended) = span(run);
        run.run.state.status() == RunStatus::Success && began > from && ended < to
    });
    assert!(beside.count() >= 2, "others came and went meanwhile");

    let unanswered = "failed unanswered: it was asked and did not answer:";
    for (name, expected, tries) in [
        ("hang", format!("{unanswered} {} gave no answer within 0.4 s", url("/hang")), 3),
        (
            "drip",
            format!("{unanswered} {} answered 200, but its answer did not end within 0.4 s", url("/drip")),
            3,
        ),
        (
            "break",
            format!(
                "{unanswered} {} answered 200, but its answer broke off: end of file before message length reached",
                url("/break")
            ),
            3,
        ),
        ("close", format!("{unanswered} {}: connection closed before message completed", url("/close")), 3),
        (
            "gone",
            format!(
                "failed gone: {} answered 410: it wants nothing more, and the schedule was disabled",
                url("/gone")
            ),
            1,
        ),
        ("busy", "success".to_owned(), 2),
        ("fails", format!("failed http_status: {} answered 500", url("/fails")), 3),
        ("missing", format!("failed http_status: {} answered 404", url("/missing")), 1),
        (
            "private",
            "failed address_refused: http://10.0.0.1/inside leads to 10.0.0.1, to which nothing may be sent \
             (`allow_private_targets`)"
                .to_owned(),
            1,
        ),
        ("huge", "success".to_owned(), 1),
    ] {
        let run = stage.whole(&stage.ended(name, 1).await[0]).await;
        assert_eq!(end(&run), expected, "{name}");
        assert_eq!(attempts(&run).max(1), tries, "{name}");
    }
    serving.stop().await;
    let fails = stage.ended("fails", 1).await.remove(0);
    assert_eq!(stage.whole(&fails).await.output.as_deref(), Some("stack trace"));
    assert_eq!(stage.schedule("gone").await.state.status, Status::AutoDisabled { failures: 1 });
}

#[tokio::test]
async fn a_busy_receiver_is_asked_again_no_sooner_than_it_wants() {
    let (stage, server) = (Stage::new(), bad_days(Arc::default()).await);
    let run = stage.run("busy", hook(server.url("/busy"))).await;
    assert_eq!(end(&run), "success");
    let [first, second] = &run.run.attempts[..] else { panic!("{:?}", run.run.attempts) };
    let waited = second.started_at.duration_since(first.ended_at.expect("it ended"));
    assert!(waited >= SignedDuration::from_secs(2), "by the ledger it waited {waited:#}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn long_answers_need_little_memory() {
    let (stage, server) = (Stage::new(), bad_days(Arc::default()).await);
    let serving = stage.serve().await;
    stage.run_all(1, &server).await;
    let before = peak();
    stage.run_all(60, &server).await;
    serving.stop().await;
    let (grown, sent) = (peak() - before, server.seen("/huge").len());
    assert!(sent > 60 && grown < 96 << 20, "{sent} answers of 10 MiB took {} MiB", grown >> 20);
}

impl Stage {
    /// Sends many at once where the answers are long, and waits for all.
    async fn run_all(&self, count: usize, server: &Server) {
        for number in 0..count {
            self.once(&format!("huge {count} {number}"), hook(server.url("/huge"))).await;
        }
        for number in 0..count {
            let run = self.ended(&format!("huge {count} {number}"), 1).await.remove(0);
            assert_eq!(end(&run), "success");
            let output = self.whole(&run).await.output.expect("the beginning is kept");
            assert!(output.len() < 17 << 10 && output.ends_with("[the rest of the answer is not kept]\n"));
        }
    }
}

#[tokio::test]
async fn nobody_there_is_a_failed_launch_with_the_address() {
    let stage = Stage::new();
    let (listener, server) = Server::bind(|_| Reply::ok()).await;
    drop(listener);
    let run = stage.run("nobody", hook(server.url("/"))).await;
    let url = server.url("/");
    let expected =
        format!("failed launch_failed: it could not be launched: {url}: Connection refused (os error 111)");
    assert_eq!((end(&run), attempts(&run)), (expected, 3));
}

#[tokio::test]
async fn what_is_not_public_is_refused_unless_it_is_allowed() {
    let server = Server::start(|_| Reply::ok()).await;
    let port = server.address.port();
    for (reach, host, is_sent) in [
        ("no", "127.0.0.1", false),
        ("no", "localhost", false),
        ("no", "2130706433", false),
        ("no", "0x7f.1", false),
        ("no", "[::ffff:127.0.0.1]", false),
        ("10.0.0.0/8", "127.0.0.1", false),
        ("yes", "127.0.0.1", true),
        ("127.0.0.1", "127.1", true),
        ("localhost", "127.0.0.1", false),
    ] {
        let stage = Stage { reach, ..Stage::new() };
        let run = stage.run("one", hook(format!("http://{host}:{port}/{}", reach.replace('/', "-")))).await;
        let said = end(&run);
        assert_eq!(said == "success", is_sent, "{host} with {reach}: {said}");
        assert!(is_sent || said.starts_with("failed address_refused: "), "{said}");
    }
    assert_eq!(server.connections(), 2);
}

#[tokio::test]
async fn a_run_that_may_happen_once_at_most_is_not_repeated_without_an_answer() {
    let (stage, server) = (Stage::new(), bad_days(Arc::default()).await);
    let serving = stage.serve().await;
    let due = jiff::Timestamp::now() + SignedDuration::from_secs(1);
    let spec = punctual_time::Once::at(due).into();
    stage
        .create("once", spec, hasty(server.url("/hang"), 300), |policy| {
            policy.delivery = punctual_plan::Delivery::AtMostOnce;
        })
        .await;
    let run = stage.ended("once", 1).await.remove(0);
    serving.stop().await;
    assert!(end(&run).starts_with("failed unanswered"), "{}", end(&run));
    assert_eq!(server.seen("/hang").len(), 1);
}
