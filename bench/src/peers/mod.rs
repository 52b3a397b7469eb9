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
use options::Options;
use table::Table;

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
