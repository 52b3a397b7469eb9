//! A line of the log for people: the time, what happened, to whom, and the rest.

use std::fmt;

use jiff::Zoned;
use jiff::tz::TimeZone;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

/// What happened is padded to this, so that names stand under each other.
const MESSAGE_WIDTH: usize = 7;

/// Writes each event as a line.
pub(super) struct Line;

/// What an event holds.
#[derive(Default)]
struct Said {
    message: String,
    schedule: Option<String>,
    run: Option<String>,
    tick: Option<String>,
    status: Option<String>,
    reason: Option<String>,
    rest: Vec<String>,
}

impl Said {
    fn take(&mut self, field: &Field, text: String) {
        match field.name() {
            "message" => self.message = text,
            "schedule" => self.schedule = Some(text),
            "run" => self.run = Some(text),
            "tick" => self.tick = Some(text),
            "status" => self.status = Some(text),
            "reason" => self.reason = Some(text),
            name => self.rest.push(format!("{name}={text}")),
        }
    }

    /// The tick by its clock; nothing where the line itself is of the same second.
    fn tick(&self, now: &Zoned) -> Option<String> {
        let at: jiff::Timestamp = self.tick.as_ref()?.parse().ok()?;
        let local = at.to_zoned(now.time_zone().clone());
        (at.as_second() != now.timestamp().as_second()).then(|| format!("of {}", local.strftime("%H:%M:%S")))
    }

    fn line(&self, now: &Zoned) -> String {
        let mut words = vec![format!("{:<MESSAGE_WIDTH$}", self.message)];
        words.extend(self.schedule.clone());
        words.extend(self.run.clone());
        words.extend(self.tick(now));
        // That a run which fires is enqueued goes without saying.
        words.extend(self.status.clone().filter(|status| status != "enqueued"));
        words.extend(self.rest.iter().filter(|text| *text != "attempt=1").cloned());
        let line = words.join(" ");
        match &self.reason {
            Some(reason) => format!("{}: {reason}", line.trim_end()),
            None => line.trim_end().to_owned(),
        }
    }
}

impl Visit for Said {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.take(field, value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.take(field, format!("{value:?}"));
    }
}

impl<S, N> FormatEvent<S, N> for Line
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        _: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let mut said = Said::default();
        event.record(&mut said);
        let now = jiff::Timestamp::now().to_zoned(TimeZone::system());
        let time = now.strftime("%H:%M:%S%.3f");
        let (word, colour) = match *event.metadata().level() {
            Level::ERROR => ("error: ", "31"),
            Level::WARN => ("warning: ", "33"),
            Level::INFO => ("", "0"),
            _ => ("", "2"),
        };
        match writer.has_ansi_escapes() {
            true => writeln!(writer, "\x1b[2m{time}\x1b[0m \x1b[{colour}m{word}{}\x1b[0m", said.line(&now)),
            false => writeln!(writer, "{time} {word}{}", said.line(&now)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_what_happened_to_whom_and_why() {
        let now: Zoned = "2026-11-15T14:32:48.5[UTC]".parse().expect("a time");
        let some = |text: &str| Some(text.to_owned());
        let mut said = Said { message: "fires".to_owned(), ..Said::default() };
        (said.schedule, said.run, said.status) = (some("tick"), some("run-7"), some("enqueued"));
        said.tick = some("2026-11-15T14:32:48Z");
        assert_eq!(said.line(&now), "fires   tick run-7");
        said.message = "not run".to_owned();
        said.tick = some("2026-11-15T14:32:45Z");
        (said.status, said.reason) = (some("skipped"), some("run-6 was still in flight"));
        assert_eq!(said.line(&now), "not run tick run-7 of 14:32:45 skipped: run-6 was still in flight");
    }
}
