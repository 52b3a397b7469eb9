//! What is asked about: the fields of a spec, and how they become a timing.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use punctual_time::{Anchor, Cron, Dialect, DstRule, Error, Fold, Gap, Interval, Once, Spec, Timing, Zone};
use serde::{Deserialize, Deserializer};
use utoipa::ToSchema;

use crate::{Failure, Kind, zone_name};

/// A spec and what makes it definite. Exactly one of `expr`, `every` and `at` says when.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
#[schema(as = SpecRequest)]
pub struct Request {
    /// The cron expression
    pub expr: Option<String>,
    /// An interval instead: `90s`, `2h`, `2 weeks`, `monthly`, or seconds
    #[serde(deserialize_with = "word")]
    pub every: Option<String>,
    /// One instant instead, RFC 3339 or local time; for `explain`, the instant to explain
    pub at: Option<String>,
    /// The time zone, by its IANA name, or `local` [default: UTC]
    #[serde(alias = "timezone")]
    pub tz: Option<String>,
    /// Count from here, RFC 3339 or local time; `prev` counts backwards from it [default: now]
    #[serde(alias = "before")]
    pub after: Option<String>,
    /// How many ticks [default: 5]
    pub count: Option<u32>,
    /// How a cron expression is read: standard, posix or quartz [default: standard]
    pub dialect: Option<String>,
    /// A tick at the very instant counts too
    pub inclusive: bool,
    /// What happens to times that the clock skips: shift or skip
    pub dst_gap: Option<String>,
    /// What happens to times that the clock repeats: first, last or both
    pub dst_fold: Option<String>,
    /// What an interval is reckoned from: fixed, last_start or last_finish
    pub anchor: Option<String>,
    /// No tick before this time; an interval with a fixed anchor begins here
    pub start_at: Option<String>,
    /// No tick after this time
    pub end_at: Option<String>,
    /// Only in this stretch of the day, such as 08:00-18:00; it may pass midnight
    pub only_between: Option<String>,
    /// Not on these days: names, or 0 to 7 with Sunday as 0 and 7
    #[serde(deserialize_with = "words")]
    pub not_on: Vec<String>,
    /// The schedule's id, which `H` is hashed from
    pub id: Option<String>,
}

/// A text in plain English.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
#[schema(as = SpecSentence)]
pub struct Sentence {
    /// The sentence, such as "every weekday at 9am EST"
    pub text: Option<String>,
    /// The time zone of times that name none [default: UTC]
    #[serde(alias = "timezone")]
    pub tz: Option<String>,
    /// What `tomorrow` and `in 20 minutes` count from [default: now]
    pub now: Option<String>,
}

/// Why there is no answer.
#[derive(Debug)]
pub struct Refusal {
    /// A word that stays the same.
    pub code: &'static str,
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub hint: Option<String>,
}

impl Refusal {
    /// A refusal with its hint.
    pub fn new(code: &'static str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: Some(hint.into()) }
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self { code: error.code(), message: error.to_string(), hint: error.hint().map(str::to_owned) }
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self { kind: Kind::Invalid, message: refusal.message, hint: refusal.hint }
    }
}

impl Request {
    /// The zone.
    pub(super) fn zone(&self) -> Result<Zone, Refusal> {
        zone(self.tz.as_deref())
    }

    /// The instant to count from.
    pub(super) fn from(&self, now: Timestamp) -> Result<Timestamp, Refusal> {
        self.after.as_deref().map_or(Ok(now), |text| instant(text, &self.zone()?, "after"))
    }

    /// The timing that the fields describe; an interval without `start_at` begins where counting begins.
    pub(super) fn timing(&self, now: Timestamp) -> Result<Timing, Refusal> {
        let zone = self.zone()?;
        let from = self.from(now)?;
        let mut timing = Timing::new(self.spec(&zone)?, zone.clone());
        timing.created_at = from;
        timing.dst = self.dst()?;
        timing.anchor = self.anchor.as_deref().map_or(Ok(Anchor::Fixed), str::parse)?;
        timing.last = (timing.anchor != Anchor::Fixed).then_some(from);
        let bound =
            |text: &Option<String>, name| text.as_deref().map(|text| instant(text, &zone, name)).transpose();
        timing.bounds.start_at = bound(&self.start_at, "start_at")?;
        timing.bounds.end_at = bound(&self.end_at, "end_at")?;
        timing.windows.only_between = self.only_between.as_deref().map(str::parse).transpose()?;
        for word in &self.not_on {
            timing.windows.exclude(word, &[])?;
        }
        Ok(timing)
    }

    fn spec(&self, zone: &Zone) -> Result<Spec, Refusal> {
        let given = [("expr", &self.expr), ("every", &self.every), ("at", &self.at)];
        let set: Vec<&str> =
            given.iter().filter(|(_, value)| value.is_some()).map(|(name, _)| *name).collect();
        match (&self.expr, &self.every, &self.at) {
            (Some(expr), None, None) => Ok(self.cron(expr)?.into()),
            (None, Some(every), None) => Ok(every.parse::<Interval>()?.into()),
            (None, None, Some(at)) => Ok(Once::parse(at, zone)?.into()),
            (None, None, None) => {
                Err(Refusal::new("no_spec", "nothing says when", "give one of `expr`, `every` and `at`"))
            }
            _ => Err(Refusal::new(
                "several_specs",
                format!("`{}` are set together", set.join("` and `")),
                "give exactly one of `expr`, `every` and `at`",
            )),
        }
    }

    fn cron(&self, expr: &str) -> Result<Cron, Refusal> {
        let dialect: Dialect = self.dialect.as_deref().map_or(Ok(Dialect::default()), str::parse)?;
        Ok(match &self.id {
            Some(id) => Cron::parse_seeded(expr, dialect, id)?,
            None => Cron::parse(expr, dialect)?,
        })
    }

    fn dst(&self) -> Result<DstRule, Refusal> {
        let gap: Option<Gap> = self.dst_gap.as_deref().map(str::parse).transpose()?;
        let fold: Option<Fold> = self.dst_fold.as_deref().map(str::parse).transpose()?;
        Ok(DstRule { gap, fold })
    }
}

/// A zone by name; UTC without one.
pub(super) fn zone(name: Option<&str>) -> Result<Zone, Refusal> {
    let Some(name) = name else { return Ok(Zone::utc()) };
    let known = zone_name(name).map_err(|failure| Refusal {
        code: "unknown_zone",
        message: failure.message,
        hint: failure.hint,
    })?;
    Ok(Zone::get(&known)?)
}

/// An instant: RFC 3339, or a local date and time in the zone.
pub(super) fn instant(text: &str, zone: &Zone, field: &'static str) -> Result<Timestamp, Refusal> {
    let text = text.trim();
    if let Ok(instant) = text.parse() {
        return Ok(instant);
    }
    let local = text.parse::<DateTime>().or_else(|_| text.parse::<Date>().map(Date::into));
    local.and_then(|local| zone.to_jiff().to_timestamp(local)).map_err(|_| {
        Refusal::new(
            "invalid_time",
            format!("`{text}` is no time (`{field}`)"),
            "write it like `2026-12-24T18:00:00Z`, or like `2026-12-24T18:00` for local time",
        )
    })
}

/// A word, which may be written as a number.
fn word<'de, D: Deserializer<'de>>(input: D) -> Result<Option<String>, D::Error> {
    Ok(words(input)?.into_iter().next())
}

/// One word or number, or a list of them.
fn words<'de, D: Deserializer<'de>>(input: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        Nothing,
        Number(i64),
        Text(String),
        List(Vec<Written>),
    }

    fn flat(written: Written) -> Vec<String> {
        match written {
            Written::Nothing => Vec::new(),
            Written::Number(number) => vec![number.to_string()],
            Written::Text(text) => vec![text],
            Written::List(list) => list.into_iter().flat_map(flat).collect(),
        }
    }

    Written::deserialize(input).map(flat)
}
