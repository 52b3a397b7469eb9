//! What the server or the line says when something fails, and which of it is worth another try.

use std::sync::Arc;

use tokio_postgres::error::SqlState;

use crate::Error;

/// What the server or the line said, while doing something.
pub(super) fn failed(doing: &'static str) -> impl FnOnce(tokio_postgres::Error) -> Error {
    move |error| {
        if error.code().is_some_and(is_damage) {
            return Error::Damaged { what: format!("{}, seen while {doing}", Said::of(error)) };
        }
        let is_transient = match error.code() {
            None => error.is_closed() || is_io(&error),
            Some(code) => is_passing(code),
        };
        Error::Database { doing, source: Arc::new(Said::of(error)), is_transient }
    }
}

/// No connection could be had.
pub(super) fn lost(doing: &'static str, error: impl std::error::Error + Send + Sync + 'static) -> Error {
    let mut is_transient = true;
    let mut source: Option<&(dyn std::error::Error + 'static)> = Some(&error);
    while let Some(cause) = source {
        if let Some(said) = cause.downcast_ref::<tokio_postgres::Error>() {
            is_transient = said.code().map_or_else(|| !is_refused_by_us(said), is_passing);
        }
        source = cause.source();
    }
    Error::Database { doing, source: Arc::new(Said::of(error)), is_transient }
}

/// A certificate that we do not trust stays so.
pub(super) fn is_refused_by_us(error: &tokio_postgres::Error) -> bool {
    chain(error).contains("invalid peer certificate")
}

fn is_io(error: &tokio_postgres::Error) -> bool {
    std::error::Error::source(error).is_some_and(<dyn std::error::Error>::is::<std::io::Error>)
}

/// Whether a page or an index is not what was written.
fn is_damage(code: &SqlState) -> bool {
    *code == SqlState::DATA_CORRUPTED || *code == SqlState::INDEX_CORRUPTED
}

/// Whether the same may well succeed a little later: lost races, lost connections, a server that starts or is full.
pub(super) fn is_passing(code: &SqlState) -> bool {
    let class = code.code().get(..2).unwrap_or_default();
    matches!(class, "08" | "40" | "53" | "57" | "58")
        || *code == SqlState::LOCK_NOT_AVAILABLE
        || *code == SqlState::READ_ONLY_SQL_TRANSACTION
        || *code == SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT
}

/// An error with its causes in one line: the driver's own text alone says only "db error".
#[derive(Debug)]
struct Said {
    text: String,
    source: Box<dyn std::error::Error + Send + Sync>,
}

impl Said {
    fn of(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self { text: chain(&error), source: Box::new(error) }
    }
}

fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let said = cause.to_string();
        if !text.ends_with(&said) {
            text = format!("{text}: {said}");
        }
        source = cause.source();
    }
    text
}

impl std::fmt::Display for Said {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Said {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(self.source.as_ref())
    }
}

/// Whether a failure is a second row under a unique key.
pub(super) fn is_duplicate(error: &Error) -> bool {
    code_of(error) == Some(&SqlState::UNIQUE_VIOLATION)
}

/// What the server called a failure, if it was the server that failed.
fn code_of(error: &Error) -> Option<&SqlState> {
    let Error::Database { source, .. } = error else { return None };
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(source.as_ref());
    while let Some(error) = cause {
        if let Some(said) = error.downcast_ref::<tokio_postgres::Error>() {
            return said.code();
        }
        cause = error.source();
    }
    None
}

/// Transactions take what they hold in one order; a rare one that meets what came after its first look can still lose
/// to another. It is undone as a whole then, and begun again this often before the caller hears of it.
const RACES_MAX: u32 = 5;

/// Does the work of a transaction, again if the server undid it for the sake of another.
pub(super) async fn unless_raced<T, F>(work: impl Fn() -> F) -> Result<T, Error>
where
    F: Future<Output = Result<T, Error>>,
{
    let mut races = 0;
    loop {
        let result = work().await;
        let is_raced = result.as_ref().err().and_then(code_of).is_some_and(|code| {
            *code == SqlState::T_R_DEADLOCK_DETECTED || *code == SqlState::T_R_SERIALIZATION_FAILURE
        });
        if !is_raced || races == RACES_MAX {
            return result;
        }
        races += 1;
    }
}
