//! `cargo xtask faults`: kill -9 at random moments, then somebody who shares no code with the program judges what is left.
//!
//! `serve` kills the program and judges its ledger; `store` kills a process that hammers a database and judges its tables;
//! `nodes` lets several of the program share a database and kills, stops and replaces them.

mod nodes;
mod notes;
mod serve;
mod store;

use crate::failure::Failure;

pub(crate) use store::bounded;

/// Runs one of them; without a word the program's.
pub(crate) fn command(arguments: &[String]) -> Result<(), Failure> {
    match arguments.split_first().map(|(first, rest)| (first.as_str(), rest)) {
        Some(("serve", rest)) => serve::command(rest),
        Some(("store", rest)) => store::command(rest),
        Some(("nodes", rest)) => nodes::command(rest),
        _ => serve::command(arguments),
    }
}
