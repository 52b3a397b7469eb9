//! Crash: a process is killed in the middle of a herd, or shortly before it, and another goes on; what was lost, what was started
//! again, how long did it take?
//!
//! `cargo xtask bench crash|outage` builds and runs it. `place` is the database and the folder that outlive the process,
//! `child` is that process (this program, which starts itself), `notes` is what its closure leaves behind, `herd` and `outage`
//! are what is done to it. A figure stands beside the same herd that nobody disturbed.

mod child;
mod herd;
mod notes;
mod options;
mod outage;
mod place;

use crate::Failure;
use crate::report;
use options::{Options, Part};

pub(crate) use child::serve;

/// Runs what the command line asks for.
pub(crate) async fn run(arguments: &[String]) -> Result<(), Failure> {
    let options = Options::read(arguments)?;
    let sheet = match options.part {
        Part::Crash => herd::measure(&options).await?,
        Part::Outage => outage::measure(&options).await?,
    };
    println!("{}", sheet.text());
    report::write(&options.out, &[sheet])
}
