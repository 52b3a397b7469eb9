//! What is measured: which parts, which databases, which sizes, how often.

use std::path::PathBuf;

use crate::Failure;

const HINT: &str = "store [--parts runs,register,open,copy,retain] [--databases sqlite,postgres] \
    [--sizes 10k,100k,1M] [--repeats 3] [--runs 200k] [--ledger 1M] [--out FILE]";

/// A promise that is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Planned, admitted and settled runs beside the raw ceiling.
    Runs,
    /// Schedules made in bulk.
    Register,
    /// From the opening to the first plannable batch.
    Open,
    /// A database copied into another kind and back.
    Copy,
    /// Retention while runs go on.
    Retain,
}

/// A database that can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Sqlite,
    Postgres,
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
        }
    }
}

/// What the command line asks for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) parts: Vec<Part>,
    pub(crate) databases: Vec<Kind>,
    pub(crate) sizes: Vec<u32>,
    pub(crate) repeats: u32,
    /// Runs in the measured part.
    pub(crate) runs: u32,
    /// Ended runs in the ledger that is copied or removed.
    pub(crate) ledger: u32,
    /// Where the JSON goes.
    pub(crate) out: PathBuf,
}

impl Options {
    /// Reads the command line.
    pub(crate) fn read(arguments: &[String]) -> Result<Self, Failure> {
        let mut options = Self {
            parts: vec![Part::Runs, Part::Register, Part::Open, Part::Copy, Part::Retain],
            databases: vec![Kind::Sqlite, Kind::Postgres],
            sizes: vec![10_000, 100_000, 1_000_000],
            repeats: 3,
            runs: 200_000,
            ledger: 1_000_000,
            out: PathBuf::from("target/bench/store.json"),
        };
        let Some(("store", rest)) = arguments.split_first().map(|(first, rest)| (first.as_str(), rest))
        else {
            return Err(HINT.into());
        };
        for pair in rest.chunks(2) {
            let [name, value] = pair else { return Err(HINT.into()) };
            match name.as_str() {
                "--parts" => options.parts = value.split(',').map(part).collect::<Result<_, _>>()?,
                "--databases" => options.databases = value.split(',').map(kind).collect::<Result<_, _>>()?,
                "--sizes" => options.sizes = value.split(',').map(count).collect::<Result<_, _>>()?,
                "--repeats" => options.repeats = count(value)?,
                "--runs" => options.runs = count(value)?,
                "--ledger" => options.ledger = count(value)?,
                "--out" => options.out = PathBuf::from(value),
                _ => return Err(HINT.into()),
            }
        }
        Ok(options)
    }
}

fn part(name: &str) -> Result<Part, Failure> {
    match name {
        "runs" => Ok(Part::Runs),
        "register" => Ok(Part::Register),
        "open" => Ok(Part::Open),
        "copy" => Ok(Part::Copy),
        "retain" => Ok(Part::Retain),
        _ => Err(format!("there is no part `{name}`; {HINT}").into()),
    }
}

/// A database by its name.
pub(crate) fn kind(name: &str) -> Result<Kind, Failure> {
    match name {
        "sqlite" => Ok(Kind::Sqlite),
        "postgres" => Ok(Kind::Postgres),
        _ => Err(format!("there is no database `{name}`; write `sqlite` or `postgres`").into()),
    }
}

/// A number such as `100k` or `1M`.
pub(crate) fn count(text: &str) -> Result<u32, Failure> {
    let (digits, times) = match text.strip_suffix(['k', 'M']) {
        Some(digits) if text.ends_with('k') => (digits, 1_000),
        Some(digits) => (digits, 1_000_000),
        None => (text, 1),
    };
    let number = digits.parse::<u32>().ok().and_then(|number| number.checked_mul(times));
    number.filter(|number| *number > 0).ok_or_else(|| format!("`{text}` is not a number; {HINT}").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_may_be_written_short() {
        assert_eq!(count("10k").ok(), Some(10_000));
        assert_eq!(count("1M").ok(), Some(1_000_000));
        assert_eq!(count("7").ok(), Some(7));
        assert!(count("many").is_err() && count("0").is_err());
    }

    #[test]
    fn what_is_not_said_has_a_default() {
        let words =
            ["store", "--sizes", "10k", "--databases", "sqlite", "--parts", "open"].map(str::to_owned);
        let options = Options::read(&words).expect("valid options");
        assert_eq!(
            (options.parts, options.databases, options.sizes, options.repeats),
            (vec![Part::Open], vec![Kind::Sqlite], vec![10_000], 3)
        );
        assert!(Options::read(&["store".to_owned(), "--fast".to_owned()]).is_err());
    }
}
