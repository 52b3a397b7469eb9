//! The door to the schedules: an open database, or a server that is asked. Commands put the same question to either.

mod follow;
mod pages;
mod remote;

use std::time::Duration;

pub(crate) use pages::{ListPages, RunPages};
use punctual::ask::Question;
use punctual::{App, Database, Failure, Identity, Kind};
use punctual_plan::Trace;
use punctual_plan::rule::{Rule, holds};
use punctual_server::socket_beside;
use remote::Remote;

use super::schedule::TOLD;

/// How often a server is asked whether something has changed.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// How the schedules are reached.
pub(crate) enum Door {
    /// The database is open here.
    Open(Box<App>),
    /// A server of this host has it open; what it cannot be asked for is done beside it.
    Beside {
        /// The server.
        remote: Remote,
        /// Its database.
        database: Database,
    },
    /// A server somewhere.
    Server(Remote),
}

/// Where the schedules are, as the command line says.
pub(crate) struct Place {
    /// The server, if one is named.
    pub(crate) server: Option<String>,
    /// The database, if one is named.
    pub(crate) database: Option<String>,
}

impl Place {
    /// The database.
    pub(crate) fn database(&self) -> Result<Database, Failure> {
        Database::choose(self.database.as_deref())
    }

    /// The door that leads there: the server that is named, else one that has the file open, else the database itself.
    pub(crate) async fn door(&self) -> Result<Door, Failure> {
        if let Some(url) = &self.server {
            return Ok(Door::Server(Remote::over_network(url, &self.database()?)?));
        }
        let database = self.database()?;
        let socket = socket_beside(&database).filter(|_| holds(Rule::ServerWrites));
        if let Some(remote) = socket.and_then(|path| Remote::over_socket(&path)) {
            return Ok(Door::Beside { remote, database });
        }
        Ok(Door::Open(Box::new(open(&database).await?)))
    }
}

async fn open(database: &Database) -> Result<App, Failure> {
    let app = App::open(database, Identity::from_env()?).await?.within(trace());
    let door = punctual::Door { told: TOLD, ..app.door().clone() };
    Ok(app.through(door))
}

/// The trace that this command belongs to, as whoever started it says: runs that it asks for belong to it as well.
fn trace() -> Option<Trace> {
    std::env::var("TRACEPARENT").ok()?.trim().parse().ok()
}

/// That no server is asked for something.
pub(crate) fn here_only(url: &str, why: &str) -> Failure {
    Failure {
        kind: Kind::Invalid,
        message: format!("the server at `{url}` cannot be asked for this: {why}"),
        hint: Some(
            "run it on the host of the server, with its `--database` and without `--server`".to_owned(),
        ),
    }
}

impl Door {
    /// The answer to a question.
    pub(crate) async fn ask<Q: Question>(&self, question: &Q) -> Result<Q::Answer, Failure> {
        match self {
            Self::Open(app) => question.answer(app).await,
            Self::Beside { remote, .. } | Self::Server(remote) => remote.send(&question.call()).await,
        }
    }

    /// The open database, for what no server is asked for.
    pub(crate) async fn app(&self) -> Result<App, Failure> {
        match self {
            Self::Open(app) => Ok(app.as_ref().clone()),
            Self::Beside { database, .. } => open(database).await,
            Self::Server(remote) => Err(here_only(remote.url(), "it opens the database itself")),
        }
    }

    /// Whether a process runs the schedules.
    pub(crate) async fn is_served(&self) -> Result<bool, Failure> {
        match self {
            Self::Open(app) => app.is_served().await,
            Self::Beside { .. } | Self::Server(_) => Ok(true),
        }
    }

    /// Waits until something may have changed, or for a moment.
    pub(crate) async fn changed(&self) {
        match self {
            Self::Open(app) => app.changed().await,
            Self::Beside { .. } | Self::Server(_) => tokio::time::sleep(LOOK_EVERY).await,
        }
    }
}
