//! Jobs of the writer: work inside a transaction that takes nothing else with it when it fails, and its answer after the
//! commit.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, oneshot};

use super::connection::{Db, doing};
use super::stirred::{Ended, Stirred};
use crate::Error;

/// Answers a job: with the error of the commit, or with the job's own result.
pub(super) type Acknowledge = Box<dyn FnOnce(Option<&Error>) + Send>;

/// Work inside the transaction; without one it is refused and never runs.
pub(super) type Work = Box<dyn FnOnce(Result<(&Db, Place), &Error>) -> Acknowledge + Send>;

/// Work with what it means for others.
pub(super) struct Job {
    pub(super) work: Work,
    pub(super) weight: Weight,
    pub(super) sheets: Sheets,
}

/// How a job wants to find starts that were committed on sheets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sheets {
    /// In their rows.
    Unfolded,
    /// Wherever they are: it looks for those that concern it.
    AsTheyAre,
}

/// Whether a job may change what verdicts over due rows depend on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Weight {
    Quiet,
    /// It tells the schedules of which it has ended runs, if it did nothing else: see [`Db::has_ended`].
    Ending,
    Stirring,
}

/// What a job has changed of what verdicts over due rows depend on.
pub(super) enum Stir {
    Nothing,
    /// What concerns these schedules alone.
    Of(Ended),
    Everything,
}

impl Stir {
    /// What a job of some weight has done, if it has changed something.
    pub(super) fn of(weight: Weight, db: &Db) -> Self {
        match (weight, db.take_ended()) {
            (Weight::Quiet, _) => Self::Nothing,
            (Weight::Ending, Some(ended)) => Self::Of(ended),
            _ => Self::Everything,
        }
    }

    /// Tells it to those who made verdicts before.
    pub(super) fn tell(&self, stirred: &Stirred) {
        match self {
            Self::Nothing => {}
            Self::Of(ended) => stirred.ended(Arc::clone(ended)),
            Self::Everything => stirred.stir(),
        }
    }
}

/// A job on its way to the thread.
pub(super) enum Message {
    /// Somebody waits for it.
    Now(Job),
    /// It can wait for an idle moment.
    Aside(Job),
}

/// Where a job stands in its group.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Nothing is written yet: what it fails at is undone by beginning anew, which costs a large job nothing.
    First,
    /// Others have written before it: it needs a savepoint to go back to.
    Later,
}

/// Work as a job, and where its answer comes.
pub(super) fn asked<T, W>(work: W, place: OwnedSemaphorePermit) -> (Work, oneshot::Receiver<Result<T, Error>>)
where
    T: Send + 'static,
    W: FnOnce(&Db) -> Result<T, Error> + Send + 'static,
{
    let (reply, answer) = oneshot::channel();
    let work: Work = Box::new(move |transaction| {
        let result = match transaction {
            Ok((db, Place::First)) => as_first(db, work),
            Ok((db, Place::Later)) => in_savepoint(db, work),
            Err(error) => Err(error.clone()),
        };
        Box::new(move |commit_error| {
            // The caller may have gone away; the work is done all the same.
            let _ = reply.send(match (result, commit_error) {
                // A job's own error says more than that of the commit it spoiled.
                (Ok(_), Some(error)) => Err(error.clone()),
                (own, _) => own,
            });
            drop(place);
        })
    });
    (work, answer)
}

/// Runs the work of the first job; its failure ends the transaction, and others have the next one.
fn as_first<T>(db: &Db, work: impl FnOnce(&Db) -> Result<T, Error>) -> Result<T, Error> {
    work(db).inspect_err(|_| {
        if !db.connection.is_autocommit() {
            // If this fails, the connection is in a spoilt transaction, and the commit says so.
            let _ = db.connection.execute_batch("ROLLBACK");
        }
    })
}

/// Runs the work so that its failure undoes itself and nothing else.
fn in_savepoint<T>(db: &Db, work: impl FnOnce(&Db) -> Result<T, Error>) -> Result<T, Error> {
    let step = |command: &str| db.connection.execute_batch(command).map_err(doing("writing"));
    step("SAVEPOINT job")?;
    match work(db) {
        Ok(value) => step("RELEASE job").map(|()| value),
        Err(error) => {
            // A full disk may have ended the whole transaction already: then there is no savepoint to go back to.
            if !db.connection.is_autocommit() {
                step("ROLLBACK TO job")?;
                step("RELEASE job")?;
            }
            Err(error)
        }
    }
}
