//! Listening: on loopback over TCP, and on a socket beside the database that only its owner can open.

use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use axum::serve::ListenerExt;
use punctual_app::{Database, Failure, Kind};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tracing::{error, warn};

use crate::auth::Entry;
use crate::router;
use crate::shared::Shared;
use crate::token::beside;

/// Requests that are under way when the server stops have this long to end.
const STOP_WITHIN: Duration = Duration::from_secs(5);

/// Where a server listens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The address on loopback, if any.
    pub address: Option<SocketAddr>,
    /// The socket beside the database, if any.
    pub socket: Option<PathBuf>,
}

/// The socket beside a database; a server of databases has none.
pub fn socket_beside(database: &Database) -> Option<PathBuf> {
    match database {
        Database::Sqlite { path } => Some(beside(path, ".sock")),
        Database::Postgres { .. } => None,
    }
}

/// A server that listens.
pub struct Serving {
    /// Where.
    pub place: Place,
    tasks: JoinSet<()>,
    stop: watch::Sender<bool>,
    shared: Shared,
}

impl Serving {
    /// Listens where it is asked to.
    ///
    /// # Errors
    /// When the address is taken, or the system refuses it.
    pub async fn start(shared: &Shared, wanted: &Place) -> Result<Self, Failure> {
        let (stop, stopped) = watch::channel(false);
        let mut serving =
            Self { place: Place::default(), tasks: JoinSet::new(), stop, shared: shared.clone() };
        if let Some(address) = wanted.address {
            let listener = TcpListener::bind(address).await.map_err(|error| taken(address, &error))?;
            serving.place.address = listener.local_addr().ok();
            let listener = listener.tap_io(|stream| {
                if let Err(problem) = stream.set_nodelay(true) {
                    warn!(%problem, "answers may come late");
                }
            });
            let serve = axum::serve(listener, router(shared, Entry::Network));
            let ended = ended(stopped.clone());
            serving.tasks.spawn(async move { report(serve.with_graceful_shutdown(ended).await) });
        }
        if let Some(path) = &wanted.socket {
            match bind(path) {
                Ok(listener) => {
                    serving.place.socket = Some(path.clone());
                    let serve = axum::serve(listener, router(shared, Entry::Socket));
                    let ended = ended(stopped);
                    serving.tasks.spawn(async move { report(serve.with_graceful_shutdown(ended).await) });
                }
                // Commands open the database themselves then.
                Err(problem) => warn!(%problem, path = %path.display(), "there is no socket for commands"),
            }
        }
        Ok(serving)
    }

    /// Answers at once those who wait for something, and lets nobody wait any more.
    pub fn end_waits(&self) {
        self.shared.stop();
    }

    /// Takes nothing new, answers at once those who wait for something, and lets what is under way end.
    pub async fn stop(mut self) {
        self.shared.stop();
        // Without a receiver it has stopped already.
        let _ = self.stop.send(true);
        let all = async { while self.tasks.join_next().await.is_some() {} };
        if tokio::time::timeout(STOP_WITHIN, all).await.is_err() {
            warn!("some requests did not end in time");
        }
        if let Some(path) = &self.place.socket {
            // It may be gone already.
            let _ = std::fs::remove_file(path);
        }
    }
}

async fn ended(mut stopped: watch::Receiver<bool>) {
    // A sender that is gone wants nothing any more.
    let _ = stopped.wait_for(|stopped| *stopped).await;
}

fn report(ended: io::Result<()>) {
    if let Err(problem) = ended {
        error!(%problem, "the server does not listen any more");
    }
}

fn taken(address: SocketAddr, error: &io::Error) -> Failure {
    let (kind, hint) = match error.kind() {
        io::ErrorKind::AddrInUse => (
            Kind::InUse,
            "another process listens there: choose another one with `--listen`, or `--listen none`",
        ),
        _ => (Kind::World, "choose another one with `--listen`, or `--listen none`"),
    };
    Failure { kind, message: format!("cannot listen on `{address}`: {error}"), hint: Some(hint.to_owned()) }
}

/// A socket that only its owner can open. It appears under its name once nobody else can.
fn bind(path: &Path) -> io::Result<UnixListener> {
    let new = beside(path, ".new");
    // What a killed server left there; the lock of the database says that there is no other.
    let _ = std::fs::remove_file(&new);
    let listener = UnixListener::bind(&new)?;
    std::fs::set_permissions(&new, std::fs::Permissions::from_mode(0o600))?;
    std::fs::rename(&new, path)?;
    Ok(listener)
}
