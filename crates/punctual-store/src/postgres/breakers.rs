//! Breakers as people see and reset them.

use jiff::Timestamp;
use punctual_plan::{Breaker, Event, RunKey};

use super::connection::col;
use super::create::actor;
use super::documents::org_of;
use super::ledger::{About, Events};
use super::world::read_breaker;
use super::{Postgres, sql};
use crate::instant::from_micros;
use crate::{BreakerRow, Error, Scope, TransitionRow};

impl Postgres {
    pub(super) async fn list_breakers(&self, scope: &Scope) -> Result<Vec<BreakerRow>, Error> {
        let tx = self.connections.begin(scope.into(), "listing breakers").await?;
        let rows = tx.rows(sql!("list_breakers"), &[]).await;
        let rows = tx.over(rows).await?;
        let read = |row| {
            Ok(BreakerRow {
                target: col(row, 1)?,
                breaker: read_breaker(row)?,
                changed_at: from_micros(col(row, 6)?)?,
            })
        };
        rows.iter().map(read).collect()
    }

    pub(super) async fn list_transitions(
        &self,
        scope: &Scope,
        target: &str,
        limit: u32,
    ) -> Result<Vec<TransitionRow>, Error> {
        let tx = self.connections.begin(scope.into(), "listing the moves of a breaker").await?;
        let rows = tx.rows(sql!("list_transitions"), &[&target, &i64::from(limit)]).await;
        let rows = tx.over(rows).await?;
        let read = |row| {
            Ok(TransitionRow {
                target: target.to_owned(),
                at: from_micros(col(row, 0)?)?,
                from: col(row, 1)?,
                to: col(row, 2)?,
                run: col::<Option<i64>>(row, 3)?.map(RunKey),
            })
        };
        rows.iter().map(read).collect()
    }

    pub(super) async fn close_breaker(
        &self,
        scope: &Scope,
        target: &str,
        now: Timestamp,
    ) -> Result<bool, Error> {
        let org = org_of(scope)?;
        let tx = self.connections.begin(scope.into(), "resetting a breaker").await?;
        let result = async {
            let Some(row) = tx.row(sql!("close_breaker"), &[&org.0, &target]).await? else {
                return Ok(false);
            };
            let before = read_breaker(&row)?;
            if before.name() != Breaker::default().name() {
                let at = now.as_microsecond();
                let (from, to) = (vec![before.name()], vec![Breaker::default().name()]);
                let none: Vec<Option<i64>> = vec![None];
                tx.run(sql!("insert_transitions"), &[&vec![org.0], &vec![target], &at, &from, &to, &none])
                    .await?;
                let mut events = Events::default();
                let event = Event::BreakerMoved { target: target.to_owned(), to: Breaker::default() };
                let about = About { org, schedule: None, run: None };
                events.say(about, &actor(scope), (event.name(), &event.to_string()));
                events.write(&tx, now).await?;
            }
            self.notify(&tx).await?;
            Ok(before.name() != Breaker::default().name())
        };
        let result = result.await;
        tx.finish(result).await
    }
}
