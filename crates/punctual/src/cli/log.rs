//! The log of commands that go on for a while: readable on a terminal, JSON otherwise. Level and form can change while
//! it is written.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::{Args, ValueEnum};
use tracing::{Event, Subscriber};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::{Json, Writer};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields, format};
use tracing_subscriber::registry::LookupSpan;

use super::log_line::Line;
use crate::output::{self, Format};

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
    /// Starts it at a level. With `asked`, it is written so, whatever it is written to.
    pub(crate) fn start(&self, asked: Option<Format>, level: &str) {
        let form = match self.log_format {
            Some(LogFormat::Text) => "text",
            Some(LogFormat::Json) => "json",
            None => "auto",
        };
        LogControl::start(asked, level, form);
    }
}

/// Changes a log that is written.
pub(crate) struct LogControl {
    set_level: Box<dyn Fn(&str) -> bool + Send + Sync>,
    is_json: Arc<AtomicBool>,
    /// The form of `auto`.
    usual: Format,
}

impl LogControl {
    /// Starts the log at a level and in a form: `text`, `json`, or `auto` for what `asked` or the terminal says.
    pub(crate) fn start(asked: Option<Format>, level: &str, form: &str) -> Self {
        let usual = asked.unwrap_or_else(Format::for_stderr);
        let is_json = Arc::new(AtomicBool::new(is_json(form, usual)));
        let either = Either { is_json: Arc::clone(&is_json), json: format().json().with_target(false) };
        let log = tracing_subscriber::fmt()
            .with_env_filter(EnvFilter::new(level))
            .with_writer(std::io::stderr)
            // Who reads the log may go away; telling them so would end the process, and with it the schedules.
            .log_internal_errors(false)
            .with_ansi(output::stderr_takes_colour())
            .event_format(either)
            .with_filter_reloading();
        let handle = log.reload_handle();
        log.init();
        let set_level = Box::new(move |level: &str| handle.reload(EnvFilter::new(level)).is_ok());
        Self { set_level, is_json, usual }
    }

    /// Changes how much is logged, and how; whether that worked.
    pub(crate) fn set(&self, level: &str, form: &str) -> bool {
        self.is_json.store(is_json(form, self.usual), Ordering::Relaxed);
        (self.set_level)(level)
    }
}

fn is_json(form: &str, usual: Format) -> bool {
    match form {
        "json" => true,
        "text" => false,
        _ => usual == Format::Json,
    }
}

/// Writes each event in the form that is wanted at the moment.
struct Either {
    is_json: Arc<AtomicBool>,
    json: format::Format<Json>,
}

impl<S, N> FormatEvent<S, N> for Either
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        match self.is_json.load(Ordering::Relaxed) {
            true => self.json.format_event(context, writer, event),
            false => Line.format_event(context, writer, event),
        }
    }
}
