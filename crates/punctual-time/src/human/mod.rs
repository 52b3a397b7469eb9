//! English text becomes a schedule: `every weekday at 9am EST`.
//!
//! Start with [`parse`]. `token` splits the text, `phrase` reads one phrase after another in any order (the other
//! files each know one kind of phrase), `draft` holds what was said, `build` decides what it means together.
//!
//! | phrases, in any order | examples |
//! | --- | --- |
//! | how often | `every 15 minutes`, `every other friday`, `hourly`, `twice a day`, `every 2 weeks`, `90s` |
//! | what time | `at 9am and 5pm`, `17:30`, `0900`, `noon`, `quarter past nine`, `15 minutes past every hour` |
//! | which days | `mon-fri`, `weekends`, `the 1st and 15th`, `last day of the month`, `second tuesday`, `nearest weekday to the 15th`, `friday the 13th` |
//! | which months | `in march`, `from june to august`, `every quarter`, `july 4th` |
//! | once | `tomorrow at 8am`, `in 20 minutes`, `next friday at noon`, `on 2026-12-24 at 18:00` |
//! | window | `between 9am and 5pm`, `from 8 to 18`, `9-17`, `during business hours`, `in the morning` |
//! | except | `except on weekends`, `but not in december`, `excluding holidays`, `except from 12:00 to 13:00` |
//! | bounds | `starting tomorrow`, `until 1 june`, `for 3 weeks`, `in 2027` |
//! | zone | `EST`, `New York time`, `in Europe/Berlin`, `UTC+2` |
//!
//! Where cron would count wrongly, the answer is an interval: `every 45 minutes` is `45m`, never `*/45`. A window ends
//! before its last minute (`between 9am and 5pm` has no tick at 17:00), except for a rate of hours, which people count
//! with both ends, and after `through`. A number alone is on the 24-hour clock.
//!
//! It never guesses in silence: each guess is a sentence in [`Parsed::assumed`], and what has several meanings is
//! refused with the candidates.

mod bound;
mod build;
mod clock;
mod cursor;
mod date;
mod day;
mod draft;
mod every;
mod example;
mod except;
mod list;
mod mark;
mod month;
mod phrase;
mod range;
mod timing;
mod token;
mod trouble;
mod words;
mod zone;

use crate::{Cron, Dialect, Error, Zone};
use cursor::Cursor;
use draft::Draft;
use jiff::Timestamp;
use phrase::Parser;
use trouble::{Code, Trouble};

/// The longest text that is read, in bytes. A sentence about time is far shorter.
pub const TEXT_BYTES_MAX: usize = 500;

/// What a text cannot say by itself: what time it is, and in which zone it was written.
///
/// ```
/// use punctual_time::{Zone, human};
///
/// let context = human::Context { now: "2026-11-15T12:00:00Z".parse().unwrap(), zone: Zone::get("Europe/Berlin")? };
/// let parsed = human::parse("tomorrow at 8am", &context)?;
/// assert_eq!(parsed.at.as_deref(), Some("2026-11-16T08:00:00+01:00"));
/// # Ok::<(), punctual_time::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Context {
    /// The moment `in 20 minutes` and `tomorrow` count from.
    pub now: Timestamp,
    /// The zone of times that name none.
    pub zone: Zone,
}

/// The schedule a text stands for: exactly one of `cron`, `every` and `at`, and what limits it.
///
/// ```
/// use punctual_time::{Zone, human};
///
/// let context = human::Context { now: "2026-11-15T12:00:00Z".parse().unwrap(), zone: Zone::utc() };
/// let parsed = human::parse("every weekday at 9am EST except holidays", &context)?;
/// assert_eq!(parsed.cron.as_deref(), Some("0 9 * * 1-5"));
/// assert_eq!(parsed.timezone.as_deref(), Some("America/New_York"));
/// assert_eq!(parsed.not_on, ["holidays"]);
/// assert_eq!(parsed.assumed, ["`EST` is read as America/New_York"]);
/// # Ok::<(), punctual_time::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parsed {
    /// A cron expression in the `standard` dialect.
    pub cron: Option<String>,
    /// An interval: `90s`, `45m`, `2 weeks`.
    pub every: Option<String>,
    /// The moment of a one-shot, RFC 3339.
    pub at: Option<String>,
    /// The first moment at which a tick may happen, RFC 3339.
    pub start_at: Option<String>,
    /// The last moment at which a tick may happen, RFC 3339.
    pub end_at: Option<String>,
    /// The stretch of the day that ticks are limited to: `09:30-17:30`.
    pub only_between: Option<String>,
    /// Weekdays by name, and `holidays`.
    pub not_on: Vec<String>,
    /// The zone, if the text names one.
    pub timezone: Option<String>,
    /// One sentence for each guess.
    pub assumed: Vec<String>,
}

/// Reads a text.
///
/// Cron expressions and macros (`0 9 * * 1-5`, `@daily`) and durations (`90s`) are taken as they are.
///
/// ```
/// use punctual_time::{Zone, human};
///
/// let context = human::Context { now: "2026-11-15T12:00:00Z".parse().unwrap(), zone: Zone::utc() };
/// assert_eq!(human::parse("every 15 minutes", &context)?.cron.as_deref(), Some("*/15 * * * *"));
/// assert_eq!(human::parse("every 45 minutes", &context)?.every.as_deref(), Some("45m"));
///
/// let error = human::parse("every blue moon", &context).unwrap_err();
/// assert_eq!(error.to_string(), "`blue` is not understood here");
/// assert_eq!(error.span(), 6..10);
/// # Ok::<(), punctual_time::Error>(())
/// ```
///
/// # Errors
///
/// If a word is not understood, if what was said cannot happen, if it has several meanings, or if it takes more than
/// one schedule. The error points at the word and offers sentences that are understood.
pub fn parse(text: &str, context: &Context) -> Result<Parsed, Error> {
    read(text, context).map_err(Error::from)
}

fn read(text: &str, context: &Context) -> Result<Parsed, Trouble> {
    if text.len() > TEXT_BYTES_MAX {
        let message = format!("the text has {} bytes, the limit is {TEXT_BYTES_MAX}", text.len());
        return Err(Trouble::new(Code::TooLong, TEXT_BYTES_MAX..text.len(), message)
            .hint("write one sentence for one schedule"));
    }
    if text.trim().is_empty() {
        return Err(Trouble::new(Code::Empty, 0..text.len(), "there is no text").hint(example::hint("", "")));
    }
    if let Some(parsed) = verbatim(text)? {
        return Ok(parsed);
    }
    let lower = text.to_ascii_lowercase();
    let tokens = token::tokens(&lower)?;
    let draft_in = |zone: &Zone| {
        let now = context.now.to_zoned(zone.to_jiff());
        let mut parser = Parser { cursor: Cursor::new(&tokens), draft: Draft::default(), now, text };
        parser.read()?;
        Ok((parser.draft, parser.now))
    };
    let (draft, now) = draft_in(&context.zone)?;
    let Some(place) = &draft.zone else { return build::build(draft, now, &context.zone, text) };
    // Today may be another day in the zone that the text names: read it again there.
    let zone = Zone::get(&place.name)
        .map_err(|error| Trouble::new(Code::UnknownZone, 0..text.len(), error.to_string()))?;
    let (draft, now) = draft_in(&zone)?;
    build::build(draft, now, &zone, text)
}

/// Text that is cron already.
fn verbatim(text: &str) -> Result<Option<Parsed>, Trouble> {
    let trimmed = text.trim();
    let fields = text.split_whitespace().count();
    let is_macro =
        trimmed.starts_with('@') && !trimmed[1..].starts_with(|c: char| c == ' ' || c.is_ascii_digit());
    let is_cron = matches!(fields, 5 | 6)
        && text.split_whitespace().next().is_some_and(|field| {
            field.chars().all(|c| c.is_ascii_digit() || matches!(c, '*' | '/' | ',' | '-' | '?'))
        })
        && text.contains(['*', '?']);
    if !is_macro && !is_cron {
        return Ok(None);
    }
    let cron = Cron::parse(text, Dialect::Standard).map_err(|error| {
        let trouble = Trouble::new(Code::NotUnderstood, error.span(), error.to_string());
        match error.hint() {
            Some(hint) => trouble.hint(hint),
            None => trouble,
        }
    })?;
    Ok(Some(Parsed { cron: Some(cron.to_string()), ..Parsed::default() }))
}

impl From<Trouble> for Error {
    fn from(trouble: Trouble) -> Self {
        let error = Error::new(trouble.code.name(), trouble.message).at(trouble.span);
        match trouble.hint {
            Some(hint) => error.with_hint(hint),
            None => error,
        }
    }
}

#[cfg(test)]
mod tests;
