//! Wanted: how many runs want to go to each target. Of a herd it is counted before its instant.

use std::collections::HashMap;

use punctual_plan::OrgKey;
use punctual_store::DueRow;

use crate::launcher::is_launched;

/// A target of an org.
pub(crate) type LaneKey = (OrgKey, String);

/// How many runs want to go to each target.
#[derive(Debug, Default)]
pub(crate) struct Wanted {
    by_lane: HashMap<LaneKey, usize>,
    /// The most that want to go to one of them.
    most: usize,
}

impl Wanted {
    /// Counts rows, as far as this node launches them.
    pub(crate) fn count<'a>(rows: impl Iterator<Item = &'a DueRow>) -> Self {
        let mut wanted = Self::default();
        for row in rows.filter(|row| is_launched(&row.launch.definition.target.action)) {
            wanted.add((row.due.org, row.launch.definition.target.name.clone()), 1);
        }
        wanted
    }

    /// Adds so many to those that want to go to a target.
    pub(crate) fn add(&mut self, lane: LaneKey, runs: usize) {
        let count = self.by_lane.entry(lane).or_default();
        *count += runs;
        self.most = self.most.max(*count);
    }

    /// The most that want to go to one target.
    pub(crate) fn most(&self) -> usize {
        self.most
    }

    /// The targets.
    pub(crate) fn lanes(&self) -> impl ExactSizeIterator<Item = &LaneKey> {
        self.by_lane.keys()
    }

    /// Each target with how many want to go there.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&LaneKey, usize)> {
        self.by_lane.iter().map(|(lane, count)| (lane, *count))
    }
}
