//! The database's clock: asked now and then, reckoned in between.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use jiff::Timestamp;

use super::connection::{Role, col};
use super::{Postgres, sql};
use crate::Error;
use crate::instant::from_micros;

/// An answer is used this long.
const ASK_EVERY: Duration = Duration::from_secs(5);

/// If our two clocks disagree by this much since the last answer, the host slept or its clock was set.
const STEP_MAX: Duration = Duration::from_millis(50);

/// A reckoning with a shorter way is better, unless it is this old.
const KEEP_BEST: Duration = Duration::from_secs(60);

/// The best answer so far: the database's time in the middle of a round trip.
#[derive(Clone, Copy)]
struct Answer {
    micros: i64,
    at: Instant,
    wall: SystemTime,
    way: Duration,
    asked: Instant,
}

/// What is known of the database's clock.
#[derive(Default)]
pub(super) struct Clock {
    best: Mutex<Option<Answer>>,
}

impl Answer {
    /// What the database's clock shows now, unless something happened to ours.
    fn reckon(&self) -> Option<i64> {
        let (elapsed, wall) = (self.at.elapsed(), self.wall.elapsed().ok()?);
        let is_steady = elapsed.abs_diff(wall) < STEP_MAX;
        (is_steady && self.asked.elapsed() < ASK_EVERY)
            .then(|| self.micros.saturating_add(i64::try_from(elapsed.as_micros()).unwrap_or(i64::MAX)))
    }
}

impl Postgres {
    pub(super) async fn clock_now(&self) -> Result<Timestamp, Error> {
        let known = *self.clock.best.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(micros) = known.and_then(|answer| answer.reckon()) {
            return from_micros(micros);
        }
        let tx = self.connections.begin(Role::Engine, "asking the database for the time").await?;
        let (sent, wall) = (Instant::now(), SystemTime::now());
        let row = tx.row(sql!("database_now"), &[]).await;
        let way = sent.elapsed();
        let row = tx.over(row).await?;
        let micros: i64 = col(&row.ok_or_else(|| Error::corrupt("the database has no time"))?, 0)?;
        let half = way / 2;
        let mut answer = Answer { micros, at: sent + half, wall: wall + half, way, asked: sent };
        let mut best = self.clock.best.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(before) = best.filter(|before| before.way < way && before.at.elapsed() < KEEP_BEST) {
            let reckoned = Answer { asked: sent, ..before };
            // A longer way tells less: its answer only shows whether the better one still holds.
            let difference = reckoned.reckon().map(|now| (now - micros).unsigned_abs());
            if difference.is_some_and(|apart| u128::from(apart) <= way.as_micros() * 2) {
                answer = reckoned;
            }
        }
        *best = Some(answer);
        drop(best);
        from_micros(answer.reckon().unwrap_or(micros))
    }
}
