//! A herd that is killed: so many schedules are due at one instant, the process dies when three tenths have started, and
//! another one goes on after a while.

use std::time::{Duration, Instant};

use jiff::Timestamp;
use punctual_plan::RunStatus;
use serde_json::json;

use crate::Failure;
use crate::engine::{cron, fill};
use crate::options::Kind;
use crate::report::{Sheet, both, median};

use super::child::Child;
use super::notes::{Start, tally};
use super::options::Options;
use super::place::{Place, count};

/// Percent of the herd that have started when the process is killed.
const KILLED_AT: usize = 30;

/// How long after the restart the last start may come, in milliseconds.
const LIMIT_MS: f64 = 1_000.0;

/// How long before the instant everything stands ready.
const READY_S: i64 = 5;

/// How long starts and ends are waited for.
const PATIENCE: Duration = Duration::from_secs(60);

/// How often it is asked how many have started.
const LOOK_EVERY: Duration = Duration::from_micros(200);

/// How long nothing may start before what is left is taken for lost: more than a lease lasts.
const QUIET: Duration = Duration::from_secs(5);

/// What came of one herd.
#[derive(Default)]
struct Story {
    started_at_kill: usize,
    lost: usize,
    doubled: usize,
    repeated: usize,
    /// Runs of which the journal did not know the end.
    doubted: usize,
    /// Runs that did not end well.
    bad: usize,
    /// From the restart to the last start.
    restart_ms: f64,
}

/// Every database and size that was asked for.
pub(super) async fn measure(options: &Options) -> Result<Sheet, Failure> {
    let head = &[
        "database",
        "schedules",
        "kills",
        "started at kill",
        "lost",
        "doubled",
        "in doubt",
        "repeated",
        "restart ms",
        "limit",
        "undisturbed ms",
        "ratio",
    ];
    let mut sheet = Sheet::new("crash", head);
    for kind in &options.databases {
        for size in &options.sizes {
            let (mut all, mut calm) = (Vec::new(), Vec::new());
            for _ in 0..options.repeats {
                calm.push(undisturbed(*kind, *size).await?);
                all.push(once(*kind, *size, options.gap).await?);
            }
            add(&mut sheet, (*kind, *size), (&all, &calm));
        }
    }
    Ok(sheet)
}

fn add(sheet: &mut Sheet, (kind, size): (Kind, u32), (all, calm): (&[Story], &[f64])) {
    let sum = |count: fn(&Story) -> usize| all.iter().map(count).sum::<usize>();
    let list = |count: fn(&Story) -> usize| all.iter().map(|one| count(one) as f64).collect::<Vec<f64>>();
    let restarts: Vec<f64> = all.iter().map(|one| one.restart_ms).collect();
    let restart = median(&restarts).unwrap_or(f64::NAN);
    let undisturbed = median(calm).unwrap_or(f64::NAN);
    let line = vec![
        kind.name().to_owned(),
        size.to_string(),
        all.len().to_string(),
        format!("{:.0}", median(&list(|one| one.started_at_kill)).unwrap_or(f64::NAN)),
        (sum(|one| one.lost) + sum(|one| one.bad)).to_string(),
        sum(|one| one.doubled).to_string(),
        sum(|one| one.doubted).to_string(),
        sum(|one| one.repeated).to_string(),
        format!("{restart:.0}"),
        format!("≤ {LIMIT_MS}"),
        format!("{undisturbed:.0}"),
        format!("{:.1}", restart / undisturbed),
    ];
    let json = json!({
        "database": kind.name(), "schedules": size, "kills": all.len(),
        "started_at_kill": both(&list(|one| one.started_at_kill)), "lost": sum(|one| one.lost),
        "ended_badly": sum(|one| one.bad), "doubled": sum(|one| one.doubled), "in_doubt": both(&list(|one| one.doubted)),
        "repeated": both(&list(|one| one.repeated)), "restart_ms": both(&restarts), "restart_ms_limit": LIMIT_MS,
        "undisturbed_last_ms": both(calm), "ratio": restart / undisturbed,
    });
    sheet.add(line, json);
    sheet.show_last();
}

/// A place where a herd is due at an instant, and a process that serves it.
async fn ready(kind: Kind, size: u32) -> Result<(Place, Child, Timestamp), Failure> {
    let place = Place::new(kind).await?;
    let at = Timestamp::from_second(Timestamp::now().as_second() + i64::from(size) / 15_000 + READY_S + 1)?;
    let of_day = at.as_second().rem_euclid(86_400);
    let spec = format!("{} {} {} * * *", of_day % 60, of_day / 60 % 60, of_day / 3_600);
    let store = place.open().await?;
    fill(&store, size, |_| cron(&spec)).await?;
    drop(store);
    let child = Child::start(&place)?;
    match Timestamp::now() < at {
        true => Ok((place, child, at)),
        false => Err("the schedules were not made in time".into()),
    }
}

/// How late the last start is, in milliseconds, when nobody disturbs.
async fn undisturbed(kind: Kind, size: u32) -> Result<f64, Failure> {
    let (place, child, at) = ready(kind, size).await?;
    let notes = place.notes();
    let until = Instant::now() + PATIENCE;
    while !notes.has(size as usize) && Instant::now() < until {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    child.stop()?;
    let starts = notes.starts()?;
    let last = starts.iter().map(|start| start.at).max().unwrap_or_default();
    place.remove().await?;
    match starts.len() == size as usize {
        true => Ok((last - at.as_microsecond()) as f64 / 1e3),
        false => Err(format!("{} of {size} were started, and nobody was killed", starts.len()).into()),
    }
}

async fn once(kind: Kind, size: u32, gap: u32) -> Result<Story, Failure> {
    let (place, child, _) = ready(kind, size).await?;
    let notes = place.notes();
    let enough = size as usize * KILLED_AT / 100;
    let until = Instant::now() + PATIENCE;
    while !notes.has(enough) {
        if Instant::now() > until {
            return Err(format!("only {} of {size} were started", notes.starts()?.len()).into());
        }
        std::thread::sleep(LOOK_EVERY);
    }
    child.kill()?;
    let before = notes.starts()?;
    tokio::time::sleep(Duration::from_secs(u64::from(gap))).await;
    let restarted = Timestamp::now().as_microsecond();
    let child = Child::start(&place)?;
    rest(&place, size as usize).await?;
    child.stop()?;
    let story = judge(&place, size as usize, before.len()).await?;
    let last = notes.starts()?.iter().map(|start| start.at).max().unwrap_or_default();
    place.remove().await?;
    Ok(Story { restart_ms: (last - restarted) as f64 / 1e3, ..story })
}

/// Waits until every run has started and nothing more does.
async fn rest(place: &Place, size: usize) -> Result<(), Failure> {
    let notes = place.notes();
    let (begun, mut seen, mut quiet_since) = (Instant::now(), 0, Instant::now());
    while begun.elapsed() < PATIENCE {
        let count = notes.starts()?.len();
        if count != seen {
            (seen, quiet_since) = (count, Instant::now());
        }
        if quiet_since.elapsed() > QUIET {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Err(format!("{size} runs have had {seen} starts and it goes on").into())
}

/// Holds what the closure noted against what the ledger says.
async fn judge(place: &Place, size: usize, started_at_kill: usize) -> Result<Story, Failure> {
    let starts: Vec<Start> = place.notes().starts()?;
    let tally = tally(&starts);
    let rows = place.runs().await?;
    // Ticks of tomorrow are not planned yet, but a row that waits for its instant is no loss either.
    let rows: Vec<_> =
        rows.into_iter().filter(|row| row.run.state.status() != RunStatus::Scheduled).collect();
    let mut again: Vec<i64> =
        starts.iter().filter(|start| start.attempt > 1).map(|start| start.run).collect();
    again.sort_unstable();
    again.dedup();
    Ok(Story {
        started_at_kill,
        lost: size - tally.runs.min(size),
        doubled: tally.doubled + rows.len().saturating_sub(size),
        repeated: tally.repeated,
        doubted: again.len(),
        bad: rows.len() - count(&rows, RunStatus::Success),
        restart_ms: 0.0,
    })
}
