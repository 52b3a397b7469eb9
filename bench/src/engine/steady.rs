//! Steady: the same schedules again and again, each second or spread over a minute; how late are the starts?

use std::time::Duration;

use jiff::Timestamp;
use punctual_time::Bounds;
use serde_json::json;

use crate::Failure;
use crate::options::Kind;
use crate::peers::{self, SOONEST, SteadyBeside};
use crate::report::{Sheet, Stopwatch, median};

use super::ground::{Ground, cron, fill_at, seal};
use super::options::{Options, SPREAD_FROM};
use super::starts::{Lateness, Starts};

/// How long before the first tick everything stands ready.
const READY_S: i64 = 10;

struct Measured {
    lateness: Lateness,
    wanted: usize,
    /// How much of one core this process computed.
    cpu: f64,
}

/// Every database and size that was asked for.
pub(super) async fn measure(options: &Options) -> Result<Sheet, Failure> {
    let head = &[
        "database",
        "schedules",
        "ahead",
        "starts",
        "missing",
        "doubled",
        "p50 ms",
        "p99 ms",
        "max ms",
        "CPU",
        "limit",
        SOONEST,
    ];
    let mut sheet = Sheet::new("steady", head);
    for kind in &options.databases {
        for size in &options.sizes {
            let beside = beside(*size, options, &mut sheet).await?;
            let mut all = Vec::new();
            for _ in 0..options.repeats {
                all.push(once(*kind, *size, options).await?);
            }
            let of = |rank: usize| all.iter().map(|one| one.lateness.of_thousand(rank)).collect::<Vec<f64>>();
            let middle = |rank: usize| median(&of(rank)).unwrap_or(f64::NAN);
            let sum = |count: fn(&Measured) -> usize| all.iter().map(count).sum::<usize>();
            let (started, missing, doubled) = (
                sum(|one| one.lateness.count()),
                sum(|one| one.wanted.saturating_sub(one.lateness.count())),
                sum(|one| one.lateness.doubled),
            );
            let cpu = median(&all.iter().map(|one| one.cpu).collect::<Vec<f64>>()).unwrap_or(f64::NAN);
            let ratio = beside.map(|peer| middle(990) / peer.p99);
            let line = vec![
                kind.name().to_owned(),
                size.to_string(),
                format!("{} s", options.pace(*kind, *size).lookahead.as_secs()),
                started.to_string(),
                missing.to_string(),
                doubled.to_string(),
                format!("{:.1}", middle(500)),
                format!("{:.1}", middle(990)),
                format!("{:.1}", middle(1_000)),
                format!("{:.0} %", cpu * 100.0),
                format!("< {}", limit(*kind, *size)),
                ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.2}")),
            ];
            let json = json!({
                "database": kind.name(), "schedules": size, "seconds": options.seconds,
                "lookahead_s": options.pace(*kind, *size).lookahead.as_secs(), "started": started,
                "missing": missing, "doubled": doubled, "p50_ms": middle(500), "p99_ms": middle(990),
                "max_ms": middle(1_000), "cpu_of_one_core": cpu, "p99_ms_limit": limit(*kind, *size), "p99_to_peer": ratio,
                "latest_ms_of_each_second": all.iter().map(|one| one.lateness.by_second()).collect::<Vec<_>>(),
            });
            sheet.add(line, json);
            sheet.show_last();
        }
    }
    Ok(sheet)
}

/// The scheduler of others that starts soonest, right before ours, where as many schedules are asked for as it is measured with.
async fn beside(size: u32, options: &Options, sheet: &mut Sheet) -> Result<Option<SteadyBeside>, Failure> {
    if options.beside.is_empty() || size != peers::HERD {
        return Ok(None);
    }
    let peer = peers::steady_beside(&options.beside, options.seconds).await?;
    let mut line = vec!["-".to_owned(); 12];
    line[0] = SOONEST.to_owned();
    line[1] = size.to_string();
    line[3] = peer.started.to_string();
    line[4] = peer.missing.to_string();
    line[7] = format!("{:.1}", peer.p99);
    line[11] = "1".to_owned();
    let json = json!({ "peer": SOONEST, "schedules": size, "missing": peer.missing, "p99_ms": peer.p99 });
    sheet.add(line, json);
    sheet.show_last();
    Ok(Some(peer))
}

/// What the 99th of a hundred starts may be late, in milliseconds.
fn limit(kind: Kind, size: u32) -> f64 {
    match kind {
        _ if size >= SPREAD_FROM => 250.0,
        Kind::Sqlite => 50.0,
        Kind::Postgres => 150.0,
    }
}

async fn once(kind: Kind, size: u32, options: &Options) -> Result<Measured, Failure> {
    let (seconds, pace) = (options.seconds, options.pace(kind, size));
    let ground = Ground::new(kind).await?;
    let per_minute = size >= SPREAD_FROM;
    // A million are made within a minute; the first tick of all of them comes later.
    let made_s = i64::from(size) / 15_000 + READY_S + 1;
    let now_s = Timestamp::now().as_second();
    let first_s = if per_minute { (now_s + made_s).div_euclid(60) * 60 + 60 } else { now_s + made_s };
    let first = Timestamp::from_second(first_s)?;
    let last = Timestamp::from_second(first_s + i64::from(seconds))?;
    let spec = |number: u32| {
        if per_minute { format!("{} * * * * *", number % 60) } else { "* * * * * *".to_owned() }
    };
    let timing = |number: u32| {
        let mut timing = cron(&spec(number))?;
        // They go on when nobody looks any more: a schedule that comes to its end is another thing to measure.
        timing.bounds = Bounds { start_at: Some(first), end_at: None, max_runs: None };
        Ok(timing)
    };
    fill_at(&*ground.store, size, pace, timing).await?;
    seal(&*ground.store).await?;
    let ticks = if per_minute { (seconds / 60) as usize } else { seconds as usize };
    let wanted = size as usize * ticks;
    let starts = Starts::new(wanted + wanted / 10);
    let serving = ground.serve(&starts, pace).await?;
    let until = |at: Timestamp| Duration::try_from(at.duration_since(Timestamp::now()));
    tokio::time::sleep(until(first).map_err(|_| "the schedules were not made in time")?).await;
    let watch = Stopwatch::start();
    tokio::time::sleep(until(last).unwrap_or_default()).await;
    let rate = watch.stop(wanted as u64);
    tokio::time::sleep(Duration::from_secs(3)).await;
    serving.stop().await?;
    ground.remove().await?;
    let cpu = rate.computed_s / rate.elapsed.as_secs_f64();
    Ok(Measured { lateness: starts.lateness(last), wanted, cpu })
}
