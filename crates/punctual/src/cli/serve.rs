//! `punctual serve`

use std::sync::Arc;
use std::time::Instant;

use clap::{Args, ValueEnum};
use punctual::{Database, Failure};
use punctual_engine::{Engine, HostTargets, Settings, SystemClock};
use punctual_store::{Access, Scope, Store};
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tracing_subscriber::EnvFilter;

use crate::output::{self, Format, Output};

/// Run the schedules of a database until stopped.
#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// How the log on standard error is written; text on a terminal, JSON otherwise
    #[arg(long, value_enum)]
    log_format: Option<LogFormat>,
    /// How much is logged: error, warn, info, debug or trace
    #[arg(long, default_value = "info")]
    log_level: tracing::Level,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum LogFormat {
    Text,
    Json,
}

impl Serve {
    /// With `asked`, the greeting and the log are JSON, whatever they are written to.
    pub(crate) fn run(&self, database: &Database, asked: Option<Format>) -> Result<(), Failure> {
        let begun = Instant::now();
        self.start_log(asked);
        let runtime = tokio::runtime::Runtime::new().map_err(|error| Failure::world(error.to_string()))?;
        runtime.block_on(serve(database, Greeting { begun, format: asked.unwrap_or(Format::Text) }))
    }

    fn start_log(&self, asked: Option<Format>) {
        let default = match asked.unwrap_or_else(Format::for_stderr) {
            Format::Json => LogFormat::Json,
            Format::Text => LogFormat::Text,
        };
        let log = tracing_subscriber::fmt()
            .with_env_filter(EnvFilter::new(self.log_level.as_str()))
            .with_writer(std::io::stderr)
            .with_target(false);
        match self.log_format.unwrap_or(default) {
            LogFormat::Text => log.with_ansi(output::stderr_takes_colour()).init(),
            LogFormat::Json => log.json().init(),
        }
    }
}

async fn serve(database: &Database, greeting: Greeting) -> Result<(), Failure> {
    let stop = stop_signal()?;
    let store = Arc::new(database.open(Access::Serve).await?);
    let settings = Settings::new(database.journal()?);
    let targets = Arc::new(HostTargets::new(Arc::clone(&store), database.vault()?));
    let engine = Engine::start(Arc::clone(&store), Arc::new(SystemClock), targets, settings).await?;
    let schedules = store.stats(Scope::Engine, store.now().await?).await?.schedules.values().sum();
    greeting.say(database, schedules)?;
    engine.run(stop).await;
    Ok(())
}

/// What is said once the schedules run.
struct Greeting {
    begun: Instant,
    format: Format,
}

impl Greeting {
    fn say(&self, database: &Database, schedules: u64) -> Result<(), Failure> {
        let (version, path) = (env!("CARGO_PKG_VERSION"), database.to_string());
        let ready_ms = self.begun.elapsed().as_millis();
        let json =
            json!({"version": version, "database": path, "ready_ms": ready_ms, "schedules": schedules});
        Output::to_stdout(self.format).write(&json, || {
            format!(
                "punctual {version} serves {path}\n\
                 ready in {ready_ms} ms with {schedules} schedules; stop with Ctrl-C\n"
            )
        })
    }
}

/// Turns true at the first SIGINT or SIGTERM; the second one ends the process at once.
fn stop_signal() -> Result<watch::Receiver<bool>, Failure> {
    let failed = |error: std::io::Error| Failure::world(format!("cannot listen for signals: {error}"));
    let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
    let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
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
