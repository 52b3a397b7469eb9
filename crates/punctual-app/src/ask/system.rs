//! The installation: nodes and breakers.

use super::{Call, Method, Question, in_path};
use crate::{App, Failure, shape};

/// The nodes that serve or have served.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nodes;

impl Question for Nodes {
    type Answer = shape::Nodes;

    fn call(&self) -> Call {
        Call::new(Method::Get, "/nodes")
    }

    async fn answer(&self, app: &App) -> Result<shape::Nodes, Failure> {
        Ok((&app.nodes().await?).into())
    }
}

/// The breakers that are not plainly closed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Breakers;

impl Question for Breakers {
    type Answer = shape::Breakers;

    fn call(&self) -> Call {
        Call::new(Method::Get, "/breakers")
    }

    async fn answer(&self, app: &App) -> Result<shape::Breakers, Failure> {
        let rows = app.breakers().await?;
        Ok(shape::Breakers { breakers: rows.iter().map(shape::Breaker::from).collect() })
    }
}

/// The breaker of a target.
#[derive(Clone, Debug)]
pub struct Breaker {
    /// The target.
    pub target: String,
    /// Moves at most, the newest.
    pub limit: u32,
}

impl Question for Breaker {
    type Answer = shape::BreakerAnswer;

    fn call(&self) -> Call {
        let path = format!("/breakers/{}", in_path(&self.target));
        Call::new(Method::Get, path).with("limit", Some(self.limit))
    }

    async fn answer(&self, app: &App) -> Result<shape::BreakerAnswer, Failure> {
        let history = app.breaker_of(&self.target, self.limit).await?;
        Ok(shape::BreakerAnswer { breaker: (&history).into() })
    }
}

/// A breaker that is to be closed by hand.
#[derive(Clone, Debug)]
pub struct Reset {
    /// The target.
    pub target: String,
    /// Moves at most, the newest.
    pub limit: u32,
}

impl Question for Reset {
    type Answer = shape::BreakerReset;

    fn call(&self) -> Call {
        let path = format!("/breakers/{}/reset", in_path(&self.target));
        Call::new(Method::Post, path).with("limit", Some(self.limit))
    }

    async fn answer(&self, app: &App) -> Result<shape::BreakerReset, Failure> {
        let reset = app.reset_breaker(&self.target).await?;
        let history = app.breaker_of(&self.target, self.limit).await?;
        Ok(shape::BreakerReset { reset, breaker: (&history).into() })
    }
}
