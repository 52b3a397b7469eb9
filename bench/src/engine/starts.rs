//! Starts as the closure of the schedules sees them, noted without a lock.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

use jiff::Timestamp;
use punctual_engine::{Callbacks, Context};

/// The name under which schedules call the closure.
pub(crate) const TASK: &str = "nothing";

/// What was started, and when.
pub(super) struct Starts {
    taken: AtomicUsize,
    /// Run, tick and start of each, in microseconds.
    notes: Vec<[AtomicI64; 3]>,
}

/// How late some starts were, in milliseconds.
#[derive(Clone, Debug, Default)]
pub(super) struct Lateness {
    sorted: Vec<f64>,
    /// The latest start of each second of ticks.
    seconds: BTreeMap<i64, f64>,
    /// Runs that were started more than once.
    pub(super) doubled: usize,
}

impl Starts {
    /// Room for so many.
    pub(super) fn new(most: usize) -> Arc<Self> {
        let notes = (0..most).map(|_| [const { AtomicI64::new(0) }; 3]).collect();
        Arc::new(Self { taken: AtomicUsize::new(0), notes })
    }

    /// The closure that notes and does nothing else.
    pub(super) fn callbacks(self: &Arc<Self>) -> Callbacks {
        let starts = Arc::clone(self);
        Callbacks::new().add(TASK, move |context: Context| {
            starts.note(&context);
            async { Ok(()) }
        })
    }

    fn note(&self, context: &Context) {
        let at = Timestamp::now().as_microsecond();
        let place = self.taken.fetch_add(1, Ordering::Relaxed);
        if let Some([run, tick, start]) = self.notes.get(place) {
            run.store(context.run_id.0, Ordering::Relaxed);
            tick.store(context.scheduled_for.as_microsecond(), Ordering::Relaxed);
            start.store(at, Ordering::Release);
        }
    }

    /// How many there are so far.
    pub(super) fn count(&self) -> usize {
        self.taken.load(Ordering::Relaxed)
    }

    /// How late those of ticks before this were.
    pub(super) fn lateness(&self, before: Timestamp) -> Lateness {
        let mut seen: HashMap<i64, usize> = HashMap::new();
        let (mut sorted, mut seconds) = (Vec::new(), BTreeMap::<i64, f64>::new());
        for [run, tick, start] in self.notes.iter().take(self.count()) {
            let (start, tick) = (start.load(Ordering::Acquire), tick.load(Ordering::Relaxed));
            if tick >= before.as_microsecond() {
                continue;
            }
            *seen.entry(run.load(Ordering::Relaxed)).or_default() += 1;
            let late = (start - tick) as f64 / 1e3;
            sorted.push(late);
            seconds
                .entry(tick.div_euclid(1_000_000))
                .and_modify(|latest| *latest = latest.max(late))
                .or_insert(late);
        }
        sorted.sort_by(f64::total_cmp);
        Lateness { sorted, seconds, doubled: seen.values().filter(|count| **count > 1).count() }
    }
}

impl Lateness {
    /// How many starts.
    pub(super) fn count(&self) -> usize {
        self.sorted.len()
    }

    /// The latest start of each second, in their order.
    pub(super) fn by_second(&self) -> Vec<f64> {
        self.seconds.values().map(|latest| (latest * 10.0).round() / 10.0).collect()
    }

    /// So many of a thousand were not later than this.
    pub(super) fn of_thousand(&self, rank: usize) -> f64 {
        let last = self.sorted.len().saturating_sub(1);
        self.sorted.get(last * rank / 1_000).copied().unwrap_or(f64::NAN)
    }
}
