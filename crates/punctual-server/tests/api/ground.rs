//! A server that really listens, over a database of its own, and a client that really asks.

use std::path::Path;
use std::sync::Arc;

use punctual_app::{Database, Identity};
use punctual_engine::{Engine, HostTargets, SystemClock};
use punctual_server::{Place, Secret, Serving, Settings, Shared, socket_beside, token_file};
use punctual_store::Access;
use reqwest::{Client, Method, RequestBuilder, StatusCode};
use serde_json::Value;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// A running server.
pub(crate) struct Ground {
    pub(crate) client: Client,
    pub(crate) base: String,
    pub(crate) token: String,
    pub(crate) database: Database,
    pub(crate) folder: tempfile::TempDir,
    serving: Serving,
    stop: watch::Sender<bool>,
    engine: JoinHandle<punctual_engine::Stopped>,
}

/// An answer.
pub(crate) struct Said {
    pub(crate) status: StatusCode,
    pub(crate) headers: reqwest::header::HeaderMap,
    pub(crate) body: Value,
}

impl Ground {
    /// A server over SQLite.
    pub(crate) async fn sqlite() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("punctual.db");
        Self::over(Database::Sqlite { path }, folder, Settings::default()).await
    }

    /// A server over a database.
    pub(crate) async fn over(database: Database, folder: tempfile::TempDir, settings: Settings) -> Self {
        let store = Arc::new(database.open(Access::Serve).await.expect("it opens"));
        let vault = punctual_engine::Vault::new(folder.path().join("key"));
        let targets = Arc::new(HostTargets::new(Arc::clone(&store), vault));
        let journal = folder.path().join("launches");
        let own = punctual_engine::Settings::new(journal);
        let engine =
            Engine::start(Arc::clone(&store), Arc::new(SystemClock), targets, own).await.expect("it starts");
        let shared = Shared::new(Arc::clone(&store), (engine.pulse(), engine.metrics()), settings);
        let scope = shared.scope_of(&Identity::default()).await.expect("an org");
        let file = folder.path().join("token");
        let token = Secret::of_server(&store, scope, &file).await.expect("a token");
        let address = "127.0.0.1:0".parse().ok();
        let wanted = Place { address, socket: socket_beside(&database) };
        let serving = Serving::start(&shared, &wanted).await.expect("it listens");
        let (stop, stopped) = watch::channel(false);
        let engine = tokio::spawn(engine.run(stopped));
        let base = format!("http://{}", serving.place.address.expect("an address"));
        let token = token.show().to_owned();
        Self { client: Client::new(), base, token, database, folder, serving, stop, engine }
    }

    /// Where the token of the server would be kept by `serve`.
    pub(crate) fn token_place(&self) -> std::path::PathBuf {
        token_file(&self.database).expect("a place")
    }

    /// A request with the token.
    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}{path}", self.base)).bearer_auth(&self.token)
    }

    pub(crate) async fn get(&self, path: &str) -> Said {
        said(self.request(Method::GET, path)).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Said {
        said(self.request(Method::POST, path).json(body)).await
    }

    /// Waits until the node does its work.
    pub(crate) async fn until_ready(&self) {
        while !self.get("/readyz").await.status.is_success() {
            tokio::task::yield_now().await;
        }
    }

    /// Stops it and leaves nothing running.
    pub(crate) async fn end(self) {
        self.stop.send(true).expect("it runs");
        self.serving.end_waits();
        self.engine.await.expect("it ends");
        self.serving.stop().await;
    }
}

/// Sends a request and reads its answer.
pub(crate) async fn said(request: RequestBuilder) -> Said {
    let response = request.send().await.expect("the server answers");
    let (status, headers) = (response.status(), response.headers().clone());
    let bytes = response.bytes().await.expect("a body");
    let text = || Value::from(String::from_utf8_lossy(&bytes).into_owned());
    let body = serde_json::from_slice(&bytes).unwrap_or_else(|_| text());
    Said { status, headers, body }
}

impl Said {
    /// That it is a problem with this status and code, as RFC 9457 wants it.
    pub(crate) fn is_problem(&self, status: u16, code: &str) {
        assert_eq!((self.status.as_u16(), &self.body["code"]), (status, &Value::from(code)), "{}", self.body);
        assert_eq!(self.headers["content-type"], "application/problem+json");
        assert_eq!(self.body["status"], status);
        for key in ["type", "title", "detail", "hint"] {
            assert!(self.body[key].is_string(), "{key}: {}", self.body);
        }
    }

    /// That it went well.
    pub(crate) fn is(&self, status: u16) -> &Self {
        assert_eq!(self.status.as_u16(), status, "{}", self.body);
        self
    }
}

/// Whether only the owner may read a file.
pub(crate) fn is_private(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).expect("it is there").permissions().mode() & 0o777 == 0o600
}
