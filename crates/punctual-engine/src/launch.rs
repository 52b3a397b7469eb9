//! Launch: what a target gets to launch a run, and the trait behind which everything with an effect on the world lives.
//!
//! [`crate::HostTargets`] is what a serving process has; a simulation brings its own [`Targets`].

use std::collections::VecDeque;
use std::future::Future;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use punctual_plan::{Action, Fence, Outcome};
use punctual_store::{Launchable, OUTPUT_MAX};
use tokio::sync::Notify;

use crate::journal::Mark;

/// Where runs go. All that the engine does to the world goes through it.
pub trait Targets: Send + Sync + 'static {
    /// Launches one attempt and resolves with its end, or when somebody else has taken it who will report it. It may take as long as the run's own limit; it must end soon
    /// after [`Cancel::wanted`] resolves, and must not be dropped half-way to be undone.
    fn launch(&self, launch: Launch) -> impl Future<Output = Launched> + Send;

    /// Whether runs that go there are this node's to launch; the others are left to whoever can.
    fn takes(&self, action: &Action) -> bool {
        let _ = action;
        true
    }
}

/// One attempt to be launched.
#[derive(Debug)]
pub struct Launch {
    /// The run.
    pub run: Arc<Launchable>,
    /// The fence of the node that launches it.
    pub fence: Fence,
    /// To be told once the attempt exists in the world.
    pub started: OnStart,
    /// To be told right where it ends, if that is not where the launch resolves.
    pub ended: OnEnd,
    /// The wish that it end.
    pub cancel: Cancel,
    /// Where it shows what it prints while it runs.
    pub output: LiveOutput,
}

/// What became of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Launched {
    /// The attempt has ended.
    Ended(Finished),
    /// An executor has taken it, the ledger knows so, and its end will be reported by the attempt's token.
    Entrusted,
}

impl Launched {
    /// How the attempt ended, if it has.
    pub(crate) fn outcome(&self) -> Option<&Outcome> {
        match self {
            Self::Ended(finished) => Some(&finished.outcome),
            Self::Entrusted => None,
        }
    }
}

impl From<Finished> for Launched {
    fn from(finished: Finished) -> Self {
        Self::Ended(finished)
    }
}

/// The end of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// How it ended.
    pub outcome: Outcome,
    /// What it printed, within bounds.
    pub output: Option<String>,
}

impl Finished {
    /// An attempt that ended without a word.
    pub fn of(outcome: Outcome) -> Self {
        Self { outcome, output: None }
    }

    /// An attempt that never started.
    pub fn failed(error: impl Into<String>) -> Self {
        Self::of(Outcome::LaunchFailed { error: error.into() })
    }

    /// An attempt that was ended because somebody wanted it to.
    pub fn cancelled(why: &Why) -> Self {
        Self::of(Outcome::Cancelled { by: why.to_string() })
    }
}

/// Called once, when the attempt exists.
pub struct OnStart(Box<dyn FnOnce() + Send>);

impl OnStart {
    /// Calls this.
    pub fn new(call: impl FnOnce() + Send + 'static) -> Self {
        Self(Box::new(call))
    }

    /// The attempt exists now.
    pub fn tell(self) {
        (self.0)();
    }
}

impl std::fmt::Debug for OnStart {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("OnStart")
    }
}

/// Told that an attempt has ended well by whoever sees that first. The launch still has to resolve with it; this is for a
/// process that is killed in between.
#[derive(Clone, Debug, Default)]
pub struct OnEnd(Mark);

impl OnEnd {
    pub(crate) fn new(mark: Mark) -> Self {
        Self(mark)
    }

    /// The attempt has ended well.
    pub fn succeeded(&self) {
        self.0.succeeded();
    }
}

/// Why an attempt shall end before its time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// The ledger has its end already: a later tick took its place, or a person ended it.
    Ended,
    /// Nobody answered for it in time.
    Expired,
    /// This node lost its lease: what it does does not count any more.
    Fenced,
}

impl std::fmt::Display for Why {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Ended => "the ledger",
            Self::Expired => "its deadline",
            Self::Fenced => "a lost lease",
        })
    }
}

/// The wish that an attempt end; clones hear of the same wish.
#[derive(Clone, Debug)]
pub struct Cancel(Arc<Line>);

/// Says that an attempt shall end.
#[derive(Clone, Debug)]
pub struct Canceller(Arc<Line>);

/// What those who launch an attempt and those who carry it out have to say to each other. There is one for each run in
/// hand, so it is small.
#[derive(Debug, Default)]
struct Line {
    why: OnceLock<Why>,
    uttered: Notify,
    printed: Mutex<Printed>,
}

impl Cancel {
    /// A wish and who can utter it.
    pub fn pair() -> (Canceller, Self) {
        let line = Arc::new(Line::default());
        (Canceller(Arc::clone(&line)), Self(line))
    }

    /// Resolves when the attempt shall end, and says why; never, if nobody can want it any more.
    pub async fn wanted(&self) -> Why {
        loop {
            let mut uttered = std::pin::pin!(self.0.uttered.notified());
            // From here on it hears of a wish that comes between the look and the wait.
            uttered.as_mut().enable();
            if let Some(why) = self.why() {
                return why;
            }
            uttered.await;
        }
    }

    /// Why it shall end, if it already shall.
    pub fn why(&self) -> Option<Why> {
        self.0.why.get().cloned()
    }
}

impl Canceller {
    /// The wish that this can utter.
    pub fn cancel_of(&self) -> Cancel {
        Cancel(Arc::clone(&self.0))
    }

    /// Whether nobody else has the line, and nothing was ever said on it.
    pub(crate) fn is_unused(&mut self) -> bool {
        let is_silent = |line: &mut Line| {
            let printed = line.printed.get_mut().unwrap_or_else(PoisonError::into_inner);
            line.why.get().is_none() && printed.bytes.capacity() == 0
        };
        Arc::get_mut(&mut self.0).is_some_and(is_silent)
    }

    /// What the same attempt prints.
    pub(crate) fn output_of(&self) -> LiveOutput {
        LiveOutput(Arc::clone(&self.0))
    }

    /// Wants the end; the first reason stays.
    pub fn cancel(&self, why: Why) {
        if self.0.why.set(why).is_ok() {
            self.0.uttered.notify_waiters();
        }
    }
}

/// What a running attempt has printed so far: the last [`OUTPUT_MAX`] bytes, shown about once a second.
#[derive(Clone, Debug, Default)]
pub struct LiveOutput(Arc<Line>);

#[derive(Debug, Default)]
struct Printed {
    bytes: VecDeque<u8>,
    is_new: bool,
}

impl LiveOutput {
    /// Adds what was just printed; never waits.
    pub fn push(&self, bytes: &[u8]) {
        let mut printed = self.0.printed.lock().unwrap_or_else(PoisonError::into_inner);
        printed.bytes.extend(bytes);
        let excess = printed.bytes.len().saturating_sub(OUTPUT_MAX);
        printed.bytes.drain(..excess);
        printed.is_new |= !bytes.is_empty();
    }

    /// What is there, if something is new since the last call.
    pub(crate) fn take_new(&self) -> Option<String> {
        let mut printed = self.0.printed.lock().unwrap_or_else(PoisonError::into_inner);
        if !std::mem::take(&mut printed.is_new) {
            return None;
        }
        Some(String::from_utf8_lossy(printed.bytes.make_contiguous()).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_first_reason_to_end_stays_and_every_clone_hears_it() {
        let (canceller, cancel) = Cancel::pair();
        assert_eq!(cancel.why(), None);
        let clone = cancel.clone();
        canceller.cancel(Why::Ended);
        canceller.cancel(Why::Fenced);
        assert_eq!((cancel.wanted().await, clone.wanted().await), (Why::Ended, Why::Ended));
    }

    #[test]
    fn a_line_is_unused_until_somebody_has_it_or_has_said_something() {
        let (mut canceller, cancel) = Cancel::pair();
        assert!(!canceller.is_unused());
        drop(cancel);
        assert!(canceller.is_unused());
        let (mut printed, _) = Cancel::pair();
        printed.output_of().push(b"a word");
        assert!(!printed.is_unused());
        canceller.cancel(Why::Ended);
        assert!(!canceller.is_unused());
    }

    #[test]
    fn live_output_is_bounded_and_given_once() {
        let output = LiveOutput::default();
        assert_eq!(output.take_new(), None);
        output.push(b"first");
        output.push(&vec![b'x'; OUTPUT_MAX - 1]);
        let text = output.take_new().expect("something is new");
        assert_eq!((text.len(), &text[..2]), (OUTPUT_MAX, "tx"));
        assert_eq!(output.take_new(), None);
    }
}
