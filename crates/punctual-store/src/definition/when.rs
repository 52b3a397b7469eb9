//! When a schedule runs, as it is written.

use jiff::{SignedDuration, Timestamp};
use punctual_plan::{Chain, ScheduleId, When};
use punctual_time::{Bounds, Cron, Interval, Once, Spec, Timing, Weekdays, Windows, Zone};
use serde::{Deserialize, Serialize};

use super::{Shared, Unreadable, millis};

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Written {
    Ticks(Fields),
    Chain(Fields),
}

/// Everything that is written of either kind, in one struct: reading one inside of another would first keep each field aside,
/// which takes as long as all the rest of a definition.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Fields {
    // A chain to another schedule.
    #[serde(skip_serializing_if = "Option::is_none")]
    upstream: Option<uuid::Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    on: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    delay_ms: Option<i64>,

    // Ticks of its own: the canonical spec under its kind; instants in microseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    cron: Option<(String, String)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    every: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gap: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fold: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    anchor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    created_at: Option<i64>,

    // Zone, bounds and windows of both.
    timezone: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    start_at: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_at: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_runs: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    only_between: Option<String>,
    /// Weekdays by number, 0 being Sunday.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_on: Vec<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    calendars: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    quiet_hours: Vec<String>,
}

impl Written {
    pub(super) fn of(when: &When) -> Self {
        match when {
            When::Ticks(timing) => Self::Ticks(Fields::of_ticks(timing)),
            When::Chain(chain) => Self::Chain(Fields::of_chain(chain)),
        }
    }

    /// Whether it refers to calendars or quiet hours.
    pub(super) fn is_sharing(&self) -> bool {
        let (Self::Ticks(fields) | Self::Chain(fields)) = self;
        !fields.calendars.is_empty() || !fields.quiet_hours.is_empty()
    }

    pub(super) fn read(self, shared: &Shared) -> Result<When, Unreadable> {
        match self {
            Self::Ticks(fields) => Ok(When::Ticks(Box::new(fields.read_ticks(shared)?))),
            Self::Chain(fields) => Ok(When::Chain(fields.read_chain(shared)?)),
        }
    }
}

impl Fields {
    fn of_ticks(timing: &Timing) -> Self {
        let (mut cron, mut every, mut at) = (None, None, None);
        match &timing.spec {
            Spec::Cron(spec) => cron = Some((spec.dialect().to_string(), spec.to_string())),
            Spec::Every(interval) => every = Some(interval.to_string()),
            Spec::Once(once) => at = Some(once.instant().as_microsecond()),
        }
        Self {
            cron,
            every,
            at,
            gap: timing.dst.gap.map(|gap| gap.to_string()),
            fold: timing.dst.fold.map(|fold| fold.to_string()),
            anchor: (timing.anchor != punctual_time::Anchor::Fixed).then(|| timing.anchor.name().to_owned()),
            created_at: Some(timing.created_at.as_microsecond()),
            ..Self::of_both(&timing.zone, timing.bounds, &timing.windows)
        }
    }

    fn of_chain(chain: &Chain) -> Self {
        Self {
            upstream: Some(chain.upstream.0),
            on: Some(chain.on.name().to_owned()),
            delay_ms: Some(millis(chain.delay)),
            ..Self::of_both(&chain.zone, chain.bounds, &chain.windows)
        }
    }

    fn read_chain(self, shared: &Shared) -> Result<Chain, Unreadable> {
        Ok(Chain {
            upstream: ScheduleId(there("upstream", self.upstream)?),
            on: there("on", self.on.as_ref())?.parse()?,
            delay: SignedDuration::from_millis(there("delay_ms", self.delay_ms)?),
            zone: Zone::get(&self.timezone)?,
            bounds: self.bounds()?,
            windows: self.windows(shared)?,
        })
    }

    fn read_ticks(self, shared: &Shared) -> Result<Timing, Unreadable> {
        let spec = match (&self.cron, &self.every, self.at) {
            (Some((dialect, text)), None, None) => Spec::Cron(Cron::parse(text, dialect.parse()?)?),
            (None, Some(text), None) => Spec::Every(text.parse::<Interval>()?),
            (None, None, Some(at)) => Spec::Once(Once::at(instant(at)?)),
            _ => return Err(Unreadable("its definition has not exactly one spec".to_owned())),
        };
        let mut timing = Timing::new(spec, Zone::get(&self.timezone)?);
        timing.dst.gap = self.gap.as_ref().map(|gap| gap.parse()).transpose()?;
        timing.dst.fold = self.fold.as_ref().map(|fold| fold.parse()).transpose()?;
        if let Some(anchor) = &self.anchor {
            timing.anchor = anchor.parse()?;
        }
        timing.created_at = instant(there("created_at", self.created_at)?)?;
        timing.bounds = self.bounds()?;
        timing.windows = self.windows(shared)?;
        Ok(timing)
    }

    fn of_both(zone: &Zone, bounds: Bounds, windows: &Windows) -> Self {
        Self {
            timezone: zone.name().to_owned(),
            start_at: bounds.start_at.map(Timestamp::as_microsecond),
            end_at: bounds.end_at.map(Timestamp::as_microsecond),
            max_runs: bounds.max_runs,
            only_between: windows.only_between.map(|range| range.to_string()),
            not_on: (0..7).filter(|day| windows.not_on.contains(*day)).collect(),
            calendars: windows.calendars.iter().map(|calendar| calendar.name().to_owned()).collect(),
            quiet_hours: windows.quiet_hours.iter().map(|quiet| quiet.name.clone()).collect(),
            ..Self::default()
        }
    }

    fn bounds(&self) -> Result<Bounds, Unreadable> {
        Ok(Bounds {
            start_at: self.start_at.map(instant).transpose()?,
            end_at: self.end_at.map(instant).transpose()?,
            max_runs: self.max_runs,
        })
    }

    fn windows(&self, shared: &Shared) -> Result<Windows, Unreadable> {
        let gone = |what: &str, name: &String| Unreadable(format!("there is no {what} `{name}` any more"));
        let calendar =
            |name: &String| shared.calendars.get(name).cloned().ok_or_else(|| gone("calendar", name));
        let quiet = |name: &String| {
            shared.quiet_hours.get(name).cloned().ok_or_else(|| gone("quiet-hours policy", name))
        };
        Ok(Windows {
            only_between: self.only_between.as_ref().map(|text| text.parse()).transpose()?,
            not_on: self.not_on.iter().fold(Weekdays::none(), |days, day| days.with(*day)),
            calendars: self.calendars.iter().map(calendar).collect::<Result<_, _>>()?,
            quiet_hours: self.quiet_hours.iter().map(quiet).collect::<Result<_, _>>()?,
        })
    }
}

/// A field that every definition of its kind has.
fn there<T>(name: &str, field: Option<T>) -> Result<T, Unreadable> {
    field.ok_or_else(|| Unreadable(format!("its definition: missing field `{name}`")))
}

fn instant(micros: i64) -> Result<Timestamp, Unreadable> {
    Timestamp::from_microsecond(micros).map_err(|_| Unreadable(format!("{micros} is no instant")))
}
