//! Muster: what is due soon is read and judged before its instant, so that at the instant only the commit is left.
//!
//! Nothing is decided by it: verdicts that were made ahead are committed only if nothing was written meanwhile that they
//! may depend on, and are thrown away otherwise. What is not mustered is judged at its instant.

use jiff::{SignedDuration, Timestamp};
use punctual_store::{Ask, BATCH_MAX, Error, Moment, SHARDS, Shards, Store, Whose};
use tracing::debug;

use crate::admitter::{CalledUp, Judged, Mustered};
use crate::holding::{HELD_MIN, hold_from};
use crate::launcher::Doors;
use crate::{Clock, Engine, Targets};

/// How long before their instant rows are read, if nothing is going on.
const AHEAD: SignedDuration = SignedDuration::from_secs(4);

/// The same while runs are in flight, whose ends will be written, or after the first reading was in vain.
const AHEAD_BUSY: SignedDuration = SignedDuration::from_millis(300);

/// The same where it takes a server to read them, and what has changed is found out row by row.
const AHEAD_GUARDED: SignedDuration = SignedDuration::from_millis(700);

/// Not worth the while any more.
const AHEAD_MIN: SignedDuration = SignedDuration::from_millis(10);

/// How soon it is looked again whether the ends of the last runs are written.
const LOOK_AGAIN: SignedDuration = SignedDuration::from_millis(20);

/// How often one instant is mustered for.
const TRIES_MAX: u32 = 3;

/// Later than this after the instant other rules hold than at it.
pub(crate) const LATE_MAX: SignedDuration = SignedDuration::from_millis(500);

/// Into how many parts of shards a reading is divided that is too large for one.
const PARTS: usize = 32;

/// What is mustered for an instant.
#[derive(Default)]
pub(crate) struct Muster {
    at: Timestamp,
    tries: u32,
    /// When this try began.
    begun_at: Timestamp,
    /// How long the last try took that came to its end.
    took: SignedDuration,
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
    fn begin(&mut self, at: Timestamp, (now, moment): (Timestamp, Moment), own: Whose) {
        let tries = if self.at == at { self.tries + 1 } else { 1 };
        let (moment, left) = (Some(moment), vec![own]);
        *self = Self { at, tries, begun_at: now, took: self.took, moment, left, ..Self::default() };
    }

    /// How long before its instant a try begins: twice what the last one took, but not less than so much.
    fn ahead(&self, least: SignedDuration) -> SignedDuration {
        (self.took * 2 + AHEAD_MIN * 10).max(least).min(AHEAD)
    }

    /// The instant that is mustered for, if it is so near that plans can wait for it.
    pub(crate) fn near(&self, now: Timestamp) -> Option<Timestamp> {
        let left = self.at.duration_since(now);
        (self.moment.is_some() && left.is_positive() && left <= self.ahead(AHEAD_BUSY)).then_some(self.at)
    }

    /// When what is ready for an instant is to be held, if it is.
    fn hold_from(&self, at: Timestamp) -> Option<Timestamp> {
        let ready = self.ready.as_ref().filter(|ready| ready.is_guarded() && self.at == at)?;
        Some(hold_from(at, ready.count()))
    }

    /// Takes what is ready for an instant that has come.
    fn take(&mut self, now: Timestamp) -> Option<Mustered> {
        if self.at > now {
            return None;
        }
        let fresh = Self { took: self.took, ..Self::default() };
        let Self { at, ready, .. } = std::mem::replace(self, fresh);
        ready.filter(|_| now.duration_since(at) <= LATE_MAX)
    }
}

impl<S: Store, C: Clock, T: Targets> Engine<S, C, T> {
    /// Admits and launches what was mustered for now; an error is for the caller to tell.
    pub(crate) async fn call_up(&mut self) -> Result<(), Error> {
        let now = self.time.now();
        match self.held(now).await {
            Ok(Some(called)) => {
                self.muster.take(now);
                self.launch_called(called).await;
                return Ok(());
            }
            Ok(None) => {}
            // What could not be held is judged now.
            Err(problem) => self.complain(&problem, "hold"),
        }
        let Some(mustered) = self.muster.take(now) else { return Ok(()) };
        let rooms = self.launcher.rooms(&mustered.wanted, now);
        if !rooms.is_empty() {
            return Ok(());
        }
        let caller = self.admitter.caller();
        match caller.call(&*self.store, caller.batch(now), mustered).await? {
            Some(called) => self.launch_called(called).await,
            None => debug!("what was judged ahead does not hold any more"),
        }
        Ok(())
    }

    /// Launches what was called up, and then does what follows from it.
    pub(crate) async fn launch_called(&mut self, mut called: CalledUp) {
        self.launch_all(std::mem::take(&mut called.launches), called.fence);
        // Everything else would only take the cores from what has just begun.
        self.flights.rush().await;
        let admitted = self.admitter.follow_up(called);
        self.carry_on(admitted).await;
    }

    /// Reads and judges some of what is due at `next`; gives back when to go on with it, if there is more.
    pub(crate) async fn hold_muster(&mut self, next: Option<Timestamp>) -> Option<Timestamp> {
        let (at, now) = (next?, self.time.now());
        let left = at.duration_since(now);
        if left < AHEAD_MIN {
            return None;
        }
        if let Some(from) = self.muster.hold_from(at) {
            return self.hold_mustered(from);
        }
        let is_first = self.muster.at != at;
        let moment = self.store.moment().await?;
        let ahead = match moment.is_any() {
            _ if is_first && !self.is_busy() => AHEAD,
            true => self.muster.ahead(AHEAD_GUARDED),
            false => self.muster.ahead(AHEAD_BUSY),
        };
        let is_good = !is_first && self.muster.moment == Some(moment);
        if !is_good {
            if left > ahead {
                return Some(at - ahead);
            }
            // What is read before the ends of the last runs are written does not hold for long.
            if left > AHEAD_MIN * 10 && self.membership.has_unsettled() {
                return Some(now.saturating_add(LOOK_AGAIN).unwrap_or(Timestamp::MAX));
            }
            if !is_first && self.muster.tries >= TRIES_MAX {
                return None;
            }
            self.muster.begin(at, (now, moment), self.membership.own());
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
            let ready = std::mem::take(&mut self.muster.judged).ready(moment);
            self.muster.took = self.time.now().duration_since(self.muster.begun_at);
            self.muster.ready = ready.filter(|ready| !ready.is_guarded() || ready.count() >= HELD_MIN);
            return self.muster.hold_from(at);
        }
        // The next part at once, but after a look at what has come due meanwhile.
        Some(now)
    }

    /// Begins to hold what is ready, when it is time; else when that is.
    fn hold_mustered(&mut self, from: Timestamp) -> Option<Timestamp> {
        let now = self.time.now();
        if now < from {
            return Some(from);
        }
        // Whoever writes ends would wait for what is held, and the next ticks of those schedules for them.
        if self.holding.is_some() || self.membership.has_unsettled() {
            return Some(now.saturating_add(LOOK_AGAIN).unwrap_or(Timestamp::MAX).min(self.muster.at));
        }
        let mustered = self.muster.ready.take()?;
        if self.launcher.rooms(&mustered.wanted, now).is_empty() {
            self.hold(self.muster.at, mustered);
        }
        None
    }

    /// Whether something is going on whose end changes what is read.
    fn is_busy(&self) -> bool {
        self.flights.is_any() || self.membership.has_unsettled()
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
        assert_eq!(some.len(), 8);
        assert_eq!(some[0], Whose::Own(Shards::Some(vec![0])));
        assert!(parts(&some[0]).is_none());
    }
}
