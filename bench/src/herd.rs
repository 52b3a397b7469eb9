//! The same workload without a store: which rows a step plans, admits and settles, from memory.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::workload::STEP_S;

/// Rows of one statement or transaction, as many as ours take.
pub(crate) const BATCH: usize = punctual_store::BATCH_MAX;

/// How far ahead a plan reaches, in seconds.
const REACH_S: i64 = 2 * STEP_S;

/// Microseconds in a second.
pub(crate) const SECOND_US: i64 = 1_000_000;

/// A schedule, as far as the hot tables know it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head {
    pub(crate) schedule: i64,
    pub(crate) org: i64,
    pub(crate) shard: i64,
    /// In microseconds.
    pub(crate) planned_through: i64,
    pub(crate) next_tick: i64,
}

/// A plan to be written: one row and the share of the cursor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Planned {
    /// The schedule before the plan.
    pub(crate) head: Head,
    pub(crate) planned_through: i64,
    pub(crate) decided_through: i64,
    pub(crate) next_tick: i64,
    pub(crate) plan_at: i64,
}

/// A row that was written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) run: i64,
    pub(crate) schedule: i64,
    pub(crate) tick: i64,
}

/// The schedules of a workload, or a part of them, by when they want something.
#[derive(Default)]
pub(crate) struct Herd {
    period_s: i64,
    heads: Vec<Head>,
    plannable: BTreeMap<i64, Vec<usize>>,
    armed: BTreeMap<i64, Vec<Row>>,
}

impl Herd {
    pub(crate) fn new(period_s: i64, heads: Vec<Head>, armed: Vec<Row>) -> Self {
        let mut herd = Self { period_s, ..Self::default() };
        for (place, head) in heads.iter().enumerate() {
            herd.plannable.entry(head.next_tick).or_default().push(place);
        }
        herd.heads = heads;
        armed.into_iter().for_each(|row| herd.arm(row));
        herd
    }

    /// Plans of everything that comes near.
    pub(crate) fn plans(&mut self, now: Timestamp) -> Vec<Planned> {
        let now_s = now.as_second();
        let later = self.plannable.split_off(&(now_s + STEP_S + 1));
        let near = std::mem::replace(&mut self.plannable, later);
        let mut plans = Vec::new();
        for place in near.into_values().flatten() {
            let head = self.heads[place];
            let next_tick = head.next_tick + self.period_s;
            let planned = Planned {
                head,
                planned_through: (now_s + REACH_S) * SECOND_US,
                decided_through: now_s * SECOND_US,
                next_tick,
                plan_at: (next_tick - STEP_S) * SECOND_US,
            };
            self.heads[place] = Head { planned_through: planned.planned_through, next_tick, ..head };
            self.plannable.entry(next_tick).or_default().push(place);
            plans.push(planned);
        }
        plans
    }

    /// A row that a plan has written.
    pub(crate) fn arm(&mut self, row: Row) {
        self.armed.entry(row.tick).or_default().push(row);
    }

    /// Rows that are due.
    pub(crate) fn due(&mut self, now: Timestamp) -> Vec<Row> {
        let later = self.armed.split_off(&(now.as_second() + 1));
        std::mem::replace(&mut self.armed, later).into_values().flatten().collect()
    }
}
