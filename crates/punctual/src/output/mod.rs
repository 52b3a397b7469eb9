//! What goes to the screen: data to stdout, the rest to stderr, readable without colour.

pub(crate) mod act;
mod answer;
pub(crate) mod apply;
pub(crate) mod audit;
pub(crate) mod backfill;
pub(crate) mod database;
mod ledger;
pub(crate) mod plan;
mod progress;
mod prose;
pub(crate) mod publish;
pub(crate) mod run;
pub(crate) mod runs;
pub(crate) mod schedule_text;
pub(crate) mod schedules;
pub(crate) mod secrets;
pub(crate) mod settings;
pub(crate) mod simulate;
pub(crate) mod system;
mod table;
mod timeline;
pub(crate) mod why;
pub(crate) mod workflows;

pub(crate) use answer::Answer;
pub(crate) use progress::Progress;

use std::io::{self, BufWriter, IsTerminal, Write};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use punctual::Failure;
use serde::Serialize;

/// How data is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// Tables and sentences for people.
    Text,
    /// For programs.
    Json,
}

impl Format {
    /// Text on a terminal, JSON for a pipe or a file.
    pub(crate) fn for_stdout() -> Self {
        if io::stdout().is_terminal() { Self::Text } else { Self::Json }
    }

    /// The same for the log.
    pub(crate) fn for_stderr() -> Self {
        if io::stderr().is_terminal() { Self::Text } else { Self::Json }
    }
}

/// Where data is written.
pub(crate) struct Output {
    format: Format,
}

impl Output {
    pub(crate) fn to_stdout(format: Format) -> Self {
        Self { format }
    }

    /// Writes a value as JSON, or as the text that is made for people.
    pub(crate) fn write(&self, json: &impl Serialize, text: impl FnOnce() -> String) -> Result<(), Failure> {
        let said = match self.format {
            Format::Text => text(),
            Format::Json => {
                let json = serde_json::to_string(json).map_err(|error| Failure::world(error.to_string()))?;
                json + "\n"
            }
        };
        to_stdout(said.as_bytes())
    }

    /// Whether programs read it.
    pub(crate) fn is_json(&self) -> bool {
        self.format == Format::Json
    }

    /// Many JSON values, one a line, whatever they are written to.
    pub(crate) fn stream(&self) -> Stream {
        Stream { out: BufWriter::new(io::stdout()) }
    }

    /// Writes text for people.
    pub(crate) fn text(&self, text: &str) -> Result<(), Failure> {
        to_stdout(text.as_bytes())
    }

    /// Lines that appear one by one.
    pub(crate) fn live(&self) -> Live {
        Live { format: self.format }
    }

    /// Writes bytes as they are.
    pub(crate) fn raw(&self, bytes: &[u8]) -> Result<(), Failure> {
        to_stdout(bytes)
    }
}

/// Lines that appear one by one, for as long as somebody reads them.
pub(crate) struct Live {
    format: Format,
}

impl Live {
    /// Writes a line at once; whether somebody still reads.
    pub(crate) fn line(
        &mut self,
        json: &impl Serialize,
        text: impl FnOnce() -> String,
    ) -> Result<bool, Failure> {
        let mut said = match self.format {
            Format::Text => text(),
            Format::Json => serde_json::to_string(json).map_err(|error| Failure::world(error.to_string()))?,
        };
        said.push('\n');
        self.raw(said.as_bytes())
    }

    /// Writes bytes at once; whether somebody still reads.
    pub(crate) fn raw(&mut self, bytes: &[u8]) -> Result<bool, Failure> {
        let mut stdout = io::stdout().lock();
        match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
            other => written(other).map(|()| true),
        }
    }
}

/// JSON values, one a line.
pub(crate) struct Stream {
    out: BufWriter<io::Stdout>,
}

impl Stream {
    /// Writes one value.
    pub(crate) fn line(&mut self, value: &impl Serialize) -> Result<(), Failure> {
        let mut json = serde_json::to_vec(value).map_err(|error| Failure::world(error.to_string()))?;
        json.push(b'\n');
        written(self.out.write_all(&json))
    }

    /// Writes what is left.
    pub(crate) fn finish(mut self) -> Result<(), Failure> {
        written(self.out.flush())
    }
}

fn to_stdout(bytes: &[u8]) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    written(stdout.write_all(bytes).and_then(|()| stdout.flush()))
}

/// A reader that went away, such as `head`, has what it wanted.
fn written(result: io::Result<()>) -> Result<(), Failure> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(|error| Failure::world(format!("cannot write to standard output: {error}"))),
    }
}

/// Says on stderr what went wrong and what to do.
pub(crate) fn complain(failure: &Failure) {
    // There is nowhere left to report that stderr is gone.
    let _ = writeln!(io::stderr(), "{failure}");
}

/// Says on stderr what a person may want to know, though all went well.
pub(crate) fn note(text: &str) {
    // There is nowhere left to report that stderr is gone.
    let _ = writeln!(io::stderr(), "note: {text}");
}

/// Whether the log may be coloured.
pub(crate) fn stderr_takes_colour() -> bool {
    io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// The zone of a name; UTC without one.
fn zone(name: Option<&str>) -> TimeZone {
    name.and_then(|name| TimeZone::get(name).ok()).unwrap_or(TimeZone::UTC)
}

/// An instant for people: seconds only where there are some.
pub(crate) fn clock(at: Timestamp, zone: &TimeZone) -> String {
    let local = at.to_zoned(zone.clone());
    let format = if local.second() == 0 { "%Y-%m-%d %H:%M %Z" } else { "%Y-%m-%d %H:%M:%S %Z" };
    local.strftime(format).to_string()
}

/// The time of day of an instant, with the date where it is not that of another, and the zone's name where the clock
/// shows that time twice.
pub(crate) fn short_clock(at: Timestamp, beside: Timestamp, zone: &TimeZone) -> String {
    let local = at.to_zoned(zone.clone());
    let date = if local.date() == beside.to_zoned(zone.clone()).date() { "" } else { "%m-%d " };
    let seconds = if local.second() == 0 { "" } else { ":%S" };
    let is_twice = zone.to_ambiguous_zoned(local.datetime()).is_ambiguous();
    let name = if is_twice { " %Z" } else { "" };
    local.strftime(&format!("{date}%H:%M{seconds}{name}")).to_string()
}
