//! A PostgreSQL server that is all ours, and databases on it.

use std::str::FromStr;

use tokio_postgres::{Client, Config, NoTls};

use crate::Failure;

/// Where `cargo xtask with-postgres` says the server is.
const URL_VARIABLE: &str = "PUNCTUAL_TEST_POSTGRES";

/// A server.
pub(crate) struct Server {
    url: String,
    config: Config,
}

/// A database on it.
pub(crate) struct Database {
    /// Where it is, with user and password.
    pub(crate) url: String,
    config: Config,
}

impl Server {
    /// The server that was started for us, told to leave checkpoints out of the measured part, as in the storage study.
    pub(crate) async fn find() -> Result<Self, Failure> {
        let url = std::env::var(URL_VARIABLE)
            .map_err(|_| format!("no server in {URL_VARIABLE}; `cargo xtask bench store` starts one"))?;
        let server = Self { config: Config::from_str(&url)?, url };
        let client = connect(&server.config).await?;
        for setting in ["max_wal_size = '8GB'", "checkpoint_timeout = '15min'"] {
            client.execute(&format!("ALTER SYSTEM SET {setting}"), &[]).await?;
        }
        client.execute("SELECT pg_reload_conf()", &[]).await?;
        Ok(server)
    }

    /// A new database; one of the same name goes first.
    pub(crate) async fn create(&self, name: &str) -> Result<Database, Failure> {
        self.remove(name).await?;
        connect(&self.config).await?.execute(&format!("CREATE DATABASE {name}"), &[]).await?;
        Ok(self.database(name))
    }

    /// A database that is another one's copy.
    pub(crate) async fn copy(&self, from: &str, name: &str) -> Result<Database, Failure> {
        self.remove(name).await?;
        let client = connect(&self.config).await?;
        // A connection that was dropped may still be on its way out.
        client.execute(include_str!("../sql/postgres/end_sessions.sql"), &[&from]).await?;
        client.execute(&format!("CREATE DATABASE {name} TEMPLATE {from}"), &[]).await?;
        Ok(self.database(name))
    }

    /// Removes a database, if there is one of this name.
    pub(crate) async fn remove(&self, name: &str) -> Result<(), Failure> {
        let client = connect(&self.config).await?;
        client.execute(&format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"), &[]).await?;
        Ok(())
    }

    fn database(&self, name: &str) -> Database {
        let mut config = self.config.clone();
        config.dbname(name);
        let before = self.url.rsplit_once('/').map_or(self.url.as_str(), |(before, _)| before);
        Database { url: format!("{before}/{name}"), config }
    }
}

impl Database {
    /// A connection to it.
    pub(crate) async fn connect(&self) -> Result<Client, Failure> {
        connect(&self.config).await
    }
}

/// Writes out what is dirty, so that every measurement starts alike.
pub(crate) async fn settle_down(client: &Client) -> Result<(), Failure> {
    client.execute("CHECKPOINT", &[]).await?;
    Ok(())
}

async fn connect(config: &Config) -> Result<Client, Failure> {
    let (client, connection) = config.connect(NoTls).await?;
    // It ends when the client is dropped; what goes wrong is told by the client's own calls.
    tokio::spawn(connection);
    Ok(client)
}
