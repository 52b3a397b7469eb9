//! What the handlers of a peer wrote: `NUMBER MICROSECONDS` for each start.

use std::collections::HashMap;
use std::path::PathBuf;

use crate::Failure;

/// The file of one story.
pub(super) struct Notes(pub(super) PathBuf);

/// A start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Start {
    pub(super) number: u32,
    /// In microseconds since 1970.
    pub(super) at: i64,
}

impl Notes {
    /// How many starts there are.
    pub(super) fn count(&self) -> usize {
        std::fs::read(&self.0).map_or(0, |bytes| bytes.iter().filter(|byte| **byte == b'\n').count())
    }

    pub(super) fn starts(&self) -> Result<Vec<Start>, Failure> {
        let text = if self.0.exists() { std::fs::read_to_string(&self.0)? } else { String::new() };
        text.lines().map(|line| read(line).ok_or_else(|| format!("`{line}` is no start").into())).collect()
    }
}

fn read(line: &str) -> Option<Start> {
    let (number, at) = line.split_once(' ')?;
    Some(Start { number: number.parse().ok()?, at: at.parse().ok()? })
}

/// How many different ones were started, and how many of them more than once.
pub(super) struct Tally {
    pub(super) different: usize,
    pub(super) doubled: usize,
}

pub(super) fn tally(starts: &[Start]) -> Tally {
    let mut times: HashMap<u32, usize> = HashMap::new();
    starts.iter().for_each(|start| *times.entry(start.number).or_default() += 1);
    Tally { different: times.len(), doubled: times.values().filter(|times| **times > 1).count() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_are_read_and_counted() {
        let starts: Vec<Start> = ["1 10", "2 20", "1 30"].iter().filter_map(|line| read(line)).collect();
        let tally = tally(&starts);
        assert_eq!((starts[1], tally.different, tally.doubled), (Start { number: 2, at: 20 }, 2, 1));
        assert_eq!(read("1"), None);
    }
}
