//! Goal: `kill -9` at any moment loses no tick, doubles no run and starts no program twice.
//! Method: per-second schedules whose program notes its key; the server is killed at random moments and started
//! again; then a reader that shares no code with the program checks the tables and the notes.
//!
//! `PUNCTUAL_KILLS` and `PUNCTUAL_SCHEDULES` make it longer: `cargo xtask faults` runs 50 kills on 200 schedules.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::driver::{Person, Serving};
use jiff::Timestamp;

/// A number from the environment.
fn setting(name: &str, default: u32) -> u32 {
    std::env::var(name).ok().map_or(default, |text| text.parse().expect("a number"))
}

/// Numbers that differ from run to run; printed, so that a failure can be told from luck.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }
}

/// Lets the server work until a random line of its log, and a random moment after it.
fn live_a_while(serving: &mut Serving, dice: &mut Dice, busiest: u32) {
    for _ in 0..dice.roll(u64::from(busiest) * 2) {
        serving.wait_for("\"");
    }
    let (begun, moment) = (Instant::now(), Duration::from_micros(dice.roll(20_000)));
    while begun.elapsed() < moment {
        std::hint::spin_loop();
    }
}

#[test]
fn kills_at_random_moments_lose_no_tick_and_double_no_start() {
    let (kills, schedules) = (setting("PUNCTUAL_KILLS", 8), setting("PUNCTUAL_SCHEDULES", 40));
    let seed =
        u64::from(std::process::id()) << 32 | u64::from(Timestamp::now().subsec_nanosecond().unsigned_abs());
    println!("{kills} kills, {schedules} schedules, dice {seed}");
    let person = Person::new();
    let notes = person.home().join("started");
    let note = format!("echo $PUNCTUAL_IDEMPOTENCY_KEY $PUNCTUAL_ATTEMPT >> {}", notes.display());
    for number in 0..schedules {
        let name = format!("tick-{number}");
        person.json(&[
            "schedule",
            "create",
            "--name",
            &name,
            "--cron",
            "* * * * * *",
            "--",
            "sh",
            "-c",
            &note,
        ]);
    }
    let mut dice = Dice(seed | 1);
    for _ in 0..kills {
        let mut serving = person.serve();
        live_a_while(&mut serving, &mut dice, schedules);
        serving.kill();
    }
    let mut serving = person.serve();
    for _ in 0..schedules * 3 {
        serving.wait_for("\"ended\"");
    }
    let through = Timestamp::now().as_second() - 1;
    serving.stop();

    let reader = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/e2e_program/ledger_reader.py");
    let judged = Command::new("python3")
        .arg(reader)
        .args([person.database(), notes])
        .arg(through.to_string())
        .output()
        .expect("python3 is installed; `cargo xtask ground` does it");
    let said = String::from_utf8_lossy(&judged.stdout);
    println!("{said}");
    assert!(judged.status.success(), "{said}{}", String::from_utf8_lossy(&judged.stderr));
}
