//! Why a command of `xtask` ended badly, with the line to type next.

use std::fmt;

/// An error for the person at the terminal.
#[derive(Debug)]
pub(crate) struct Failure {
    /// What did not work, in lower case and without a full stop.
    pub(crate) what: String,
    /// What to do or to type next.
    pub(crate) hint: String,
}

impl Failure {
    /// Puts a failure together.
    pub(crate) fn new(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { what: what.into(), hint: hint.into() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "error: {}\nhint: {}", self.what, self.hint)
    }
}
