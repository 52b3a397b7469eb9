//! Goal: `kill -9` at any moment loses no tick, doubles no run and starts no program twice.
//! Method: per-second schedules whose program notes its key; the server is killed at random moments and started
//! again; then a reader that shares no code with the program checks the tables and the notes.
//!
//! `cargo xtask faults serve` does the same at every named place, longer and with every kind of target.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::driver::{Person, Serving};
use jiff::Timestamp;

/// How often the server is killed, and how many schedules it has.
const KILLS: u32 = 8;
const SCHEDULES: u32 = 40;

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
    let seed =
        u64::from(std::process::id()) << 32 | u64::from(Timestamp::now().subsec_nanosecond().unsigned_abs());
    println!("{KILLS} kills, {SCHEDULES} schedules, dice {seed}");
    let person = Person::new();
    let notes = person.home().join("started");
    let note = format!("echo $PUNCTUAL_IDEMPOTENCY_KEY $PUNCTUAL_ATTEMPT >> {}", notes.display());
    for number in 0..SCHEDULES {
        let name = format!("p-1-0-{number}");
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
    for _ in 0..KILLS {
        let mut serving = person.serve();
        live_a_while(&mut serving, &mut dice, SCHEDULES);
        serving.kill();
    }
    let mut serving = person.serve();
    for _ in 0..SCHEDULES * 3 {
        serving.wait_for("\"ended\"");
    }
    let through = Timestamp::now().as_second() - 1;
    serving.stop();

    let reader = concat!(env!("CARGO_MANIFEST_DIR"), "/../../xtask/src/faults/ledger_reader.py");
    let question = serde_json::json!({"through": through, "starts": notes}).to_string();
    let judged = Command::new("python3")
        .args(["-B", reader, "judge"])
        .arg(person.database())
        .arg(question)
        .output()
        .expect("python3 is installed; `cargo xtask ground` does it");
    let said = String::from_utf8_lossy(&judged.stdout);
    println!("{said}");
    assert!(judged.status.success(), "{said}{}", String::from_utf8_lossy(&judged.stderr));
}
