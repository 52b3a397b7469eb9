//! apalis-cron and tokio-cron-scheduler as a program; see ../README.md for how it is called. Both keep nothing, so `setup` does
//! nothing.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::str::FromStr as _;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use apalis::prelude::{BoxDynError, Data, WorkerBuilder};
use apalis_cron::{CronScheduler, Tick};
use cron::Schedule;
use tokio_cron_scheduler::{Job, JobScheduler};

/// What a handler needs.
#[derive(Clone)]
struct Note {
    number: u32,
    book: Book,
}

/// Where notes go.
#[derive(Clone)]
enum Book {
    /// Into the file at once: whoever is killed has noted what it began.
    Now(Arc<File>),
    /// To a thread that writes them, where nobody is killed and only the time of the handler counts.
    Later(Sender<(u32, u128)>),
}

impl Note {
    fn write(&self) {
        let at = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros());
        match &self.book {
            Book::Now(file) => put(file, self.number, at),
            Book::Later(notes) => notes.send((self.number, at)).expect("somebody writes the notes"),
        }
    }
}

fn put(mut file: &File, number: u32, at: u128) {
    file.write_all(format!("{number} {at}\n").as_bytes()).expect("the notes can be written");
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
    let is_timed = matches!(std::env::var("PEER_STORY")?.as_str(), "herd" | "steady");
    let book = if is_timed { later(file) } else { Book::Now(Arc::new(file)) };
    let notes = (0..count).map(|number| Note { number, book: book.clone() });
    match peer.as_str() {
        "apalis-cron" => apalis(&spec, notes)?,
        _ => tokio_cron_scheduler(&spec, notes).await?,
    }
    println!("ready");
    std::future::pending().await
}

/// A thread that writes what the handlers have noted, a while after them.
fn later(file: File) -> Book {
    let (notes, noted) = channel::<(u32, u128)>();
    std::thread::spawn(move || {
        while let Ok((number, at)) = noted.recv() {
            std::thread::sleep(Duration::from_millis(500));
            put(&file, number, at);
            noted.try_iter().for_each(|(number, at)| put(&file, number, at));
        }
    });
    Book::Later(notes)
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
