//! Async closures of the embedding program, by name. The ledger keeps only the name.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::fmt;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Poll, ready};
use std::time::Duration;

use punctual_plan::Outcome;
use tokio::time::{Instant, timeout};

use super::{Context, Wires};
use crate::{Cancel, Finished, OnEnd};

/// How long a closure that was dropped may take until it is gone: one that does not wait for anything cannot be ended.
const DROP_WAIT: Duration = Duration::from_secs(5);

/// What a closure may fail with.
pub type CallbackError = Box<dyn std::error::Error + Send + Sync>;

/// A closure that has held up its thread for longer than this does not leave it to others as it should.
const HELD_UP_MAX: Duration = Duration::from_millis(5);

/// After so many times in a row that it did, a closure is trusted to do so.
const GENTLE_FROM: u32 = 16;

/// It may gain so much more trust.
const TRUST_MAX: u32 = 4 * GENTLE_FROM;

/// What it loses when it holds up its thread. Once may be for want of a core, and not its fault.
const TRUST_LOST: u32 = 2 * GENTLE_FROM;

type Ended = Result<(), CallbackError>;
type Called = Pin<Box<dyn Future<Output = Ended> + Send>>;
type Call = Arc<dyn Fn(Context) -> Called + Send + Sync>;

/// A closure, and what is known of it.
#[derive(Clone)]
struct Callback {
    call: Call,
    temper: Arc<Temper>,
}

/// How much a closure is trusted not to hold up its thread.
#[derive(Default)]
struct Temper(AtomicU32);

impl Temper {
    fn is_gentle(&self) -> bool {
        self.0.load(Ordering::Relaxed) >= GENTLE_FROM
    }

    fn note(&self, held_up: Duration) {
        // Two that note at once may count as one.
        let trust = self.0.load(Ordering::Relaxed);
        if held_up > HELD_UP_MAX {
            self.0.store(trust.saturating_sub(TRUST_LOST), Ordering::Relaxed);
        } else if trust < TRUST_MAX {
            self.0.store(trust + 1, Ordering::Relaxed);
        }
    }
}

/// A closure at work: it is called when it is first polled, a panic is its end, and what it is like is noted.
struct Watched<B> {
    callback: B,
    uncalled: Option<Context>,
    called: Option<Called>,
    ended: OnEnd,
}

impl<B> Watched<B> {
    fn new(callback: B, context: Context, ended: OnEnd) -> Self {
        Self { callback, uncalled: Some(context), called: None, ended }
    }
}

impl<B: Borrow<Callback> + Unpin> Future for Watched<B> {
    type Output = std::thread::Result<Ended>;

    fn poll(mut self: Pin<&mut Self>, context: &mut std::task::Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let begun = Instant::now();
        let polled = catch_unwind(AssertUnwindSafe(|| {
            if let Some(about) = this.uncalled.take() {
                this.called = Some((this.callback.borrow().call)(about));
            }
            let polled = this.called.as_mut().map_or(Poll::Pending, |called| called.as_mut().poll(context));
            if matches!(polled, Poll::Ready(Ok(()))) {
                this.ended.succeeded();
            }
            polled
        }));
        this.callback.borrow().temper.note(begun.elapsed());
        Poll::Ready(match polled {
            Ok(polled) => Ok(ready!(polled)),
            Err(panic) => Err(panic),
        })
    }
}

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
        let call: Call = Arc::new(move |context| Box::pin(callback(context)));
        self.by_name.insert(name.into(), Callback { call, temper: Arc::default() });
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
        let Some(callback) = self.by_name.get(task) else {
            return Finished::failed(format!("this program has no callback `{task}`"));
        };
        let limit = Duration::try_from(context.schedule.policy.run_timeout).unwrap_or(Duration::MAX);
        let Wires { started, ended, cancel, .. } = wires;
        started.tell();
        if callback.temper.is_gentle() {
            callback.run_here(context, limit, (&cancel, ended)).await
        } else {
            callback.run_apart(context, limit, (&cancel, ended)).await
        }
    }
}

impl Callback {
    /// Calls it as a part of this task, which is quickest. One that holds up its thread cannot be ended then.
    async fn run_here(
        &self,
        context: Context,
        limit: Duration,
        (cancel, ended): (&Cancel, OnEnd),
    ) -> Finished {
        let mut called = pin!(Watched::new(self, context, ended));
        // Most end at once, and then nothing has to be got ready for a longer wait.
        let looked = poll_fn(|context| Poll::Ready(called.as_mut().poll(context))).await;
        if let Poll::Ready(ended) = looked {
            return Finished::of(outcome(ended));
        }
        Finished::of(tokio::select! {
            biased;
            ended = &mut called => outcome(ended),
            why = cancel.wanted() => Outcome::Cancelled { by: why.to_string() },
            () = tokio::time::sleep(limit) => Outcome::TimedOut,
        })
    }

    /// Calls it in a task of its own, which is left behind if it cannot be ended.
    async fn run_apart(
        &self,
        context: Context,
        limit: Duration,
        (cancel, ended): (&Cancel, OnEnd),
    ) -> Finished {
        let mut called = tokio::spawn(Watched::new(self.clone(), context, ended));
        let early = tokio::select! {
            biased;
            ended = &mut called => return Finished::of(ended.map_or(Outcome::InDoubt, outcome)),
            why = cancel.wanted() => Outcome::Cancelled { by: why.to_string() },
            () = tokio::time::sleep(limit) => Outcome::TimedOut,
        };
        called.abort();
        if timeout(DROP_WAIT, called).await.is_err() {
            tracing::warn!("a callback does not wait for anything and could not be ended");
        }
        Finished::of(early)
    }
}

impl fmt::Debug for Callbacks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}

fn outcome(ended: std::thread::Result<Ended>) -> Outcome {
    match ended {
        Ok(Ok(())) => Outcome::Succeeded,
        Ok(Err(error)) => Outcome::Reported { error: error.to_string() },
        Err(what) => {
            let text = what.downcast_ref::<&str>().map(|text| (*text).to_owned());
            let text = text.or_else(|| what.downcast_ref::<String>().cloned());
            Outcome::Reported {
                error: format!("panicked: {}", text.as_deref().unwrap_or("without a message")),
            }
        }
    }
}
