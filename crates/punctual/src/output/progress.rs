//! How far long work is, on a terminal; nothing elsewhere.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Letters of the bar.
const WIDTH: usize = 40;

/// Work that is shorter is not worth a bar.
const TOTAL_MIN: usize = 500;

/// A bar on standard error.
pub(crate) struct Progress {
    unit: &'static str,
    total: usize,
    done: AtomicUsize,
    is_shown: bool,
}

impl Progress {
    /// A bar for so many units.
    pub(crate) fn new(unit: &'static str, total: usize) -> Self {
        let is_shown = total >= TOTAL_MIN && io::stderr().is_terminal();
        Self { unit, total, done: AtomicUsize::new(0), is_shown }
    }

    /// That some more are done.
    pub(crate) fn add(&self, more: usize) {
        self.at(self.done.load(Ordering::Relaxed) + more);
    }

    /// How many are done in all.
    pub(crate) fn at(&self, done: usize) {
        self.done.store(done, Ordering::Relaxed);
        if self.is_shown {
            let filled = (done * WIDTH / self.total.max(1)).min(WIDTH);
            let bar = format!("{}{}", "#".repeat(filled), " ".repeat(WIDTH - filled));
            // A picture of progress is worth no error.
            let _ = write!(io::stderr(), "\r[{bar}] {done} of {} {}", self.total, self.unit);
        }
    }

    /// How many were done.
    pub(crate) fn done(&self) -> usize {
        self.done.load(Ordering::Relaxed)
    }

    /// Leaves the line.
    pub(crate) fn end(&self) {
        if self.is_shown {
            let _ = writeln!(io::stderr());
        }
    }
}
