//! The place: a database with schedules in it and a folder with the launch journal, which outlive the process that serves.

use std::path::{Path, PathBuf};

use punctual_plan::RunStatus;
use punctual_store::{
    Access, AnyStore, Cut, Postgres, PostgresSettings, RunFilter, RunRow, Scope, Sqlite, Store,
};

use crate::Failure;
use crate::options::Kind;
use crate::server::Server;

use super::notes::Reader;

/// The name of the database on a server.
const DATABASE: &str = "crash";

/// Rows of the ledger that are read together.
const PAGE: u32 = 50_000;

/// A database and a folder that are gone afterwards.
pub(super) struct Place {
    folder: tempfile::TempDir,
    server: Option<Server>,
    /// A file, or where the server is.
    pub(super) database: String,
}

impl Place {
    pub(super) async fn new(kind: Kind) -> Result<Self, Failure> {
        let folder = tempfile::tempdir()?;
        let (server, database) = match kind {
            Kind::Sqlite => (None, folder.path().join("crash.db").display().to_string()),
            Kind::Postgres => {
                let server = Server::find().await?;
                let url = server.create(DATABASE).await?.url;
                (Some(server), url)
            }
        };
        Ok(Self { folder, server, database })
    }

    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(super) async fn open(&self) -> Result<AnyStore, Failure> {
        open(&self.database).await
    }

    pub(super) fn notes(&self) -> Reader {
        Reader::of(notes(self.folder()))
    }

    /// All that the ledger has.
    pub(super) async fn runs(&self) -> Result<Vec<RunRow>, Failure> {
        let store = self.open().await?;
        let (mut rows, mut cut) = (Vec::new(), Cut::first(PAGE));
        loop {
            let page = store.runs(Scope::Engine, RunFilter::default(), cut.clone()).await?;
            rows.extend(page.rows);
            match page.next {
                Some(next) => cut.after = Some(next),
                None => return Ok(rows),
            }
        }
    }

    pub(super) async fn remove(self) -> Result<(), Failure> {
        match self.server {
            Some(server) => server.remove(DATABASE).await,
            None => Ok(()),
        }
    }
}

/// Opens what a name stands for.
pub(super) async fn open(database: &str) -> Result<AnyStore, Failure> {
    Ok(match database.starts_with("postgres://") {
        true => AnyStore::Postgres(Postgres::open(PostgresSettings::new(database)).await?),
        false => AnyStore::Sqlite(Sqlite::open(Path::new(database), Access::Serve)?),
    })
}

/// Where the closure writes.
pub(super) fn notes(folder: &Path) -> PathBuf {
    folder.join("starts")
}

/// How many rows are of a status.
pub(super) fn count(rows: &[RunRow], status: RunStatus) -> usize {
    rows.iter().filter(|row| row.run.state.status() == status).count()
}
