//! A pending retry that shall not wait any longer.

use jiff::Timestamp;
use punctual_plan::{OrgKey, RunKey, ScheduleKey};
use rusqlite::params;

use super::audit::{About, record};
use super::connection::Db;
use super::decode::column;
use super::{Sqlite, org_of, sql};
use crate::{Commit, Error, Scope};

impl Sqlite {
    /// Lets the next attempt of a run come now; stale if none is planned.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn hasten(&self, scope: Scope, run: RunKey, now: Timestamp) -> Result<Commit, Error> {
        self.writer.run(move |db| hasten(db, &scope, run, now)).await
    }
}

fn hasten(db: &Db, scope: &Scope, run: RunKey, now: Timestamp) -> Result<Commit, Error> {
    let row = params![run.0, now.as_microsecond(), org_of(scope)];
    let found =
        db.first(sql!("hasten_run"), row, |row| Ok((OrgKey(column(row, 0)?), ScheduleKey(column(row, 1)?))))?;
    let Some((org, schedule)) = found else { return Ok(Commit::Stale) };
    let actor = match scope {
        Scope::Org { user, .. } => user.as_deref(),
        Scope::Engine => None,
    };
    let about = About { actor, ..About::schedule(org, schedule, now) };
    record(db, about.of_run(run), "run.hastened", "its next attempt comes now")?;
    Ok(Commit::Done)
}
