//! Things that schedules share by name: calendars, quiet hours, templates, workflows, secrets and the like.

use jiff::Timestamp;

use super::Scope;

/// What kind of thing; each has its own table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DocumentKind {
    /// Dates.
    Calendar,
    /// Parts of the day in which nothing fires.
    QuietHours,
    /// Parts of schedules.
    Template,
    /// A DAG in its versions; its name is `ID@VERSION`.
    Workflow,
    /// A value that is never shown.
    Secret,
    /// Limits of the org; its name is `org`.
    Limits,
    /// When a declared file was last applied; for the installation itself, which tz database its schedules follow.
    DeclaredSet,
    /// A person or agent.
    User,
    /// That the org is paused as a whole; its name is `org`.
    Maintenance,
}

impl DocumentKind {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Calendar,
        Self::QuietHours,
        Self::Template,
        Self::Workflow,
        Self::Secret,
        Self::Limits,
        Self::DeclaredSet,
        Self::User,
        Self::Maintenance,
    ];

    /// Its table.
    pub fn table(self) -> &'static str {
        match self {
            Self::Calendar => "calendars",
            Self::QuietHours => "quiet_hours_policies",
            Self::Template => "templates",
            Self::Workflow => "workflows",
            Self::Secret => "secrets",
            Self::Limits => "limits",
            Self::DeclaredSet => "declared_sets",
            Self::User => "users",
            Self::Maintenance => "maintenance",
        }
    }
}

/// A thing to be written.
#[derive(Clone, Debug)]
pub struct NewDocument {
    /// What kind.
    pub kind: DocumentKind,
    /// Its name, unique in its org and kind.
    pub name: String,
    /// What it says, as JSON.
    pub body: String,
    /// The version it replaces: 0 if it must not exist yet, none if whichever is there.
    pub replaces: Option<i64>,
    /// The present.
    pub now: Timestamp,
}

/// A thing as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// What kind.
    pub kind: DocumentKind,
    /// Its name.
    pub name: String,
    /// Raised by each change.
    pub version: i64,
    /// What it says, as JSON.
    pub body: String,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

/// Shared things of one kind that a scope reaches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shelf {
    /// Whose.
    pub scope: Scope,
    /// Of which kind.
    pub kind: DocumentKind,
}

/// An API token; only its hash is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// Its public id.
    pub id: String,
    /// The hash of what its holder shows.
    pub hash: String,
    /// Whose it is.
    pub user: Option<String>,
    /// What it may do, separated by spaces.
    pub scopes: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it ends, if it does.
    pub expires_at: Option<Timestamp>,
    /// When it was taken back, if it was.
    pub revoked_at: Option<Timestamp>,
}

/// The answer to a request that carries a key of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The request's key.
    pub key: String,
    /// The hash of what was asked: the same key with another question is refused.
    pub question: String,
    /// What was answered.
    pub answer: String,
    /// When.
    pub now: Timestamp,
}

/// What became of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answered {
    /// It is kept.
    Kept,
    /// The question was asked before; this was the answer.
    Before(String),
    /// The key was used for another question.
    Differs,
}
