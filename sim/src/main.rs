//! Tells stories: one by its seed, or many on all cores.
//!
//! `punctual-sim SEED`, or `punctual-sim --seeds A..B [--store memory|shared|sqlite|mixed] [--days N] [--threads N]
//! [--progress SECONDS] [--name] [--log FILE [--commit NAME]]`. With `--name` stories that fail are named, and the others
//! are told. With `--log` each story becomes a line of a file, those that this program has there are not told again, and
//! what all of them came to is printed at the end.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a tool talks to the person at the terminal")]

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use punctual_sim::{Build, Keeping, Log, Measure, Story, Sum, Told, Totals, brief, shrink, story, tell};

/// Over so many seeds every kind of fault has to have happened.
const ALL_KINDS_FROM: u64 = 100;

const USAGE: &str = "hint: punctual-sim SEED | --seeds A..B [--store memory|shared|sqlite|mixed] [--days N] [--threads N] [--progress SECONDS] [--name] [--log FILE [--commit NAME]] [--follow SCHEDULE]";

/// What is asked for.
struct Asked {
    from: u64,
    to: u64,
    /// Which stories are kept in a file.
    store: Store,
    measure: Measure,
    threads: usize,
    /// How often it is said how far it has come.
    progress: Option<Duration>,
    /// What is done about a story that fails.
    failing: Failing,
    /// Where it is written down what each story came to.
    log: Option<PathBuf>,
    /// What this program was made of.
    commit: String,
    /// The schedule of which everything is printed, by its number.
    follow: Option<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Failing {
    /// It is the last one, and is made shorter.
    Shrink,
    /// It is named, and the others are told.
    Name,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Store {
    Memory,
    Shared,
    Sqlite,
    /// A tenth of the stories in files, a tenth as if others wrote beside them.
    Mixed,
}

impl Asked {
    fn keeping(&self, seed: u64) -> Keeping {
        match self.store {
            Store::Memory => Keeping::Memory,
            Store::Shared => Keeping::Shared,
            Store::Sqlite => Keeping::Sqlite,
            Store::Mixed if seed.is_multiple_of(10) => Keeping::Sqlite,
            Store::Mixed if seed % 10 == 5 => Keeping::Shared,
            Store::Mixed => Keeping::Memory,
        }
    }

    fn story(&self, seed: u64) -> Story {
        Story { follow: self.follow, ..story(seed, self.keeping(seed), self.measure) }
    }
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let asked = match parse(&words) {
        Ok(asked) => asked,
        Err(problem) => {
            eprintln!("error: {problem}\n{USAGE}");
            return ExitCode::FAILURE;
        }
    };
    match asked.log.as_deref().map(|path| open(path, &asked.commit)).transpose() {
        Ok(log) => run(&asked, log),
        Err(problem) => {
            eprintln!("error: {problem}\nhint: `--log` wants a file that can be written");
            ExitCode::FAILURE
        }
    }
}

fn open(path: &Path, commit: &str) -> Result<Log, String> {
    let build = Build::present(commit).map_err(|error| format!("this program cannot be read: {error}"))?;
    Log::open(path, build).map_err(|error| format!("cannot write `{}`: {error}", path.display()))
}

fn parse(words: &[String]) -> Result<Asked, String> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut asked = Asked {
        from: 0,
        to: 0,
        store: Store::Memory,
        measure: Measure::Usual,
        threads: cores,
        progress: None,
        failing: Failing::Shrink,
        log: None,
        commit: String::new(),
        follow: None,
    };
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        if word == "--name" {
            asked.failing = Failing::Name;
            continue;
        }
        let mut value = || rest.next().ok_or_else(|| format!("`{word}` wants a value"));
        match word.as_str() {
            "--seeds" => {
                let range = value()?;
                let (from, to) = range.split_once("..").ok_or_else(|| format!("`{range}` is not `A..B`"))?;
                (asked.from, asked.to) = (number(from)?, number(to)?);
            }
            "--store" => {
                asked.store = match value()?.as_str() {
                    "memory" => Store::Memory,
                    "shared" => Store::Shared,
                    "sqlite" => Store::Sqlite,
                    "mixed" => Store::Mixed,
                    other => return Err(format!("there is no store `{other}`")),
                };
            }
            "--days" => asked.measure = Measure::Days(u32::try_from(number(value()?)?).unwrap_or(u32::MAX)),
            "--log" => asked.log = Some(PathBuf::from(value()?)),
            "--commit" => asked.commit.clone_from(value()?),
            "--follow" => asked.follow = usize::try_from(number(value()?)?).ok(),
            "--threads" => asked.threads = usize::try_from(number(value()?)?).unwrap_or(1).max(1),
            "--progress" => asked.progress = Some(Duration::from_secs(number(value()?)?)),
            seed => {
                asked.from = number(seed)?;
                asked.to = asked.from.saturating_add(1);
            }
        }
    }
    if asked.from >= asked.to { Err("there is no seed to tell".to_owned()) } else { Ok(asked) }
}

fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("`{text}` is not a number"))
}

/// What all threads share.
struct Shared<'a> {
    asked: &'a Asked,
    begun: Instant,
    next: AtomicU64,
    is_over: AtomicBool,
    course: Mutex<Course>,
}

#[derive(Default)]
struct Course {
    /// What was told just now.
    totals: Totals,
    log: Option<Log>,
    /// When it was said last how far it has come.
    said: Duration,
    failed: Option<(u64, Vec<String>)>,
    /// Stories that failed and were only named.
    failing: u64,
    /// Why the log could not be written.
    unwritten: Option<String>,
}

impl Shared<'_> {
    fn course(&self) -> MutexGuard<'_, Course> {
        self.course.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells stories until there are no more, or one has failed.
    fn work(&self) {
        while !self.is_over.load(Ordering::Relaxed) {
            let seed = self.next.fetch_add(1, Ordering::Relaxed);
            if seed >= self.asked.to {
                return;
            }
            let story = self.asked.story(seed);
            if !self.course().log.as_ref().is_some_and(|log| log.has(&story)) {
                let begun = Instant::now();
                let told = tell(&story);
                self.heard(&story, told, begun.elapsed());
            }
        }
    }

    fn heard(&self, story: &Story, told: Told, took: Duration) {
        let (mut course, seed) = (self.course(), story.seed);
        course.totals.add(&told.totals);
        if let Some(Err(problem)) = course.log.as_mut().map(|log| log.add(story, &told, took)) {
            self.is_over.store(true, Ordering::Relaxed);
            course.unwritten = Some(problem.to_string());
        }
        let passed = self.begun.elapsed();
        if self.asked.progress.is_some_and(|every| passed >= course.said + every) {
            course.said = passed;
            let totals = course.log.as_ref().map_or(&course.totals, |log| &log.sum().totals);
            println!("{:>7.0} s, seed {seed}: {}", passed.as_secs_f64(), totals.brief());
        }
        if self.asked.failing == Failing::Name {
            told.broken.iter().take(2).for_each(|what| println!("seed {seed}: {what}"));
            course.failing += u64::from(!told.broken.is_empty());
        } else if !told.broken.is_empty() {
            self.is_over.store(true, Ordering::Relaxed);
            course.failed.get_or_insert((seed, told.broken));
        }
    }
}

fn run(asked: &Asked, log: Option<Log>) -> ExitCode {
    let (begun, next) = (Instant::now(), AtomicU64::new(asked.from));
    let course = Mutex::new(Course { log, ..Course::default() });
    let shared = Shared { asked, begun, next, is_over: AtomicBool::new(false), course };
    std::thread::scope(|scope| {
        for _ in 0..asked.threads {
            scope.spawn(|| shared.work());
        }
    });
    let course = shared.course.into_inner().unwrap_or_else(PoisonError::into_inner);
    report(asked, &course.totals, begun);
    if let Some(log) = &course.log {
        report_soak(log.sum());
    }
    match course {
        Course { failed: Some((seed, broken)), .. } => {
            complain(asked, seed, &broken);
            ExitCode::FAILURE
        }
        Course { unwritten: Some(problem), .. } => {
            eprintln!(
                "error: the log cannot be written: {problem}\nhint: what it has is told; go on with it"
            );
            ExitCode::FAILURE
        }
        Course { failing: failing @ 1.., .. } => {
            eprintln!(
                "error: {failing} stories break a promise\nhint: `cargo xtask sim SEED` makes one shorter"
            );
            ExitCode::FAILURE
        }
        Course { log: Some(log), .. } => every_kind(&log.sum().totals),
        Course { totals, .. } => every_kind(&totals),
    }
}

fn report(asked: &Asked, totals: &Totals, begun: Instant) {
    let took = begun.elapsed().as_secs_f64();
    print!("{totals}");
    let days = totals.simulated.as_secs_f64() / 86_400.0;
    println!(
        "{took:.1} s on {} threads: {:.2} simulated days, {:.0} ticks and {:.0} crashes a second",
        asked.threads,
        days / took,
        totals.ticks as f64 / took,
        totals.of("crash") as f64 / took
    );
}

/// What all stories of the log came to.
fn report_soak(sum: &Sum) {
    let (totals, took) = (&sum.totals, sum.took.as_secs_f64());
    print!("\nthe log has of this program: {totals}");
    println!(
        "{:.1} h of one thread: {:.2} simulated days a second; no fewer than {} nodes and {} schedules",
        took / 3_600.0,
        totals.simulated.as_secs_f64() / 86_400.0 / took,
        sum.nodes_min,
        sum.schedules_min
    );
}

fn every_kind(totals: &Totals) -> ExitCode {
    let missing = totals.missing();
    if totals.stories < ALL_KINDS_FROM || missing.is_empty() {
        return ExitCode::SUCCESS;
    }
    eprintln!(
        "error: these never happened: {}\nhint: a fault that is never made proves nothing",
        missing.join(", ")
    );
    ExitCode::FAILURE
}

/// Says what is wrong with a story, and the shortest one that was found which is as wrong.
fn complain(asked: &Asked, seed: u64, broken: &[String]) {
    println!("\nseed {seed} breaks its promises:");
    broken.iter().for_each(|what| println!("  {what}"));
    println!("shrinking it…");
    let least = shrink(&Story { follow: None, ..asked.story(seed) });
    println!("the shortest story that was found, beginning {}, on {} nodes:", least.begins, least.nodes);
    for sketch in &least.sketches {
        println!("  has {}", brief(sketch));
    }
    for deed in &least.deeds {
        println!("  {deed}");
    }
    println!("it breaks:");
    tell(&least).broken.iter().for_each(|what| println!("  {what}"));
    let days =
        if let Measure::Days(days) = asked.measure { format!(" --days {days}") } else { String::new() };
    eprintln!("error: seed `{seed}` breaks a promise\nhint: `cargo xtask sim {seed}{days}` tells it again");
}
