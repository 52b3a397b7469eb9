//! What the HTTP door bears: reads and durable creates per second while a thousand schedules fire each second.
//!
//! `api PROGRAM [SECONDS]`: `cargo xtask bench api` builds both and runs it. It starts the program on a new SQLite file, lets
//! the schedules begin, asks over 16 connections of its own that are kept open, and reads from the ledger how late the
//! runs of that time were admitted. `api PROGRAM register` measures creates alone, on both databases. It prints figures and asserts none; an answer that is not the expected one ends it.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a tool talks to the person at the terminal")]
#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

mod line;
mod register;
mod server;

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use line::Line;
use serde_json::json;
use server::Server;

/// Anything that goes wrong ends the measurement.
type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Connections that ask at once.
const CONNECTIONS: usize = 16;

/// Schedules that fire each second.
const FIRING: usize = 1_000;

/// How long the schedules fire before anything is asked, and between two measurements.
const PAUSE: Duration = Duration::from_secs(5);

/// Runs of which the lateness is read.
const RUNS: usize = 20_000;

#[tokio::main]
async fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match run(&words).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("error: {problem}");
            ExitCode::FAILURE
        }
    }
}

async fn run(words: &[String]) -> Result<(), Failure> {
    let [program, rest @ ..] = words else { return Err("api PROGRAM [SECONDS]".into()) };
    if let Some(("register", rest)) = rest.split_first().map(|(word, rest)| (word.as_str(), rest)) {
        return register::run(program, rest).await;
    }
    let seconds = rest.first().map_or(Ok(15), |text| text.parse())?;
    let server = Server::start(program, None)?;
    prepare(&server).await?;
    tokio::time::sleep(PAUSE).await;
    measure(&server, "fires alone", seconds, |_| Kind::Idle).await?;
    measure(&server, "reads of one schedule", seconds, |_| Kind::Get).await?;
    measure(&server, "pages of 20 schedules", seconds, |_| Kind::Page).await?;
    measure(&server, "single creates", seconds, |_| Kind::Create).await?;
    let mixed = |number: usize| if number.is_multiple_of(2) { Kind::Get } else { Kind::Create };
    measure(&server, "half reads, half creates", seconds, mixed).await?;
    server.stop();
    Ok(())
}

/// Makes the schedules that fire.
async fn prepare(server: &Server) -> Result<(), Failure> {
    let mut line = Line::open(server).await?;
    for number in 0..FIRING {
        let body = json!({
            "name": format!("fire-{number}"), "cron": "* * * * * *",
            "target": {"type": "message", "message": {"text": "tick"}},
        });
        line.ask("POST", "/api/v1/schedules", Some(&body.to_string())).await?.expect(201)?;
    }
    Ok(())
}

/// What a connection asks for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Idle,
    Get,
    Page,
    Create,
}

static NEXT: AtomicU64 = AtomicU64::new(0);

async fn measure(
    server: &Server,
    what: &str,
    seconds: u64,
    kind: impl Fn(usize) -> Kind,
) -> Result<(), Failure> {
    let (begun, from) = (Instant::now(), Timestamp::now());
    let until = begun + Duration::from_secs(seconds);
    let (done, took) = (Arc::new(AtomicU64::new(0)), Arc::new(std::sync::Mutex::new(Vec::new())));
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..CONNECTIONS {
        let (mut line, kind) = (Line::open(server).await?, kind(number));
        let (done, took) = (Arc::clone(&done), Arc::clone(&took));
        tasks.spawn(async move {
            let mut own = Vec::new();
            while Instant::now() < until {
                let asked = Instant::now();
                once(&mut line, kind).await?;
                own.push(asked.elapsed());
                done.fetch_add(u64::from(kind != Kind::Idle), Ordering::Relaxed);
            }
            took.lock().expect("nobody panics").extend(own);
            Ok::<(), Failure>(())
        });
    }
    while let Some(ended) = tasks.join_next().await {
        ended??;
    }
    let rate = done.load(Ordering::Relaxed) as f64 / begun.elapsed().as_secs_f64();
    let mut took = std::mem::take(&mut *took.lock().expect("nobody panics"));
    took.sort();
    let at =
        |percent: usize| took.get(took.len() * percent / 100).map_or(0.0, |time| time.as_secs_f64() * 1e3);
    let (p50, p99) = if rate > 0.0 { (at(50), at(99)) } else { (0.0, 0.0) };
    let late = lateness(server, from).await?;
    println!("{what:<26} {rate:>8.0}/s  p50 {p50:>6.2} ms  p99 {p99:>6.2} ms  | {late}");
    tokio::time::sleep(PAUSE).await;
    Ok(())
}

async fn once(line: &mut Line, kind: Kind) -> Result<(), Failure> {
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    match kind {
        Kind::Idle => tokio::time::sleep(Duration::from_millis(50)).await,
        Kind::Get => {
            let path = format!("/api/v1/schedules/fire-{}", number as usize % FIRING);
            line.ask("GET", &path, None).await?.expect(200)?;
        }
        Kind::Page => line.ask("GET", "/api/v1/schedules?limit=20", None).await?.expect(200)?,
        Kind::Create => {
            let body = json!({
                "name": format!("made-{number}"), "cron": "0 3 1 1 *",
                "target": {"type": "queue", "queue": "nobody"},
            });
            line.ask("POST", "/api/v1/schedules", Some(&body.to_string())).await?.expect(201)?;
        }
    }
    Ok(())
}

/// How late the runs since an instant were admitted.
async fn lateness(server: &Server, from: Timestamp) -> Result<String, Failure> {
    let mut line = Line::open(server).await?;
    let (mut late, mut after) = (Vec::new(), String::new());
    while late.len() < RUNS {
        let path = format!("/api/v1/runs?limit=1000&since={from}{after}");
        let answer = line.ask("GET", &path, None).await?;
        answer.expect(200)?;
        let page: serde_json::Value = serde_json::from_slice(&answer.body)?;
        for run in page["runs"].as_array().into_iter().flatten().filter(|run| run["origin"] == "tick") {
            let at = |key: &str| run[key].as_str().and_then(|text| text.parse::<Timestamp>().ok());
            if let (Some(fire_at), Some(enqueued_at)) = (at("fire_at"), at("enqueued_at")) {
                late.push(enqueued_at.duration_since(fire_at).as_secs_f64() * 1e3);
            }
        }
        let Some(next) = page["next"].as_str() else { break };
        after = format!("&after={}", next.replace('%', "%25").replace('+', "%2B"));
    }
    late.sort_by(f64::total_cmp);
    let at = |percent: usize| late.get(late.len() * percent / 100).copied().unwrap_or_default();
    let max = late.last().copied().unwrap_or_default();
    Ok(format!("{} fires, late p50 {:.1} ms, p99 {:.1} ms, max {max:.1} ms", late.len(), at(50), at(99)))
}
