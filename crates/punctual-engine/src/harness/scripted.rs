//! Targets that do what a story says, and note every launch: the note is the judge.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use punctual_plan::{Action, Behaviour, Fence, How, Outcome, RunKey};
use punctual_store::Launchable;

use crate::{Clock, Finished, Launch, Targets, VirtualClock};

/// What an attempt does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deed {
    /// It starts, takes this long and ends so; it ends at once when it is cancelled.
    Takes(Duration, Outcome),
    /// As [`Deed::Takes`], but a wish that it end is not heard: the answer comes late.
    Ignores(Duration, Outcome),
    /// It starts and never says anything; it ends only when it is cancelled.
    Hangs,
    /// It cannot be launched.
    Refuses(String),
}

impl Deed {
    /// Ends well after so many seconds.
    pub fn succeeds(seconds: u64) -> Self {
        Self::Takes(Duration::from_secs(seconds), Outcome::Succeeded)
    }

    /// Ends with exit code 1 after so many seconds.
    pub fn fails(seconds: u64) -> Self {
        Self::Takes(Duration::from_secs(seconds), Outcome::Exited { code: 1 })
    }

    /// What a behaviour of the pure simulation does in the attempt of a number, from 1.
    pub fn of(behaviour: &Behaviour, number: u32) -> Self {
        let takes = Duration::try_from(behaviour.run_time).unwrap_or(Duration::ZERO);
        if !behaviour.failing.hits(number) {
            return Self::Takes(takes, Outcome::Succeeded);
        }
        match behaviour.how {
            How::Exit => Self::Takes(takes, Outcome::Exited { code: 1 }),
            How::Launch => Self::Refuses("the target cannot be reached".to_owned()),
            How::Lost => Self::Hangs,
        }
    }
}

/// A launch as the world saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launched {
    /// By which node.
    pub node: String,
    /// When, by the runtime's own time.
    pub at: Timestamp,
    /// Which run.
    pub run: RunKey,
    /// Of which schedule.
    pub schedule: String,
    /// Its tick.
    pub scheduled_for: Timestamp,
    /// Which attempt.
    pub attempt: u32,
    /// Under which fence.
    pub fence: Fence,
    /// When it ended and how, if it did.
    pub ended: Option<(Timestamp, Outcome)>,
}

type Script = Box<dyn FnMut(&Launchable, u32) -> Deed + Send>;

/// What every target of an installation does.
pub struct Scripted {
    /// True time, which no node's clock changes.
    world: Arc<VirtualClock>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    scripts: HashMap<String, Script>,
    counts: HashMap<String, u32>,
    launched: Vec<Launched>,
    /// Closures that a node does not have.
    lacking: HashSet<(String, String)>,
}

impl Scripted {
    pub(super) fn new(world: Arc<VirtualClock>) -> Self {
        Self { world, state: Mutex::default() }
    }

    /// What the attempts of a schedule do, by the launch and its number among them from 1; they succeed at once
    /// otherwise.
    pub fn on(&self, schedule: &str, script: impl FnMut(&Launchable, u32) -> Deed + Send + 'static) {
        self.state().scripts.insert(schedule.to_owned(), Box::new(script));
    }

    /// Every attempt of a schedule does the same.
    pub fn always(&self, schedule: &str, deed: Deed) {
        self.on(schedule, move |_, _| deed.clone());
    }

    /// A node is of a program without this closure.
    pub fn lacks(&self, node: &str, task: &str) {
        self.state().lacking.insert((node.to_owned(), task.to_owned()));
    }

    /// Everything that was launched, in its order.
    pub fn launched(&self) -> Vec<Launched> {
        self.state().launched.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self, node: &str, launch: &Launch) -> (usize, Deed) {
        let mut state = self.state();
        let State { scripts, counts, launched, .. } = &mut *state;
        let (run, schedule) = (&launch.run, launch.run.definition.name.clone());
        let number = counts.entry(schedule.clone()).or_default();
        *number += 1;
        let deed = scripts.get_mut(&schedule).map_or(Deed::succeeds(0), |script| script(run, *number));
        launched.push(Launched {
            node: node.to_owned(),
            at: self.world.now(),
            run: run.run,
            schedule,
            scheduled_for: run.scheduled_for,
            attempt: run.attempt,
            fence: launch.fence,
            ended: None,
        });
        (launched.len() - 1, deed)
    }

    fn end(&self, place: usize, outcome: &Outcome) {
        self.state().launched[place].ended = Some((self.world.now(), outcome.clone()));
    }
}

/// The targets as one node reaches them.
#[derive(Clone)]
pub struct NodeTargets {
    pub(super) node: String,
    pub(super) scripted: Arc<Scripted>,
}

impl Targets for NodeTargets {
    fn takes(&self, action: &Action) -> bool {
        let Action::Callback { task } = action else { return true };
        !self.scripted.state().lacking.contains(&(self.node.clone(), task.clone()))
    }

    async fn launch(&self, launch: Launch) -> crate::Launched {
        let (place, deed) = self.scripted.begin(&self.node, &launch);
        let limit = Duration::try_from(launch.run.definition.policy.run_timeout).unwrap_or(Duration::MAX);
        let finished = carry_out(deed, launch, limit).await;
        self.scripted.end(place, &finished.outcome);
        finished.into()
    }
}

/// As every target does, it ends what takes longer than it may.
async fn carry_out(deed: Deed, launch: Launch, limit: Duration) -> Finished {
    let Launch { started, cancel, output, .. } = launch;
    let (takes, outcome) = match deed {
        Deed::Refuses(error) => return Finished::failed(error),
        Deed::Hangs => {
            started.tell();
            return Finished::cancelled(&cancel.wanted().await);
        }
        Deed::Ignores(takes, outcome) => {
            started.tell();
            tokio::time::sleep(takes).await;
            return Finished::of(outcome);
        }
        Deed::Takes(takes, _) if takes > limit => (limit, Outcome::TimedOut),
        Deed::Takes(takes, outcome) => (takes, outcome),
    };
    started.tell();
    output.push(b"working\n");
    tokio::select! {
        biased;
        why = cancel.wanted() => Finished::cancelled(&why),
        () = tokio::time::sleep(takes) => Finished::of(outcome),
    }
}
