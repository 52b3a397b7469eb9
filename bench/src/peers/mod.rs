//! Others beside us: schedulers of other people, each through the same four stories, in one table.
//!
//! `cargo xtask bench peers` installs them, starts a private PostgreSQL and runs this. `bench/peers` has a small driver for each;
//! `peer` says what each needs and bears, `stage` is one of them at work, `notes` reads what its handlers wrote, `story` has the
//! herd, the steady seconds, the crash and the outage, `ours` takes our own figures from our own benchmarks in the same run, and
//! `redis` is a private server.

mod notes;
mod options;
mod ours;
mod peer;
mod redis;
mod stage;
mod story;
mod table;

use crate::Failure;
use crate::report::median;
use options::Options;
use table::Table;

/// The herd of one of them, to stand beside ours in the same run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Beside {
    /// In milliseconds after the instant.
    pub(crate) first: f64,
    pub(crate) middle: f64,
    pub(crate) last: f64,
}

/// How many schedules its herd has, and how many of it tick each second.
pub(crate) const HERD: u32 = 10_000;

/// The peer that keeps nothing and starts a herd soonest.
pub(crate) const SOONEST: &str = "apalis-cron";

impl Beside {
    /// The middle of each, if there are some.
    pub(crate) fn median(some: &[Self]) -> Option<Self> {
        let of = |value: fn(&Self) -> f64| median(&some.iter().map(value).collect::<Vec<f64>>());
        Some(Self { first: of(|one| one.first)?, middle: of(|one| one.middle)?, last: of(|one| one.last)? })
    }
}

/// Lets it start one herd, as installed by the words of a command line.
pub(crate) async fn beside(words: &[String]) -> Result<Beside, Failure> {
    match soonest(words, options::Part::Herd, &[]).await? {
        Some(story::Told::Herd { first, middle, last, not_run: 0, doubled: 0, .. }) => {
            Ok(Beside { first, middle, last })
        }
        other => Err(format!("{SOONEST} did not start its herd: {other:?}").into()),
    }
}

/// What it comes to when as many schedules tick each second, for so many seconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SteadyBeside {
    pub(crate) started: i64,
    pub(crate) missing: i64,
    /// In milliseconds.
    pub(crate) p99: f64,
}

/// Lets it tick for so many seconds.
pub(crate) async fn steady_beside(words: &[String], seconds: u32) -> Result<SteadyBeside, Failure> {
    match soonest(words, options::Part::Steady, &["--seconds", &seconds.to_string()]).await? {
        Some(story::Told::Steady { schedules, seconds, missing, p99 }) => {
            let started = i64::from(schedules) * i64::from(seconds) - missing;
            Ok(SteadyBeside { started, missing, p99 })
        }
        other => Err(format!("{SOONEST} did not tick: {other:?}").into()),
    }
}

/// Lets it go through one story, which may want to know more.
async fn soonest(
    words: &[String],
    part: options::Part,
    more: &[&str],
) -> Result<Option<story::Told>, Failure> {
    let own = ["--peers", SOONEST, "--repeats", "1"];
    let own: Vec<String> = own.iter().chain(more).map(|&word| word.to_owned()).collect();
    let options = Options::read(&[words, &own].concat())?;
    let peer = options.peers().next().ok_or("there is no such peer")?;
    story::tell(part, peer, &options).await
}

/// Runs what the command line asks for.
pub(crate) async fn run(words: &[String]) -> Result<(), Failure> {
    let options = Options::read(words)?;
    let mut table = Table::default();
    for kind in &options.databases {
        table.ours(*kind, ours::measure(*kind, &options));
    }
    for peer in options.peers() {
        if let Some(why) = options.absent(peer) {
            eprintln!("{} cannot be had here: {why}", peer.name);
            table.absent(peer, &why);
            continue;
        }
        for part in &options.parts {
            match story::tell(*part, peer, &options).await {
                Ok(Some(told)) => {
                    eprintln!("{} {}: {told}", peer.name, part.name());
                    table.add(peer, told);
                }
                Ok(None) => {}
                Err(problem) => {
                    eprintln!("{} {}: {problem}", peer.name, part.name());
                    table.failed(peer, *part, &problem.to_string());
                }
            }
        }
        // What is measured so far is not lost if a later peer fails.
        table.write(&options.out)?;
    }
    println!("{}", table.text());
    table.write(&options.out)
}
