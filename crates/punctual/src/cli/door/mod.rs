//! The door to the schedules: an open database, or a server that is asked. Commands put the same question to either.

mod remote;

use std::time::Duration;

use punctual::ask::{List, Question, Runs};
use punctual::{App, Database, Failure, Identity, Kind, shape};
use punctual_server::socket_beside;
use remote::Remote;

use super::schedule::TOLD;

/// Rows of one page that a server is asked for.
const PAGE: u32 = 1_000;

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

    /// The database, for a command that no server does.
    pub(crate) fn database_only(&self) -> Result<Database, Failure> {
        match &self.server {
            None => self.database(),
            Some(url) => Err(here_only(url)),
        }
    }

    /// The door that leads there: the server that is named, else one that has the file open, else the database itself.
    pub(crate) async fn door(&self) -> Result<Door, Failure> {
        if let Some(url) = &self.server {
            return Ok(Door::Server(Remote::over_network(url, &self.database()?)?));
        }
        let database = self.database()?;
        if let Some(remote) = socket_beside(&database).and_then(|path| Remote::over_socket(&path)) {
            return Ok(Door::Beside { remote, database });
        }
        Ok(Door::Open(Box::new(open(&database).await?)))
    }
}

async fn open(database: &Database) -> Result<App, Failure> {
    let app = App::open(database, Identity::from_env()?).await?;
    let door = punctual::Door { told: TOLD, ..app.door().clone() };
    Ok(app.through(door))
}

fn here_only(url: &str) -> Failure {
    Failure {
        kind: Kind::Invalid,
        message: format!("the server at `{url}` cannot be asked for this"),
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
            Self::Server(remote) => Err(here_only(remote.url())),
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

    /// The schedules that are asked for; a server gives them page by page.
    pub(crate) async fn list(&self, asked: &List) -> Result<shape::Schedules, Failure> {
        if let Self::Open(app) = self {
            return asked.answer(app).await;
        }
        let mut all = shape::Schedules { schedules: Vec::new(), next: asked.listing.after.clone() };
        loop {
            let left = asked.listing.limit.map_or(PAGE, |limit| limit - length(&all.schedules));
            let mut some = asked.clone();
            (some.listing.after, some.listing.limit) = (all.next.take(), Some(left.min(PAGE)));
            let page = self.ask(&some).await?;
            all.schedules.extend(page.schedules);
            all.next = page.next;
            let is_full = asked.listing.limit.is_some_and(|limit| length(&all.schedules) >= limit);
            if is_full || all.next.is_none() {
                return Ok(all);
            }
        }
    }

    /// The entries of the ledger that are asked for; a server gives them page by page.
    pub(crate) async fn runs(&self, asked: &Runs) -> Result<shape::Runs, Failure> {
        if let Self::Open(app) = self {
            return asked.answer(app).await;
        }
        let mut all = self.ask(&Runs { limit: asked.limit.min(PAGE), ..asked.clone() }).await?;
        while let Some(after) = all.next.take().filter(|_| length(&all.runs) < asked.limit) {
            let limit = (asked.limit - length(&all.runs)).min(PAGE);
            let page = self.ask(&Runs { limit, after: Some(after), ..asked.clone() }).await?;
            all.add(page);
        }
        Ok(all)
    }
}

fn length<T>(rows: &[T]) -> u32 {
    u32::try_from(rows.len()).unwrap_or(u32::MAX)
}
