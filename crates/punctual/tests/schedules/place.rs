//! A database of its own, and a shell beside it.

use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::Value;
use tempfile::TempDir;
use tokio_postgres::NoTls;

static NEXT: AtomicU32 = AtomicU32::new(1);

/// A folder, a database, and the program on the `PATH`.
pub(crate) struct Place {
    folder: TempDir,
    url: String,
}

impl Place {
    /// On a file of its own.
    pub(crate) fn sqlite() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let url = folder.path().join("a.db").display().to_string();
        Self { folder, url }
    }

    /// On the server of the test command.
    pub(crate) fn postgres() -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        Self { folder: tempfile::tempdir().expect("a folder"), url: runtime.block_on(database()) }
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        let bin = std::path::Path::new(env!("CARGO_BIN_EXE_punctual")).parent().expect("a folder");
        let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
        command
            .env("PATH", path)
            .env("DATABASE_URL", &self.url)
            .env("PUNCTUAL_ORG_ID", "acme")
            .env("PUNCTUAL_USER_ID", "ada")
            .env("XDG_CONFIG_HOME", self.folder.path())
            .current_dir(self.folder.path());
        command
    }

    /// Where a server on its file would listen.
    pub(crate) fn socket(&self) -> PathBuf {
        format!("{}.sock", self.url).into()
    }

    /// Lets a shell run some lines.
    pub(crate) fn shell(&self, lines: &str) -> Output {
        self.command("bash").args(["-euo", "pipefail", "-c", lines]).output().expect("bash is there")
    }

    /// Lines that must succeed.
    pub(crate) fn said(&self, lines: &str) -> String {
        let output = self.shell(lines);
        assert!(output.status.success(), "{lines}\n{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    }

    /// One command that must succeed, in JSON.
    pub(crate) fn json(&self, line: &str) -> Value {
        serde_json::from_str(&self.said(&format!("punctual {line}"))).expect("JSON")
    }

    /// One command as a person sees it, without what differs from run to run.
    pub(crate) fn text(&self, line: &str) -> String {
        self.said(&format!("punctual --text {line}"))
    }

    /// One command that fails: its exit code and what it says.
    pub(crate) fn refused(&self, line: &str) -> (i32, String) {
        let output = self.shell(&format!("punctual {line}"));
        assert!(output.stdout.is_empty(), "an error leaves stdout alone: {line}");
        let said = String::from_utf8(output.stderr).expect("text");
        (output.status.code().expect("an exit code"), said)
    }
}

/// Makes an empty database on the server of the test command.
async fn database() -> String {
    let url = std::env::var("PUNCTUAL_TEST_POSTGRES")
        .expect("a server: run this through `cargo xtask with-postgres -- cargo test …`, which starts one");
    let name = format!("write{}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let (client, connection) = tokio_postgres::connect(&url, NoTls).await.expect("the server is there");
    tokio::spawn(connection);
    let made = client.batch_execute(&format!("CREATE DATABASE {name} TEMPLATE template0")).await;
    made.expect("it can be made");
    let (base, query) = url.split_once('?').map_or((url.as_str(), ""), |(base, query)| (base, query));
    let base = base.rsplit_once('/').map_or(base, |(base, _)| base);
    format!("{base}/{name}{}{query}", if query.is_empty() { "" } else { "?" })
}
