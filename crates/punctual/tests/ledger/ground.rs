//! Databases of their own, and the program on them.

use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

use punctual::Database;
use punctual_store::conformance::stage::Stage;
use punctual_store::{Access, AnyStore, Scope, Store};
use serde_json::Value;
use tempfile::TempDir;
use tokio_postgres::NoTls;

static NEXT: AtomicU32 = AtomicU32::new(1);

/// Which database.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Sqlite,
    Postgres,
}

/// A database with the program beside it.
pub(crate) struct Ground {
    folder: TempDir,
    pub(crate) kind: Kind,
    pub(crate) url: String,
    nodes: AtomicU32,
}

impl Ground {
    pub(crate) async fn new(kind: Kind) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let url = match kind {
            Kind::Sqlite => folder.path().join("a.db").display().to_string(),
            Kind::Postgres => database().await,
        };
        Self { folder, kind, url, nodes: AtomicU32::new(1) }
    }

    /// A node on it, in the org that the program uses without being told.
    pub(crate) async fn stage(&self) -> Stage<AnyStore> {
        let database = Database::choose(Some(&self.url)).expect("a database");
        let store = database.open(Access::Visit).await.expect("it opens");
        let org = store.org(Scope::Engine, "default".to_owned()).await.expect("an org");
        let mut stage =
            Stage::on(store, &format!("node-{}", self.nodes.fetch_add(1, Ordering::Relaxed))).await;
        stage.org = org;
        stage
    }

    pub(crate) fn run(&self, line: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_punctual"));
        command.args(["--database", &self.url]).args(line).current_dir(self.folder.path());
        for name in ["DATABASE_URL", "PUNCTUAL_ORG_ID", "PUNCTUAL_USER_ID"] {
            command.env_remove(name);
        }
        command.env("XDG_CONFIG_HOME", self.folder.path()).output().expect("the program starts")
    }

    pub(crate) fn json(&self, line: &[&str]) -> Value {
        let output = self.run(line);
        assert!(output.status.success(), "{line:?}: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).expect("JSON")
    }

    /// What a person sees who sits at a terminal.
    pub(crate) fn table(&self, line: &[&str]) -> String {
        let quoted: Vec<String> = line.iter().map(|word| format!("'{word}'")).collect();
        let typed = format!(
            "stty cols 200; {} --database '{}' {}",
            env!("CARGO_BIN_EXE_punctual"),
            self.url,
            quoted.join(" ")
        );
        let output = Command::new("script")
            .args(["-qec", &typed, "/dev/null"])
            .env("XDG_CONFIG_HOME", self.folder.path())
            .env_remove("DATABASE_URL")
            .output()
            .expect("script is there");
        String::from_utf8(output.stdout).expect("text").replace("\r\n", "\n")
    }

    /// Runs a statement as somebody with a tool of their own; `{database}` is the name of the database.
    pub(crate) async fn alter(&self, statement: &str) {
        let base = self.url.split_once('?').map_or(self.url.as_str(), |(base, _)| base);
        let statement = &statement.replace("{database}", base.rsplit('/').next().unwrap_or_default());
        match self.kind {
            Kind::Sqlite => {
                let script = "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); \
                              db.executescript(sys.argv[2]); db.commit()";
                let path: PathBuf = self.url.clone().into();
                let status = Command::new("python3").args(["-c", script]).arg(path).arg(statement).status();
                assert!(status.expect("python3 is there").success(), "{statement}");
            }
            Kind::Postgres => {
                let (client, connection) =
                    tokio_postgres::connect(&self.url, NoTls).await.expect("the server is there");
                tokio::spawn(connection);
                client.batch_execute(statement).await.expect("it can be altered");
            }
        }
    }
}

/// Makes an empty database on the server of the test command.
async fn database() -> String {
    let url = std::env::var("PUNCTUAL_TEST_POSTGRES")
        .expect("a server: run this through `cargo xtask with-postgres -- cargo test …`, which starts one");
    let name = format!("door{}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let (client, connection) = tokio_postgres::connect(&url, NoTls).await.expect("the server is there");
    tokio::spawn(connection);
    client
        .batch_execute(&format!("CREATE DATABASE {name} TEMPLATE template0"))
        .await
        .expect("it can be made");
    let (base, query) = url.split_once('?').map_or((url.as_str(), ""), |(base, query)| (base, query));
    let base = base.rsplit_once('/').map_or(base, |(base, _)| base);
    format!("{base}/{name}{}{query}", if query.is_empty() { "" } else { "?" })
}

/// Runs a test on its own runtime.
pub(crate) fn block_on(work: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(work);
}
