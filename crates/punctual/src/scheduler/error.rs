//! Why a scheduler does not start, so that a person knows what to change.

use std::fmt;
use std::time::Duration;

use punctual_plan::{Difference, Drift};

use crate::Failure;

/// Why a scheduler did not start. It is shown the same way by `{}` and `{:?}`, so that a `main` that returns it prints
/// what a person can read.
///
/// ```
/// use std::time::Duration;
///
/// use punctual::scheduler::{Error, MemoryLedger};
/// use punctual::{Scheduler, Task};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let task = Task::new("tidy", "*/15 * * * *", Duration::from_secs(60), |_| async { Ok(()) });
/// let refused = Scheduler::builder().memory(&MemoryLedger::new()).initialize([task]).await.unwrap_err();
/// assert!(matches!(refused, Error::Spec { .. }));
/// assert_eq!(
///     refused.to_string(),
///     "task `tidy`: `*/15` is not POSIX cron (minute field, column 1)\n\
///      hint: write `0,15,30,45`, or choose the dialect `standard`"
/// );
/// # }
/// ```
#[non_exhaustive]
pub enum Error {
    /// The declared tasks are not the stored ones; nothing was changed and nothing runs.
    Drift {
        /// The set.
        set: String,
        /// Everything that differs.
        differences: Vec<Difference>,
    },
    /// The spec or the zone of a task cannot be meant.
    Spec {
        /// The task.
        task: String,
        /// What is wrong, where, and what to write instead.
        error: punctual_time::Error,
    },
    /// A task would run more often than the scheduler looks.
    TooOften {
        /// The task.
        task: String,
        /// Its spec.
        spec: String,
        /// The smallest distance between two of its ticks.
        gap: Duration,
        /// How often the scheduler looks.
        poll_interval: Duration,
    },
    /// Two tasks have the same identifier.
    Twice {
        /// The identifier.
        task: String,
    },
    /// A task waits for one that is not in the set.
    Unknown {
        /// The task.
        task: String,
        /// Whom it waits for.
        wanted: String,
    },
    /// Tasks wait for each other.
    Circle {
        /// The tasks, in the order in which each waits for the next.
        tasks: Vec<String>,
    },
    /// Something else: the name of a task, the zone of the host, the database.
    Failure(Failure),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Drift { set, differences } => {
                writeln!(f, "the tasks of `{set}` are not the ones that are stored")?;
                differences.iter().try_for_each(|one| tell(f, one))?;
                f.write_str("hint: declare the stored tasks, or call `migrate` once to accept the new ones")
            }
            Self::Spec { task, error } => {
                write!(f, "task `{task}`: {error}")?;
                error.hint().map_or(Ok(()), |hint| write!(f, "\nhint: {hint}"))
            }
            Self::TooOften { task, spec, gap, poll_interval } => write!(
                f,
                "task `{task}`: `{spec}` fires every `{gap:?}`, and the scheduler looks only every `{poll_interval:?}`\n\
                 hint: let it fire less often, or look more often with `poll_interval`"
            ),
            Self::Twice { task } => {
                write!(f, "two tasks are called `{task}`\nhint: give each task an identifier of its own")
            }
            Self::Unknown { task, wanted } => write!(
                f,
                "task `{task}` waits for `{wanted}`, which is not among the tasks\nhint: declare both in one set"
            ),
            Self::Circle { tasks } => {
                let circle: Vec<String> = tasks.iter().map(|task| format!("`{task}`")).collect();
                write!(
                    f,
                    "tasks wait for each other: {}\nhint: let one of them wait for nobody",
                    circle.join(" -> ")
                )
            }
            Self::Failure(failure) => {
                f.write_str(&failure.message)?;
                failure.hint.as_ref().map_or(Ok(()), |hint| write!(f, "\nhint: {hint}"))
            }
        }
    }
}

/// One line for each thing that differs.
fn tell(f: &mut fmt::Formatter<'_>, one: &Difference) -> fmt::Result {
    let name = &one.name;
    match &one.drift {
        Drift::Added => writeln!(f, "  `{name}` is declared and not stored"),
        Drift::Removed => writeln!(f, "  `{name}` is stored and not declared"),
        Drift::Changed(fields) => fields.iter().try_for_each(|field| {
            let (stored, declared) = (said(&field.stored), said(&field.declared));
            writeln!(f, "  `{name}`: `{}` is stored as {stored} and declared as {declared}", field.field)
        }),
        Drift::Taken { by: Some(set) } => writeln!(f, "  `{name}` belongs to the set `{set}`"),
        Drift::Taken { by: None } => writeln!(f, "  `{name}` was made by somebody else"),
        Drift::Unchanged => Ok(()),
    }
}

fn said(value: &str) -> String {
    if value.is_empty() { "nothing".to_owned() } else { format!("`{value}`") }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

impl From<punctual_store::Error> for Error {
    fn from(error: punctual_store::Error) -> Self {
        use punctual_store::Error;
        // The person has a program in front of them and no command line.
        let hint = match &error {
            Error::InUse { .. } => Some("stop it first, or give this program another `database`"),
            Error::Open { .. } => Some("check the path and its permissions, or give another `database`"),
            _ => None,
        };
        let failure = Failure::from(error);
        Self::Failure(Failure { hint: hint.map(str::to_owned).or(failure.hint), ..failure })
    }
}

impl From<punctual_engine::StartError> for Error {
    fn from(error: punctual_engine::StartError) -> Self {
        match error {
            punctual_engine::StartError::Store(error) => error.into(),
            other => Self::Failure(other.into()),
        }
    }
}
