//! The whole engine in one process: how late the starts are when many schedules are due at once, or all the time.
//!
//! `cargo xtask bench herd|steady` builds and runs it. `ground` makes the database and the engine, `starts` notes
//! each start; every part has a file. A start is what the closure of the schedule sees: its run was admitted and the
//! admission committed before, which the ledger is asked about afterwards.

mod ground;
mod herd;
mod options;
mod starts;
mod steady;

use crate::Failure;
use crate::report;
use options::{Options, Part};

pub(crate) use ground::{cron, fill, seal};
pub(crate) use starts::TASK;

/// Runs what the command line asks for.
pub(crate) async fn run(arguments: &[String]) -> Result<(), Failure> {
    let options = Options::read(arguments)?;
    let sheet = match options.part {
        Part::Herd => herd::measure(&options).await?,
        Part::Steady => steady::measure(&options).await?,
    };
    println!("{}", sheet.text());
    report::write(&options.out, &[sheet])
}
