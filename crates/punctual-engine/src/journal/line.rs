//! The lines of the journal: how they are written, and what is read of them after a crash.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use jiff::Timestamp;
use punctual_plan::{Fence, Outcome, RunKey};
use punctual_store::Report;

use super::Known;
use super::outcome::{outcome_text, read_outcome};
use crate::keyed::ByKey;

/// The line that says what is known of an attempt.
pub(super) fn push_line(text: &mut String, (run, attempt): (RunKey, u32), known: &Known) {
    let pushed = match known {
        Known::Launched => return push_launch(text, (run, attempt), None),
        Known::Ended { outcome: Outcome::Succeeded, at } => {
            writeln!(text, "E {} {attempt} {} succeeded", run.0, at.as_microsecond())
        }
        Known::Ended { outcome, at } => {
            writeln!(text, "E {} {attempt} {} {}", run.0, at.as_microsecond(), outcome_text(outcome))
        }
    };
    pushed.expect("a text takes whatever is written into it");
}

/// The line that says that an attempt is about to be launched, and when. Its stroke becomes a cross where it ends well; a program
/// that does not know of strokes takes it for launched all the same.
pub(super) fn push_launch(text: &mut String, (run, attempt): (RunKey, u32), at: Option<Timestamp>) {
    let pushed = match at {
        Some(at) => writeln!(text, "L {} {attempt} {} -", run.0, at.as_microsecond()),
        None => writeln!(text, "L {} {attempt}", run.0),
    };
    pushed.expect("a text takes whatever is written into it");
}

/// Reads whole lines; one that the crash cut off says nothing.
pub(super) fn read(text: &str) -> ByKey<(RunKey, u32), Known> {
    whole_lines(text).filter_map(read_line).collect()
}

/// Threads take their places one after the other and write side by side: in front of a whole line, too, there may be a part
/// of one, with nothing where the rest of it would be.
fn whole_lines(text: &str) -> impl Iterator<Item = &str> {
    let whole = text.rfind('\n').map_or("", |end| &text[..end]).lines();
    whole.map(|line| line.rsplit('\0').next().unwrap_or(line))
}

/// The leases, and those of them under which runs of others may be held.
pub(super) fn read_fences(text: &str) -> (BTreeSet<Fence>, BTreeSet<Fence>) {
    let (mut fences, mut mixed) = (BTreeSet::new(), BTreeSet::new());
    for line in whole_lines(text) {
        match (line, fences.last()) {
            ("T", Some(present)) => drop(mixed.insert(*present)),
            ("U", Some(present)) => drop(mixed.remove(present)),
            _ => fences.extend(read_fence(line)),
        }
    }
    (fences, mixed)
}

fn read_fence(line: &str) -> Option<Fence> {
    line.strip_prefix("F ").and_then(|fence| fence.parse().ok()).map(Fence)
}

fn read_line(line: &str) -> Option<((RunKey, u32), Known)> {
    let mut words = line.splitn(4, ' ');
    let (kind, run, attempt) = (words.next()?, words.next()?, words.next()?);
    let attempt = (RunKey(run.parse().ok()?), attempt.parse().ok()?);
    let instant = |word: &str| Timestamp::from_microsecond(word.parse().ok()?).ok();
    if kind == "L" {
        let ended_at = words.next().and_then(|rest| rest.strip_suffix(" +")).and_then(instant);
        let ended = |at| Known::Ended { outcome: Outcome::Succeeded, at };
        return Some((attempt, ended_at.map_or(Known::Launched, ended)));
    }
    // So it was said for a while.
    if kind == "S" {
        return Some((attempt, Known::Ended { outcome: Outcome::Succeeded, at: instant(words.next()?)? }));
    }
    let (at, outcome) = words.next()?.split_once(' ')?;
    let at = instant(at)?;
    Some((attempt, Known::Ended { outcome: read_outcome(outcome)?, at }))
}

/// The line that says how an attempt ended.
pub(super) fn push_end(text: &mut String, report: &Report) {
    let Report { run, attempt, outcome, at, .. } = report;
    push_line(text, (*run, *attempt), &Known::Ended { outcome: outcome.clone(), at: *at });
}
