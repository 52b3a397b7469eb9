//! Holds: an admission that is done but for its commit, which comes at the instant of its rows.
//!
//! Whoever wants to change one of the rows meanwhile waits, a second or two at most, and then finds them started. The
//! server undoes a hold whose node is gone or stands still. The batch's id and the look at the node's lease come last,
//! with the commit, as for any other batch: what is held is nothing until then.

use std::collections::{BTreeSet, HashSet};
use std::sync::{Mutex, PoisonError};

use super::admit::Tried;
use super::connection::{Role, Tx, col};
use super::said::unless_raced;
use super::{By, Postgres, sql};
use crate::stored::{Limits, answer_of, read_answer};
use crate::{Ahead, Batch, BatchId, Commit, Error, Hold, Launchable};

/// A node holds so much at a time, over a connection each: the parts of one herd.
pub(super) const HOLDS_MAX: usize = 2;

/// The holds of a node.
#[derive(Default)]
pub(super) struct Held(Mutex<Vec<Holding>>);

struct Holding {
    batch: BatchId,
    tx: Tx,
    commits: Vec<Commit>,
}

impl Held {
    /// Keeps a hold; if there are too many, the oldest, whose batch is not wanted any more, is undone.
    fn keep(&self, holding: Holding) {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if held.len() >= HOLDS_MAX {
            held.remove(0);
        }
        held.push(holding);
    }

    /// Takes the hold of a batch.
    fn take(&self, batch: BatchId) -> Option<Holding> {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = held.iter().position(|holding| holding.batch == batch)?;
        Some(held.remove(place))
    }
}

impl Postgres {
    /// Does all that an admission is but its commit. Only plain starts are held: their own rows tell whether they still
    /// hold, and they keep nobody waiting but who changes their schedules.
    pub(super) async fn hold_batch(&self, batch: Batch, ahead: &Ahead) -> Result<Hold, Error> {
        let holding = unless_raced(|| self.hold_once(batch, ahead)).await?;
        self.held.keep(holding);
        Ok(Hold::Open)
    }

    async fn hold_once(&self, batch: Batch, ahead: &Ahead) -> Result<Holding, Error> {
        let plain: HashSet<usize> = ahead.plain.iter().map(|(place, _)| *place).collect();
        let mut refused: HashSet<usize> =
            (0..ahead.admissions.len()).filter(|place| !plain.contains(place)).collect();
        // Each turn refuses at least one more of finitely many.
        loop {
            let tx = self.connections.begin(Role::Held, "admitting runs").await?;
            match self.admit_in(&tx, batch, (&ahead.admissions, &refused)).await {
                Ok(Tried::Done(commits)) => return Ok(Holding { batch: batch.id, tx, commits }),
                Ok(Tried::Without(more)) => {
                    tx.rollback().await?;
                    refused.extend(more);
                }
                Err(error) => return tx.finish(Err(error)).await,
            }
        }
    }

    /// Commits what is held under a batch's id, or does it now; nothing is given if none of it holds any more.
    pub(super) async fn admit_held(&self, batch: Batch, ahead: &Ahead) -> Result<Option<Vec<Commit>>, Error> {
        let holding = match self.held.take(batch.id) {
            Some(holding) => holding,
            None => unless_raced(|| self.hold_once(batch, ahead)).await?,
        };
        let Holding { tx, commits, .. } = holding;
        let result = match is_free(&tx, ahead).await {
            Ok(true) => Ok((answer_of(commits.iter().copied()), commits)),
            Ok(false) => {
                tx.rollback().await?;
                return Ok(None);
            }
            Err(error) => Err(error),
        };
        let answered = self.answer(tx, By::Node(batch), result).await?;
        let commits = answered.or_else(|before| read_answer(&before))?;
        Ok(commits.contains(&Commit::Done).then_some(commits))
    }

    /// Undoes what is held under a batch's id.
    pub(super) async fn undo_held(&self, batch: BatchId) -> Result<(), Error> {
        match self.held.take(batch) {
            Some(holding) => holding.tx.rollback().await,
            None => Ok(()),
        }
    }
}

/// Whether nothing stands between plain starts and their targets that no row of theirs tells of: a breaker that has
/// opened, or a limit of their org, since they were judged.
async fn is_free(tx: &Tx, ahead: &Ahead) -> Result<bool, Error> {
    let launches = || ahead.plain.iter().map(|(place, _)| &ahead.admissions[*place].row.launch);
    let orgs: BTreeSet<i64> = launches().map(|launch| launch.org.0).collect();
    let orgs: Vec<i64> = orgs.into_iter().collect();
    let mut open = HashSet::new();
    for row in tx.rows(sql!("open_breakers"), &[&orgs]).await? {
        open.insert((col::<i64>(&row, 0)?, col::<String>(&row, 1)?));
    }
    let is_open = |launch: &Launchable| open.contains(&(launch.org.0, launch.definition.target.name.clone()));
    if !open.is_empty() && launches().any(is_open) {
        return Ok(false);
    }
    for row in tx.rows(sql!("limits_of"), &[&orgs]).await? {
        let limits = Limits::read(col(&row, 0)?).unwrap_or_default();
        if limits.runs_per_minute.is_some() || limits.runs_in_flight.is_some() {
            return Ok(false);
        }
    }
    Ok(true)
}
