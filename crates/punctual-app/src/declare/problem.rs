//! What is wrong with a file: where, what stands there, and what to write instead; several at once.

use std::fmt;

use crate::{Failure, Kind};

/// Problems that are shown together; the rest is counted.
const SHOWN_MAX: usize = 20;
/// Problems after which reading stops to look for more.
const FOUND_MAX: usize = 1000;
/// Letters of a source line that are shown.
const LINE_CHARS_MAX: usize = 120;

/// A place in one of the files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Place {
    /// Which file, by its number in the sources.
    pub(super) file: u32,
    /// From 1; 0 stands for the whole file.
    pub(super) line: u32,
    /// From 1.
    pub(super) column: u32,
}

/// A file that was read.
#[derive(Clone, Debug)]
pub(super) struct Source {
    /// Its name as it is shown.
    pub(super) name: String,
    /// Its text.
    pub(super) text: String,
}

/// One thing that cannot be meant.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Problem {
    place: Place,
    message: String,
    hint: Option<String>,
}

/// The problems found so far.
#[derive(Debug, Default)]
pub(super) struct Problems {
    found: Vec<Problem>,
    beyond: usize,
}

impl Problems {
    /// Notes a problem with its hint.
    pub(super) fn add(&mut self, place: Place, message: impl Into<String>, hint: impl Into<String>) {
        self.push(Problem { place, message: message.into(), hint: Some(hint.into()) });
    }

    /// Notes what was refused elsewhere, mostly by the language of time.
    pub(super) fn refuse(&mut self, place: Place, failure: impl Into<Failure>) {
        let Failure { message, hint, .. } = failure.into();
        self.push(Problem { place, message, hint });
    }

    fn push(&mut self, problem: Problem) {
        if self.found.len() < FOUND_MAX {
            self.found.push(problem);
        } else {
            self.beyond += 1;
        }
    }

    /// Whether there are so many that looking on helps nobody.
    pub(super) fn is_full(&self) -> bool {
        self.found.len() >= FOUND_MAX
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.found.len() + self.beyond
    }

    /// The failure that tells all of them, in the order of the files; nothing if there is none.
    pub(super) fn into_failure(mut self, sources: &[Source]) -> Option<Failure> {
        // A template's mistake is found once for each schedule that uses it.
        self.found.sort();
        self.found.dedup();
        let more = self.found.len().saturating_sub(SHOWN_MAX) + self.beyond;
        self.found.truncate(SHOWN_MAX);
        let last = self.found.last_mut()?;
        let hint = if more == 0 {
            last.hint.take()
        } else {
            Some(format!("`{more}` more were found; these come first"))
        };
        let told: Vec<String> =
            self.found.iter().map(|problem| Shown { problem, sources }.to_string()).collect();
        Some(Failure { kind: Kind::Invalid, message: told.join("\nerror: "), hint })
    }
}

/// A problem beside its line.
struct Shown<'a> {
    problem: &'a Problem,
    sources: &'a [Source],
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Problem { place, message, hint } = self.problem;
        let source = self.sources.get(place.file as usize);
        if let Some(source) = source {
            write!(f, "{}:", source.name)?;
            if place.line > 0 {
                write!(f, "{}:{}:", place.line, place.column)?;
            }
            f.write_str(" ")?;
        }
        f.write_str(message)?;
        let line = place.line.checked_sub(1).and_then(|above| source?.text.lines().nth(above as usize));
        if let Some(line) = line.filter(|line| !line.trim().is_empty()) {
            write!(f, "\n  {} | {}", place.line, excerpt(line.trim_end(), place.column as usize))?;
        }
        hint.as_ref().map_or(Ok(()), |hint| write!(f, "\nhint: {hint}"))
    }
}

/// The line, or the part of a long one that begins a little before the column.
fn excerpt(line: &str, column: usize) -> String {
    let cut = column.saturating_sub(LINE_CHARS_MAX / 2);
    let is_cut = cut > 0 && line.chars().count() > LINE_CHARS_MAX;
    let (cut, start) = if is_cut { (cut, "…") } else { (0, "") };
    let shown: String = line.chars().skip(cut).take(LINE_CHARS_MAX).collect();
    let end = if line.chars().count() > cut + LINE_CHARS_MAX { "…" } else { "" };
    format!("{start}{shown}{end}")
}
