//! `punctual worker`

use std::sync::Arc;

use clap::Args;
use punctual::{Database, Failure, Identity};
use punctual_engine::{Worked, WorkerSettings, allow_open_files};
use punctual_store::Access;
use serde_json::json;

use super::log::Log;
use super::serve::stop_signal;
use crate::output::{Format, Output};

/// Take runs from a queue of the database and do each with a command, until stopped.
#[derive(Debug, Args)]
pub(crate) struct Worker {
    /// The queue
    #[arg(long, value_name = "QUEUE")]
    queue: String,
    /// How many runs are done at once
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1_000))]
    concurrency: u16,
    /// Do what is in the queue now, then end
    #[arg(long)]
    once: bool,
    #[command(flatten)]
    log: Log,
    /// How much is logged: error, warn, info, debug or trace
    #[arg(long, value_name = "LEVEL", default_value = "info")]
    log_level: tracing::Level,
    /// The command and its arguments, after `--`: it gets the run as JSON on standard input and in PUNCTUAL_ variables, and exit code 0 means success
    #[arg(last = true, required = true, value_name = "ARGV")]
    argv: Vec<String>,
}

impl Worker {
    /// With `asked`, the log and what it came to are JSON, whatever they are written to.
    pub(crate) fn run(self, database: &Database, asked: Option<Format>) -> Result<(), Failure> {
        self.log.start(asked, self.log_level.as_str());
        let output = Output::to_stdout(asked.unwrap_or_else(Format::for_stdout));
        let runtime = tokio::runtime::Runtime::new().map_err(|error| Failure::world(error.to_string()))?;
        let worked = runtime.block_on(self.work(database))?;
        let Worked { succeeded, failed, lost } = worked;
        let json = json!({"succeeded": succeeded, "failed": failed, "lost": lost});
        output.write(&json, || format!("{succeeded} runs succeeded, {failed} failed, {lost} were not done\n"))
    }

    async fn work(self, database: &Database) -> Result<Worked, Failure> {
        let stop = stop_signal()?;
        let concurrency = usize::from(self.concurrency);
        allow_open_files(concurrency)?;
        let store = Arc::new(database.open(Access::Visit).await?);
        let scope = Identity::from_env()?.scope(&store).await?;
        let settings = WorkerSettings { concurrency, ..WorkerSettings::new(self.queue, self.argv) };
        tracing::info!(queue = settings.queue, concurrency, "takes runs");
        let worker = punctual_engine::Worker::new(store, scope, settings);
        if self.once { Ok(worker.run_once(stop).await?) } else { Ok(worker.run(stop).await) }
    }
}
