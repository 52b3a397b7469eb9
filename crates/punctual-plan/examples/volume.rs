//! The promises at volume: millions of plans of random schedules, each held against a walk of its own.
//!
//! `cargo run --release -p punctual-plan --example volume [PLANS [FIRST_SEED]]` runs until so many plans were made and
//! prints their number, their pace and the ticks that were checked. A seed that fails is printed with the smallest case
//! that still fails, and the program ends with 1; `volume 1 SEED` runs that seed alone.
#![allow(clippy::print_stdout, clippy::disallowed_methods, reason = "an example prints, and reads the clock")]

#[path = "../tests/volume/dice.rs"]
mod dice;
#[path = "../tests/proof/promises.rs"]
mod promises;
#[path = "../tests/volume/schedule.rs"]
mod schedule;
#[path = "../tests/volume/split.rs"]
mod split;
#[path = "../tests/volume/story.rs"]
mod story;
#[path = "../tests/volume/strip.rs"]
mod strip;

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

/// As many plans as the promises are proved with.
const PLANS: u64 = 20_000_000;

/// Each round of a thread: so many strips and splits for one story.
const STRIPS: u64 = 8;
const SPLITS: u64 = 2;

#[derive(Default)]
struct Tally {
    seed: AtomicU64,
    strips: AtomicU64,
    splits: AtomicU64,
    stories: AtomicU64,
    ticks: AtomicU64,
    is_broken: AtomicBool,
}

impl Tally {
    fn plans(&self) -> u64 {
        [&self.strips, &self.splits, &self.stories].map(|count| count.load(Ordering::Relaxed)).iter().sum()
    }

    fn add(&self, kind: &AtomicU64, plans: u64, ticks: u64) {
        kind.fetch_add(plans, Ordering::Relaxed);
        self.ticks.fetch_add(ticks, Ordering::Relaxed);
    }

    fn tell(&self, kind: &str, broken: Option<String>) {
        if let Some(broken) = broken {
            self.is_broken.store(true, Ordering::Relaxed);
            println!("{kind}: {broken}\n");
        }
    }

    /// One seed, in all three ways.
    fn round(&self, seed: u64) {
        for part in 0..STRIPS {
            let strip = strip::run(seed * STRIPS + part);
            self.add(&self.strips, strip.plans, strip.ticks);
            self.tell("strip", strip.broken);
        }
        for part in 0..SPLITS {
            let split = split::run(seed * SPLITS + part);
            self.add(&self.splits, split.plans, split.ticks);
            self.tell("split", split.broken);
        }
        let story = story::tell(seed);
        self.add(&self.stories, story.plans, story.ticks);
        self.tell("story", story.broken);
    }

    fn work(&self, plans: u64) {
        while self.plans() < plans && !self.is_broken.load(Ordering::Relaxed) {
            self.round(self.seed.fetch_add(1, Ordering::Relaxed));
        }
    }
}

fn main() -> ExitCode {
    let mut numbers = std::env::args().skip(1).map(|word| word.parse::<u64>());
    let plans = numbers.next().and_then(Result::ok).unwrap_or(PLANS);
    let tally = Tally::default();
    let first = numbers.next().and_then(Result::ok).unwrap_or(0);
    tally.seed.store(first, Ordering::Relaxed);
    let start = Instant::now();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(|| tally.work(plans)))));
    let seconds = start.elapsed().as_secs_f64();
    let count = |count: &AtomicU64| count.load(Ordering::Relaxed);
    println!("seeds          {first}..{}, {threads} threads", count(&tally.seed));
    println!(
        "plans          {} in {seconds:.1} s, {:.0} a second",
        tally.plans(),
        tally.plans() as f64 / seconds
    );
    println!("  by hand      {} (strips), {} (splits)", count(&tally.strips), count(&tally.splits));
    println!("  simulated    {}", count(&tally.stories));
    println!("ticks checked  {}", count(&tally.ticks));
    if tally.is_broken.load(Ordering::Relaxed) { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
