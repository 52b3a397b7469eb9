//! What can go wrong with the database, said so that a person knows what to do.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// A failed store operation. Nothing was written unless it says so.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Error {
    /// A living schedule has this name already.
    NameTaken {
        /// The name.
        name: String,
    },
    /// There is no such schedule.
    NotFound {
        /// What was asked for.
        what: String,
    },
    /// More than one schedule's id starts so.
    Ambiguous {
        /// What was asked for.
        prefix: String,
    },
    /// Another process serves this file.
    InUse {
        /// The file.
        path: PathBuf,
        /// The process that holds it, if it said so.
        pid: Option<u32>,
    },
    /// A newer version of the program wrote this database.
    Newer {
        /// The schema that was found.
        found: i64,
        /// The newest schema that this version knows.
        known: i64,
    },
    /// The file cannot be opened or created.
    Open {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: Arc<dyn std::error::Error + Send + Sync>,
    },
    /// The database refused or failed.
    Database {
        /// What was being done.
        doing: &'static str,
        /// What it said.
        source: Arc<dyn std::error::Error + Send + Sync>,
        /// Whether the same call may well succeed a little later.
        is_transient: bool,
    },
    /// There is no way to the server.
    Unreachable {
        /// Where it should be, without the password.
        place: String,
        /// What was being done.
        doing: &'static str,
        /// What the line said.
        source: Arc<dyn std::error::Error + Send + Sync>,
    },
    /// A commit was sent and never answered: whether it happened is unknown until it is repeated with its batch id.
    Unanswered {
        /// What was being done.
        doing: &'static str,
    },
    /// Something is not in the version that was to be replaced.
    Conflict {
        /// What.
        what: String,
    },
    /// The node's lease is over: it may not write any more.
    LeaseLost,
    /// The scope does not reach that far.
    Forbidden {
        /// What was asked for.
        what: &'static str,
    },
    /// The database holds something that this program did not write.
    Corrupt {
        /// What was found.
        what: String,
    },
    /// The database itself cannot be read any more: a page of it is not what was written.
    Damaged {
        /// What it says, and while what.
        what: String,
    },
    /// The store was closed while work was under way.
    Closed,
}

impl Error {
    pub(crate) fn corrupt(what: impl Into<String>) -> Self {
        Self::Corrupt { what: what.into() }
    }

    pub(crate) fn open(
        path: impl Into<PathBuf>,
        source: impl std::error::Error + Send + Sync + 'static,
    ) -> Self {
        Self::Open { path: path.into(), source: Arc::new(source) }
    }

    /// Whether the same call may well succeed a little later.
    pub fn is_transient(&self) -> bool {
        matches!(
            self,
            Self::Database { is_transient: true, .. } | Self::Unanswered { .. } | Self::Unreachable { .. }
        )
    }

    /// What the person can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NameTaken { name } => Some(format!(
                "choose another `--name`, or remove the old one with `punctual schedule delete --name {name}`"
            )),
            Self::NotFound { .. } => Some("`punctual schedule list` shows what there is".to_owned()),
            Self::Ambiguous { .. } => Some("write more of the id, or use `--name`".to_owned()),
            Self::InUse { .. } => Some(
                "stop it first, or choose another file with `--database`; the other commands work beside it"
                    .to_owned(),
            ),
            Self::Newer { .. } => Some("install the newer version of punctual again".to_owned()),
            Self::Open { .. } => {
                Some("check the path and its permissions, or choose another with `--database`".to_owned())
            }
            Self::Database { .. } if self.is_transient() => {
                Some("another process may hold the file, or the disk be full; try again".to_owned())
            }
            Self::Unreachable { .. } => {
                Some("check that the server runs and that `--database` names its address".to_owned())
            }
            Self::Conflict { .. } => Some("read it again and repeat the change".to_owned()),
            Self::LeaseLost => Some("the node has to join again".to_owned()),
            Self::Unanswered { .. } => Some("repeat it: a commit that happened is not done twice".to_owned()),
            Self::Damaged { .. } => Some(
                "stop the server, look at its disk, and go back to the last backup; `punctual db backup` makes one of a file"
                    .to_owned(),
            ),
            Self::Database { .. } | Self::Corrupt { .. } | Self::Closed | Self::Forbidden { .. } => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NameTaken { name } => write!(f, "there is a schedule `{name}` already"),
            Self::NotFound { what } => write!(f, "there is no schedule {what}"),
            Self::Ambiguous { prefix } => {
                write!(f, "several schedules have an id that starts with `{prefix}`")
            }
            Self::InUse { path, pid: Some(pid) } => {
                write!(f, "process {pid} already serves `{}`", path.display())
            }
            Self::InUse { path, pid: None } => {
                write!(f, "another process already serves `{}`", path.display())
            }
            Self::Newer { found, known } => {
                write!(f, "the database has schema {found}, this version knows up to {known}")
            }
            Self::Open { path, source } => write!(f, "cannot open `{}`: {source}", path.display()),
            Self::Database { doing, source, .. } => write!(f, "the database failed while {doing}: {source}"),
            Self::Unreachable { place, doing, source } => {
                write!(f, "cannot reach `{place}` while {doing}: {source}")
            }
            Self::Unanswered { doing } => write!(f, "the database did not answer while {doing}"),
            Self::Conflict { what } => write!(f, "{what} was changed meanwhile"),
            Self::LeaseLost => write!(f, "the node's lease is over"),
            Self::Forbidden { what } => write!(f, "this scope may not {what}"),
            Self::Corrupt { what } => write!(f, "the database holds something unexpected: {what}"),
            Self::Damaged { what } => write!(f, "the database is damaged: {what}"),
            Self::Closed => write!(f, "the store was closed"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Open { source, .. } => Some(source.as_ref()),
            Self::Database { source, .. } | Self::Unreachable { source, .. } => Some(source.as_ref()),
            _ => None,
        }
    }
}
