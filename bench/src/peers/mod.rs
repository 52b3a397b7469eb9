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

/// How many schedules its herd has.
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
    let more = ["--peers", SOONEST, "--parts", "herd", "--repeats", "1"].map(str::to_owned);
    let options = Options::read(&[words, &more].concat())?;
    let peer = options.peers().next().ok_or("there is no such peer")?;
    match story::tell(options::Part::Herd, peer, &options).await? {
        Some(story::Told::Herd { first, middle, last, not_run: 0, doubled: 0, .. }) => {
            Ok(Beside { first, middle, last })
        }
        other => Err(format!("{SOONEST} did not start its herd: {other:?}").into()),
    }
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
