//! How the program behaves under loads that nobody means well: a file of a hundred thousand schedules, a ledger of a
//! million rows, a thousand programs at once beside some that misbehave.
//!
//! `cargo xtask stress` builds and runs it. Each part drives the release binary as a person would, and notes how long it
//! took and how much memory it had at most. A figure whose outcome is wrong is refused; figures themselves are not judged.

mod file;
mod idle;
mod ledger;
mod program;
mod programs;

use std::path::PathBuf;

use crate::Failure;
use crate::options::{Kind, count, kind};
use crate::report::{self, Sheet};
use program::Home;

const HINT: &str = "stress --program FILE [--parts file,ledger,programs,idle] [--databases sqlite,postgres] \
    [--schedules 100k] [--runs 1M] [--programs 1k] [--out FILE]";

/// What is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    File,
    Ledger,
    Programs,
    Idle,
}

/// What the command line asks for.
struct Wish {
    program: PathBuf,
    parts: Vec<Part>,
    databases: Vec<Kind>,
    schedules: u32,
    runs: u32,
    programs: u32,
    out: PathBuf,
}

impl Wish {
    fn read(words: &[String]) -> Result<Self, Failure> {
        let mut wish = Self {
            program: PathBuf::new(),
            parts: vec![Part::File, Part::Ledger, Part::Programs],
            databases: vec![Kind::Sqlite],
            schedules: 100_000,
            runs: 1_000_000,
            programs: 1_000,
            out: PathBuf::from("target/bench/stress.json"),
        };
        for pair in words.chunks(2) {
            let [name, value] = pair else { return Err(HINT.into()) };
            match name.as_str() {
                "--program" => wish.program = PathBuf::from(value),
                "--parts" => wish.parts = value.split(',').map(part).collect::<Result<_, _>>()?,
                "--databases" => wish.databases = value.split(',').map(kind).collect::<Result<_, _>>()?,
                "--schedules" => wish.schedules = count(value)?,
                "--runs" => wish.runs = count(value)?,
                "--programs" => wish.programs = count(value)?,
                "--out" => wish.out = PathBuf::from(value),
                _ => return Err(HINT.into()),
            }
        }
        if wish.program.as_os_str().is_empty() { Err(HINT.into()) } else { Ok(wish) }
    }
}

fn part(name: &str) -> Result<Part, Failure> {
    match name {
        "file" => Ok(Part::File),
        "ledger" => Ok(Part::Ledger),
        "programs" => Ok(Part::Programs),
        "idle" => Ok(Part::Idle),
        _ => Err(format!("there is no part `{name}`; {HINT}").into()),
    }
}

/// Tries what is asked for.
pub(crate) async fn run(words: &[String]) -> Result<(), Failure> {
    let wish = Wish::read(words)?;
    let mut sheets = Vec::new();
    for part in &wish.parts {
        let sheet = measure(*part, &wish).await?;
        println!("{}", sheet.text());
        sheets.push(sheet);
        // What is measured so far is not lost if a later part fails.
        report::write(&wish.out, &sheets)?;
    }
    Ok(())
}

async fn measure(part: Part, wish: &Wish) -> Result<Sheet, Failure> {
    let mut sheet = match part {
        Part::File => Sheet::new("file", program::HEAD),
        Part::Ledger => Sheet::new("ledger", program::HEAD),
        Part::Idle => Sheet::new("idle", idle::HEAD),
        Part::Programs => return programs::measure(&Home::sqlite(&wish.program)?, wish.programs),
    };
    for kind in &wish.databases {
        match part {
            Part::File => file::measure(&wish.program, *kind, wish.schedules, &mut sheet).await?,
            Part::Idle => idle::measure(&wish.program, *kind, wish.schedules, &mut sheet).await?,
            _ => ledger::measure(&wish.program, *kind, wish.runs, &mut sheet).await?,
        }
    }
    Ok(sheet)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_said_has_a_default() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let wish = Wish::read(&words("--program p --parts ledger --runs 5k")).expect("a wish");
        assert_eq!((wish.parts, wish.runs, wish.schedules), (vec![Part::Ledger], 5_000, 100_000));
        assert!(Wish::read(&words("--parts file")).is_err(), "a program is needed");
        assert!(Wish::read(&words("--program p --parts sky")).is_err());
    }
}
