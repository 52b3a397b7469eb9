//! What a schedule would do on its first day, were it applied to an empty database.

use jiff::{SignedDuration, Timestamp};
use punctual_plan::{Chain, ChainOn, When};
use punctual_time::{Spec, Tick, Timing, describe};

use super::declared::{Names, Schedule};

/// How far a forecast looks.
pub const DAY: SignedDuration = SignedDuration::from_hours(24);

/// Ticks of each kind that a forecast lists; the rest is counted.
const LISTED_MAX: usize = 100;

/// The ticks of a schedule's first day.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forecast {
    /// Those that fire.
    pub fires: Vec<Tick>,
    /// How many more fire.
    pub fires_more: usize,
    /// Those that a window keeps from firing.
    pub suppressed: Vec<Tick>,
    /// How many more are kept from firing.
    pub suppressed_more: usize,
}

impl Schedule {
    /// When it fires, in English.
    ///
    /// ```
    /// let text = "schedules: [{name: a, cron: 0 3 * * *, target: {type: process, argv: [x]}}]";
    /// let declared = punctual_app::declare::read_text("jobs.yaml", text, jiff::Timestamp::UNIX_EPOCH)?;
    /// assert_eq!(declared.schedules[0].describe(&declared.names()), "Every day at 03:00");
    /// # Ok::<(), punctual_app::Failure>(())
    /// ```
    pub fn describe(&self, names: &Names<'_>) -> String {
        match (&self.definition.when, self.after_start) {
            (When::Ticks(_), Some(delay)) => format!("Once, {delay:#} after the service starts"),
            (When::Ticks(timing), None) => describe::timing(timing),
            (When::Chain(chain), _) => follow(chain, names),
        }
    }

    /// Its ticks within a day of an instant. What is disabled, or follows other runs, has none of its own.
    pub fn forecast(&self, from: Timestamp) -> Forecast {
        let mut forecast = Forecast::default();
        let Some(timing) = self.definition.when.timing().filter(|_| self.enabled) else { return forecast };
        let to = from.saturating_add(DAY).unwrap_or(Timestamp::MAX);
        for tick in timing.ticks(first_start(timing, from)..to) {
            let (list, more) = match tick.suppressed {
                None => (&mut forecast.fires, &mut forecast.fires_more),
                Some(_) => (&mut forecast.suppressed, &mut forecast.suppressed_more),
            };
            if list.len() < LISTED_MAX {
                list.push(tick);
            } else {
                *more += 1;
            }
        }
        forecast
    }
}

fn follow(chain: &Chain, names: &Names<'_>) -> String {
    let end = match chain.on {
        ChainOn::Success => "success",
        ChainOn::Failure => "failure",
        ChainOn::Finish => "end",
    };
    let later = match chain.delay.is_zero() {
        true => String::new(),
        false => format!(", {:#} later", chain.delay),
    };
    let upstream = names.get(chain.upstream).map_or_else(|| chain.upstream.to_string(), str::to_owned);
    format!("After each {end} of `{upstream}`{later}")
}

/// A declared file on an empty database: the cron tick whose minute, or second, contains the start fires at once.
fn first_start(timing: &Timing, from: Timestamp) -> Timestamp {
    let step = match &timing.spec {
        Spec::Cron(cron) if !cron.has_seconds() => 60,
        Spec::Cron(_) => 1,
        _ => return from,
    };
    Timestamp::from_second(from.as_second().div_euclid(step) * step).unwrap_or(from)
}
