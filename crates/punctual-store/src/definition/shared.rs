//! What schedules of an org refer to by name, and how it is written.

use std::collections::HashMap;

use jiff::civil::Date;
use punctual_time::{Calendar, QuietHours, Weekdays, Zone};
use serde::{Deserialize, Serialize};

use super::Unreadable;
use crate::{Document, DocumentKind};

/// The calendars and quiet hours of an org.
#[derive(Clone, Debug, Default)]
pub struct Shared {
    /// Its calendars.
    pub calendars: HashMap<String, Calendar>,
    /// Its quiet hours.
    pub quiet_hours: HashMap<String, QuietHours>,
}

#[derive(Serialize, Deserialize)]
struct WrittenCalendar {
    dates: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct WrittenQuiet {
    during: String,
    /// Weekdays by number, 0 being Sunday; every day if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    on: Vec<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    timezone: Option<String>,
}

impl Shared {
    /// Takes over a stored calendar or quiet-hours policy; other kinds are left alone.
    ///
    /// # Errors
    /// When it is not written as one.
    pub fn add(&mut self, document: &Document) -> Result<(), Unreadable> {
        let unreadable =
            |what: String| Unreadable(format!("{} `{}`: {what}", document.kind.table(), document.name));
        match document.kind {
            DocumentKind::Calendar => {
                let written: WrittenCalendar =
                    serde_json::from_str(&document.body).map_err(|error| unreadable(error.to_string()))?;
                let dates = written.dates.iter().map(|date| date.parse::<Date>());
                let dates: Vec<Date> =
                    dates.collect::<Result<_, _>>().map_err(|error| unreadable(error.to_string()))?;
                self.calendars.insert(document.name.clone(), Calendar::new(document.name.as_str(), dates));
            }
            DocumentKind::QuietHours => {
                let written: WrittenQuiet =
                    serde_json::from_str(&document.body).map_err(|error| unreadable(error.to_string()))?;
                let quiet = QuietHours {
                    name: document.name.clone(),
                    during: written.during.parse().map_err(|error| unreadable(format!("{error}")))?,
                    on: written.on.iter().fold(Weekdays::none(), |days, day| days.with(*day)),
                    zone: written.timezone.as_deref().map(Zone::get).transpose()?,
                };
                self.quiet_hours.insert(document.name.clone(), quiet);
            }
            _ => {}
        }
        Ok(())
    }
}

/// A calendar as the body of its document.
pub fn calendar_body(calendar: &Calendar) -> String {
    let written = WrittenCalendar { dates: calendar.dates().map(|date| date.to_string()).collect() };
    serde_json::to_string(&written).expect("strings can always be written")
}

/// Quiet hours as the body of their document.
pub fn quiet_hours_body(quiet: &QuietHours) -> String {
    let written = WrittenQuiet {
        during: quiet.during.to_string(),
        on: (0..7).filter(|day| quiet.on.contains(*day)).collect(),
        timezone: quiet.zone.as_ref().map(|zone| zone.name().to_owned()),
    };
    serde_json::to_string(&written).expect("strings can always be written")
}
