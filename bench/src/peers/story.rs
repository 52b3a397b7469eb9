//! The four stories: a herd, steady seconds, a crash in a herd, an outage over an instant.

use std::fmt;
use std::time::{Duration, Instant};

use jiff::Timestamp;

use crate::Failure;
use crate::report::median;

use super::notes::{Notes, tally};
use super::options::{Options, Part};
use super::peer::{Grain, Peer};
use super::stage::{Due, Stage, until};

/// Percent of the herd that have started when the process is killed.
const KILLED_AT: usize = 30;

/// How long after the kill it is started again.
const AWAY: Duration = Duration::from_secs(3);

/// Schedules of an outage.
pub(super) const OUTAGE: u32 = 200;

/// Seconds from the instant to the restart: long enough to be another minute where crons have minutes.
pub(super) const GAP_S: u32 = 10;
const GAP_MINUTE_S: u32 = 65;

/// How long before the instant the process is killed.
const BEFORE: Duration = Duration::from_millis(1_500);

/// How long after the restart an outage is watched.
const OUTAGE_WATCHED: Duration = Duration::from_secs(20);

/// How long a herd is waited for.
const HERD_MAX: Duration = Duration::from_secs(150);

/// How often it is asked how many have started.
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// What came of a story. Times are in milliseconds.
#[derive(Clone, Copy, Debug)]
pub(super) enum Told {
    Herd {
        schedules: u32,
        first: f64,
        middle: f64,
        last: f64,
        not_run: usize,
        doubled: usize,
    },
    Steady {
        schedules: u32,
        seconds: u32,
        missing: i64,
        p99: f64,
    },
    Crash {
        schedules: u32,
        started: usize,
        not_run: usize,
        doubled: usize,
        last: Option<f64>,
        watched_s: u32,
    },
    Outage {
        schedules: u32,
        ran: usize,
        gap_s: u32,
    },
}

impl fmt::Display for Told {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Herd { schedules, first, middle, last, not_run, doubled } => write!(
                out,
                "{schedules} schedules, first {first:.0} ms, p50 {middle:.0} ms, last {last:.0} ms, {not_run} not run, {doubled} doubled"
            ),
            Self::Steady { schedules, seconds, missing, p99 } => {
                write!(out, "{schedules} schedules, {seconds} s, {missing} missing, p99 {p99:.0} ms")
            }
            Self::Crash { schedules, started, not_run, doubled, last, watched_s } => {
                let last = last.map_or("nothing".to_owned(), |last| format!("the last {last:.0} ms"));
                write!(
                    out,
                    "{started} of {schedules} started, {not_run} not run within {watched_s} s, {doubled} doubled, {last} after the restart"
                )
            }
            Self::Outage { schedules, ran, gap_s } => write!(out, "{ran} of {schedules} ran after {gap_s} s"),
        }
    }
}

/// Lets a peer go through a story; nothing if it is not one for it.
pub(super) async fn tell(
    part: Part,
    peer: &'static Peer,
    options: &Options,
) -> Result<Option<Told>, Failure> {
    if part == Part::Steady && peer.steady == 0 {
        return Ok(None);
    }
    let mut told = Vec::new();
    let repeats = if part == Part::Herd { options.repeats } else { 1 };
    for _ in 0..repeats {
        let mut stage = Stage::new(peer, part, options).await?;
        told.push(match part {
            Part::Herd => herd(&mut stage, peer).await?,
            Part::Steady => steady(&mut stage, peer, options.seconds).await?,
            Part::Crash => crash(&mut stage, peer).await?,
            Part::Outage => outage(&mut stage, peer).await?,
        });
        stage.remove().await?;
    }
    Ok(middle(&told))
}

/// The telling in the middle: of herds that whose last start is the median one.
fn middle(told: &[Told]) -> Option<Told> {
    let lasts: Vec<f64> = told.iter().map(last).collect();
    let middle = median(&lasts)?;
    told.iter().find(|one| last(one).total_cmp(&middle).is_eq()).copied()
}

fn last(told: &Told) -> f64 {
    match told {
        Told::Herd { last, .. } => *last,
        _ => 0.0,
    }
}

async fn herd(stage: &mut Stage, peer: &Peer) -> Result<Told, Failure> {
    let at = stage.instant(peer.herd)?;
    stage.setup(peer.herd, Due::At(at))?;
    let worker = stage.work()?;
    if Timestamp::now() >= at {
        return Err("it was not ready in time".into());
    }
    let notes = stage.notes();
    tokio::time::sleep(until(at)).await;
    all_started(&notes, peer.herd as usize, HERD_MAX).await?;
    worker.kill()?;
    let starts = notes.starts()?;
    let mut late: Vec<f64> =
        starts.iter().map(|start| (start.at - at.as_microsecond()) as f64 / 1e3).collect();
    late.sort_by(f64::total_cmp);
    let tally = tally(&starts);
    Ok(Told::Herd {
        schedules: peer.herd,
        first: late.first().copied().unwrap_or(f64::NAN),
        middle: median(&late).unwrap_or(f64::NAN),
        last: late.last().copied().unwrap_or(f64::NAN),
        not_run: peer.herd as usize - tally.different.min(peer.herd as usize),
        doubled: tally.doubled,
    })
}

/// Waits until so many have started, or for as long as this; gives back whether they have.
async fn all_started(notes: &Notes, count: usize, most: Duration) -> Result<(), Failure> {
    let begun = Instant::now();
    while begun.elapsed() < most {
        // Counting lines is cheap beside the start of a job, but not beside a thousand of them.
        tokio::time::sleep(Duration::from_millis(100)).await;
        if notes.count() >= count && tally(&notes.starts()?).different >= count {
            return Ok(());
        }
    }
    Ok(())
}

async fn steady(stage: &mut Stage, peer: &Peer, seconds: u32) -> Result<Told, Failure> {
    stage.setup(peer.steady, Due::EachSecond)?;
    let worker = stage.work()?;
    let first_s = Timestamp::now().as_second() + 4;
    let last_s = first_s + i64::from(seconds);
    tokio::time::sleep(until(Timestamp::from_second(last_s + 2)?)).await;
    worker.kill()?;
    // A handler does not know for which second it was called: a start belongs to the one in which it was.
    let of_window = |at: i64| (first_s * 1_000_000..last_s * 1_000_000).contains(&at);
    let starts = stage.notes().starts()?;
    let mut late: Vec<f64> = starts
        .iter()
        .filter(|start| of_window(start.at))
        .map(|start| (start.at % 1_000_000) as f64 / 1e3)
        .collect();
    late.sort_by(f64::total_cmp);
    let wanted = i64::from(peer.steady) * i64::from(seconds);
    let p99 = late.get(late.len().saturating_sub(1) * 99 / 100).copied().unwrap_or(f64::NAN);
    Ok(Told::Steady { schedules: peer.steady, seconds, missing: wanted - late.len() as i64, p99 })
}

async fn crash(stage: &mut Stage, peer: &Peer) -> Result<Told, Failure> {
    let at = stage.instant(peer.crash)?;
    stage.setup(peer.crash, Due::At(at))?;
    let worker = stage.work()?;
    let notes = stage.notes();
    let (count, begun) = (peer.crash as usize, Instant::now());
    tokio::time::sleep(until(at)).await;
    while notes.count() < count * KILLED_AT / 100 {
        if begun.elapsed() > HERD_MAX {
            return Err(format!("only {} of {count} were started", notes.count()).into());
        }
        std::thread::sleep(LOOK_EVERY);
    }
    worker.kill()?;
    let started = notes.count();
    tokio::time::sleep(AWAY).await;
    let restarted = Timestamp::now().as_microsecond();
    let mut worker = stage.begin()?;
    all_started(&notes, count, Duration::from_secs(u64::from(peer.watched))).await?;
    // What is doubled may come after what is the last of its kind.
    tokio::time::sleep(AWAY).await;
    if worker.has_ended()? {
        eprintln!("{} did not go on after its restart: {}", peer.name, stage.complaint());
    }
    worker.kill()?;
    let starts = notes.starts()?;
    let tally = tally(&starts);
    let last = starts.iter().map(|start| start.at).max().filter(|last| *last > restarted);
    Ok(Told::Crash {
        schedules: peer.crash,
        started,
        not_run: count - tally.different.min(count),
        doubled: tally.doubled,
        last: last.map(|last| (last - restarted) as f64 / 1e3),
        watched_s: peer.watched,
    })
}

async fn outage(stage: &mut Stage, peer: &Peer) -> Result<Told, Failure> {
    let gap_s = if peer.grain == Grain::Minute { GAP_MINUTE_S } else { GAP_S };
    let at = stage.instant(OUTAGE)?;
    stage.setup(OUTAGE, Due::At(at))?;
    let worker = stage.work()?;
    tokio::time::sleep(until(at).saturating_sub(BEFORE)).await;
    worker.kill()?;
    if Timestamp::now() >= at {
        return Err("it was not killed in time".into());
    }
    tokio::time::sleep(until(at) + Duration::from_secs(u64::from(gap_s))).await;
    let worker = stage.begin()?;
    all_started(&stage.notes(), OUTAGE as usize, OUTAGE_WATCHED).await?;
    worker.kill()?;
    Ok(Told::Outage { schedules: OUTAGE, ran: tally(&stage.notes().starts()?).different, gap_s })
}
