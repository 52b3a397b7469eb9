//! apalis-cron and tokio-cron-scheduler as a program; see ../README.md for how it is called. Both keep nothing, so `setup` does
//! nothing.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::str::FromStr as _;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use apalis::prelude::{BoxDynError, Data, WorkerBuilder};
use apalis_cron::{CronScheduler, Tick};
use cron::Schedule;
use tokio_cron_scheduler::{Job, JobScheduler};

/// What a handler needs.
#[derive(Clone)]
struct Note {
    number: u32,
    file: Arc<File>,
}

impl Note {
    fn write(&self) {
        let at = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros());
        let line = format!("{} {at}\n", self.number);
        (&*self.file).write_all(line.as_bytes()).expect("the notes can be written");
    }
}

#[tokio::main]
async fn main() -> Result<(), BoxDynError> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [peer, action] = words.as_slice() else { return Err("PEER setup|work".into()) };
    if action == "setup" {
        return Ok(());
    }
    let count: u32 = std::env::var("PEER_N")?.parse()?;
    let spec = spec(&std::env::var("PEER_AT")?)?;
    let file = OpenOptions::new().append(true).create(true).open(std::env::var("PEER_NOTES")?)?;
    let file = Arc::new(file);
    let notes = (0..count).map(|number| Note { number, file: Arc::clone(&file) });
    match peer.as_str() {
        "apalis-cron" => apalis(&spec, notes)?,
        _ => tokio_cron_scheduler(&spec, notes).await?,
    }
    println!("ready");
    std::future::pending().await
}

/// A cron with seconds, in UTC.
fn spec(at: &str) -> Result<String, BoxDynError> {
    if at == "second" {
        return Ok("* * * * * *".to_owned());
    }
    let of_day = at.parse::<u64>()? % 86_400;
    Ok(format!("{} {} {} * * *", of_day % 60, of_day / 60 % 60, of_day / 3_600))
}

async fn handle(_tick: Tick, note: Data<Note>) {
    note.write();
}

/// One worker for each schedule: that is how it is meant.
fn apalis(spec: &str, notes: impl Iterator<Item = Note>) -> Result<(), BoxDynError> {
    let schedule = Schedule::from_str(spec)?;
    for note in notes {
        let worker = WorkerBuilder::new(format!("one-{}", note.number))
            .backend(CronScheduler::new(schedule.clone()))
            .data(note)
            .build(handle);
        tokio::spawn(worker.run());
    }
    Ok(())
}

async fn tokio_cron_scheduler(spec: &str, notes: impl Iterator<Item = Note>) -> Result<(), BoxDynError> {
    // Its channels hold 200 messages by default, too few for a herd.
    let scheduler = JobScheduler::new_with_channel_size(100_000).await?;
    for note in notes {
        let job = Job::new_async(spec, move |_id, _scheduler| {
            let note = note.clone();
            Box::pin(async move { note.write() })
        })?;
        scheduler.add(job).await?;
    }
    scheduler.start().await?;
    // It stops when it is dropped.
    std::mem::forget(scheduler);
    Ok(())
}
