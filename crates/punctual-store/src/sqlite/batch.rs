//! Batches: a commit whose answer was lost is sent again under its id and finds the first answer.

use rusqlite::params;

use super::connection::Db;
use super::sql;
use crate::stored::{answer_of, read_answer};
use crate::{Batch, Commit, Error};

/// Does the work of a batch, or gives back what it came to when it was done before. A node whose lease is over does
/// nothing: others may have taken its place.
pub(super) fn once(
    db: &Db,
    batch: Batch,
    work: impl FnOnce() -> Result<Vec<Commit>, Error>,
) -> Result<Vec<Commit>, Error> {
    if let Some(answer) = answered(db, batch)? {
        return Ok(answer);
    }
    if db.value::<i64>(sql!("is_living"), params![batch.fence.0, db.now().as_microsecond()])?.is_none() {
        return Err(Error::LeaseLost);
    }
    let commits = work()?;
    keep(db, batch, &answer_of(commits.iter().copied()))?;
    Ok(commits)
}

/// What a batch came to, if it was done before.
pub(super) fn answered(db: &Db, batch: Batch) -> Result<Option<Vec<Commit>>, Error> {
    let id = batch.id.0.simple().to_string();
    db.value::<String>(sql!("batch_answer"), [id])?.map(|answer| read_answer(&answer)).transpose()
}

/// Keeps the answer to a batch.
pub(super) fn keep(db: &Db, batch: Batch, answer: &str) -> Result<(), Error> {
    let id = batch.id.0.simple().to_string();
    db.change(sql!("insert_batch"), params![id, batch.now.as_microsecond(), answer]).map(|_| ())
}
