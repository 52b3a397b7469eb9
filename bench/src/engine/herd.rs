//! Herd: so many schedules are due at one instant; how long after it was the last of them started?

use std::time::Duration;

use jiff::Timestamp;
use punctual_plan::Pace;
use serde_json::json;

use crate::Failure;
use crate::options::Kind;
use crate::peers::{self, Beside, SOONEST};
use crate::report::{Sheet, both, median};

use super::ground::{Ground, cron, fill};
use super::options::Options;
use super::starts::{Lateness, Starts};

/// How long before the instant everything stands ready.
const READY_S: i64 = 4;

/// How long the last start is waited for.
const PATIENCE: Duration = Duration::from_secs(60);

/// What the last start may be late, in milliseconds, where that is promised.
fn limit(kind: Kind, size: u32) -> Option<f64> {
    match (kind, size) {
        (Kind::Sqlite, 10_000) => Some(50.0),
        (Kind::Postgres, 10_000) => Some(150.0),
        (Kind::Sqlite, 100_000) => Some(400.0),
        (Kind::Postgres, 100_000) => Some(1_500.0),
        _ => None,
    }
}

/// The columns; the last is what ours is to the scheduler of others.
const HEADS: &[&str] =
    &["database", "schedules", "first ms", "p50 ms", "p99 ms", "last ms", "limit", SOONEST];

/// Every database and size that was asked for.
pub(super) async fn measure(options: &Options) -> Result<Sheet, Failure> {
    let mut sheet = Sheet::new("herd", HEADS);
    for kind in &options.databases {
        for size in &options.sizes {
            let (mut all, mut others) = (Vec::new(), Vec::new());
            for _ in 0..options.repeats {
                // In turns with ours: a machine that is slower for a while is so for both.
                if !options.beside.is_empty() && *size == peers::HERD {
                    others.push(peers::beside(&options.beside).await?);
                }
                all.push(once(*kind, *size, options.pace(*kind, 0)).await?);
            }
            let beside = Beside::median(&others);
            if let Some(peer) = beside {
                sheet.add(
                    line_of(peer, *size),
                    json!({ "peer": SOONEST, "schedules": size, "last_ms": both(&lasts(&others)) }),
                );
                sheet.show_last();
            }
            let of = |rank: usize| all.iter().map(|one| one.of_thousand(rank)).collect::<Vec<f64>>();
            let middle =
                |rank: usize| median(&of(rank)).map_or("-".to_owned(), |value| format!("{value:.1}"));
            let (limit, last) = (limit(*kind, *size), median(&of(1_000)));
            let ratio = beside.zip(last).map(|(peer, last)| last / peer.last);
            let line = vec![
                kind.name().to_owned(),
                size.to_string(),
                middle(0),
                middle(500),
                middle(990),
                middle(1_000),
                limit.map_or("-".to_owned(), |limit| format!("≤ {limit}")),
                ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.2}")),
            ];
            let json = json!({
                "database": kind.name(), "schedules": size, "first_ms": both(&of(0)), "p50_ms": both(&of(500)),
                "p99_ms": both(&of(990)), "last_ms": both(&of(1_000)), "last_ms_limit": limit,
                "to_peer": ratio,
            });
            sheet.add(line, json);
            sheet.show_last();
        }
    }
    Ok(sheet)
}

fn lasts(others: &[Beside]) -> Vec<f64> {
    others.iter().map(|one| one.last).collect()
}

/// A scheduler of others, in the columns of ours; what ours are to it is in the last one.
fn line_of(peer: Beside, size: u32) -> Vec<String> {
    let ms = |value: f64| format!("{value:.1}");
    let (none, size) = ("-".to_owned(), size.to_string());
    let (first, middle, last) = (ms(peer.first), ms(peer.middle), ms(peer.last));
    vec![SOONEST.to_owned(), size, first, middle, none.clone(), last, none, "1".to_owned()]
}

async fn once(kind: Kind, size: u32, pace: Pace) -> Result<Lateness, Failure> {
    let ground = Ground::new(kind).await?;
    // Made at thirty thousand a second, then some time to come to rest.
    let at = Timestamp::from_second(Timestamp::now().as_second() + i64::from(size) / 15_000 + READY_S + 1)?;
    let of_day = at.as_second().rem_euclid(86_400);
    let spec = format!("{} {} {} * * *", of_day % 60, of_day / 60 % 60, of_day / 3_600);
    fill(&*ground.store, size, |_| cron(&spec)).await?;
    let starts = Starts::new(size as usize + 1_000);
    let serving = ground.serve(&starts, pace).await?;
    if Timestamp::now() >= at {
        return Err("the schedules were not made in time".into());
    }
    let begun = std::time::Instant::now();
    while starts.count() < size as usize && begun.elapsed() < PATIENCE {
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    serving.stop().await?;
    let lateness = starts.lateness(Timestamp::MAX);
    let ended = ground.succeeded().await?;
    if (lateness.count(), lateness.doubled, ended) != (size as usize, 0, size as usize) {
        let (started, doubled) = (lateness.count(), lateness.doubled);
        return Err(format!("{started} of {size} were started, {doubled} twice, {ended} ended").into());
    }
    ground.remove().await?;
    Ok(lateness)
}
