//! What is killed, how often, and on which databases.

use std::path::PathBuf;

use crate::Failure;
use crate::options::{Kind, count, kind};

const HINT: &str =
    "crash|outage [--databases sqlite,postgres] [--sizes 10k] [--repeats 5] [--gap SECONDS] [--out FILE]";

/// When the process is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// When three tenths of the herd have started.
    Crash,
    /// Before the instant.
    Outage,
}

/// What the command line asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Options {
    pub(super) part: Part,
    pub(super) databases: Vec<Kind>,
    pub(super) sizes: Vec<u32>,
    pub(super) repeats: u32,
    /// Seconds from the kill, or from the instant that was slept through, to the restart.
    pub(super) gap: u32,
    /// Where the JSON goes.
    pub(super) out: PathBuf,
}

impl Options {
    pub(super) fn read(arguments: &[String]) -> Result<Self, Failure> {
        let Some((name, rest)) = arguments.split_first() else { return Err(HINT.into()) };
        let (part, sizes, repeats, gap) = match name.as_str() {
            "crash" => (Part::Crash, vec![10_000], 5, 3),
            "outage" => (Part::Outage, vec![200], 1, 10),
            _ => return Err(HINT.into()),
        };
        let mut options = Self {
            part,
            databases: vec![Kind::Sqlite, Kind::Postgres],
            sizes,
            repeats,
            gap,
            out: PathBuf::from(format!("target/bench/{name}.json")),
        };
        for pair in rest.chunks(2) {
            let [name, value] = pair else { return Err(HINT.into()) };
            match name.as_str() {
                "--databases" => options.databases = value.split(',').map(kind).collect::<Result<_, _>>()?,
                "--sizes" => options.sizes = value.split(',').map(count).collect::<Result<_, _>>()?,
                "--repeats" => options.repeats = count(value)?,
                "--gap" => options.gap = count(value)?,
                "--out" => options.out = PathBuf::from(value),
                _ => return Err(HINT.into()),
            }
        }
        Ok(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_has_a_gap_of_its_own() {
        let read = |words: &str| Options::read(&words.split(' ').map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(read("crash").expect("valid").gap, 3);
        assert_eq!(read("outage --gap 65").expect("valid").gap, 65);
        assert!(read("crash --fast").is_err() && read("smash").is_err());
    }
}
