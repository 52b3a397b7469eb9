//! A web receiver that takes its time, and notes when requests came: by the machine's own clock, whatever a node's shows.

use std::fs::File;
use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::failure::Failure;

/// The header in which a request says when it was due.
pub(super) const DUE_HEADER: &str = "x-due";

/// The headers in which it says its key and its attempt, which are noted.
pub(super) const KEY_HEADER: &str = "x-key";
pub(super) const ATTEMPT_HEADER: &str = "x-attempt";

/// The header by which a request asks to be refused the first time.
pub(super) const REFUSE_HEADER: &str = "x-refuse";

/// What came.
pub(super) struct Receiver {
    /// The port of 127.0.0.1 on which it listens.
    pub(super) port: u16,
    seen: Arc<Seen>,
}

struct Seen {
    /// How long a request takes: runs of a node that dies are in flight then.
    work: Duration,
    /// Where keys and attempts are noted, each line with a write of its own.
    notes: Option<File>,
    requests: AtomicU64,
    /// The least that a request came after its tick, in microseconds.
    earliest_us: AtomicI64,
}

impl Receiver {
    /// Listens until this process ends, takes so long for each request, and notes their keys and attempts.
    pub(super) fn start(work: Duration, notes: Option<File>) -> Result<Self, Failure> {
        let failed =
            |error: std::io::Error| Failure::new(format!("the receiver: {error}"), "is a port free?");
        let listener = TcpListener::bind(("127.0.0.1", 0)).map_err(failed)?;
        let port = listener.local_addr().map_err(failed)?.port();
        let (requests, earliest_us) = (AtomicU64::new(0), AtomicI64::new(i64::MAX));
        let seen = Arc::new(Seen { work, notes, requests, earliest_us });
        let shared = Arc::clone(&seen);
        std::thread::spawn(move || {
            for line in listener.incoming().flatten() {
                let seen = Arc::clone(&shared);
                std::thread::spawn(move || serve(line, &seen));
            }
        });
        Ok(Self { port, seen })
    }

    /// How many requests came.
    pub(super) fn requests(&self) -> u64 {
        self.seen.requests.load(Ordering::SeqCst)
    }

    /// The least that a request came after its tick, in milliseconds; negative if one came too early.
    pub(super) fn earliest_ms(&self) -> f64 {
        self.seen.earliest_us.load(Ordering::SeqCst) as f64 / 1_000.0
    }
}

/// Answers the requests of a connection until its other end goes.
fn serve(line: TcpStream, seen: &Seen) {
    let Ok(mut answer) = line.try_clone() else { return };
    let mut asked = BufReader::new(line);
    while let Some(request) = read(&mut asked) {
        seen.requests.fetch_add(1, Ordering::SeqCst);
        seen.earliest_us.fetch_min(now_us() - request.due_us, Ordering::SeqCst);
        if let (Some(mut notes), Some(key)) = (seen.notes.as_ref(), &request.key) {
            // What cannot be noted is not answered: it would count as never started.
            let line = format!("{key} {}\n", request.attempt);
            if notes.write_all(line.as_bytes()).is_err() {
                return;
            }
        }
        std::thread::sleep(seen.work);
        let status = if request.is_refused && request.attempt == 1 { "503 Later" } else { "200 OK" };
        let said = format!("HTTP/1.1 {status}\r\nContent-Length: 3\r\n\r\nok\n");
        if answer.write_all(said.as_bytes()).is_err() {
            return;
        }
    }
}

struct Request {
    due_us: i64,
    key: Option<String>,
    attempt: u32,
    is_refused: bool,
}

/// Reads one request to its end.
fn read(line: &mut BufReader<TcpStream>) -> Option<Request> {
    let mut request = Request { due_us: i64::MIN / 2, key: None, attempt: 0, is_refused: false };
    let (mut length, mut text) = (0, String::new());
    loop {
        text.clear();
        if line.read_line(&mut text).ok()? == 0 {
            return None;
        }
        let Some((name, value)) = text.split_once(':') else {
            if text.trim().is_empty() {
                break;
            }
            continue;
        };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().ok()?,
            DUE_HEADER => request.due_us = seconds_of(value.trim())? * 1_000_000,
            KEY_HEADER => request.key = Some(value.trim().to_owned()),
            ATTEMPT_HEADER => request.attempt = value.trim().parse().ok()?,
            REFUSE_HEADER => request.is_refused = true,
            _ => {}
        }
    }
    line.read_exact(&mut vec![0; length]).ok()?;
    Some(request)
}

fn now_us() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}

/// `2026-03-01T10:00:05Z` in seconds since 1970.
fn seconds_of(text: &str) -> Option<i64> {
    let numbers: Vec<i64> = text
        .strip_suffix('Z')?
        .split(['-', 'T', ':'])
        .map(|part| part.parse().ok())
        .collect::<Option<_>>()?;
    let &[year, month, day, hour, minute, second] = &numbers[..] else { return None };
    // Years begin in March here, so that the day of a leap year is the last.
    let (year, month) = if month <= 2 { (year - 1, month + 9) } else { (year, month - 3) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 719_469;
    Some(days * 86_400 + hour * 3_600 + minute * 60 + second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_read() {
        for (text, expected) in [
            ("1970-01-01T00:00:00Z", Some(0)),
            ("2000-02-29T12:00:01Z", Some(951_825_601)),
            ("2026-11-15T19:51:08Z", Some(1_794_772_268)),
            ("2026-11-15 19:51", None),
        ] {
            assert_eq!(seconds_of(text), expected, "{text}");
        }
    }
}
