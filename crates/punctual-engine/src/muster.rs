//! Muster: what is due soon is read and judged before its instant, so that at the instant only the commit is left.
//!
//! Nothing is decided by it: verdicts that were made ahead are committed only if nothing was written meanwhile that they
//! may depend on, and are thrown away otherwise. What is not mustered is judged at its instant.

use jiff::{SignedDuration, Timestamp};
use punctual_store::{Ask, BATCH_MAX, Error, Moment, SHARDS, Shards, Store, Whose};
use tracing::debug;

use crate::admitter::{Judged, Mustered};
use crate::launcher::Doors;
use crate::{Clock, Engine, Targets};

/// How long before their instant rows are read, if nothing is going on.
const AHEAD: SignedDuration = SignedDuration::from_secs(4);

/// The same while runs are in flight, whose ends will be written, or after the first reading was in vain.
const AHEAD_BUSY: SignedDuration = SignedDuration::from_millis(300);

/// Not worth the while any more.
const AHEAD_MIN: SignedDuration = SignedDuration::from_millis(10);

/// How often one instant is mustered for.
const TRIES_MAX: u32 = 3;

/// Later than this after the instant other rules hold than at it.
const LATE_MAX: SignedDuration = SignedDuration::from_millis(500);

/// Into how many parts of shards a reading is divided that is too large for one.
const PARTS: usize = 16;

/// What is mustered for an instant.
#[derive(Default)]
pub(crate) struct Muster {
    at: Timestamp,
    tries: u32,
    /// When what has been read so far was read.
    moment: Option<Moment>,
    /// What is still to be read.
    left: Vec<Whose>,
    judged: Judged,
    /// All of it, when nothing is left to be read.
    ready: Option<Mustered>,
}

impl Muster {
    /// Begins anew for an instant.
    fn begin(&mut self, at: Timestamp, moment: Moment, own: Whose) {
        let tries = if self.at == at { self.tries + 1 } else { 1 };
        *self = Self { at, tries, moment: Some(moment), left: vec![own], ..Self::default() };
    }

    /// The instant that is mustered for, if it is so near that plans can wait for it.
    pub(crate) fn near(&self, now: Timestamp) -> Option<Timestamp> {
        let left = self.at.duration_since(now);
        (self.moment.is_some() && left.is_positive() && left <= AHEAD_BUSY).then_some(self.at)
    }

    /// Takes what is ready for an instant that has come.
    fn take(&mut self, now: Timestamp) -> Option<Mustered> {
        if self.at > now {
            return None;
        }
        let Self { at, ready, .. } = std::mem::take(self);
        ready.filter(|_| now.duration_since(at) <= LATE_MAX)
    }
}

impl<S: Store, C: Clock, T: Targets> Engine<S, C, T> {
    /// Admits and launches what was mustered for now; an error is for the caller to tell.
    pub(crate) async fn call_up(&mut self) -> Result<(), Error> {
        let now = self.time.now();
        let Some(mustered) = self.muster.take(now) else { return Ok(()) };
        let rooms = self.launcher.rooms(&mustered.wanted, now);
        if !rooms.is_empty() {
            return Ok(());
        }
        let Some(mut called) = self.admitter.call_up(&*self.store, now, mustered).await? else {
            debug!("what was judged ahead does not hold any more");
            return Ok(());
        };
        self.launch(std::mem::take(&mut called.launches), called.fence);
        // Everything else would only take the cores from what has just begun.
        self.flights.rush().await;
        let admitted = self.admitter.follow_up(called);
        self.carry_on(admitted).await;
        Ok(())
    }

    /// Reads and judges some of what is due at `next`; gives back when to go on with it, if there is more.
    pub(crate) async fn hold_muster(&mut self, next: Option<Timestamp>) -> Option<Timestamp> {
        let (at, now) = (next?, self.time.now());
        let left = at.duration_since(now);
        if left < AHEAD_MIN {
            return None;
        }
        let is_first = self.muster.at != at;
        let ahead = if is_first && !self.flights.is_any() { AHEAD } else { AHEAD_BUSY };
        let moment = self.store.moment().await?;
        let is_good = !is_first && self.muster.moment == Some(moment);
        if !is_good {
            if left > ahead {
                return Some(at - ahead);
            }
            if !is_first && self.muster.tries >= TRIES_MAX {
                return None;
            }
            self.muster.begin(at, moment, self.membership.own());
        }
        let whose = self.muster.left.pop()?;
        let ask = Ask { now: at, whose: whose.clone(), limit: BATCH_MAX };
        let batch = match self.store.due(ask).await {
            Ok(batch) => batch,
            Err(problem) => {
                self.complain(&problem, "due");
                return None;
            }
        };
        match parts(&whose) {
            Some(parts) if batch.rows.len() >= BATCH_MAX => self.muster.left.extend(parts),
            _ => self.muster.judged.add(self.admitter.ahead(batch, &self.launcher)),
        }
        if self.muster.left.is_empty() {
            self.muster.ready = std::mem::take(&mut self.muster.judged).ready(moment);
            return None;
        }
        // The next part at once, but after a look at what has come due meanwhile.
        Some(now)
    }
}

/// The same in parts, if it can be divided.
fn parts(whose: &Whose) -> Option<Vec<Whose>> {
    let shards: Vec<u16> = match whose {
        Whose::Own(Shards::All) => (0..SHARDS).collect(),
        Whose::Own(Shards::Some(shards)) => shards.clone(),
        Whose::Late(_) => return None,
    };
    let size = shards.len().div_ceil(PARTS);
    (shards.len() > 1)
        .then(|| shards.chunks(size).map(|some| Whose::Own(Shards::Some(some.to_vec()))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reading_is_divided_until_each_part_is_one_shard() {
        let all = parts(&Whose::Own(Shards::All)).expect("it can be divided");
        assert_eq!(all.len(), PARTS);
        let some = parts(&all[0]).expect("it can be divided again");
        assert_eq!(some.len(), 16);
        assert_eq!(some[0], Whose::Own(Shards::Some(vec![0])));
        assert!(parts(&some[0]).is_none());
    }
}
