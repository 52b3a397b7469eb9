//! `punctual serve`

use std::sync::Arc;
use std::time::Instant;

use clap::Args;
use punctual::{Database, Failure, Identity};
use punctual_engine::{
    Engine, HostTargets, Metrics, PROGRAMS_MAX, Pulse, SystemClock, Tuning, allow_open_files,
};
use punctual_server::{Metered, Place, Secret, Serving, Shared, socket_beside, token_file};
use punctual_store::{Access, AnyStore, Scope, Store};
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use super::config::SettingFlags;
use super::config_file::ConfigFile;
use super::log::LogControl;
use super::otel::Otel;
use super::reload::Reload;
use crate::output::{Format, Output};

/// Run the schedules of a database until stopped.
#[derive(Debug, Args)]
pub(crate) struct Serve {
    #[command(flatten)]
    flags: SettingFlags,
    #[command(flatten)]
    config: ConfigFile,
}

impl Serve {
    /// With `asked`, the greeting and the log are JSON, whatever they are written to.
    pub(crate) fn run(&self, database: &Database, asked: Option<Format>) -> Result<(), Failure> {
        let begun = Instant::now();
        let settings = self.flags.resolve(self.config.file())?;
        let log = LogControl::start(asked, settings.log_level(), settings.log_format());
        let (flags, config) = (self.flags.clone(), self.config.clone());
        let reload = Reload { flags, settings, log, config, database: database.clone() };
        let runtime = tokio::runtime::Runtime::new().map_err(|error| Failure::world(error.to_string()))?;
        runtime.block_on(serve(database, reload, Greeting { begun, format: asked.unwrap_or(Format::Text) }))
    }
}

async fn serve(database: &Database, reload: Reload, greeting: Greeting) -> Result<(), Failure> {
    let stop = stop_signal()?;
    allow_open_files(PROGRAMS_MAX)?;
    let store = Arc::new(database.open(Access::Serve).await?);
    reload.config.bring_in(database, &reload.settings).await?;
    let mut settings = punctual_engine::Settings::new(database.journal()?);
    let otel = Otel::start()?;
    settings.spans = otel.spans();
    Tuning { pace: settings.pace, retention: settings.retention } = reload.tuning();
    let targets = Arc::new(HostTargets::new(Arc::clone(&store), database.vault()?));
    reload.apply_to(&targets);
    let engine =
        Engine::start(Arc::clone(&store), Arc::new(SystemClock), Arc::clone(&targets), settings).await?;
    let schedules = store.living(Scope::Engine).await?;
    let node = (engine.pulse(), engine.metrics());
    let serving = http(database, &store, (node, &reload.settings)).await?;
    reload.listen(engine.tuner(), targets)?;
    greeting.say(database, &serving.place, schedules)?;
    let mut stopping = stop.clone();
    let end_waits = async {
        // Without a sender nobody wants anything any more.
        let _ = stopping.wait_for(|stopping| *stopping).await;
        serving.end_waits();
    };
    tokio::join!(engine.run(stop), end_waits);
    // Workers may report until the last run has ended.
    serving.stop().await;
    otel.end();
    Ok(())
}

/// The HTTP door of a node.
async fn http(
    database: &Database,
    store: &Arc<AnyStore>,
    (node, settings): ((Arc<Pulse>, Arc<Metrics>), &punctual::Settings),
) -> Result<Serving, Failure> {
    let metrics = if settings.is_metrics_open() { Metered::Open } else { Metered::Token };
    let how = punctual_server::Settings {
        programs: settings.http_programs(),
        metrics,
        defaults: settings.defaults(),
    };
    let shared = Shared::new(Arc::clone(store), node, how);
    let wanted = Place { address: settings.listen(), socket: socket_beside(database) };
    if wanted.address.is_some() {
        let identity = Identity::from_env()?;
        let scope = shared.scope_of(&identity).await?;
        Secret::of_server(store, scope, &token_file(database)?).await?;
    }
    Serving::start(&shared, &wanted).await
}

/// What is said once the schedules run.
struct Greeting {
    begun: Instant,
    format: Format,
}

impl Greeting {
    fn say(&self, database: &Database, place: &Place, schedules: u64) -> Result<(), Failure> {
        let (version, path) = (env!("CARGO_PKG_VERSION"), database.to_string());
        let ready_ms = self.begun.elapsed().as_millis();
        let url = place.address.map(|address| format!("http://{address}"));
        let json = json!({
            "version": version, "database": path, "ready_ms": ready_ms, "schedules": schedules, "url": url,
        });
        Output::to_stdout(self.format).write(&json, || {
            let at = url.map_or(String::new(), |url| format!(" at {url}"));
            format!(
                "punctual {version} serves {path}{at}\n\
                 ready in {ready_ms} ms with {schedules} schedules; stop with Ctrl-C\n"
            )
        })
    }
}

fn unheard(error: &std::io::Error) -> Failure {
    Failure::world(format!("cannot listen for signals: {error}"))
}

/// Turns true at the first SIGINT or SIGTERM; the second one ends the process at once.
pub(super) fn stop_signal() -> Result<watch::Receiver<bool>, Failure> {
    let mut interrupt = signal(SignalKind::interrupt()).map_err(|error| unheard(&error))?;
    let mut terminate = signal(SignalKind::terminate()).map_err(|error| unheard(&error))?;
    let (sender, receiver) = watch::channel(false);
    tokio::spawn(async move {
        for is_second in [false, true] {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            if is_second {
                std::process::exit(130);
            }
            // Without a receiver the engine has stopped already.
            let _ = sender.send(true);
        }
    });
    Ok(receiver)
}
