//! What can be asked, as values: the same question is put to an open database or sent to a server.
//!
//! A [`Question`] knows its [`Call`], which a client sends and a server hears, and how it is answered from an [`App`].
//! So a command does the same whether it opens the database or asks a server, and a server decides nothing of its own.

mod audit;
mod backfill;
mod bulk;
mod change;
mod file;
mod maintenance;
mod runs;
mod schedules;
mod system;
mod toggle;
mod trigger;
mod which;
mod why;
mod workflow;

use std::future::Future;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

pub use audit::{AuditWalk, Audits, Log, Verify};
pub use backfill::{ConsiderPast, Past, RunPast};
pub use bulk::{ActMany, OutlookMany};
pub use change::{Act, Consider, Verb, patch_of};
pub use file::{CreateFiles, DraftFiles, Files};
pub use maintenance::{Maintenances, Pause, Resume};
pub use runs::{CANCEL_MAX, Cancel, One, Retry, Runs};
pub use schedules::{Create, Draft, Get, List};
pub use system::{Breaker, Breakers, Nodes, Reset};
pub use trigger::{Item, Preview, Trigger, Versions};
pub use which::{By, Which};
pub use why::Why;
pub use workflow::{PutWorkflow, RemoveWorkflow, Workflow, Workflows};

use crate::{App, Failure};

/// Something that can be asked, or asked for.
pub trait Question: Send + Sync {
    /// What is answered.
    type Answer: Serialize + DeserializeOwned + Send;

    /// How a server is asked.
    fn call(&self) -> Call;

    /// The answer, from an open database.
    ///
    /// # Errors
    /// When it cannot be meant, is refused, or the database fails.
    fn answer(&self, app: &App) -> impl Future<Output = Result<Self::Answer, Failure>> + Send;
}

/// What is done to the thing at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// It is read.
    Get,
    /// Something is made or done.
    Post,
    /// Some of it is changed.
    Patch,
    /// It is deleted.
    Delete,
}

/// A request to a server.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// What is done.
    pub method: Method,
    /// The path below `/api/v1`, with what it names in the form of paths.
    pub path: String,
    /// What else is said.
    pub query: Vec<(&'static str, String)>,
    /// What is sent.
    pub body: Option<Value>,
    /// The request's own key.
    pub key: Option<String>,
    /// The version that is to be changed.
    pub version: Option<i64>,
}

impl Call {
    /// A request without anything else.
    pub fn new(method: Method, path: impl Into<String>) -> Self {
        Self { method, path: path.into(), query: Vec::new(), body: None, key: None, version: None }
    }

    /// Says something more, if there is something to say.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: Option<impl ToString>) -> Self {
        self.query.extend(value.map(|value| (name, value.to_string())));
        self
    }

    /// Says that something is so, if it is.
    #[must_use]
    pub fn when(self, name: &'static str, value: Flag) -> Self {
        self.with(name, (value == Flag::Yes).then_some("true"))
    }
}

/// Whether something is so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Flag {
    /// It is.
    Yes,
    /// It is not.
    #[default]
    No,
}

impl From<bool> for Flag {
    fn from(is_so: bool) -> Self {
        if is_so { Self::Yes } else { Self::No }
    }
}

/// A name as part of a path: what is not plain is written as its bytes.
pub fn in_path(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for byte in name.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'~' => text.push(char::from(byte)),
            // A dot alone would be a folder.
            b'.' if name.bytes().any(|other| other != b'.') => text.push('.'),
            other => text.push_str(&format!("%{other:02X}")),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::in_path;

    #[test]
    fn a_name_in_a_path_stays_one_part_of_it() {
        assert_eq!(in_path("nightly-backup.v2"), "nightly-backup.v2");
        assert_eq!(in_path("a/b c?"), "a%2Fb%20c%3F");
        assert_eq!(in_path(".."), "%2E%2E");
        assert_eq!(in_path("ä"), "%C3%A4");
    }
}
