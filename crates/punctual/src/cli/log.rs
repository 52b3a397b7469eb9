//! The log of commands that go on for a while: readable on a terminal, JSON otherwise.

use clap::{Args, ValueEnum};
use tracing_subscriber::EnvFilter;

use crate::output::{self, Format};

/// How a command logs.
#[derive(Debug, Args)]
pub(crate) struct Log {
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

impl Log {
    /// Starts it. With `asked`, it is written so, whatever it is written to.
    pub(crate) fn start(&self, asked: Option<Format>) {
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
