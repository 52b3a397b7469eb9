//! Lanes: who may be launched next, so that a slow target never delays another.
//!
//! Each target has a few places of its own; beyond them its runs share a pool, which is given round-robin to the
//! targets that wait. A run without a place waits in its target's lane; it is admitted already.

use std::collections::{HashMap, VecDeque};

use punctual_plan::OrgKey;
use punctual_store::Launchable;

/// Places that all targets share.
const POOL: usize = 1_000;

/// Places that each target has to itself, whatever the others do.
const OWN: usize = 16;

/// Runs that wait for a place before the engine stops to admit more.
pub(crate) const WAITING_MAX: usize = 100_000;

/// A target of an org.
pub(crate) type LaneKey = (OrgKey, String);

/// Where a run has its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Among those of its target.
    Own(LaneKey),
    /// Among those of all.
    Pool,
}

/// A run with a place.
#[derive(Debug)]
pub(crate) struct Placed {
    pub(crate) place: Place,
    pub(crate) run: Launchable,
}

#[derive(Default)]
struct Lane {
    waiting: VecDeque<Launchable>,
    own_taken: usize,
}

/// The lanes of a launcher.
pub(crate) struct Lanes {
    lanes: HashMap<LaneKey, Lane>,
    /// Lanes in which somebody waits, in the order in which the pool serves them.
    turns: VecDeque<LaneKey>,
    pool_free: usize,
    waiting: usize,
}

impl Default for Lanes {
    fn default() -> Self {
        Self { lanes: HashMap::new(), turns: VecDeque::new(), pool_free: POOL, waiting: 0 }
    }
}

impl Lanes {
    /// Adds a run to its lane; [`Lanes::take`] gives it back with a place.
    pub(crate) fn push(&mut self, run: Launchable) -> LaneKey {
        let key = (run.org, run.definition.target.name.clone());
        let lane = self.lanes.entry(key.clone()).or_default();
        if lane.waiting.is_empty() {
            self.turns.push_back(key.clone());
        }
        lane.waiting.push_back(run);
        self.waiting += 1;
        key
    }

    /// The next run of a lane, if there is a place for it.
    pub(crate) fn take(&mut self, key: &LaneKey) -> Option<Placed> {
        let lane = self.lanes.get_mut(key)?;
        let run = lane.waiting.pop_front()?;
        let place = if lane.own_taken < OWN {
            lane.own_taken += 1;
            Place::Own(key.clone())
        } else if self.pool_free > 0 {
            self.pool_free -= 1;
            Place::Pool
        } else {
            lane.waiting.push_front(run);
            return None;
        };
        self.waiting -= 1;
        let is_empty = lane.waiting.is_empty();
        // Whoever was served goes to the end; whoever is empty waits for nothing.
        if let Some(turn) = self.turns.iter().position(|turn| turn == key) {
            self.turns.remove(turn);
        }
        if !is_empty {
            self.turns.push_back(key.clone());
        }
        Some(Placed { place, run })
    }

    /// Gives a place back; the run that has it next.
    pub(crate) fn give_back(&mut self, place: &Place) -> Option<Placed> {
        let next = match place {
            Place::Own(key) => {
                if let Some(lane) = self.lanes.get_mut(key) {
                    lane.own_taken -= 1;
                }
                key.clone()
            }
            Place::Pool => {
                self.pool_free += 1;
                self.turns.front()?.clone()
            }
        };
        let placed = self.take(&next);
        if self.lanes.get(&next).is_some_and(|lane| lane.own_taken == 0 && lane.waiting.is_empty()) {
            self.lanes.remove(&next);
        }
        placed
    }

    /// Gives a place back and puts its run first in its lane again: it could not be launched for now.
    pub(crate) fn put_back(&mut self, placed: Placed) {
        let key = (placed.run.org, placed.run.definition.target.name.clone());
        match placed.place {
            Place::Own(_) => {
                if let Some(lane) = self.lanes.get_mut(&key) {
                    lane.own_taken -= 1;
                }
            }
            Place::Pool => self.pool_free += 1,
        }
        let lane = self.lanes.entry(key.clone()).or_default();
        if lane.waiting.is_empty() {
            self.turns.push_front(key);
        }
        lane.waiting.push_front(placed.run);
        self.waiting += 1;
    }

    /// The lanes in which somebody waits.
    pub(crate) fn turns(&self) -> Vec<LaneKey> {
        self.turns.iter().cloned().collect()
    }

    /// How many wait.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting
    }

    /// Empties the lanes; those that had a place keep it.
    pub(crate) fn clear(&mut self) -> usize {
        self.turns.clear();
        for lane in self.lanes.values_mut() {
            lane.waiting.clear();
        }
        self.lanes.retain(|_, lane| lane.own_taken > 0);
        std::mem::take(&mut self.waiting)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use jiff::Timestamp;
    use punctual_plan::{Action, Origin, RunKey, Schedule, ScheduleId, ScheduleKey};
    use punctual_time::{Cron, Timing, Zone};

    use super::*;

    fn run(key: i64, target: &str) -> Launchable {
        let timing = Timing::new("* * * * *".parse::<Cron>().unwrap(), Zone::utc());
        let action = Action::Callback { task: target.to_owned() };
        let mut definition = Schedule::new(ScheduleId(uuid::Uuid::from_u128(1)), target, timing, action);
        definition.target.name = target.to_owned();
        Launchable {
            run: RunKey(key),
            schedule: ScheduleKey(1),
            org: OrgKey(1),
            definition: Arc::new(definition),
            origin: Origin::Tick,
            nonce: String::new(),
            scheduled_for: Timestamp::UNIX_EPOCH,
            fire_at: Timestamp::UNIX_EPOCH,
            attempt: 1,
        }
    }

    #[test]
    fn a_target_that_fills_the_pool_leaves_the_others_their_places() {
        let mut lanes = Lanes::default();
        let (mut placed, many) = (Vec::new(), POOL + OWN + 50);
        for key in 0..many {
            let lane = lanes.push(run(i64::try_from(key).unwrap(), "slow"));
            placed.extend(lanes.take(&lane));
        }
        assert_eq!((placed.len(), lanes.waiting()), (POOL + OWN, 50));
        let lane = lanes.push(run(9_000, "quick"));
        let quick = lanes.take(&lane).expect("it has places of its own");
        assert_eq!(quick.place, Place::Own(lane));
        assert!(lanes.give_back(&quick.place).is_none());

        let next = lanes.give_back(&placed[0].place).expect("one that waits");
        assert_eq!(next.run.run, RunKey(i64::try_from(POOL + OWN).unwrap()), "in its order");
        assert_eq!(lanes.clear(), 49);
        assert_eq!(lanes.waiting(), 0);
    }

    #[test]
    fn the_pool_goes_round_and_what_is_put_back_comes_first() {
        let mut lanes = Lanes::default();
        let mut taken = Vec::new();
        for (offset, target) in [(0, "a"), (10_000, "b")] {
            for key in 0..POOL + OWN + 2 {
                let lane = lanes.push(run(offset + i64::try_from(key).unwrap(), target));
                taken.extend(lanes.take(&lane));
            }
        }
        let pooled = taken.iter().filter(|placed| placed.place == Place::Pool).count();
        assert_eq!(pooled, POOL);
        let first = lanes.give_back(&Place::Pool).expect("someone waits");
        let second = lanes.give_back(&Place::Pool).expect("someone waits");
        let targets = [&first, &second].map(|placed| placed.run.definition.name.clone());
        assert_eq!(targets, ["a", "b"]);
        let waiting = lanes.waiting();
        let key = first.run.run;
        lanes.put_back(first);
        assert_eq!(lanes.waiting(), waiting + 1);
        assert_eq!(lanes.take(&(OrgKey(1), "a".to_owned())).map(|placed| placed.run.run), Some(key));
    }
}
