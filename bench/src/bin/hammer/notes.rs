//! What was asked and what was answered, each line by one plain `write` to a file that only grows: it outlives a killed
//! process to the byte.
//!
//! `submit NUMBER MICROS KIND BATCH NOW BODY`, then `ack NUMBER MICROS COMMITS BODY` or `fail NUMBER MICROS TEXT`. The
//! bodies are JSON; COMMITS is how many transactions the store has committed so far, where it can tell.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use jiff::Timestamp;
use serde_json::Value;
use uuid::Uuid;

use crate::Failure;

/// The file of one process.
pub(crate) struct Notes {
    file: File,
    number: AtomicU64,
}

/// A call that is about to be made.
pub(crate) struct Submit {
    pub(crate) kind: &'static str,
    pub(crate) batch: Uuid,
    pub(crate) now: Timestamp,
    pub(crate) body: Value,
}

/// The number of a call that was noted.
#[derive(Clone, Copy)]
pub(crate) struct Ticket(u64);

impl Notes {
    pub(crate) fn open(path: &Path) -> Result<Self, Failure> {
        let file = OpenOptions::new().append(true).create(true).open(path)?;
        Ok(Self { file, number: AtomicU64::new(1) })
    }

    /// Notes a call before it is made.
    pub(crate) fn submit(&self, call: &Submit) -> Result<Ticket, Failure> {
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        let (kind, batch, now) = (call.kind, call.batch.simple(), call.now.as_second());
        self.line(&format!("submit {number} {} {kind} {batch} {now} {}\n", micros(), call.body))?;
        Ok(Ticket(number))
    }

    /// Notes what was acknowledged.
    pub(crate) fn acknowledge(&self, ticket: Ticket, commits: u64, body: &Value) -> Result<(), Failure> {
        self.line(&format!("ack {} {} {commits} {body}\n", ticket.0, micros()))
    }

    /// Notes that a call failed.
    pub(crate) fn fail(&self, ticket: Ticket, error: &punctual_store::Error) -> Result<(), Failure> {
        self.line(&format!("fail {} {} {}\n", ticket.0, micros(), error.to_string().replace('\n', " ")))
    }

    fn line(&self, text: &str) -> Result<(), Failure> {
        Ok((&self.file).write_all(text.as_bytes())?)
    }
}

fn micros() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_micros()
}
