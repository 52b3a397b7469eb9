//! What the store can do on this machine, each figure beside its limit or beside the same without the store.
//!
//! `cargo xtask bench store` builds and runs it; `cargo xtask stress` runs the whole program instead, see `stress`. Start with [`run`]; `part` has one file for each promise, `workload`
//! says what the schedules are, `ours` drives any store through them, `ceiling` writes the same rows by hand, `shape`
//! is the shape of the storage study. A benchmark prints figures and asserts none; it only refuses a figure of which a
//! row was not written.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a tool talks to the person at the terminal")]
#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

mod ceiling;
mod crash;
mod engine;
mod file;
mod growth;
mod herd;
mod options;
mod ours;
mod part;
mod peers;
mod report;
mod server;
mod shape;
mod stress;
mod workload;

use std::process::ExitCode;

use options::{Options, Part};

/// Anything that goes wrong ends the measurement.
type Failure = Box<dyn std::error::Error + Send + Sync>;

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: &[String]) -> Result<(), Failure> {
    if let Some(served) = crash::serve(arguments).await {
        return served;
    }
    if let Some(grown) = growth::serve(arguments).await {
        return grown;
    }
    match arguments.split_first().map(|(first, rest)| (first.as_str(), rest)) {
        Some(("stress", rest)) => return stress::run(rest).await,
        Some(("peers", rest)) => return peers::run(rest).await,
        Some(("growth", rest)) => return growth::run(rest).await,
        Some(("crash" | "outage", _)) => return crash::run(arguments).await,
        Some(("herd" | "steady", _)) => return engine::run(arguments).await,
        _ => {}
    }
    let options = Options::read(arguments)?;
    let mut sheets = Vec::new();
    for part in &options.parts {
        let sheet = match part {
            Part::Runs => part::runs::measure(&options).await?,
            Part::Register => part::register::measure(&options).await?,
            Part::Open => part::open::measure(&options).await?,
            Part::Copy => part::copy::measure(&options).await?,
            Part::Retain => part::retain::measure(&options).await?,
        };
        println!("{}", sheet.text());
        sheets.push(sheet);
        // What is measured so far is not lost if a later part fails.
        report::write(&options.out, &sheets)?;
    }
    Ok(())
}
