//! The queue: runs that workers take, each with a token of its own.

use punctual_plan::{Fence, OrgKey};

use super::connection::{Arg, Role, col};
use super::ledger::FLYING;
use super::{Postgres, sql};
use crate::{Begun, Commit, Entrusted, Error, Held, Leased, Scope, Worker};

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
            let arguments: [&dyn Arg; 6] =
                [&confined(scope), &worker.queue, &limit, &now, &until, &worker.name];
            let rows = tx.rows(sql!("lease_runs"), &arguments).await?;
            let mut tokens = std::collections::HashMap::new();
            for row in &rows {
                tokens.insert(col::<i64>(row, 0)?, col::<String>(row, 10)?);
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

    pub(super) async fn give_token(&self, fence: Fence, one: &Entrusted) -> Result<Commit, Error> {
        let tx = self.connections.begin(Role::Engine, "giving an attempt its token").await?;
        let attempt = i64::from(one.attempt);
        let arguments: [&dyn Arg; 5] = [&one.run.0, &attempt, &fence.0, &one.token, &FLYING.to_vec()];
        let count = tx.run(sql!("entrust_run"), &arguments).await;
        let count = tx.finish(count).await?;
        Ok(if count > 0 { Commit::Done } else { Commit::Stale })
    }

    pub(super) async fn note_begun(&self, scope: &Scope, begun: &Begun) -> Result<Commit, Error> {
        let tx = self.connections.begin(scope.into(), "noting that a run was taken").await?;
        let at = begun.at.as_microsecond();
        let arguments: [&dyn Arg; 5] =
            [&begun.run.0, &begun.token, &at, &begun.executor_run_id, &FLYING.to_vec()];
        let count = tx.run(sql!("begin_run"), &arguments).await;
        let count = tx.finish(count).await?;
        Ok(if count > 0 { Commit::Done } else { Commit::Stale })
    }
}
