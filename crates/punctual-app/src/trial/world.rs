//! What happens in a trial's world, as people write it.

use jiff::SignedDuration;
use punctual_plan::{Failing, How, Outage};

use super::instant;
use crate::Failure;
use crate::declare::duration;

/// How long the attempts of runs take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunTime {
    /// Of which schedule; of all if none.
    pub schedule: Option<String>,
    /// How long.
    pub takes: SignedDuration,
}

impl RunTime {
    /// Reads `7m` or `NAME=7m`.
    ///
    /// ```
    /// let one = punctual_app::RunTime::parse("backup=7m")?;
    /// assert_eq!((one.schedule.as_deref(), one.takes.as_secs()), (Some("backup"), 420));
    /// # Ok::<(), punctual_app::Failure>(())
    /// ```
    ///
    /// # Errors
    /// When it is no duration.
    pub fn parse(text: &str) -> Result<Self, Failure> {
        let (schedule, text) = whose(text);
        Ok(Self { schedule, takes: duration(text)? })
    }
}

/// Which attempts fail, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failures {
    /// Of which schedule; of all if none.
    pub schedule: Option<String>,
    /// Which attempts.
    pub failing: Failing,
    /// How.
    pub how: How,
}

/// What to write for failures.
const FAILURES_HINT: &str = "write `every:3`, `first:2`, `always` or `never`, and how, if not by an exit code: \
                             `every:3:launch`, `always:lost`; `NAME=every:3` for one schedule";

impl Failures {
    /// Reads `every:3`, `first:2`, `always` or `never`, with `:exit`, `:launch` or `:lost` behind it, for all or for
    /// `NAME=`.
    ///
    /// ```
    /// use punctual_plan::{Failing, How};
    ///
    /// let one = punctual_app::Failures::parse("mail=every:3:launch")?;
    /// assert_eq!((one.failing, one.how), (Failing::Every(3), How::Launch));
    /// assert!(punctual_app::Failures::parse("every:0").is_err());
    /// # Ok::<(), punctual_app::Failure>(())
    /// ```
    ///
    /// # Errors
    /// When it is none of these.
    pub fn parse(text: &str) -> Result<Self, Failure> {
        let (schedule, rule) = whose(text);
        let refuse = || Failure::invalid(format!("`{rule}` does not say which attempts fail"), FAILURES_HINT);
        let words: Vec<&str> = rule.split(':').map(str::trim).collect();
        let count = |word: &str| word.parse::<u32>().ok().filter(|count| *count > 0).ok_or_else(refuse);
        let (failing, rest) = match words.as_slice() {
            ["never", rest @ ..] => (Failing::Never, rest),
            ["always", rest @ ..] => (Failing::Always, rest),
            ["every", step, rest @ ..] => (Failing::Every(count(step)?), rest),
            ["first", some, rest @ ..] => (Failing::First(count(some)?), rest),
            _ => return Err(refuse()),
        };
        let how = match rest {
            [] | ["exit"] => How::Exit,
            ["launch"] => How::Launch,
            ["lost"] => How::Lost,
            _ => return Err(refuse()),
        };
        Ok(Self { schedule, failing, how })
    }
}

/// Reads `A..B`, or `A+2h`.
///
/// # Errors
/// When one of them is no instant, or they are not in order.
pub fn outage(text: &str) -> Result<Outage, Failure> {
    let hint = "write `2026-11-15T02:00..2026-11-15T14:00`, or `2026-11-15T02:00+12h`";
    let refuse = || Failure::invalid(format!("`{text}` is no stretch of time"), hint);
    let outage = match text.split_once("..") {
        Some((from, to)) => Outage { from: instant(from)?, to: instant(to)? },
        None => {
            let (from, length) = text.rsplit_once('+').ok_or_else(refuse)?;
            let from = instant(from)?;
            let to = from.saturating_add(duration(length)?).map_err(|_| refuse())?;
            Outage { from, to }
        }
    };
    if outage.to <= outage.from {
        return Err(Failure::invalid(format!("the outage `{text}` ends before it begins"), hint));
    }
    Ok(outage)
}

/// Outages in the order of time; those that touch are one.
pub(super) fn merge(outages: &[Outage]) -> Vec<Outage> {
    let mut sorted = outages.to_vec();
    sorted.sort_by_key(|outage| outage.from);
    let mut merged: Vec<Outage> = Vec::new();
    for outage in sorted {
        match merged.last_mut().filter(|last| outage.from <= last.to) {
            Some(last) => last.to = last.to.max(outage.to),
            None => merged.push(outage),
        }
    }
    merged
}

/// The schedule before `=`, if there is one, and the rest.
fn whose(text: &str) -> (Option<String>, &str) {
    match text.rsplit_once('=') {
        Some((name, rest)) => (Some(name.trim().to_owned()), rest.trim()),
        None => (None, text.trim()),
    }
}
