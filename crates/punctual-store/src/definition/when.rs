//! When a schedule runs, as it is written.

use jiff::{SignedDuration, Timestamp};
use punctual_plan::{Chain, ScheduleId, When};
use punctual_time::{Bounds, Cron, Interval, Once, Spec, Timing, Weekdays, Windows, Zone};
use serde::{Deserialize, Serialize};

use super::{Shared, Unreadable, millis};

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Written {
    Ticks(Ticks),
    Chain(Chained),
}

/// Ticks of their own; the canonical spec under its kind.
#[derive(Serialize, Deserialize)]
pub(super) struct Ticks {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cron: Option<(String, String)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    every: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    gap: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fold: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    anchor: Option<String>,
    created_at: i64,
    #[serde(flatten)]
    frame: Frame,
}

/// A chain to another schedule.
#[derive(Serialize, Deserialize)]
pub(super) struct Chained {
    upstream: uuid::Uuid,
    on: String,
    delay_ms: i64,
    #[serde(flatten)]
    frame: Frame,
}

/// Zone, bounds and windows; instants in microseconds.
#[derive(Serialize, Deserialize)]
struct Frame {
    timezone: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    start_at: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    end_at: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_runs: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    only_between: Option<String>,
    /// Weekdays by number, 0 being Sunday.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    not_on: Vec<u32>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    calendars: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    quiet_hours: Vec<String>,
}

impl Written {
    pub(super) fn of(when: &When) -> Self {
        match when {
            When::Ticks(timing) => Self::Ticks(Ticks::of(timing)),
            When::Chain(chain) => Self::Chain(Chained {
                upstream: chain.upstream.0,
                on: chain.on.name().to_owned(),
                delay_ms: millis(chain.delay),
                frame: Frame::of(&chain.zone, chain.bounds, &chain.windows),
            }),
        }
    }

    /// Whether it refers to calendars or quiet hours.
    pub(super) fn is_sharing(&self) -> bool {
        let (Self::Ticks(Ticks { frame, .. }) | Self::Chain(Chained { frame, .. })) = self;
        !frame.calendars.is_empty() || !frame.quiet_hours.is_empty()
    }

    pub(super) fn read(self, shared: &Shared) -> Result<When, Unreadable> {
        match self {
            Self::Ticks(ticks) => Ok(When::Ticks(Box::new(ticks.read(shared)?))),
            Self::Chain(chained) => Ok(When::Chain(Chain {
                upstream: ScheduleId(chained.upstream),
                on: chained.on.parse()?,
                delay: SignedDuration::from_millis(chained.delay_ms),
                zone: Zone::get(&chained.frame.timezone)?,
                bounds: chained.frame.bounds()?,
                windows: chained.frame.windows(shared)?,
            })),
        }
    }
}

impl Ticks {
    fn of(timing: &Timing) -> Self {
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
            created_at: timing.created_at.as_microsecond(),
            frame: Frame::of(&timing.zone, timing.bounds, &timing.windows),
        }
    }

    fn read(self, shared: &Shared) -> Result<Timing, Unreadable> {
        let spec = match (self.cron, self.every, self.at) {
            (Some((dialect, text)), None, None) => Spec::Cron(Cron::parse(&text, dialect.parse()?)?),
            (None, Some(text), None) => Spec::Every(text.parse::<Interval>()?),
            (None, None, Some(at)) => Spec::Once(Once::at(instant(at)?)),
            _ => return Err(Unreadable("its definition has not exactly one spec".to_owned())),
        };
        let mut timing = Timing::new(spec, Zone::get(&self.frame.timezone)?);
        timing.dst.gap = self.gap.map(|gap| gap.parse()).transpose()?;
        timing.dst.fold = self.fold.map(|fold| fold.parse()).transpose()?;
        if let Some(anchor) = self.anchor {
            timing.anchor = anchor.parse()?;
        }
        timing.created_at = instant(self.created_at)?;
        timing.bounds = self.frame.bounds()?;
        timing.windows = self.frame.windows(shared)?;
        Ok(timing)
    }
}

impl Frame {
    fn of(zone: &Zone, bounds: Bounds, windows: &Windows) -> Self {
        Self {
            timezone: zone.name().to_owned(),
            start_at: bounds.start_at.map(Timestamp::as_microsecond),
            end_at: bounds.end_at.map(Timestamp::as_microsecond),
            max_runs: bounds.max_runs,
            only_between: windows.only_between.map(|range| range.to_string()),
            not_on: (0..7).filter(|day| windows.not_on.contains(*day)).collect(),
            calendars: windows.calendars.iter().map(|calendar| calendar.name().to_owned()).collect(),
            quiet_hours: windows.quiet_hours.iter().map(|quiet| quiet.name.clone()).collect(),
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

fn instant(micros: i64) -> Result<Timestamp, Unreadable> {
    Timestamp::from_microsecond(micros).map_err(|_| Unreadable(format!("{micros} is no instant")))
}
