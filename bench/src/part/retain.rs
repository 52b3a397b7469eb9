//! Retention of a large ledger while a thousand runs a second go on: how late they are with it and without it.
//!
//! Time is real here. Every second a thousand runs fall due at once; a run's lateness is from its instant to the
//! answer of the commit that admits it. The ledger is filled in virtual time up to now beforehand.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use jiff::{SignedDuration, Timestamp};
use punctual_plan::RunKey;
use punctual_store::{Access, Postgres, PostgresSettings, Retention, Shards, Sqlite, Store};
use serde_json::json;

use crate::Failure;
use crate::options::{Kind, Options};
use crate::ours::{self, Admitted, InFlight, Ours, POSTGRES_LANES};
use crate::report::Sheet;
use crate::server::Server;
use crate::workload::Workload;

/// Schedules, each of which runs every minute.
const SCHEDULES: u32 = 60_000;

/// Runs that they come to in a second.
const RUNS_A_SECOND: u32 = SCHEDULES / 60;

/// How long the runs are watched without retention, before it and again after it.
const WATCHED: Duration = Duration::from_secs(60);

/// How long the runs go on before they are watched.
const SETTLED: Duration = Duration::from_secs(5);

/// Callers that fill the database beforehand.
const CALLERS: usize = 4;

/// How late the runs of a stretch were.
struct Lateness {
    /// In milliseconds, sorted.
    ms: Vec<f64>,
}

impl Lateness {
    fn at(&self, share: f64) -> f64 {
        let place = (self.ms.len() as f64 * share) as usize;
        self.ms.get(place.min(self.ms.len().saturating_sub(1))).copied().unwrap_or_default()
    }
}

/// Every database that was asked for.
pub(crate) async fn measure(options: &Options) -> Result<Sheet, Failure> {
    let head = &[
        "database",
        "retention",
        "removed",
        "removed/s",
        "seconds",
        "runs",
        "p50 ms",
        "p90 ms",
        "p99 ms",
        "max ms",
    ];
    let mut sheet = Sheet::new("retain", head);
    for kind in &options.databases {
        match kind {
            Kind::Sqlite => {
                let folder = tempfile::tempdir()?;
                let store = Arc::new(Sqlite::open(&folder.path().join("retain.db"), Access::Serve)?);
                watch(store, 1, (options.ledger, &mut sheet)).await?;
            }
            Kind::Postgres => {
                let server = Server::find().await?;
                let database = server.create("retained").await?;
                let store = Arc::new(Postgres::open(PostgresSettings::new(&database.url)).await?);
                watch(store, POSTGRES_LANES, (options.ledger, &mut sheet)).await?;
                server.remove("retained").await?;
            }
        }
    }
    Ok(sheet)
}

async fn watch<S: Store>(store: Arc<S>, lanes: u16, out: (u32, &mut Sheet)) -> Result<(), Failure> {
    let (ledger, sheet) = out;
    let database = if lanes == 1 { Kind::Sqlite.name() } else { Kind::Postgres.name() };
    let past_s = i64::from(ledger / RUNS_A_SECOND) + 60;
    let workload = Workload::new(SCHEDULES, 1).every_minute().from(now().as_second() - past_s);
    ours::create(&store, workload, CALLERS).await?;
    let ours = Arc::new(Ours::join(store, lanes).await?);
    let filled = fill(&ours, workload).await?;
    // What fell due while the ledger was filled is late for no other reason.
    stretch(&ours, tokio::time::sleep(SETTLED)).await?;
    for phase in ["without", "with", "without"] {
        let start = Instant::now();
        let (lateness, removed) = match phase {
            "with" => stretch(&ours, retain(&ours, filled)).await?,
            _ => {
                let (lateness, ()) = stretch(&ours, tokio::time::sleep(WATCHED)).await?;
                (lateness, Ok(0))
            }
        };
        let (removed, seconds) = (removed?, start.elapsed().as_secs_f64());
        let rate = removed as f64 / seconds;
        let (p50, p90) = (lateness.at(0.5), lateness.at(0.9));
        let (p99, max) = (lateness.at(0.99), lateness.at(1.0));
        let line = vec![
            database.to_owned(),
            phase.to_owned(),
            removed.to_string(),
            format!("{rate:.0}"),
            format!("{seconds:.1}"),
            lateness.ms.len().to_string(),
            format!("{p50:.1}"),
            format!("{p90:.1}"),
            format!("{p99:.1}"),
            format!("{max:.1}"),
        ];
        let json = json!({
            "database": database, "retention": phase, "removed": removed, "removed_per_s": rate, "seconds": seconds,
            "runs": lateness.ms.len(), "p50_ms": p50, "p90_ms": p90, "p99_ms": p99, "max_ms": max,
        });
        sheet.add(line, json);
        sheet.show_last();
    }
    Ok(())
}

/// Lets the runs go on while something else is done; gives how late they were, and what the other came to.
async fn stretch<S: Store, T>(
    ours: &Arc<Ours<S>>,
    beside: impl Future<Output = T>,
) -> Result<(Lateness, T), Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let pace = tokio::spawn(pace(Arc::clone(ours), Arc::clone(&stop)));
    let result = beside.await;
    stop.store(true, Ordering::Relaxed);
    Ok((pace.await??, result))
}

/// Lets virtual time catch up with the clock; gives the instant up to which the ledger is full.
async fn fill<S: Store>(ours: &Ours<S>, workload: Workload) -> Result<Timestamp, Failure> {
    let mut in_flight = InFlight::default();
    let mut number = 1;
    while workload.step(number) <= now() {
        ours.step(workload.step(number), &mut in_flight).await?;
        number += 1;
    }
    let at = now();
    ours.step(at, &mut in_flight).await?;
    // A run that nobody settles would keep its schedule's next one from starting.
    ours.finish(now(), in_flight).await?;
    Ok(at)
}

/// Removes everything that had ended before an instant.
async fn retain<S: Store>(ours: &Ours<S>, before: Timestamp) -> Result<u64, Failure> {
    let mut removed = 0;
    loop {
        let at = now();
        let kept = at.duration_since(before);
        let retention =
            Retention { runs: kept, failures: kept, runs_per_schedule: 1_000_000, ..Retention::default() };
        let retained = ours.store.retain(retention, at).await?;
        removed += retained.runs;
        if retained.runs == 0 && !retained.is_more {
            return Ok(removed);
        }
    }
}

/// Plans, admits and settles by the clock until it is told to stop.
async fn pace<S: Store>(ours: Arc<Ours<S>>, stop: Arc<AtomicBool>) -> Result<Lateness, Failure> {
    let lane = |lane: &Shards| {
        let (plans, admits) = ((Arc::clone(&ours), lane.clone()), (Arc::clone(&ours), lane.clone()));
        (
            tokio::spawn(plan(plans.0, plans.1, Arc::clone(&stop))),
            tokio::spawn(admit(admits.0, admits.1, Arc::clone(&stop))),
        )
    };
    let tasks: Vec<_> = ours.lanes.iter().map(lane).collect();
    let mut ms = Vec::new();
    for (planning, admitting) in tasks {
        planning.await??;
        ms.extend(admitting.await??);
    }
    ms.sort_by(f64::total_cmp);
    Ok(Lateness { ms })
}

/// Plans in the middle of each second.
async fn plan<S: Store>(ours: Arc<Ours<S>>, lane: Shards, stop: Arc<AtomicBool>) -> Result<(), Failure> {
    while !stop.load(Ordering::Relaxed) {
        until_fraction(SignedDuration::from_millis(500)).await;
        ours.hand(&lane, now()).plan().await?;
    }
    Ok(())
}

/// Admits at the beginning of each second, and settles what it admitted.
async fn admit<S: Store>(
    ours: Arc<Ours<S>>,
    lane: Shards,
    stop: Arc<AtomicBool>,
) -> Result<Vec<f64>, Failure> {
    let mut ms = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        until_fraction(SignedDuration::ZERO).await;
        let admitted: Vec<Admitted> = ours.hand(&lane, now()).admit().await?;
        let at = now();
        ms.extend(admitted.iter().map(|one| at.duration_since(one.fire_at).as_secs_f64() * 1e3));
        let runs: Vec<RunKey> = admitted.iter().map(|one| one.run).collect();
        ours.hand(&lane, at).settle(runs).await?;
    }
    Ok(ms)
}

/// The clock of this machine.
fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let micros = i64::try_from(since.as_micros()).unwrap_or(i64::MAX);
    Timestamp::from_microsecond(micros).expect("the clock of this century")
}

/// Sleeps until this far into a second.
async fn until_fraction(into: SignedDuration) {
    let at = now();
    let second = SignedDuration::from_secs(1);
    let past = SignedDuration::from_nanos(i64::from(at.subsec_nanosecond()));
    let left = if past < into { into - past } else { second + into - past };
    tokio::time::sleep(left.unsigned_abs()).await;
}
