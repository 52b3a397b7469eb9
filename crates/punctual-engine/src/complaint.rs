//! Rows that cannot be read: each is said once, and none stops the others.

use std::collections::HashSet;

use punctual_store::Error;
use tracing::error;

/// After this many different complaints they are forgotten and may be said again.
const SAID_MAX: usize = 1_000;

/// Remembers what was said.
#[derive(Default)]
pub(crate) struct Complaints {
    said: HashSet<String>,
}

impl Complaints {
    /// Logs what is new among the problems.
    pub(crate) fn hear<'a>(&mut self, what: &'static str, problems: impl IntoIterator<Item = &'a Error>) {
        for problem in problems {
            if self.said.len() >= SAID_MAX {
                self.said.clear();
            }
            if self.said.insert(problem.to_string()) {
                error!(%problem, "{what}");
            }
        }
    }
}
