//! A task: what it is called, when it runs, what it does, and what it wants to happen to its ticks.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use jiff::SignedDuration;
use punctual_engine::{CallbackError, Callbacks, Context};
use punctual_plan::{BreakerRule, CatchUp, ChainOn, Object, Policy};
use punctual_time::{Bounds, Dialect, DstRule, Spec, Windows};

type Called = Pin<Box<dyn Future<Output = Result<(), CallbackError>> + Send>>;
type Callback = Arc<dyn Fn(Context) -> Called + Send + Sync>;

/// A task of an embedding program: identifier, POSIX cron, retry delay and an async closure.
///
/// Only its definition and its history are stored; the closure is given anew at every start. Unless a task says
/// otherwise, it runs once however many ticks were missed, a failed run is repeated after the fixed delay or at the
/// next tick, whichever comes first, and nothing ever disables it.
///
/// ```
/// use std::time::Duration;
///
/// use punctual::Task;
///
/// let task = Task::new("backup", "15 3 * * 1-5", Duration::from_secs(300), |context| async move {
///     println!("attempt {} for {}", context.attempt, context.scheduled_for);
///     Ok(())
/// });
/// assert_eq!(task.identifier(), "backup");
/// ```
#[derive(Clone)]
pub struct Task {
    pub(super) identifier: String,
    pub(super) when: Tells,
    pub(super) timezone: Option<String>,
    pub(super) dst: DstRule,
    pub(super) bounds: Bounds,
    pub(super) windows: Windows,
    pub(super) policy: Policy,
    pub(super) waits: Option<Waits>,
    pub(super) breaker: BreakerRule,
    pub(super) payload: Object,
    callback: Callback,
}

/// What tells when a task runs.
#[derive(Clone, Debug)]
pub(super) enum Tells {
    Cron { text: String, dialect: Dialect },
    Spec(Spec),
    After { task: String, on: ChainOn, delay: SignedDuration },
}

/// Whom a task waits for.
#[derive(Clone, Debug)]
pub(super) struct Waits {
    pub(super) tasks: Vec<String>,
    pub(super) timeout: SignedDuration,
}

impl Task {
    /// A task that runs by POSIX cron, and is repeated `retry_delay` after a failure.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use punctual::Task;
    /// let task = Task::new("ping", "0,30 * * * *", Duration::from_secs(60), |_| async { Err("no route".into()) });
    /// # let _ = task;
    /// ```
    pub fn new<F, R>(
        identifier: impl Into<String>,
        cron: impl Into<String>,
        retry_delay: Duration,
        callback: F,
    ) -> Self
    where
        F: Fn(Context) -> R + Send + Sync + 'static,
        R: Future<Output = Result<(), CallbackError>> + Send + 'static,
    {
        let policy = Policy {
            catch_up: CatchUp::RunOnce,
            retry_after: Some(signed(retry_delay)),
            max_consecutive_failures: None,
            ..Policy::default()
        };
        Self {
            identifier: identifier.into(),
            when: Tells::Cron { text: cron.into(), dialect: Dialect::Posix },
            timezone: None,
            dst: DstRule::default(),
            bounds: Bounds::default(),
            windows: Windows::default(),
            policy,
            waits: None,
            // A fixed delay is all that follows from a failure.
            breaker: BreakerRule { threshold: u32::MAX, ..BreakerRule::default() },
            payload: Object::new(),
            callback: Arc::new(move |context| Box::pin(callback(context))),
        }
    }

    /// What it is called.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use punctual::Task;
    /// # let task = Task::new("ping", "* * * * *", Duration::from_secs(60), |_| async { Ok(()) });
    /// assert_eq!(task.identifier(), "ping");
    /// ```
    pub fn identifier(&self) -> &str {
        &self.identifier
    }

    /// Reads its cron in another dialect: `standard` has steps, names and seconds.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use punctual::Task;
    /// use punctual::scheduler::Dialect;
    ///
    /// let task = Task::new("ping", "*/10 * * * * *", Duration::from_secs(5), |_| async { Ok(()) })
    ///     .dialect(Dialect::Standard);
    /// # let _ = task;
    /// ```
    #[must_use]
    pub fn dialect(mut self, chosen: Dialect) -> Self {
        if let Tells::Cron { dialect, .. } = &mut self.when {
            *dialect = chosen;
        }
        self
    }

    /// Runs by another spec instead of cron: an interval, or one instant.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use punctual::Task;
    /// use punctual::scheduler::Interval;
    ///
    /// let task = Task::new("ping", "", Duration::from_secs(5), |_| async { Ok(()) })
    ///     .spec("90s".parse::<Interval>()?);
    /// # let _ = task;
    /// # Ok::<(), punctual::scheduler::SpecError>(())
    /// ```
    #[must_use]
    pub fn spec(mut self, spec: impl Into<Spec>) -> Self {
        self.when = Tells::Spec(spec.into());
        self
    }

    /// Runs after the runs of another task of the set instead of by a spec.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use punctual::Task;
    /// use punctual::scheduler::ChainOn;
    ///
    /// let task = Task::new("report", "", Duration::from_secs(60), |_| async { Ok(()) })
    ///     .after("load", ChainOn::Success, Duration::ZERO);
    /// # let _ = task;
    /// ```
    #[must_use]
    pub fn after(mut self, task: impl Into<String>, on: ChainOn, delay: Duration) -> Self {
        self.when = Tells::After { task: task.into(), on, delay: signed(delay) };
        self
    }

    /// Reads its local times in this zone rather than in the scheduler's.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use punctual::Task;
    /// let task = Task::new("ping", "0 9 * * *", Duration::from_secs(60), |_| async { Ok(()) })
    ///     .timezone("America/New_York");
    /// # let _ = task;
    /// ```
    #[must_use]
    pub fn timezone(mut self, name: impl Into<String>) -> Self {
        self.timezone = Some(name.into());
        self
    }

    /// What clock changes do to it.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use punctual::Task;
    /// use punctual::scheduler::{DstRule, Gap};
    ///
    /// let rule = DstRule { gap: Some(Gap::Skip), ..DstRule::default() };
    /// let task = Task::new("ping", "30 2 * * *", Duration::from_secs(60), |_| async { Ok(()) }).dst(rule);
    /// # let _ = task;
    /// ```
    #[must_use]
    pub fn dst(mut self, rule: DstRule) -> Self {
        self.dst = rule;
        self
    }

    /// From when, until when, and how often at most it runs.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use punctual::Task;
    /// use punctual::scheduler::Bounds;
    ///
    /// let three = Bounds { max_runs: Some(3), ..Bounds::default() };
    /// let task = Task::new("ping", "0 9 * * *", Duration::from_secs(60), |_| async { Ok(()) }).bounds(three);
    /// # let _ = task;
    /// ```
    #[must_use]
    pub fn bounds(mut self, bounds: Bounds) -> Self {
        self.bounds = bounds;
        self
    }

    /// When it may run at all.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use punctual::Task;
    /// use punctual::scheduler::Windows;
    ///
    /// let day = Windows { only_between: Some("08:00-18:00".parse()?), ..Windows::default() };
    /// let task = Task::new("ping", "0 * * * *", Duration::from_secs(60), |_| async { Ok(()) }).windows(day);
    /// # let _ = task;
    /// # Ok::<(), punctual::scheduler::SpecError>(())
    /// ```
    #[must_use]
    pub fn windows(mut self, windows: Windows) -> Self {
        self.windows = windows;
        self
    }

    /// Changes what happens to its ticks: overlap, catch-up, jitter, deadlines, guard, delivery and the rest.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use punctual::Task;
    /// use punctual::scheduler::{CatchUp, Overlap};
    ///
    /// let task = Task::new("ping", "0 * * * *", Duration::from_secs(60), |_| async { Ok(()) }).policy(|policy| {
    ///     policy.overlap = Overlap::Queue;
    ///     policy.catch_up = CatchUp::RunAll;
    ///     policy.guard = Some("the-printer".to_owned());
    ///     policy.retry_after = None;
    /// });
    /// # let _ = task;
    /// ```
    #[must_use]
    pub fn policy(mut self, change: impl FnOnce(&mut Policy)) -> Self {
        change(&mut self.policy);
        self
    }

    /// Lets a run wait until the latest run of other tasks of the set has succeeded, at most this long.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use punctual::Task;
    /// let task = Task::new("report", "0 6 * * *", Duration::from_secs(60), |_| async { Ok(()) })
    ///     .depends_on(["load"], Duration::from_secs(3_600));
    /// # let _ = task;
    /// ```
    #[must_use]
    pub fn depends_on<T: Into<String>>(
        mut self,
        tasks: impl IntoIterator<Item = T>,
        timeout: Duration,
    ) -> Self {
        let tasks = tasks.into_iter().map(Into::into).collect();
        self.waits = Some(Waits { tasks, timeout: signed(timeout) });
        self
    }

    /// Leaves it alone for a while after so many failures in a row.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use punctual::Task;
    /// use punctual::scheduler::BreakerRule;
    ///
    /// let task = Task::new("ping", "* * * * *", Duration::from_secs(60), |_| async { Ok(()) })
    ///     .circuit_breaker(BreakerRule::default());
    /// # let _ = task;
    /// ```
    #[must_use]
    pub fn circuit_breaker(mut self, rule: BreakerRule) -> Self {
        self.breaker = rule;
        self
    }

    /// What its runs carry: `context.payload()`.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use punctual::Task;
    /// use punctual::scheduler::Object;
    ///
    /// let payload = Object::from_iter([("size".to_owned(), 3.into())]);
    /// let task = Task::new("ping", "* * * * *", Duration::from_secs(60), |context| async move {
    ///     assert_eq!(context.payload()["size"], 3);
    ///     Ok(())
    /// })
    /// .payload(payload);
    /// # let _ = task;
    /// ```
    #[must_use]
    pub fn payload(mut self, payload: Object) -> Self {
        self.payload = payload;
        self
    }

    /// Its closure among the others, under the name by which the ledger knows it.
    pub(super) fn add_to(&self, callbacks: Callbacks, name: String) -> Callbacks {
        let callback = Arc::clone(&self.callback);
        callbacks.add(name, move |context| callback(context))
    }
}

impl fmt::Debug for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Task")
            .field("identifier", &self.identifier)
            .field("when", &self.when)
            .finish_non_exhaustive()
    }
}

/// A longer time than any clock shows is for ever.
pub(super) fn signed(duration: Duration) -> SignedDuration {
    SignedDuration::try_from(duration).unwrap_or(SignedDuration::MAX)
}
