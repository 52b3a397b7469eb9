//! `punctual serve`

use std::sync::Arc;
use std::time::Instant;

use clap::{Args, ValueEnum};
use punctual::{Database, Failure};
use punctual_engine::{Engine, Settings, SystemClock};
use punctual_store::{Access, Sqlite, Store};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tracing_subscriber::EnvFilter;

use crate::output::{self, Format};

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
    pub(crate) fn run(&self, database: &Database) -> Result<(), Failure> {
        let begun = Instant::now();
        self.start_log();
        let store = Sqlite::open(database.path(), Access::Serve)?;
        let runtime = tokio::runtime::Runtime::new().map_err(|error| Failure::world(error.to_string()))?;
        runtime.block_on(serve(store, database, begun))
    }

    fn start_log(&self) {
        let default = if Format::for_stderr() == Format::Json { LogFormat::Json } else { LogFormat::Text };
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

async fn serve(store: Sqlite, database: &Database, begun: Instant) -> Result<(), Failure> {
    let stop = stop_signal()?;
    let store = Arc::new(store);
    let engine =
        Engine::start(Arc::clone(&store), Arc::new(SystemClock), Settings::new(database.journal())).await?;
    let schedules = store.schedules().await?.len();
    let ready = begun.elapsed().as_millis();
    output::say(&format!(
        "punctual {} serves {}\nready in {ready} ms with {schedules} schedules; stop with Ctrl-C\n",
        env!("CARGO_PKG_VERSION"),
        database.path().display(),
    ))?;
    engine.run(stop).await;
    Ok(())
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
