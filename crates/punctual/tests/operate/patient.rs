//! An installation that something can be wrong with, on either database.

use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

use jiff::SignedDuration;
use punctual::Database;
use punctual_store::conformance::stage::{Stage, node};
use punctual_store::{Access, AnyStore, Scope, Store};
use tokio_postgres::NoTls;

use crate::driver::{Person, Serving};

static NEXT: AtomicU32 = AtomicU32::new(1);

/// Changes a database that nobody has open.
const ALTER: &str =
    "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.execute(sys.argv[2]); db.commit()";

/// A person and their database.
pub(crate) struct Patient {
    pub(crate) person: Person,
    database: Database,
}

impl Patient {
    pub(crate) fn sqlite() -> Self {
        let person = Person::new();
        std::fs::create_dir_all(person.database().parent().expect("a folder")).expect("a folder");
        Self { database: Database::Sqlite { path: person.database() }, person }
    }

    /// An empty database on the server of the test command.
    pub(crate) fn postgres() -> Self {
        let server = server();
        let name = format!("doctor{}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        tell(&server, &format!("CREATE DATABASE {name} TEMPLATE template0"));
        let (base, query) = server
            .split_once('?')
            .map_or((server.as_str(), String::new()), |(base, query)| (base, format!("?{query}")));
        let base = base.rsplit_once('/').map_or(base, |(base, _)| base);
        Self { person: Person::new(), database: Database::Postgres { url: format!("{base}/{name}{query}") } }
    }

    /// How its database is named.
    fn url(&self) -> String {
        match &self.database {
            Database::Sqlite { path } => path.display().to_string(),
            Database::Postgres { url } => url.clone(),
        }
    }

    pub(crate) fn command(&self, line: &[&str]) -> Command {
        let mut command = self.person.command(line);
        command.env("DATABASE_URL", self.url());
        command
    }

    pub(crate) fn run(&self, line: &[&str]) -> Output {
        self.command(line).output().expect("the program starts")
    }

    pub(crate) fn serve(&self) -> Serving {
        self.person.serve_with(&[("DATABASE_URL", self.url())])
    }

    /// Does something to its database, as a node would.
    pub(crate) fn alter<T>(&self, work: impl AsyncFnOnce(&mut Stage<AnyStore>) -> T) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let store = self.database.open(Access::Visit).await.expect("it opens");
            let org = store.org(Scope::Engine, "default".to_owned()).await.expect("an org");
            let mut joining = node("one", SignedDuration::from_secs(3_600));
            joining.tz_version = punctual_time::tz_version().to_owned();
            let fence = store.join(joining).await.expect("it joins").fence;
            let mut stage = Stage::on(store, "two").await;
            (stage.org, stage.fence) = (org, fence);
            work(&mut stage).await
        })
    }

    /// Changes its rows behind the back of the program.
    pub(crate) fn tell(&self, statement: &str) {
        match &self.database {
            Database::Sqlite { path } => {
                let status = Command::new("python3").args(["-c", ALTER]).arg(path).arg(statement).status();
                assert!(status.expect("python3 is there").success(), "{statement}");
            }
            Database::Postgres { url } => tell(url, statement),
        }
    }

    /// Lets each new connection to its database have a setting.
    pub(crate) fn set(&self, setting: &str) {
        let url = self.url();
        let name = url.rsplit('/').next().and_then(|name| name.split('?').next()).expect("a name");
        self.tell(&format!("ALTER DATABASE {name} SET {setting}"));
    }
}

/// The server of the test command.
pub(crate) fn server() -> String {
    std::env::var("PUNCTUAL_TEST_POSTGRES")
        .expect("a server: run this through `cargo xtask with-postgres -- cargo test …`, which starts one")
}

/// Says something to a server.
pub(crate) fn tell(url: &str, statements: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let (client, connection) = tokio_postgres::connect(url, NoTls).await.expect("the server is there");
        let connection = tokio::spawn(connection);
        client.batch_execute(statements).await.unwrap_or_else(|error| panic!("{statements}: {error}"));
        drop(client);
        // It ends with the client.
        let _ = connection.await;
    });
}
