//! Every zone of the bundled tz database, every transition from 1970 to 2037, all cases, against the oracle.
//!
//! `cargo run --release -p punctual-time --example sweep`; it prints what it checked and how long that took.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a check prints, and fails at once")]
#![allow(clippy::disallowed_methods, reason = "it says how long it took")]

#[path = "../tests/sweep/cases.rs"]
mod cases;
#[path = "../tests/sweep/check.rs"]
mod check;
#[path = "../tests/sweep/oracle.rs"]
mod oracle;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use punctual_time::{Zone, tz_version};

/// 1970-01-01 to 2038-01-01.
const FROM: i64 = 0;
const TO: i64 = 2_145_916_800;

fn main() {
    let start = Instant::now();
    let cases = check::cases();
    let names: Vec<String> = Zone::names().collect();
    let (at, total) = (AtomicUsize::new(0), Mutex::new(check::Count::default()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(name) = names.get(at.fetch_add(1, Ordering::Relaxed)) {
                    let Ok(zone) = Zone::get(name) else { continue };
                    for transition in check::transitions(&zone.to_jiff(), FROM, TO) {
                        let count = check::transition(&zone, transition, &cases);
                        let mut total = total.lock().expect("no check has panicked");
                        total.transitions += count.transitions;
                        total.searches += count.searches;
                    }
                }
            });
        }
    });
    let total = *total.lock().expect("no check has panicked");
    println!(
        "tz {}: {} zones, {} transitions x {} cases, {} searches, all equal to the oracle, in {:.0} s",
        tz_version(),
        names.len(),
        total.transitions,
        cases.len(),
        total.searches,
        start.elapsed().as_secs_f64(),
    );
}
