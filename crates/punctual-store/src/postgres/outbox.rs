//! The outbox: messages get their place after the commit, from one sequencer at a time.

use punctual_plan::rule::{Rule, holds};
use punctual_plan::{OrgKey, RunKey};

use super::connection::{Role, col};
use super::{Postgres, sql};
use crate::instant::from_micros;
use crate::{BATCH_MAX, Error, OutboxRow, Scope};

/// Whoever gives places holds this for the length of its transaction.
const SEQUENCER: i64 = 0x7075_6e63_6f75_7462;

impl Postgres {
    pub(super) async fn give_places(&self) -> Result<u64, Error> {
        let tx = self.connections.begin(Role::Brief, "giving messages their place").await?;
        let result = async {
            tx.rows(sql!("lock_migrations"), &[&SEQUENCER]).await?;
            let limit = BATCH_MAX as i64;
            if holds(Rule::PlacesAfterCommit) {
                return tx.run(sql!("sequence_outbox"), &[&limit]).await;
            }
            let in_order_of_writing = sql!("sequence_outbox").replace("nextval('outbox_position')", "w.seq");
            tx.run(&in_order_of_writing, &[&limit]).await
        };
        let result = result.await;
        tx.finish(result).await
    }

    pub(super) async fn list_outbox(
        &self,
        scope: &Scope,
        after: i64,
        limit: usize,
    ) -> Result<Vec<OutboxRow>, Error> {
        let tx = self.connections.begin(scope.into(), "reading messages").await?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let rows = tx.rows(sql!("list_outbox"), &[&after, &limit]).await;
        let rows = tx.over(rows).await?;
        let read = |row| {
            Ok(OutboxRow {
                position: col(row, 0)?,
                org: OrgKey(col(row, 1)?),
                run: RunKey(col(row, 2)?),
                message_id: col(row, 3)?,
                body: col(row, 4)?,
                at: from_micros(col(row, 5)?)?,
            })
        };
        rows.iter().map(read).collect()
    }

    pub(super) async fn forget_outbox(&self, scope: &Scope, through: i64) -> Result<u64, Error> {
        let tx = self.connections.begin(scope.into(), "forgetting messages").await?;
        let count = tx.run(sql!("forget_outbox"), &[&through]).await;
        tx.finish(count).await
    }
}
