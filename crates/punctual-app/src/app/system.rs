//! The installation: breakers, nodes, and its clock against ours.

use jiff::{SignedDuration, Timestamp};
use punctual_plan::Breaker;
use punctual_store::{BreakerRow, NodeRow, ScheduleRow, Store, TransitionRow};

use super::{App, Listing};
use crate::{Failure, Kind};

/// A breaker with its moves.
#[derive(Clone, Debug)]
pub struct BreakerHistory {
    /// Where it stands.
    pub breaker: BreakerRow,
    /// Its moves, newest first.
    pub transitions: Vec<TransitionRow>,
}

/// The nodes, and how far the clocks are apart.
#[derive(Clone, Debug)]
pub struct Nodes {
    /// The nodes, newest first.
    pub nodes: Vec<NodeRow>,
    /// The present, by the clock that decides.
    pub now: Timestamp,
    /// How far the database's clock is ahead of this host's.
    pub offset: SignedDuration,
    /// The newest tz database that was seen here: nodes with an older one do not plan.
    pub tz_version: String,
}

impl App {
    /// The breakers that are not plainly closed.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn breakers(&self) -> Result<Vec<BreakerRow>, Failure> {
        Ok(self.store.breakers(self.scope.clone()).await?)
    }

    /// The breaker of a target, with its latest moves.
    ///
    /// # Errors
    /// When no schedule has such a target, and none ever moved its breaker.
    pub async fn breaker_of(&self, target: &str, limit: u32) -> Result<BreakerHistory, Failure> {
        let known =
            self.store.breakers(self.scope.clone()).await?.into_iter().find(|row| row.target == target);
        let transitions = self.store.transitions(self.scope.clone(), target.to_owned(), limit).await?;
        let breaker = match (known, transitions.first()) {
            (Some(row), _) => row,
            (None, Some(last)) => closed(target, last.at),
            (None, None) => {
                let row = self.user_of(target).await?.ok_or_else(|| Failure {
                    kind: Kind::NotFound,
                    message: format!("there is no target `{target}`"),
                    hint: Some(
                        "a target has the name of its schedule, or the one that a file gave it".to_owned(),
                    ),
                })?;
                closed(target, row.created_at)
            }
        };
        Ok(BreakerHistory { breaker, transitions })
    }

    /// The first schedule that goes to a target.
    async fn user_of(&self, target: &str) -> Result<Option<ScheduleRow>, Failure> {
        let mut pages = self.pages(&Listing::default());
        while let Some(rows) = pages.next().await? {
            let used = rows.into_iter().find(|row| row.definition.target.name == target);
            if used.is_some() {
                return Ok(used);
            }
        }
        Ok(None)
    }

    /// Closes the breaker of a target by hand; whether it was not closed.
    ///
    /// # Errors
    /// When there is no such target.
    pub async fn reset_breaker(&self, target: &str) -> Result<bool, Failure> {
        self.breaker_of(target, 1).await?;
        let now = self.now().await?;
        Ok(self.store.reset_breaker(self.scope.clone(), target.to_owned(), now).await?)
    }

    /// The nodes that serve or have served.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn nodes(&self) -> Result<Nodes, Failure> {
        let nodes = self.store.nodes().await?;
        let tz_version = self.store.status().await?.tz_version;
        let now = self.now().await?;
        Ok(Nodes { nodes, now, offset: now.duration_since(Timestamp::now()), tz_version })
    }
}

fn closed(target: &str, changed_at: Timestamp) -> BreakerRow {
    BreakerRow { target: target.to_owned(), breaker: Breaker::default(), changed_at }
}

/// Whether a node's lease holds.
pub fn is_alive(node: &NodeRow, now: Timestamp) -> bool {
    node.left_at.is_none() && node.lease_until > now
}
