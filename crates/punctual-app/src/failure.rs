//! What a person is told when something did not work: what, and what to do about it.

use std::fmt;

/// What kind of failure it is; each has its own exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The database, the disk or the system failed.
    World,
    /// There is no such thing.
    NotFound,
    /// The input cannot be meant.
    Invalid,
    /// It exists already.
    Conflict,
    /// Another process has it.
    InUse,
    /// What was looked at is not as it must be: a hole in the ledger, a check that fails.
    Fault,
    /// It is not in the version that was to be changed any more.
    Stale,
    /// Whoever asks may not.
    Forbidden,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 8] = [
        Self::World,
        Self::NotFound,
        Self::Invalid,
        Self::Conflict,
        Self::InUse,
        Self::Fault,
        Self::Stale,
        Self::Forbidden,
    ];

    /// The exit code; `docs/exit-codes.md` lists them. 2 is a wrong command line.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::World => 1,
            Self::NotFound => 3,
            Self::Invalid => 4,
            Self::Conflict | Self::Stale => 5,
            Self::InUse => 6,
            Self::Fault => 7,
            Self::Forbidden => 8,
        }
    }
}

/// A failure with its hint.
#[derive(Clone, Debug)]
pub struct Failure {
    /// What kind it is.
    pub kind: Kind,
    /// What went wrong.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Failure {
    /// A failure of the input.
    pub fn invalid(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { kind: Kind::Invalid, message: message.into(), hint: Some(hint.into()) }
    }

    /// A failure of the world.
    pub fn world(message: impl Into<String>) -> Self {
        Self { kind: Kind::World, message: message.into(), hint: None }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.message)?;
        self.hint.as_ref().map_or(Ok(()), |hint| write!(f, "\nhint: {hint}"))
    }
}

impl std::error::Error for Failure {}

impl From<punctual_store::Error> for Failure {
    fn from(error: punctual_store::Error) -> Self {
        use punctual_store::Error;
        let kind = match &error {
            Error::NameTaken { .. } => Kind::Conflict,
            Error::NotFound { .. } => Kind::NotFound,
            Error::Ambiguous { .. } => Kind::Invalid,
            Error::InUse { .. } => Kind::InUse,
            _ => Kind::World,
        };
        Self { kind, message: error.to_string(), hint: error.hint() }
    }
}

impl From<punctual_time::Error> for Failure {
    fn from(error: punctual_time::Error) -> Self {
        Self { kind: Kind::Invalid, message: error.to_string(), hint: error.hint().map(str::to_owned) }
    }
}

impl From<punctual_engine::StartError> for Failure {
    fn from(error: punctual_engine::StartError) -> Self {
        match error {
            punctual_engine::StartError::Store(error) => error.into(),
            other => Self::world(other.to_string()),
        }
    }
}

impl From<punctual_engine::VaultError> for Failure {
    fn from(error: punctual_engine::VaultError) -> Self {
        use punctual_engine::VaultError;
        let kind = if matches!(error, VaultError::TooLong) { Kind::Invalid } else { Kind::World };
        Self { kind, message: error.to_string(), hint: Some(error.hint()) }
    }
}

impl From<punctual_engine::TooFewFiles> for Failure {
    fn from(error: punctual_engine::TooFewFiles) -> Self {
        let hint =
            "raise the hard limit: `ulimit -Hn` in a shell, `LimitNOFILE=` in a systemd unit".to_owned();
        Self { kind: Kind::World, message: error.to_string(), hint: Some(hint) }
    }
}
