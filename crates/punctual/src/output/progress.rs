//! How far long work is, on a terminal; nothing elsewhere.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Letters of the bar.
const WIDTH: usize = 40;

/// Work that is shorter is not worth a bar.
const TOTAL_MIN: usize = 500;

/// A bar on standard error.
pub(crate) struct Progress {
    unit: &'static str,
    total: AtomicUsize,
    done: AtomicUsize,
    is_terminal: bool,
    /// Whether there is a line to leave.
    is_begun: AtomicBool,
}

impl Progress {
    /// A bar for so many units.
    pub(crate) fn new(unit: &'static str, total: usize) -> Self {
        let progress = Self::of(unit);
        progress.total.store(total, Ordering::Relaxed);
        progress
    }

    /// A bar for work of which it is not known yet how much it is.
    pub(crate) fn of(unit: &'static str) -> Self {
        let (total, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Self { unit, total, done, is_terminal: io::stderr().is_terminal(), is_begun: AtomicBool::new(false) }
    }

    /// That some more are done.
    pub(crate) fn add(&self, more: usize) {
        self.at(self.done.load(Ordering::Relaxed) + more);
    }

    /// How many are done of how many.
    pub(crate) fn of_many(&self, done: usize, total: usize) {
        self.total.store(total, Ordering::Relaxed);
        self.at(done);
    }

    /// How many are done in all.
    pub(crate) fn at(&self, done: usize) {
        self.done.store(done, Ordering::Relaxed);
        let total = self.total.load(Ordering::Relaxed);
        if self.is_terminal && total >= TOTAL_MIN {
            self.is_begun.store(true, Ordering::Relaxed);
            // A picture of progress is worth no error.
            let _ = write!(io::stderr(), "\r{}", picture(done, total, self.unit));
        }
    }

    /// How many were done.
    pub(crate) fn done(&self) -> usize {
        self.done.load(Ordering::Relaxed)
    }

    /// Takes the bar away again: what follows says what was done.
    pub(crate) fn end(&self) {
        if self.is_begun.swap(false, Ordering::Relaxed) {
            let (total, unit) = (self.total.load(Ordering::Relaxed), self.unit);
            let letters = picture(total, total, unit).chars().count();
            let _ = write!(io::stderr(), "\r{}\r", " ".repeat(letters));
        }
    }
}

impl Drop for Progress {
    /// An error that ends the work is told on a line of its own.
    fn drop(&mut self) {
        self.end();
    }
}

fn picture(done: usize, total: usize, unit: &str) -> String {
    let filled = (done * WIDTH / total.max(1)).min(WIDTH);
    format!("[{}{}] {done} of {total} {unit}", "#".repeat(filled), " ".repeat(WIDTH - filled))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_is_as_long_as_the_work_is_far() {
        let bars = [0, 500, 1_000, 1_500].map(|done| picture(done, 1_000, "rows"));
        let filled = bars.each_ref().map(|bar| bar.matches('#').count());
        assert_eq!(filled, [0, WIDTH / 2, WIDTH, WIDTH]);
        assert!(bars[1].ends_with("] 500 of 1000 rows"), "{}", bars[1]);
    }
}
