//! From what a text says to the value that has ticks.

use super::{Context, Parsed};
use crate::{Bounds, Calendar, Cron, Dialect, Error, Interval, Once, Spec, Timing, Windows, Zone};

impl Parsed {
    /// The schedule as a value, with the calendars that `not_on` may name.
    ///
    /// ```
    /// use punctual_time::{Zone, human};
    ///
    /// let context = human::Context { now: "2026-11-15T12:00:00Z".parse().unwrap(), zone: Zone::utc() };
    /// let timing = human::parse("every other friday at noon", &context)?.timing(&context, &[])?;
    /// let first = timing.next(context.now).unwrap();
    /// assert_eq!(first.to_string(), "2026-11-20T12:00:00Z");
    /// assert_eq!(timing.next(first).unwrap().to_string(), "2026-12-04T12:00:00Z");
    /// # Ok::<(), punctual_time::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If `not_on` names a calendar that is not among `calendars`, or a field was changed to something invalid.
    pub fn timing(&self, context: &Context, calendars: &[Calendar]) -> Result<Timing, Error> {
        let zone = match &self.timezone {
            Some(name) => Zone::get(name)?,
            None => context.zone.clone(),
        };
        let instant = |text: &Option<String>| {
            text.as_ref().map(|text| Once::parse(text, &zone).map(Once::instant)).transpose()
        };
        let bounds =
            Bounds { start_at: instant(&self.start_at)?, end_at: instant(&self.end_at)?, max_runs: None };
        let mut windows = Windows::default();
        if let Some(range) = &self.only_between {
            windows.only_between = Some(range.parse()?);
        }
        for word in &self.not_on {
            windows.exclude(word, calendars)?;
        }
        let mut timing = Timing::new(self.spec(&zone)?, zone);
        timing.created_at = context.now;
        timing.bounds = bounds;
        timing.windows = windows;
        Ok(timing)
    }

    fn spec(&self, zone: &Zone) -> Result<Spec, Error> {
        match (&self.cron, &self.every, &self.at) {
            (Some(cron), _, _) => Cron::parse(cron, Dialect::Standard).map(Spec::from),
            (_, Some(every), _) => every.parse::<Interval>().map(Spec::from),
            (_, _, Some(at)) => Once::parse(at, zone).map(Spec::from),
            _ => Err(Error::new("empty", "there is neither `cron` nor `every` nor `at`")),
        }
    }
}
