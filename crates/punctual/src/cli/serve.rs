//! `punctual serve`

use std::sync::Arc;
use std::time::Instant;

use clap::{Args, ValueEnum};
use punctual::{Database, Failure, Settings};
use punctual_engine::{Engine, HostTargets, SystemClock};
use punctual_store::{Access, Scope, Store};
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tracing_subscriber::EnvFilter;

use super::config::SettingFlags;
use super::reload::{Reload, SetLevel};
use crate::output::{self, Format, Output};

/// Run the schedules of a database until stopped.
#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// How the log on standard error is written; text on a terminal, JSON otherwise
    #[arg(long, value_enum)]
    log_format: Option<LogFormat>,
    #[command(flatten)]
    flags: SettingFlags,
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
        let settings = self.flags.resolve()?;
        let log = self.start_log(asked, &settings);
        let reload = Reload { flags: self.flags.clone(), settings, log };
        let runtime = tokio::runtime::Runtime::new().map_err(|error| Failure::world(error.to_string()))?;
        runtime.block_on(serve(database, reload, Greeting { begun, format: asked.unwrap_or(Format::Text) }))
    }

    /// Starts the log; gives back what changes how much is logged.
    fn start_log(&self, asked: Option<Format>, settings: &Settings) -> SetLevel {
        let default = match asked.unwrap_or_else(Format::for_stderr) {
            Format::Json => LogFormat::Json,
            Format::Text => LogFormat::Text,
        };
        let log = tracing_subscriber::fmt()
            .with_env_filter(EnvFilter::new(settings.log_level()))
            .with_writer(std::io::stderr)
            .with_target(false);
        match self.log_format.unwrap_or(default) {
            LogFormat::Text => {
                let log = log.with_ansi(output::stderr_takes_colour()).with_filter_reloading();
                let handle = log.reload_handle();
                log.init();
                Box::new(move |level| handle.reload(EnvFilter::new(level)).is_ok())
            }
            LogFormat::Json => {
                let log = log.json().with_filter_reloading();
                let handle = log.reload_handle();
                log.init();
                Box::new(move |level| handle.reload(EnvFilter::new(level)).is_ok())
            }
        }
    }
}

async fn serve(database: &Database, reload: Reload, greeting: Greeting) -> Result<(), Failure> {
    let stop = stop_signal()?;
    let store = Arc::new(database.open(Access::Serve).await?);
    let mut settings = punctual_engine::Settings::new(database.journal()?);
    settings.pace = reload.settings.pace();
    settings.retention = reload.settings.retention();
    let engine =
        Engine::start(Arc::clone(&store), Arc::new(SystemClock), Arc::new(HostTargets::new()), settings)
            .await?;
    let schedules = store.stats(Scope::Engine, store.now().await?).await?.schedules.values().sum();
    greeting.say(database, schedules)?;
    let reloading =
        tokio::spawn(reload.at_each(signal(SignalKind::hangup()).map_err(|error| unheard(&error))?));
    engine.run(stop).await;
    reloading.abort();
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

fn unheard(error: &std::io::Error) -> Failure {
    Failure::world(format!("cannot listen for signals: {error}"))
}

/// Turns true at the first SIGINT or SIGTERM; the second one ends the process at once.
fn stop_signal() -> Result<watch::Receiver<bool>, Failure> {
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
