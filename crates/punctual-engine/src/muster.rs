//! Muster: what is due soon is read and judged before its instant, so that at the instant only the commit is left.
//!
//! Nothing is decided by it: verdicts that were made ahead are committed only if nothing was written meanwhile that they
//! may depend on, and are thrown away otherwise. What is not mustered is judged at its instant.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use punctual_plan::ScheduleKey;
use punctual_store::{Ask, BATCH_MAX, DueBatch, DueRow, Error, Moment, SHARDS, Shards, Store, Whose};
use tracing::debug;

use crate::admitter::{CalledUp, Judged, Mustered};
use crate::holding::{HELD_MIN, hold_from};
use crate::launcher::Doors;
use crate::wanted::Wanted;
use crate::{Clock, Engine, Targets};

/// How long before their instant rows are read, if nothing is going on.
const AHEAD: SignedDuration = SignedDuration::from_secs(4);

/// The same while runs are in flight, whose ends will be written, or after the first reading was in vain.
pub(crate) const AHEAD_BUSY: SignedDuration = SignedDuration::from_millis(300);

/// The same where it takes a server to read them, and what has changed is found out row by row.
const AHEAD_GUARDED: SignedDuration = SignedDuration::from_millis(700);

/// Not worth the while any more.
const AHEAD_MIN: SignedDuration = SignedDuration::from_millis(10);

/// How soon it is looked again whether the ends of the last runs are written.
pub(crate) const LOOK_AGAIN: SignedDuration = SignedDuration::from_millis(20);

/// How often one instant is mustered for.
const TRIES_MAX: u32 = 3;

/// Later than this after the instant other rules hold than at it.
pub(crate) const LATE_MAX: SignedDuration = SignedDuration::from_millis(500);

/// Into how many parts of shards a reading is divided that is too large for one.
const PARTS: usize = 32;

/// About as many rows as one reading has of those that are divided at once: so few that a part which is larger than the
/// others still fits.
pub(crate) const READ_GOAL: usize = BATCH_MAX / 2;

/// So many at one instant are a herd.
const HERD_MIN: usize = 1_000;

/// A herd is committed in parts, a small one first, if it is twice as large as that: the first begin while the others are still to
/// be committed. It has so many that the threads which launch them have not run out of them by then: one that goes to sleep may
/// wake up on the core of another.
const FIRST_TURN: usize = 4_000;

/// The other parts have about so many.
const TURN_MAX: usize = 20_000;

/// For so many instants nothing is read beside the ends of the last runs, after those were of the same schedules.
const CROSSED_FOR: u32 = 60;

/// What is mustered for an instant.
#[derive(Default)]
pub(crate) struct Muster {
    pub(crate) at: Timestamp,
    tries: u32,
    /// When this try began.
    begun_at: Timestamp,
    /// When what has been read so far was read.
    pub(crate) moment: Option<Moment>,
    /// Whether ends were still to be written when it began.
    is_beside_ends: bool,
    /// What is still to be read.
    pub(crate) left: Vec<Whose>,
    judged: Judged,
    /// All of it in parts, when nothing is left to be read.
    pub(crate) ready: Vec<Mustered>,
    /// How many of it want to go to each target.
    wanted: Wanted,
    pub(crate) known: Known,
}

/// What the instants before have shown.
#[derive(Default)]
pub(crate) struct Known {
    /// How long the last try took that came to its end.
    pub(crate) took: SignedDuration,
    /// How many rows the last try found that came to its end.
    pub(crate) found: usize,
    /// The schedules of what was called up last, each part in its order.
    called: Vec<Arc<Vec<ScheduleKey>>>,
    /// For how many instants more ends are waited for.
    crossed: u32,
    /// Whether the store counts what is written, so that verdicts need no look at their rows.
    pub(crate) is_counted: bool,
    /// Whether it does not, because many may write at once.
    pub(crate) is_guarded: bool,
}

impl Muster {
    /// Begins anew for an instant.
    fn begin(
        &mut self,
        at: Timestamp,
        (now, moment): (Timestamp, Moment),
        (own, is_beside_ends): (Whose, bool),
    ) {
        let tries = if self.at == at { self.tries + 1 } else { 1 };
        // What is too large for one reading now, as it was the last time, is divided at once.
        let left = match self.known.found.div_ceil(READ_GOAL) {
            0 | 1 => vec![own],
            // An even number, for two are read at once.
            count => parts(&own, count.next_multiple_of(2)).unwrap_or_else(|| vec![own]),
        };
        (self.known.is_counted, self.known.is_guarded) = (!moment.is_any(), moment.is_any());
        let (known, moment) = (std::mem::take(&mut self.known), Some(moment));
        *self = Self { at, tries, begun_at: now, moment, is_beside_ends, left, known, ..Self::default() };
    }

    /// Whether everything that can be read before the ends of the last runs are written would be in vain: ends of the same
    /// schedules, or of schedules that nobody has noted, where each row tells for itself what became of it.
    fn awaits_ends(&self, moment: Moment) -> bool {
        self.known.crossed > 0 || (moment.is_any() && self.known.called.is_empty())
    }

    /// Gives up what is of schedules whose last runs are about to end; whether it is.
    fn crosses(&mut self, batch: &DueBatch) -> bool {
        let called = &self.known.called;
        let is_called =
            |row: &DueRow| called.iter().any(|part| part.binary_search(&row.due.schedule).is_ok());
        if !self.is_beside_ends || !batch.rows.iter().any(is_called) {
            return false;
        }
        let known = Known { crossed: CROSSED_FOR, ..std::mem::take(&mut self.known) };
        *self = Self { at: self.at, tries: self.tries, known, ..Self::default() };
        true
    }

    /// How long before its instant a try begins: four times what the last one took, but not less than so much.
    pub(crate) fn ahead(&self, least: SignedDuration) -> SignedDuration {
        (self.known.took * 4 + AHEAD_MIN * 10).max(least).min(AHEAD)
    }

    /// Whether many may write into the store at once.
    pub(crate) fn is_guarded(&self) -> bool {
        self.known.is_guarded
    }

    /// The schedules of what is ready.
    pub(crate) fn schedules(&self) -> Vec<Arc<Vec<ScheduleKey>>> {
        self.ready.iter().map(Mustered::schedules).collect()
    }

    /// When what is ready for an instant is to be held, if it is.
    fn hold_from(&self, at: Timestamp) -> Option<Timestamp> {
        self.ready.first().filter(|ready| ready.is_guarded() && self.at == at)?;
        Some(hold_from(at, self.ready.iter().map(Mustered::count).sum()))
    }

    /// Whether many are ready for their instant.
    pub(crate) fn is_large(&self) -> bool {
        self.ready.iter().map(Mustered::count).sum::<usize>() >= HERD_MIN
    }

    /// Takes what is ready for an instant that has come.
    fn take(&mut self, now: Timestamp) -> (Vec<Mustered>, Wanted) {
        if self.at > now {
            return Default::default();
        }
        let before = std::mem::take(&mut self.known);
        let known = Known { crossed: before.crossed.saturating_sub(1), ..before };
        let fresh = Self { known, ..Self::default() };
        let Self { at, ready, wanted, .. } = std::mem::replace(self, fresh);
        if now.duration_since(at) <= LATE_MAX { (ready, wanted) } else { Default::default() }
    }
}

impl<S: Store, C: Clock, T: Targets> Engine<S, C, T> {
    /// Admits and launches what was mustered for now; an error is for the caller to tell.
    pub(crate) async fn call_up(&mut self) -> Result<(), Error> {
        let now = self.time.now();
        let held = self.holding.as_ref().map(|holding| holding.schedules.clone());
        let mut called = Vec::new();
        while let Some(part) = self.held(now).await {
            match part {
                Ok(Some(mut part)) => {
                    self.launch_all(part.take_launches(), part.fence);
                    called.push(part);
                }
                Ok(None) => {}
                // What could not be held is judged now.
                Err(problem) => self.complain(&problem, "hold"),
            }
        }
        if !called.is_empty() {
            self.muster.take(now);
            self.muster.known.called = held.unwrap_or_default();
            self.launch_called(called).await;
            return Ok(());
        }
        let (parts, wanted) = self.muster.take(now);
        if parts.is_empty() || !self.launcher.rooms(&wanted, now).is_empty() {
            return Ok(());
        }
        self.muster.known.called = parts.iter().map(Mustered::schedules).collect();
        let (caller, mut result) = (self.admitter.caller(), Ok(()));
        let mut coming: usize = parts.iter().map(Mustered::count).sum();
        for part in parts {
            self.flights.await_commits(coming);
            coming -= part.count();
            match caller.call(&*self.store, caller.batch(now), part).await {
                // The first begin while the others are still to be committed.
                Ok(Some(mut part)) => {
                    self.launch_all(part.take_launches(), part.fence);
                    called.push(part);
                }
                Ok(None) => {
                    debug!("what was judged ahead does not hold any more");
                    self.muster.known.crossed = CROSSED_FOR;
                }
                // What was committed before it is launched all the same.
                Err(problem) => {
                    if let Err(before) = std::mem::replace(&mut result, Err(problem)) {
                        self.complain(&before, "admit");
                    }
                }
            }
        }
        self.flights.await_commits(0);
        self.launch_called(called).await;
        result
    }

    /// Launches what was called up, and then does what follows from it.
    pub(crate) async fn launch_called(&mut self, mut called: Vec<CalledUp>) {
        if called.is_empty() {
            return;
        }
        for part in &mut called {
            self.launch_all(part.take_launches(), part.fence);
        }
        // Everything else would only take the cores from what has just begun.
        self.flights.rush().await;
        for part in called {
            let admitted = self.admitter.follow_up(part);
            self.carry_on(admitted).await;
        }
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
        let is_good = !is_first && self.muster.moment.is_some_and(|read| read.lasts_until(moment));
        if !is_good {
            if left > ahead {
                return Some(at - ahead);
            }
            // What is read before the ends of the last runs are written does not hold for long, if they are of the same
            // schedules.
            let is_beside = self.membership.has_unsettled();
            if left > AHEAD_MIN * 10 && is_beside && self.muster.awaits_ends(moment) {
                return Some(now.saturating_add(LOOK_AGAIN).unwrap_or(Timestamp::MAX));
            }
            if !is_first && self.muster.tries >= TRIES_MAX {
                return None;
            }
            self.muster.begin(at, (now, moment), (self.membership.own(), is_beside));
        }
        if self.muster.left.is_empty() {
            return None;
        }
        // Two parts are read as quickly as one.
        let from = self.muster.left.len().saturating_sub(2);
        let some = self.muster.left.split_off(from);
        for (whose, batch) in read(&*self.store, at, some).await {
            let batch = match batch {
                Ok(batch) => batch,
                Err(problem) => {
                    self.complain(&problem, "due");
                    return None;
                }
            };
            if self.muster.crosses(&batch) {
                return Some(now.saturating_add(LOOK_AGAIN).unwrap_or(Timestamp::MAX));
            }
            match parts(&whose, PARTS) {
                Some(parts) if batch.rows.len() >= BATCH_MAX => self.muster.left.extend(parts),
                _ => self.muster.judged.add(self.admitter.ahead(batch, &self.launcher)),
            }
        }
        if self.muster.left.is_empty() {
            return self.make_ready(at, self.muster.moment.unwrap_or(moment));
        }
        // The next part at once, but after a look at what has come due meanwhile.
        Some(now)
    }

    /// Gets what was read and judged ready; gives back when it is to be held, if it is.
    fn make_ready(&mut self, at: Timestamp, moment: Moment) -> Option<Timestamp> {
        let judged = std::mem::take(&mut self.muster.judged);
        self.muster.known.took = self.time.now().duration_since(self.muster.begun_at);
        self.muster.known.found = judged.count();
        self.muster.wanted = judged.wanted();
        self.launcher.expect(judged.count(), &self.muster.wanted);
        let parts = match (moment.is_any(), judged.count()) {
            (true, few) if few < HELD_MIN => return None,
            (true, _) => judged.abreast(),
            (false, many) if many > FIRST_TURN * 2 => judged.in_turns(FIRST_TURN, TURN_MAX),
            (false, _) => vec![judged],
        };
        self.muster.ready = parts.into_iter().filter_map(|part| part.ready(moment)).collect();
        self.muster.hold_from(at)
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
        let ready = std::mem::take(&mut self.muster.ready);
        if self.launcher.rooms(&self.muster.wanted, now).is_empty() {
            self.hold(self.muster.at, ready);
        }
        None
    }

    /// Whether something is going on whose end changes what is read.
    fn is_busy(&self) -> bool {
        self.flights.is_any() || self.membership.has_unsettled()
    }
}

/// What of one part, or of two at once, is due at an instant.
async fn read<S: Store>(store: &S, at: Timestamp, some: Vec<Whose>) -> Vec<(Whose, Result<DueBatch, Error>)> {
    let due = |whose: Whose| async move {
        let ask = Ask { now: at, whose: whose.clone(), limit: BATCH_MAX };
        (whose, store.due(ask).await)
    };
    let mut some = some.into_iter();
    match (some.next(), some.next()) {
        (Some(one), Some(other)) => {
            let (one, other) = tokio::join!(due(one), due(other));
            vec![one, other]
        }
        (Some(one), None) => vec![due(one).await],
        _ => Vec::new(),
    }
}

/// The same in so many parts, if it can be divided.
fn parts(whose: &Whose, count: usize) -> Option<Vec<Whose>> {
    let shards: Vec<u16> = match whose {
        Whose::Own(Shards::All) => (0..SHARDS).collect(),
        Whose::Own(Shards::Some(shards)) => shards.clone(),
        Whose::Late(_) => return None,
    };
    let size = shards.len().div_ceil(count);
    (shards.len() > 1)
        .then(|| shards.chunks(size).map(|some| Whose::Own(Shards::Some(some.to_vec()))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::turn::{BESIDE_FOR, Turn};

    #[test]
    fn a_reading_is_divided_until_each_part_is_one_shard() {
        let all = parts(&Whose::Own(Shards::All), PARTS).expect("it can be divided");
        assert_eq!(all.len(), PARTS);
        let some = parts(&all[0], PARTS).expect("it can be divided again");
        assert_eq!(some.len(), 8);
        assert_eq!(some[0], Whose::Own(Shards::Some(vec![0])));
        assert!(parts(&some[0], PARTS).is_none());
    }

    #[test]
    fn plans_come_before_a_large_reading_or_after_it_but_not_into_it() {
        let at = |ms: i64| Timestamp::from_millisecond(1_000_000 + ms).unwrap();
        let ms = SignedDuration::from_millis;
        let known = || Known { took: ms(100), found: READ_GOAL, is_counted: true, ..Known::default() };
        let turn = |muster: &Muster, left: i64| muster.turn(at(1_000 - left), Some(at(1_000)), ms(40));
        let soon = |left: i64| Turn::Wait(at(1_000 - left) + LOOK_AGAIN);

        let before = Muster { known: known(), ..Muster::default() };
        assert_eq!(before.ahead(AHEAD_BUSY), ms(500));
        assert_eq!((turn(&before, 661), turn(&before, 660)), (Turn::Plans, soon(660)));
        let small = Muster { known: Known { found: READ_GOAL - 1, ..known() }, ..Muster::default() };
        assert_eq!(turn(&small, 1), Turn::Plans, "it is read in no time");

        let begun = |left: Vec<Whose>| Muster {
            at: at(1_000),
            moment: Some(Moment::default()),
            left,
            known: known(),
            ..Muster::default()
        };
        let (reading, ready) = (begun(vec![Whose::Own(Shards::All)]), begun(Vec::new()));
        assert_eq!(turn(&reading, 400), soon(400));
        assert_eq!((turn(&ready, 501), turn(&ready, 500)), (Turn::Plans, Turn::QuietPlans(at(1_000))));
        assert_eq!(
            (turn(&ready, 161), turn(&ready, 160)),
            (Turn::QuietPlans(at(1_000)), Turn::Wait(at(1_000)))
        );
        assert_eq!(turn(&ready, 0), Turn::Plans, "it has come");
    }

    #[test]
    fn beside_the_loop_plans_are_made_until_a_herd_is_to_be_held_and_spare_it_then() {
        let at = |ms: i64| Timestamp::from_millisecond(1_000_000 + ms).unwrap();
        let ms = SignedDuration::from_millis;
        let turn = |muster: &Muster, left: i64| muster.turn(at(1_000 - left), Some(at(1_000)), ms(40));
        let known = |found| Known { found, is_guarded: true, ..Known::default() };
        // Ten thousand are held from 400 ms before their instant on.
        let herd = Muster { known: known(10_000), ..Muster::default() };
        assert_eq!(turn(&herd, 441), Turn::BesidePlans(at(1_000 - 440)));
        assert_eq!(turn(&herd, 440), Turn::Wait(at(1_000 - 440) + LOOK_AGAIN));
        let few = Muster { known: known(HELD_MIN - 1), ..Muster::default() };
        assert_eq!(turn(&few, 1), Turn::BesidePlans(at(999) + BESIDE_FOR), "they are not held");
        assert_eq!(turn(&herd, 0), Turn::BesidePlans(at(1_000) + BESIDE_FOR), "it has come");
        let counted = Muster { known: Known { is_guarded: false, ..known(10_000) }, ..Muster::default() };
        assert_eq!(counted.any_plans(at(0)), Turn::Plans);
    }
}
