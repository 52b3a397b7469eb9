//! The queue: runs that workers take, each with a token of its own.

use punctual_plan::OrgKey;

use super::connection::{Arg, col};
use super::{Postgres, sql};
use crate::{Commit, Error, Held, Leased, Scope, Worker};

/// The org that a question is confined to, if it is.
fn confined(scope: &Scope) -> Option<i64> {
    match scope {
        Scope::Engine => None,
        Scope::Org { org: OrgKey(org), .. } => Some(*org),
    }
}

impl Postgres {
    pub(super) async fn lease_runs(&self, scope: &Scope, worker: &Worker) -> Result<Vec<Leased>, Error> {
        let tx = self.connections.begin(scope.into(), "leasing runs").await?;
        let limit = i64::try_from(worker.limit).unwrap_or(i64::MAX);
        let (now, until) = (worker.now.as_microsecond(), worker.until.as_microsecond());
        let result = async {
            let arguments: [&dyn Arg; 5] = [&confined(scope), &worker.queue, &limit, &now, &until];
            let rows = tx.rows(sql!("lease_runs"), &arguments).await?;
            let mut tokens = std::collections::HashMap::new();
            for row in &rows {
                tokens.insert(col::<i64>(row, 0)?, col::<String>(row, 9)?);
            }
            let launches = self.launchables(&tx, &rows).await?;
            let leased = |launch: crate::Launchable| {
                let token = tokens.remove(&launch.run.0).unwrap_or_default();
                Leased { launch, token, until: worker.until }
            };
            Ok(launches.into_iter().map(leased).collect())
        };
        let result = result.await;
        tx.finish(result).await
    }

    pub(super) async fn hold_longer(&self, scope: &Scope, held: &Held) -> Result<Commit, Error> {
        let tx = self.connections.begin(scope.into(), "holding a leased run").await?;
        let arguments: [&dyn Arg; 3] = [&held.run.0, &held.token, &held.until.as_microsecond()];
        let count = tx.run(sql!("extend_lease"), &arguments).await;
        let count = tx.finish(count).await?;
        Ok(if count > 0 { Commit::Done } else { Commit::Stale })
    }
}
