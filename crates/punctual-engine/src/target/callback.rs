//! Async closures of the embedding program, by name. The ledger keeps only the name.

use std::collections::HashMap;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use punctual_plan::Outcome;
use tokio::time::timeout;

use super::{Context, Wires};
use crate::Finished;

/// How long a closure that was dropped may take until it is gone: one that does not wait for anything cannot be ended.
const DROP_WAIT: Duration = Duration::from_secs(5);

/// What a closure may fail with.
pub type CallbackError = Box<dyn std::error::Error + Send + Sync>;

type Called = Pin<Box<dyn Future<Output = Result<(), CallbackError>> + Send>>;
type Callback = Arc<dyn Fn(Context) -> Called + Send + Sync>;

/// The closures that schedules of this program call.
///
/// ```
/// use punctual_engine::Callbacks;
///
/// let callbacks = Callbacks::new()
///     .add("greet", |context| async move {
///         println!("hello from {}", context.schedule.name);
///         Ok(())
///     })
///     .add("fail", |_| async { Err("not today".into()) });
/// assert_eq!(callbacks.names().collect::<Vec<_>>(), ["fail", "greet"]);
/// ```
#[derive(Clone, Default)]
pub struct Callbacks {
    by_name: HashMap<String, Callback>,
}

impl Callbacks {
    /// None.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a closure; one of the same name is replaced.
    #[must_use]
    pub fn add<F, R>(mut self, name: impl Into<String>, callback: F) -> Self
    where
        F: Fn(Context) -> R + Send + Sync + 'static,
        R: Future<Output = Result<(), CallbackError>> + Send + 'static,
    {
        self.by_name.insert(name.into(), Arc::new(move |context| Box::pin(callback(context))));
        self
    }

    /// The names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let mut names: Vec<&str> = self.by_name.keys().map(String::as_str).collect();
        names.sort_unstable();
        names.into_iter()
    }

    /// Whether there is one of this name.
    pub(crate) fn has(&self, task: &str) -> bool {
        self.by_name.contains_key(task)
    }

    /// Calls a closure to its end, until its time is up, or until somebody wants it to end. A panic is a failure like
    /// any other.
    pub(crate) async fn run(&self, task: &str, context: Context, wires: Wires) -> Finished {
        let Some(callback) = self.by_name.get(task).cloned() else {
            return Finished::failed(format!("this program has no callback `{task}`"));
        };
        let limit = Duration::try_from(context.schedule.policy.run_timeout).unwrap_or(Duration::MAX);
        wires.started.tell();
        // Called inside the task, so that a closure that panics before its future exists is caught as well.
        let mut called = tokio::spawn(async move { callback(context).await });
        let early = tokio::select! {
            biased;
            ended = &mut called => return Finished::of(outcome(ended)),
            why = wires.cancel.wanted() => Outcome::Cancelled { by: why.to_string() },
            () = tokio::time::sleep(limit) => Outcome::TimedOut,
        };
        called.abort();
        if timeout(DROP_WAIT, called).await.is_err() {
            tracing::warn!(task, "the callback does not wait for anything and could not be ended");
        }
        Finished::of(early)
    }
}

impl fmt::Debug for Callbacks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}

fn outcome(ended: Result<Result<(), CallbackError>, tokio::task::JoinError>) -> Outcome {
    match ended {
        Ok(Ok(())) => Outcome::Succeeded,
        Ok(Err(error)) => Outcome::Reported { error: error.to_string() },
        Err(gone) if gone.is_panic() => {
            let what = gone.into_panic();
            let text = what.downcast_ref::<&str>().map(|text| (*text).to_owned());
            let text = text.or_else(|| what.downcast_ref::<String>().cloned());
            Outcome::Reported {
                error: format!("panicked: {}", text.as_deref().unwrap_or("without a message")),
            }
        }
        // Only the end of the whole program drops it from outside.
        Err(_) => Outcome::InDoubt,
    }
}
