//! The log of commands that go on for a while: readable on a terminal, JSON otherwise.

use clap::{Args, ValueEnum};
use tracing_subscriber::EnvFilter;

use super::log_line::Line;
use crate::output::{self, Format};

/// Changes how much is logged; whether that worked.
pub(crate) type SetLevel = Box<dyn Fn(&str) -> bool + Send + Sync>;

/// How a command logs.
#[derive(Debug, Args)]
pub(crate) struct Log {
    /// How the log on standard error is written; text on a terminal, JSON otherwise
    #[arg(long, value_enum)]
    log_format: Option<LogFormat>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum LogFormat {
    Text,
    Json,
}

impl Log {
    /// Starts it at a level; gives back what changes that. With `asked`, it is written so, whatever it is written to.
    pub(crate) fn start(&self, asked: Option<Format>, level: &str) -> SetLevel {
        let default = match asked.unwrap_or_else(Format::for_stderr) {
            Format::Json => LogFormat::Json,
            Format::Text => LogFormat::Text,
        };
        let log = tracing_subscriber::fmt()
            .with_env_filter(EnvFilter::new(level))
            .with_writer(std::io::stderr)
            // Who reads the log may go away; telling them so would end the process, and with it the schedules.
            .log_internal_errors(false)
            .with_target(false);
        match self.log_format.unwrap_or(default) {
            LogFormat::Text => {
                let log =
                    log.with_ansi(output::stderr_takes_colour()).event_format(Line).with_filter_reloading();
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
