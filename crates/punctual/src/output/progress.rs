//! How far long work is, on a terminal.

use std::io::{IsTerminal, Write};

/// Work that is done sooner than it could be read is not shown.
const SHOWN_MIN: usize = 500;
/// Columns of the bar.
const WIDTH: usize = 40;

/// A bar on stderr, if that is a terminal and the work is long.
pub(crate) struct Progress {
    total: usize,
    what: &'static str,
    is_shown: bool,
}

impl Progress {
    pub(crate) fn new(total: usize, what: &'static str) -> Self {
        Self { total, what, is_shown: total >= SHOWN_MIN && std::io::stderr().is_terminal() }
    }

    /// Shows that so much is done.
    pub(crate) fn show(&self, done: usize) {
        if self.is_shown {
            let filled = (done * WIDTH / self.total.max(1)).min(WIDTH);
            let bar = format!("{}{}", "#".repeat(filled), " ".repeat(WIDTH - filled));
            // A picture of progress is worth no error.
            let _ = write!(std::io::stderr(), "\r[{bar}] {done} of {} {}", self.total, self.what);
        }
    }

    /// Leaves the line.
    pub(crate) fn end(&self) {
        if self.is_shown {
            let _ = writeln!(std::io::stderr());
        }
    }
}
