//! What is measured of the engine.

use std::path::PathBuf;

use jiff::SignedDuration;
use punctual_plan::Pace;

use crate::Failure;
use crate::options::{Kind, count, kind};

const HINT: &str = "herd|steady [--databases sqlite,postgres] [--sizes 10k,100k] [--repeats 5] [--seconds 60] [--lookahead 60] \
                    [--drivers FOLDER --installed FOLDER] [--out FILE]";

/// From so many schedules on each ticks once a minute instead of once a second.
pub(super) const SPREAD_FROM: u32 = 100_000;

/// How far ahead docs/guides/operate.md advises to plan so many on a server, where each plan moves a row of its own.
const LOOKAHEAD_ROOMY: SignedDuration = SignedDuration::from_secs(240);

/// What the engine is asked to bear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// All schedules at one instant.
    Herd,
    /// The same ticks again and again.
    Steady,
}

/// What the command line asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Options {
    pub(super) part: Part,
    pub(super) databases: Vec<Kind>,
    pub(super) sizes: Vec<u32>,
    pub(super) repeats: u32,
    /// How long it goes on.
    pub(super) seconds: u32,
    /// How far ahead ticks become ledger rows, if that is said.
    pub(super) lookahead: Option<SignedDuration>,
    /// Where a scheduler of others is installed that stands beside us, in the words of `peers`.
    pub(super) beside: Vec<String>,
    /// Where the JSON goes.
    pub(super) out: PathBuf,
}

impl Options {
    pub(super) fn read(arguments: &[String]) -> Result<Self, Failure> {
        let Some((name, rest)) = arguments.split_first() else { return Err(HINT.into()) };
        let (part, sizes, repeats, seconds) = match name.as_str() {
            "herd" => (Part::Herd, vec![10_000, 100_000], 5, 0),
            "steady" => (Part::Steady, vec![10_000], 1, 60),
            _ => return Err(HINT.into()),
        };
        let mut options = Self {
            part,
            databases: vec![Kind::Sqlite, Kind::Postgres],
            sizes,
            repeats,
            seconds,
            lookahead: None,
            beside: Vec::new(),
            out: PathBuf::from(format!("target/bench/{name}.json")),
        };
        for pair in rest.chunks(2) {
            let [name, value] = pair else { return Err(HINT.into()) };
            match name.as_str() {
                "--databases" => options.databases = value.split(',').map(kind).collect::<Result<_, _>>()?,
                "--sizes" => options.sizes = value.split(',').map(count).collect::<Result<_, _>>()?,
                "--repeats" => options.repeats = count(value)?,
                "--seconds" => options.seconds = count(value)?,
                "--lookahead" => options.lookahead = Some(SignedDuration::from_secs(count(value)?.into())),
                "--drivers" | "--installed" => options.beside.extend([name.clone(), value.clone()]),
                "--out" => options.out = PathBuf::from(value),
                _ => return Err(HINT.into()),
            }
        }
        Ok(options)
    }

    /// The pace at which so many schedules are planned: as usual but for how far ahead.
    pub(super) fn pace(&self, kind: Kind, size: u32) -> Pace {
        let usual = Pace::default();
        let advised = match kind {
            Kind::Postgres if size >= SPREAD_FROM => LOOKAHEAD_ROOMY,
            _ => usual.lookahead,
        };
        Pace { lookahead: self.lookahead.unwrap_or(advised), ..usual }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_has_sizes_of_its_own() {
        let read = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            Options::read(&words)
        };
        assert_eq!(read(&["herd"]).expect("valid").sizes, [10_000, 100_000]);
        assert_eq!(read(&["steady", "--sizes", "5"]).expect("valid").sizes, [5]);
        let paced = read(&["herd", "--lookahead", "240"]).expect("valid");
        let ahead = |options: &Options, kind, size| options.pace(kind, size).lookahead.as_secs();
        assert_eq!(ahead(&paced, Kind::Sqlite, 10_000), 240);
        let steady = read(&["steady"]).expect("valid");
        assert_eq!(ahead(&steady, Kind::Sqlite, 1_000_000), 60);
        assert_eq!(ahead(&steady, Kind::Postgres, 10_000), 60);
        assert_eq!(ahead(&steady, Kind::Postgres, 1_000_000), 240);
        assert!(read(&["herd", "--fast"]).is_err() && read(&[]).is_err());
    }
}
