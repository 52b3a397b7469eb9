//! Single creates over HTTP, each durable when it is answered, by 16 clients that do nothing else.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::line::Line;
use crate::server::Server;
use crate::{CONNECTIONS, Failure, Kind, once};

const HINT: &str =
    "api PROGRAM register [--databases sqlite,postgres] [--seconds 10] [--repeats 3] [--out FILE]";

/// Where `cargo xtask` says that PostgreSQL is.
const URL_VARIABLE: &str = "PUNCTUAL_TEST_POSTGRES";

/// What is wanted.
const PER_SECOND_MIN: u32 = 3_000;

struct Wish {
    databases: Vec<String>,
    seconds: u64,
    repeats: usize,
    out: PathBuf,
}

impl Wish {
    fn read(words: &[String]) -> Result<Self, Failure> {
        let mut wish = Self {
            databases: ["sqlite", "postgres"].map(str::to_owned).to_vec(),
            seconds: 10,
            repeats: 3,
            out: PathBuf::from("target/bench/register-http.json"),
        };
        for pair in words.chunks(2) {
            let [name, value] = pair else { return Err(HINT.into()) };
            match name.as_str() {
                "--databases" => wish.databases = value.split(',').map(str::to_owned).collect(),
                "--seconds" => wish.seconds = value.parse()?,
                "--repeats" => wish.repeats = value.parse()?,
                "--out" => wish.out = PathBuf::from(value),
                _ => return Err(HINT.into()),
            }
        }
        Ok(wish)
    }
}

/// How fast one pass was.
struct Pass {
    rate: f64,
    p50: f64,
    p99: f64,
}

/// Every database that was asked for; the one on a server is that server's own.
pub(crate) async fn run(program: &str, words: &[String]) -> Result<(), Failure> {
    let wish = Wish::read(words)?;
    let mut rows = Vec::new();
    println!("single creates over HTTP, {CONNECTIONS} clients");
    for database in &wish.databases {
        let url = match database.as_str() {
            "sqlite" => None,
            "postgres" => {
                Some(std::env::var(URL_VARIABLE).map_err(|_| format!("no server in {URL_VARIABLE}"))?)
            }
            _ => return Err(HINT.into()),
        };
        let server = Server::start(program, url.as_deref())?;
        let mut passes = Vec::new();
        for _ in 0..wish.repeats {
            passes.push(pass(&server, wish.seconds).await?);
        }
        server.stop();
        rows.push(show(database, &passes));
    }
    if let Some(folder) = wish.out.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let whole = json!({ "load_at_end": load.trim(), "parts": { "register-http": rows } });
    Ok(std::fs::write(&wish.out, format!("{whole:#}\n"))?)
}

fn show(database: &str, passes: &[Pass]) -> Value {
    let of = |figure: fn(&Pass) -> f64| {
        let mut all: Vec<f64> = passes.iter().map(figure).collect();
        all.sort_by(f64::total_cmp);
        all.get(all.len() / 2).copied().unwrap_or(f64::NAN)
    };
    let (rate, p50, p99) = (of(|one| one.rate), of(|one| one.p50), of(|one| one.p99));
    let ratio = rate / f64::from(PER_SECOND_MIN);
    println!(
        "{database:<9} {rate:>7.0}/s  p50 {p50:>6.2} ms  p99 {p99:>6.2} ms  | wanted ≥ {PER_SECOND_MIN}/s, ratio {ratio:.2}"
    );
    json!({
        "database": database, "clients": CONNECTIONS, "made_per_s": rate, "p50_ms": p50, "p99_ms": p99,
        "all_per_s": passes.iter().map(|one| one.rate).collect::<Vec<f64>>(), "limit_min": PER_SECOND_MIN, "ratio": ratio,
    })
}

async fn pass(server: &Server, seconds: u64) -> Result<Pass, Failure> {
    let begun = Instant::now();
    let until = begun + Duration::from_secs(seconds);
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..CONNECTIONS {
        let mut line = Line::open(server).await?;
        tasks.spawn(async move {
            let mut took = Vec::new();
            while Instant::now() < until {
                let asked = Instant::now();
                once(&mut line, Kind::Create).await?;
                took.push(asked.elapsed().as_secs_f64() * 1e3);
            }
            Ok::<Vec<f64>, Failure>(took)
        });
    }
    let mut took = Vec::new();
    while let Some(ended) = tasks.join_next().await {
        took.extend(ended??);
    }
    let rate = took.len() as f64 / begun.elapsed().as_secs_f64();
    took.sort_by(f64::total_cmp);
    let at = |percent: usize| took.get(took.len() * percent / 100).copied().unwrap_or(f64::NAN);
    Ok(Pass { rate, p50: at(50), p99: at(99) })
}
