//! Lanes: who may be launched next, so that a slow target never delays another.
//!
//! Each target has a lane. Places go round-robin to the lanes in which somebody waits; some are kept for targets that
//! have nothing in flight, so that one which fills all the others leaves them room. A run without a place waits in its
//! lane; it is admitted already. A lane takes only so many of them: beyond that rows wait in the ledger, and other lanes
//! go on.

mod open;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use punctual_plan::{ROOM_STEP, Room};
use punctual_store::Launchable;

use crate::wanted::{LaneKey, Wanted};
pub(crate) use open::LaneId;
use open::OpenLanes;

/// Places for anybody: so many programs at once are what a small machine bears.
pub(crate) const POOL: usize = 1_000;

/// Places for targets that have nothing in flight.
pub(crate) const RESERVE: usize = 100;

/// Runs that wait for a place in all. Beyond it only what finds a place at once is admitted.
pub(crate) const WAITING_MAX: usize = 200_000;

/// Runs that one task launches one after the other: their flights and places are dealt with together.
pub(crate) const SLICE: usize = 128;

/// What finds its lane full is looked at again after this long, and behind all that found it full before.
const LOOK_AGAIN: SignedDuration = SignedDuration::from_secs(1);

/// Where a run has its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Among those for anybody.
    Pool,
    /// Among those for targets that have nothing else in flight.
    Reserve,
}

/// A run with a place.
#[derive(Debug)]
pub(crate) struct Placed {
    pub(crate) place: Place,
    pub(crate) run: Arc<Launchable>,
    lane: LaneId,
}

/// The lanes of a launcher.
pub(crate) struct Lanes {
    open: OpenLanes,
    /// Lanes in which somebody waits, in the order in which they are served.
    turns: VecDeque<LaneId>,
    pool_free: usize,
    reserve_free: usize,
    waiting: usize,
    /// Tasks that launch slices.
    slicers: usize,
    /// Runs of one target that wait for a place; further ones of it are not admitted before there is room.
    lane_max: usize,
    /// Whether nobody gets a place any more.
    is_closed: bool,
}

impl Lanes {
    /// Lanes in each of which so many may wait.
    pub(crate) fn new(lane_max: usize) -> Self {
        Self {
            open: OpenLanes::default(),
            turns: VecDeque::new(),
            pool_free: POOL,
            reserve_free: RESERVE,
            waiting: 0,
            slicers: 0,
            lane_max,
            is_closed: false,
        }
    }

    /// Lets a run in: with a place if there is one, or to wait in its lane.
    pub(crate) fn enter(&mut self, run: Arc<Launchable>) -> Option<Placed> {
        let id = self.open.enter(run.org, &run.definition.target.name);
        if self.open[id].waiting.is_empty()
            && let Some(place) = self.place_for(id)
        {
            return Some(self.placed(id, place, run));
        }
        self.wait(id, run);
        None
    }

    fn wait(&mut self, id: LaneId, run: Arc<Launchable>) {
        let lane = &mut self.open[id];
        if lane.waiting.is_empty() {
            self.turns.push_back(id);
        }
        lane.waiting.push_back(run);
        self.waiting += 1;
    }

    /// Gets ready for those who want to go to targets soon.
    pub(crate) fn expect(&mut self, wanted: &Wanted) {
        self.open.open_ahead(wanted.lanes());
    }

    /// Of lanes to which so many rows want to go, those that do not take all of them.
    pub(crate) fn rooms(&mut self, wanted: &Wanted, now: Timestamp) -> HashMap<LaneKey, Room> {
        // Where nobody waits anywhere, nobody has to be asked for each target of a herd.
        if self.waiting == 0 && wanted.most() <= self.lane_max.min(WAITING_MAX) {
            return HashMap::new();
        }
        let (mut pool, mut reserve) = (self.pool_free, self.reserve_free);
        let mut rooms = HashMap::new();
        for (key, rows) in wanted.iter() {
            let lane = self.open.find(key);
            let places = if pool > 0 { &mut pool } else { &mut reserve };
            // What is here already has no claim to the reserve.
            let places = if lane.is_none() || self.pool_free > 0 { places } else { &mut 0 };
            let waiting = lane.map_or(0, |lane| self.open[lane].waiting.len());
            let free = self.lane_max.saturating_sub(waiting).min(WAITING_MAX.saturating_sub(self.waiting));
            let left = free + *places;
            *places = places.saturating_sub(rows);
            if left < rows {
                let again_at = self.look_again(lane, rows - left, now);
                rooms.insert(key.clone(), Room { left, again_at });
            }
        }
        rooms
    }

    /// When the first of so many rows that a lane does not take is looked at again: behind those before them.
    fn look_again(&mut self, lane: Option<LaneId>, rows: usize, now: Timestamp) -> Timestamp {
        let later = |at: Timestamp, by| at.saturating_add(by).unwrap_or(Timestamp::MAX);
        let soonest = later(now, LOOK_AGAIN);
        let Some(lane) = lane.map(|id| &mut self.open[id]) else { return soonest };
        let first = soonest.max(lane.again_at.unwrap_or(Timestamp::MIN));
        lane.again_at = Some(later(first, ROOM_STEP * i32::try_from(rows).unwrap_or(i32::MAX)));
        first
    }

    /// A place for somebody of a lane, if there is one.
    fn place_for(&self, id: LaneId) -> Option<Place> {
        if self.is_closed {
            None
        } else if self.pool_free > 0 {
            Some(Place::Pool)
        } else {
            (self.reserve_free > 0 && self.open[id].running == 0).then_some(Place::Reserve)
        }
    }

    fn placed(&mut self, lane: LaneId, place: Place, run: Arc<Launchable>) -> Placed {
        self.open[lane].running += 1;
        *self.free_of(place) -= 1;
        Placed { place, run, lane }
    }

    /// The next run of a lane, if there is a place for it.
    pub(crate) fn take(&mut self, id: LaneId) -> Option<Placed> {
        let place = self.place_for(id)?;
        let run = self.open[id].waiting.pop_front()?;
        self.waiting -= 1;
        // Whoever was served goes to the end; whoever is empty waits for nothing.
        if let Some(turn) = self.turns.iter().position(|turn| *turn == id) {
            self.turns.remove(turn);
        }
        if !self.open[id].waiting.is_empty() {
            self.turns.push_back(id);
        }
        Some(self.placed(id, place, run))
    }

    /// Somebody begins to launch slices.
    pub(crate) fn begin(&mut self) {
        self.slicers += 1;
    }

    /// Whoever launches slices gives places back and has the next one, with what is left of the last one, or ends.
    pub(crate) fn next_slice(&mut self, over: &[Placed], left: Vec<Placed>) -> Vec<Placed> {
        let mut next = left;
        next.extend(over.iter().filter_map(|placed| self.give_back(placed)));
        self.fill(&mut next);
        self.slicers -= usize::from(next.is_empty() && self.slicers > 0);
        next
    }

    /// The end of a run that has gone on by itself: its place is left to those who launch slices, unless there are none
    /// or they do not come for it. Then whoever has it does.
    pub(crate) fn last_slice(&mut self, placed: &Placed) -> Vec<Placed> {
        let is_left = placed.place == Place::Pool && self.slicers > 0 && self.pool_free + 1 < SLICE;
        if is_left {
            self.leave(placed);
            self.open.left(placed.lane);
            return Vec::new();
        }
        let mut next: Vec<Placed> = self.give_back(placed).into_iter().collect();
        self.fill(&mut next);
        self.slicers += usize::from(!next.is_empty());
        next
    }

    /// Adds runs to a slice for which there are places.
    fn fill(&mut self, slice: &mut Vec<Placed>) {
        while slice.len() < SLICE && self.pool_free > 0 {
            let Some(next) = self.turns.front().copied().and_then(|lane| self.take(lane)) else { return };
            slice.push(next);
        }
    }

    /// Gives a place back; the run that has it next.
    fn give_back(&mut self, placed: &Placed) -> Option<Placed> {
        self.leave(placed);
        let next = match placed.place {
            Place::Pool => self.turns.front().copied(),
            Place::Reserve => self.turns.iter().find(|id| self.open[**id].running == 0).copied(),
        };
        let next = next.and_then(|next| self.take(next));
        self.open.left(placed.lane);
        next
    }

    /// Gives places back and puts their runs first in their lanes again: they could not be launched for now. Whoever
    /// wanted to launch them ends.
    pub(crate) fn put_back_all(&mut self, placed: Vec<Placed>) {
        placed.into_iter().rev().for_each(|one| self.put_back(one));
        self.slicers = self.slicers.saturating_sub(1);
    }

    fn put_back(&mut self, placed: Placed) {
        self.leave(&placed);
        let lane = &mut self.open[placed.lane];
        if lane.waiting.is_empty() {
            self.turns.push_front(placed.lane);
        }
        lane.waiting.push_front(placed.run);
        self.waiting += 1;
    }

    fn leave(&mut self, placed: &Placed) {
        *self.free_of(placed.place) += 1;
        let lane = &mut self.open[placed.lane];
        lane.running = lane.running.saturating_sub(1);
    }

    fn free_of(&mut self, place: Place) -> &mut usize {
        match place {
            Place::Pool => &mut self.pool_free,
            Place::Reserve => &mut self.reserve_free,
        }
    }

    /// The lanes in which somebody waits.
    pub(crate) fn turns(&self) -> Vec<LaneId> {
        self.turns.iter().copied().collect()
    }

    /// How many wait.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting
    }

    /// Empties the lanes for good: those that have a place keep it, and nobody else gets one.
    pub(crate) fn close(&mut self) -> Vec<Arc<Launchable>> {
        self.is_closed = true;
        self.clear()
    }

    /// Empties the lanes; those that had a place keep it.
    pub(crate) fn clear(&mut self) -> Vec<Arc<Launchable>> {
        self.waiting = 0;
        let mut waiting = Vec::new();
        for id in std::mem::take(&mut self.turns) {
            waiting.extend(self.open[id].waiting.drain(..));
            self.open.left(id);
        }
        waiting
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use punctual_plan::{Action, OrgKey, Origin, RunKey, Schedule, ScheduleId, ScheduleKey};
    use punctual_time::{Cron, Timing, Zone};

    use super::*;

    /// So many wait in each lane.
    const LANE_MAX: usize = 10_000;

    fn run(key: i64, target: &str) -> Arc<Launchable> {
        let timing = Timing::new("* * * * *".parse::<Cron>().unwrap(), Zone::utc());
        let action = Action::Callback { task: target.to_owned() };
        let definition = Schedule::new(ScheduleId(uuid::Uuid::from_u128(1)), target, timing, action);
        Arc::new(Launchable {
            run: RunKey(key),
            schedule: ScheduleKey(1),
            org: OrgKey(1),
            definition: Arc::new(definition),
            origin: Origin::Tick,
            nonce: String::new(),
            scheduled_for: Timestamp::UNIX_EPOCH,
            fire_at: Timestamp::UNIX_EPOCH,
            attempt: 1,
            trace: None,
            token: None,
            answer_by: Timestamp::MAX,
        })
    }

    fn fill(lanes: &mut Lanes, target: &str, keys: std::ops::Range<i64>) -> Vec<Placed> {
        let mut placed = Vec::new();
        for key in keys {
            placed.extend(lanes.enter(run(key, target)));
        }
        placed
    }

    #[test]
    fn a_target_that_fills_the_pool_leaves_the_others_room() {
        let mut lanes = Lanes::new(LANE_MAX);
        let placed = fill(&mut lanes, "slow", 0..1_050);
        assert_eq!((placed.len(), lanes.waiting()), (POOL, 50));
        let quick = fill(&mut lanes, "quick", 9_000..9_002);
        assert_eq!((quick.len(), quick[0].place), (1, Place::Reserve), "the first of a target finds room");
        let next = lanes.give_back(&quick[0]).expect("the second has its place");
        assert_eq!(next.run.run, RunKey(9_001));
        assert!(
            lanes.give_back(&next).is_none(),
            "the reserve is not for those that have something in flight"
        );

        let next = lanes.give_back(&placed[0]).expect("one that waits");
        assert_eq!(next.run.run, RunKey(1_000), "in its order");
        assert_eq!((lanes.clear().len(), lanes.waiting()), (49, 0));
    }

    #[test]
    fn a_herd_of_targets_stays_within_the_places() {
        let mut lanes = Lanes::new(LANE_MAX);
        let mut placed = Vec::new();
        for key in 0..5_000 {
            placed.extend(fill(&mut lanes, &format!("target {key}"), key..key + 1));
        }
        assert_eq!((placed.len(), lanes.waiting()), (POOL + RESERVE, 3_900));
        let mut served = 0;
        while let Some(one) = placed.pop() {
            served += 1;
            placed.extend(lanes.give_back(&one));
        }
        assert_eq!((served, lanes.waiting()), (5_000, 0));
    }

    #[test]
    fn a_full_lane_keeps_no_other_from_being_admitted() {
        let mut lanes = Lanes::new(LANE_MAX);
        let (slow, quick) = ((OrgKey(1), "slow".to_owned()), (OrgKey(1), "quick".to_owned()));
        let mut wanted = Wanted::default();
        wanted.add(slow.clone(), 50);
        wanted.add(quick.clone(), 1);
        let now = Timestamp::UNIX_EPOCH;
        fill(&mut lanes, "slow", 0..(POOL + LANE_MAX - 10) as i64);
        let room = |left, ms| Room { left, again_at: Timestamp::from_millisecond(ms).unwrap() };
        assert_eq!(lanes.rooms(&wanted, now), HashMap::from([(slow.clone(), room(10, 1_000))]));
        fill(&mut lanes, "slow", 50_000..50_010);
        assert_eq!(lanes.rooms(&wanted, now), HashMap::from([(slow, room(0, 1_004))]), "behind those before");

        // Twenty such targets leave what finds a place; when all places are taken, nothing more is admitted.
        for target in 1..20 {
            fill(&mut lanes, &format!("slow {target}"), 0..LANE_MAX as i64 + 1);
        }
        assert!(lanes.waiting() >= WAITING_MAX - 10);
        fill(&mut lanes, "slow 1", 0..20);
        assert!(!lanes.rooms(&wanted, now).contains_key(&quick), "there are places left for it");
        for target in 0..RESERVE {
            fill(&mut lanes, &format!("other {target}"), 0..1);
        }
        assert!(lanes.rooms(&wanted, now).contains_key(&quick));
    }

    #[test]
    fn closed_lanes_keep_what_is_put_back_and_give_no_place() {
        let mut lanes = Lanes::new(LANE_MAX);
        let mut placed = fill(&mut lanes, "slow", 0..1_002);
        assert_eq!(lanes.close().len(), 2, "those without a place");
        let (late, first) = (placed.pop().expect("a place"), placed.pop().expect("a place"));
        let key = late.run.run;
        lanes.put_back(late);
        assert!(lanes.give_back(&first).is_none() && fill(&mut lanes, "quick", 9_000..9_001).is_empty());
        let left: Vec<RunKey> = lanes.clear().iter().map(|run| run.run).collect();
        assert!(left.len() == 2 && left.contains(&key), "{left:?}");
    }

    #[test]
    fn places_go_round_and_what_is_put_back_comes_first() {
        let mut lanes = Lanes::new(LANE_MAX);
        let placed = fill(&mut lanes, "a", 0..1_002);
        fill(&mut lanes, "b", 10_000..10_003);
        let first = lanes.give_back(&placed[0]).expect("someone waits");
        let second = lanes.give_back(&placed[1]).expect("someone waits");
        let targets = [&first, &second].map(|placed| placed.run.definition.name.clone());
        assert_eq!(targets, ["a", "b"]);
        let (waiting, key) = (lanes.waiting(), first.run.run);
        lanes.put_back(first);
        assert_eq!(lanes.waiting(), waiting + 1);
        let lane = lanes.open.find(&(OrgKey(1), "a".to_owned())).expect("it is open");
        assert_eq!(lanes.take(lane).map(|placed| placed.run.run), Some(key));
    }

    #[test]
    fn slices_take_the_places_that_single_runs_leave() {
        let mut lanes = Lanes::new(LANE_MAX);
        let mut placed = fill(&mut lanes, "quick", 0..(POOL + 3 + SLICE + 45) as i64);
        lanes.begin();
        let alone = placed.pop().expect("it has a place");
        assert!(lanes.last_slice(&alone).is_empty(), "others launch slices");
        let over = placed.split_off(placed.len() - 2);
        assert_eq!(lanes.next_slice(&over, Vec::new()).len(), 3);
        assert!(placed.drain(..SLICE - 1).all(|one| lanes.last_slice(&one).is_empty()));
        let alone = placed.pop().expect("it has a place");
        assert_eq!(lanes.last_slice(&alone).len(), SLICE, "nobody has come for the others");
        assert_eq!(lanes.next_slice(&placed, Vec::new()).len(), 45);
    }

    #[test]
    fn without_anybody_who_launches_slices_whoever_ends_takes_the_next() {
        let mut lanes = Lanes::new(LANE_MAX);
        let mut placed = fill(&mut lanes, "quick", 0..POOL as i64 + 1);
        let next = lanes.last_slice(&placed.pop().expect("it has a place"));
        assert!(next.len() == 1 && lanes.next_slice(&next, Vec::new()).is_empty());
        assert!(lanes.last_slice(&placed.pop().expect("it has a place")).is_empty());
    }
}
