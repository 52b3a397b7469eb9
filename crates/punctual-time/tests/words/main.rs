//! English in and English out.
//!
//! `human` reads sentences, `describe` writes them, and what `describe` writes must be read as what it came from.
#![allow(clippy::unwrap_used, reason = "a test may fail at once")]

mod any;
mod describe;
mod human;

use jiff::Timestamp;
use punctual_time::human::{Context, Parsed};
use punctual_time::{Cron, Dialect, Zone};

fn context() -> Context {
    Context { now: "2026-11-15T12:00:00Z".parse().unwrap(), zone: Zone::utc() }
}

fn parse(text: &str) -> Result<Parsed, punctual_time::Error> {
    punctual_time::human::parse(text, &context())
}

/// Two crons have the same ticks if they agree for a few hundred of them.
fn same(left: &Cron, right: &Cron) -> bool {
    let zone = Zone::utc();
    let mut at: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
    for _ in 0..300 {
        let next = left.next(at, &zone);
        if next != right.next(at, &zone) {
            return false;
        }
        let Some(next) = next else { return true };
        at = next;
    }
    true
}

fn same_ticks(left: &str, right: &str) -> bool {
    let (left, right) = (Cron::parse(left, Dialect::Standard), Cron::parse(right, Dialect::Standard));
    matches!((left, right), (Ok(left), Ok(right)) if same(&left, &right))
}
