//! An outage: the process dies before the instant and is started again when it has long passed; which ticks still run?

use std::time::Duration;

use jiff::Timestamp;
use punctual_plan::RunStatus;
use serde_json::json;

use crate::Failure;
use crate::engine::{cron, fill};
use crate::options::Kind;
use crate::report::{Sheet, both, median};

use super::child::Child;
use super::notes::tally;
use super::options::Options;
use super::place::{Place, count};

/// How long before the instant the process is killed.
const BEFORE: Duration = Duration::from_millis(1_500);

/// How long before the instant everything stands ready.
const READY_S: i64 = 5;

/// How long after the restart it is watched.
const WATCHED: Duration = Duration::from_secs(5);

struct Story {
    ran: usize,
    doubled: usize,
    /// Ticks that the ledger accounts for, whatever became of them.
    accounted: usize,
    restart_ms: f64,
}

/// Every database and size that was asked for.
pub(super) async fn measure(options: &Options) -> Result<Sheet, Failure> {
    let head = &[
        "database",
        "schedules",
        "away s",
        "ran",
        "not run",
        "accounted for",
        "doubled",
        "last ms after restart",
    ];
    let mut sheet = Sheet::new("outage", head);
    for kind in &options.databases {
        for size in &options.sizes {
            let mut all = Vec::new();
            for _ in 0..options.repeats {
                all.push(once(*kind, *size, options.gap).await?);
            }
            let of = |count: fn(&Story) -> f64| all.iter().map(count).collect::<Vec<f64>>();
            let middle = |count: fn(&Story) -> f64| median(&of(count)).unwrap_or(f64::NAN);
            let ran = middle(|one| one.ran as f64);
            let line = vec![
                kind.name().to_owned(),
                size.to_string(),
                options.gap.to_string(),
                format!("{ran:.0}"),
                format!("{:.0}", f64::from(*size) - ran),
                format!("{:.0}", middle(|one| one.accounted as f64)),
                format!("{:.0}", middle(|one| one.doubled as f64)),
                format!("{:.0}", middle(|one| one.restart_ms)),
            ];
            let json = json!({
                "database": kind.name(), "schedules": size, "gap_s": options.gap, "ran": both(&of(|one| one.ran as f64)),
                "accounted": both(&of(|one| one.accounted as f64)), "doubled": both(&of(|one| one.doubled as f64)),
                "last_ms_after_restart": both(&of(|one| one.restart_ms)),
            });
            sheet.add(line, json);
            sheet.show_last();
        }
    }
    Ok(sheet)
}

async fn once(kind: Kind, size: u32, gap: u32) -> Result<Story, Failure> {
    let place = Place::new(kind).await?;
    let at = Timestamp::from_second(Timestamp::now().as_second() + i64::from(size) / 15_000 + READY_S + 1)?;
    let of_day = at.as_second().rem_euclid(86_400);
    let spec = format!("{} {} {} * * *", of_day % 60, of_day / 60 % 60, of_day / 3_600);
    let store = place.open().await?;
    fill(&store, size, |_| cron(&spec)).await?;
    drop(store);
    let child = Child::start(&place)?;
    let until = |at: Timestamp| Duration::try_from(at.duration_since(Timestamp::now())).unwrap_or_default();
    tokio::time::sleep(until(at).saturating_sub(BEFORE)).await;
    child.kill()?;
    if Timestamp::now() >= at {
        return Err("the process was not killed in time".into());
    }
    tokio::time::sleep(until(at) + Duration::from_secs(u64::from(gap))).await;
    let restarted = Timestamp::now().as_microsecond();
    let child = Child::start(&place)?;
    tokio::time::sleep(WATCHED).await;
    child.stop()?;
    let starts = place.notes().starts()?;
    let last = starts.iter().map(|start| start.at).max().unwrap_or(restarted);
    let tally = tally(&starts);
    let rows = place.runs().await?;
    let accounted = rows.len() - count(&rows, RunStatus::Scheduled);
    place.remove().await?;
    let doubled = tally.doubled + tally.repeated;
    Ok(Story { ran: tally.runs, doubled, accounted, restart_ms: (last - restarted) as f64 / 1e3 })
}
