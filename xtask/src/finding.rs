//! One thing that is wrong in the repository, in the form that an editor can jump to.

use std::fmt;

/// What a rule found: where, what is wrong, and what to do about it.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    /// Path from the repository's root.
    pub(crate) path: String,
    /// Line in that file, from 1.
    pub(crate) line: usize,
    /// What is wrong, in lower case and without a full stop.
    pub(crate) what: String,
    /// What to do instead.
    pub(crate) hint: String,
}

impl Finding {
    /// Puts a finding together in the order in which it is printed.
    pub(crate) fn new(path: &str, line: usize, what: String, hint: &str) -> Self {
        Self { path: path.to_owned(), line, what, hint: hint.to_owned() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}: {}\n  hint: {}", self.path, self.line, self.what, self.hint)
    }
}
