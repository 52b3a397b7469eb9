//! The hub: what every part of a story shares. Calls to the database go through it and meet their fate here.

use std::cell::RefCell;
use std::collections::HashSet;
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::Duration;

use jiff::Timestamp;
use punctual_engine::{Clock, VirtualClock};
use punctual_plan::{OrgKey, RunKey};
use punctual_store::{AnyStore, Cut, RunFilter, Scope, Store};
use punctual_time::edition;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::dice::Dice;
use crate::line::stored;
use crate::oracle::{Moment, Oracle};
use crate::totals::Totals;

/// Rows that one look at everything reads at most.
const ROWS_MAX: u32 = 1_000_000;

/// What everything in a story shares.
pub(crate) struct Hub {
    /// The database.
    pub(crate) store: Arc<AnyStore>,
    /// True time, and the database's clock.
    pub(crate) world: Arc<VirtualClock>,
    /// The org of all schedules.
    pub(crate) org: OrgKey,
    /// Told when somebody who is no node changed something.
    pub(crate) changed: Notify,
    /// What the database's clock shows, for threads outside of the simulation.
    shown: Arc<AtomicI64>,
    began: Instant,
    state: Mutex<State>,
}

/// What changes.
pub(crate) struct State {
    /// Decides what becomes of calls.
    pub(crate) dice: Dice,
    /// What is wrong now.
    pub(crate) faults: Faults,
    /// Who judges.
    pub(crate) oracle: Oracle,
    /// What happened so far.
    pub(crate) totals: Totals,
    /// The batches of admissions that were done.
    pub(crate) batches: HashSet<uuid::Uuid>,
}

/// What is wrong now.
#[derive(Clone, Debug, Default)]
pub(crate) struct Faults {
    /// How many reasons there are why nobody reaches the database.
    pub(crate) away: u32,
    /// The same by node.
    pub(crate) cut: Vec<u32>,
    /// Of a hundred calls, how many fail or go unanswered.
    pub(crate) flaky: Vec<u64>,
    /// How long calls take.
    pub(crate) slow: Vec<Duration>,
    /// How many reasons targets have to fail.
    pub(crate) trouble: u32,
}

/// What becomes of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is done and answered.
    Done,
    /// It fails before anything happens.
    Fails,
    /// It is done and never answered.
    Unanswered,
}

/// How a call goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Course {
    /// How long it takes until it is done.
    pub(crate) before: Duration,
    /// How long its answer takes.
    pub(crate) after: Duration,
    /// What becomes of it.
    pub(crate) fate: Fate,
}

/// Whether a call changes anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    /// It reads.
    Read,
    /// It commits.
    Write,
}

/// What a hub is made of.
pub(crate) struct Parts {
    /// The database.
    pub(crate) store: Arc<AnyStore>,
    /// True time.
    pub(crate) world: Arc<VirtualClock>,
    /// What the database's clock shows, for threads outside of the simulation.
    pub(crate) shown: Arc<AtomicI64>,
    /// The org of all schedules.
    pub(crate) org: OrgKey,
    /// What changes.
    pub(crate) state: State,
}

impl Hub {
    /// A hub at the beginning of a story.
    pub(crate) fn new(parts: Parts) -> Self {
        let Parts { store, world, shown, org, state } = parts;
        let (changed, began) = (Notify::new(), Instant::now());
        Self { store, world, org, changed, shown, began, state: Mutex::new(state) }
    }

    /// The parts that change.
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The moment that it is.
    pub(crate) fn moment(&self) -> Moment {
        Moment { db: self.world.now(), real: self.began.elapsed() }
    }

    /// Does something with the database at this very moment: nothing else happens meanwhile.
    pub(crate) fn at_once<F: Future>(&self, work: F) -> F::Output {
        // What is in memory is on this thread, and reads the clock itself.
        if !matches!(*self.store, AnyStore::Memory(_)) {
            self.shown.store(self.world.now().as_microsecond(), Ordering::SeqCst);
        }
        self.by_rules(|| here(work))
    }

    /// Does something by the rules of the zones that a node has, or for anybody else by the newest.
    pub(crate) fn by_rules<T>(&self, work: impl FnOnce() -> T) -> T {
        let newest = || self.state().oracle.rules();
        let edition = edition::current().unwrap_or_else(newest);
        edition::within(edition, work)
    }

    /// Decides how a call of a node goes.
    pub(crate) fn course(&self, node: usize, call: Call) -> Course {
        let mut state = self.state();
        let State { dice, faults, totals, .. } = &mut *state;
        let mut course = Course { before: Duration::ZERO, after: Duration::ZERO, fate: Fate::Done };
        if dice.happens(20) {
            course.before = Duration::from_millis(dice.below(9));
        }
        if dice.happens(4) {
            course.after = Duration::from_millis(dice.below(20));
        }
        if let Some(longest) = faults.slow.last().filter(|_| dice.happens(30)) {
            let longest = u64::try_from(longest.as_millis()).unwrap_or(u64::MAX);
            (course.before, course.after) = (millis(dice.below(longest)), millis(dice.below(longest)));
            totals.count("call delayed");
        }
        if let Some(percent) = faults.flaky.last().filter(|percent| dice.happens(**percent)) {
            let is_lost = call == Call::Write && (*percent + dice.below(2)).is_multiple_of(2);
            course.fate = if is_lost { Fate::Unanswered } else { Fate::Fails };
            totals.count(match (call, course.fate) {
                (Call::Read, _) => "read failed",
                (Call::Write, Fate::Unanswered) => "commit unanswered",
                (Call::Write, _) => "commit failed",
            });
        }
        drop(state);
        if self.is_away(node) {
            course.fate = Fate::Fails;
        }
        course
    }

    /// Whether a node does not reach the database.
    pub(crate) fn is_away(&self, node: usize) -> bool {
        let state = self.state();
        state.faults.away > 0 || state.faults.cut.get(node).is_some_and(|cut| *cut > 0)
    }

    /// Lets the oracle see the rows that were written since the last look. Gives back which, where the database says so.
    pub(crate) fn look(&self) -> Option<Vec<RunKey>> {
        let AnyStore::Memory(memory) = &*self.store else { return None };
        // What the last look left open, now that everything of its commit was heard of.
        let moment = self.moment();
        self.state().oracle.judge_rest(moment);
        let mut touched = memory.touched();
        touched.dedup();
        if !touched.is_empty() {
            touched.iter().for_each(|key| self.show_at(moment, *key));
        }
        Some(touched)
    }

    /// Lets the oracle see a row.
    pub(crate) fn show(&self, key: RunKey) {
        self.show_at(self.moment(), key);
    }

    /// The same at the moment that it is.
    fn show_at(&self, moment: Moment, key: RunKey) {
        let row = self.at_once(stored!(self, run(Scope::Engine, key))).ok().flatten();
        self.state().oracle.observe(moment, key, row.as_ref());
    }

    /// Lets the oracle see every row: for databases that do not say what was written.
    pub(crate) fn look_at_all(&self) {
        if self.look().is_some() {
            return;
        }
        let listed = self.at_once(self.store.runs(Scope::Engine, RunFilter::default(), Cut::first(ROWS_MAX)));
        let mut rows = listed.map(|listed| listed.rows).unwrap_or_default();
        // What has ended first, so that nothing seems to be in flight beside what came after it.
        rows.sort_by_key(|row| (row.run.state.status().is_in_flight(), row.run.key));
        let moment = self.moment();
        let mut state = self.state();
        let mut there: HashSet<RunKey> = HashSet::new();
        for row in &rows {
            there.insert(row.run.key);
            state.oracle.observe(moment, row.run.key, Some(row));
        }
        for gone in state.oracle.known_runs().into_iter().filter(|key| !there.contains(key)) {
            state.oracle.observe(moment, gone, None);
        }
        state.oracle.recount(moment, &rows);
    }

    /// Says that something is wrong.
    pub(crate) fn complain(&self, what: impl std::fmt::Display) {
        let moment = self.moment();
        self.state().oracle.complain(moment, what);
    }

    /// What the database's clock shows.
    pub(crate) fn now(&self) -> Timestamp {
        self.world.now()
    }
}

fn millis(count: u64) -> Duration {
    Duration::from_millis(count)
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

thread_local! {
    static WAKER: RefCell<Waker> = RefCell::new(Waker::from(Arc::new(Unpark(std::thread::current()))));
}

/// Runs a future to its end on this thread, without a moment of virtual time.
fn here<F: Future>(work: F) -> F::Output {
    let mut work = pin!(tokio::task::unconstrained(work));
    let waker = WAKER.with_borrow(Waker::clone);
    let mut context = Context::from_waker(&waker);
    loop {
        match work.as_mut().poll(&mut context) {
            Poll::Ready(done) => return done,
            Poll::Pending => std::thread::park(),
        }
    }
}
