//! The lanes that are open: each as long as something is in it, and a while longer, for whoever comes next.

use std::collections::{HashMap, VecDeque};
use std::ops::{Index, IndexMut};
use std::sync::Arc;

use jiff::Timestamp;
use punctual_plan::OrgKey;
use punctual_store::Launchable;

use crate::wanted::LaneKey;

/// So many empty lanes are kept open. In a herd of as many targets none has to be opened and closed.
const EMPTY_MAX: usize = 16_384;

/// A lane, as long as it is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LaneId(usize);

pub(super) struct Lane {
    key: (OrgKey, Arc<str>),
    pub(super) waiting: VecDeque<Arc<Launchable>>,
    pub(super) running: usize,
    /// When the last row that found it full is looked at again.
    pub(super) again_at: Option<Timestamp>,
}

impl Lane {
    fn is_empty(&self) -> bool {
        self.running == 0 && self.waiting.is_empty()
    }
}

/// All lanes that are open.
#[derive(Default)]
pub(super) struct OpenLanes {
    /// Those that are not used have nothing in them.
    lanes: Vec<Lane>,
    unused: Vec<LaneId>,
    by_key: HashMap<OrgKey, HashMap<Arc<str>, LaneId>>,
    /// The lane that was entered last: those of a herd are mostly one.
    last: Option<LaneId>,
    /// How many are open with nothing in them, or were when somebody last left one.
    empty: usize,
}

impl OpenLanes {
    /// A lane in which something is.
    pub(super) fn find(&self, key: &LaneKey) -> Option<LaneId> {
        let id = self.by_key.get(&key.0)?.get(key.1.as_str()).copied()?;
        (!self[id].is_empty()).then_some(id)
    }

    /// The lane of a target, which is opened if it is not. Whoever asks puts something into it.
    pub(super) fn enter(&mut self, org: OrgKey, name: &str) -> LaneId {
        let is_last = |id: &LaneId| {
            let key = &self[*id].key;
            key.0 == org && *key.1 == *name
        };
        let known = self.last.filter(is_last).or_else(|| self.by_key.get(&org)?.get(name).copied());
        let id = known.unwrap_or_else(|| self.open(org, name));
        if known.is_some() && self[id].is_empty() {
            self.empty = self.empty.saturating_sub(1);
        }
        self.last = Some(id);
        id
    }

    fn open(&mut self, org: OrgKey, name: &str) -> LaneId {
        let name: Arc<str> = name.into();
        let lane =
            Lane { key: (org, Arc::clone(&name)), waiting: VecDeque::new(), running: 0, again_at: None };
        let id = match self.unused.pop() {
            Some(id) => {
                self[id] = lane;
                id
            }
            None => {
                self.lanes.push(lane);
                LaneId(self.lanes.len() - 1)
            }
        };
        self.by_key.entry(org).or_default().insert(name, id);
        id
    }

    /// Opens lanes to which somebody wants to go soon, with room for one who waits.
    pub(super) fn open_ahead<'a>(&mut self, keys: impl ExactSizeIterator<Item = &'a LaneKey>) {
        if self.empty + keys.len() > EMPTY_MAX {
            self.close_empty();
        }
        for (org, name) in keys.take(EMPTY_MAX) {
            let is_open = self.by_key.get(org).is_some_and(|lanes| lanes.contains_key(name.as_str()));
            if !is_open {
                let id = self.open(*org, name);
                self[id].waiting.reserve(1);
                self.empty += 1;
            }
        }
    }

    /// Somebody has left a lane. If nothing is in it any more it is closed, unless few are open like that.
    pub(super) fn left(&mut self, id: LaneId) {
        let lane = &mut self[id];
        if !lane.is_empty() {
            return;
        }
        lane.again_at = None;
        if self.empty < EMPTY_MAX {
            self.empty += 1;
        } else {
            self.close(id);
        }
    }

    fn close(&mut self, id: LaneId) {
        let (org, name) = self[id].key.clone();
        if let Some(lanes) = self.by_key.get_mut(&org) {
            // The map of an org stays as it is: the next herd has as many lanes.
            lanes.remove(&name);
        }
        self.last = self.last.filter(|last| *last != id);
        self.unused.push(id);
    }

    fn close_empty(&mut self) {
        let open: Vec<LaneId> = self.by_key.values().flat_map(HashMap::values).copied().collect();
        for id in open {
            if self[id].is_empty() {
                self.close(id);
            }
        }
        self.by_key.retain(|_, lanes| !lanes.is_empty());
        self.empty = 0;
    }
}

impl Index<LaneId> for OpenLanes {
    type Output = Lane;

    fn index(&self, id: LaneId) -> &Lane {
        &self.lanes[id.0]
    }
}

impl IndexMut<LaneId> for OpenLanes {
    fn index_mut(&mut self, id: LaneId) -> &mut Lane {
        &mut self.lanes[id.0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(numbers: std::ops::Range<usize>) -> Vec<LaneKey> {
        numbers.map(|number| (OrgKey(1), format!("target {number}"))).collect()
    }

    fn count(lanes: &OpenLanes) -> usize {
        lanes.by_key.values().map(HashMap::len).sum()
    }

    #[test]
    fn a_lane_is_found_as_long_as_something_is_in_it_and_open_beyond() {
        let mut lanes = OpenLanes::default();
        let key = (OrgKey(1), "one".to_owned());
        let id = lanes.enter(key.0, &key.1);
        lanes[id].running = 1;
        assert_eq!(lanes.find(&key), Some(id));
        lanes[id].running = 0;
        lanes.left(id);
        assert_eq!((lanes.find(&key), lanes.enter(key.0, &key.1)), (None, id));
    }

    #[test]
    fn few_empty_lanes_are_kept_and_those_that_are_wanted_next_come_first() {
        let mut lanes = OpenLanes::default();
        lanes.open_ahead(keys(0..EMPTY_MAX - 1).iter());
        assert_eq!(count(&lanes), EMPTY_MAX - 1);
        let ids: Vec<LaneId> = keys(EMPTY_MAX..EMPTY_MAX + 9)
            .iter()
            .map(|key| {
                let id = lanes.enter(key.0, &key.1);
                lanes[id].running = 1;
                id
            })
            .collect();
        for id in &ids[1..] {
            lanes[*id].running = 0;
            lanes.left(*id);
        }
        assert_eq!(count(&lanes), EMPTY_MAX + 1, "one that is used, and as many empty ones as are kept");
        lanes.open_ahead(keys(0..3).iter());
        assert_eq!(count(&lanes), 4, "the one that is used, and the new ones");
        let id = lanes.enter(OrgKey(1), "target 1");
        assert_eq!((lanes[id].running, lanes.empty), (0, 2));
    }
}
