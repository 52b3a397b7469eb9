//! What a reading stands on: the present, the owner, and what a database already holds.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use punctual_plan::{CatchUp, Jitter, Overlap, Owner, ScheduleId, Target};
use punctual_time::{Calendar, QuietHours};
use serde_json::Value;

/// The smallest distance between two ticks without a setting.
pub(super) const MIN_INTERVAL: SignedDuration = SignedDuration::from_secs(1);

/// What schedules are that do not say, unless a file says otherwise.
#[derive(Clone, Copy, Debug, Default)]
pub struct Defaults {
    /// `if_running`.
    pub overlap: Overlap,
    /// `catch_up`.
    pub catch_up: CatchUp,
    /// `jitter`.
    pub jitter: Jitter,
}

/// What schedules may refer to beside what is declared with them.
///
/// ```
/// use punctual::declare::{Ground, read_keys};
///
/// let keys = serde_json::json!({"name": "backup", "cron": "0 3 * * *", "target": {"type": "queue", "queue": "q"}});
/// let ground = Ground::alone(jiff::Timestamp::UNIX_EPOCH);
/// let schedule = read_keys(keys.as_object().unwrap(), &ground, &|key| key.to_owned())?;
/// assert_eq!(schedule.definition.name, "backup");
/// # Ok::<(), punctual::Failure>(())
/// ```
#[derive(Clone, Debug)]
pub struct Ground {
    /// The present.
    pub now: Timestamp,
    /// Who owns what is read, unless a file says otherwise.
    pub owner: Owner,
    /// The id of the one schedule that is read by its keys, if it has one already.
    pub id: Option<ScheduleId>,
    /// Whether what is read is stored at once: then `tomorrow` is a date and `in 20 minutes` an instant, once and for
    /// all. A file that is read again and again may not say so.
    pub is_kept: bool,
    /// The stored schedules that may be referred to.
    pub names: HashMap<String, ScheduleId>,
    /// The stored calendars.
    pub calendars: Vec<Calendar>,
    /// The stored quiet hours.
    pub quiet_hours: BTreeMap<String, QuietHours>,
    /// The stored templates.
    pub templates: BTreeMap<String, Value>,
    /// Targets with a name of their own.
    pub targets: BTreeMap<String, Arc<Target>>,
    /// The smallest distance between two ticks, unless a file says otherwise.
    pub min_interval: SignedDuration,
    /// What schedules are that do not say.
    pub defaults: Defaults,
    /// Whether `defaults` holds whatever the `settings:` of a file say: they were read with it and something counted
    /// before it.
    pub is_decided: bool,
}

impl Ground {
    /// Nothing but the present: for files without a database.
    pub fn alone(now: Timestamp) -> Self {
        Self {
            now,
            owner: Owner::default(),
            id: None,
            is_kept: false,
            names: HashMap::new(),
            calendars: Vec::new(),
            quiet_hours: BTreeMap::new(),
            templates: BTreeMap::new(),
            targets: BTreeMap::new(),
            min_interval: MIN_INTERVAL,
            defaults: Defaults::default(),
            is_decided: false,
        }
    }
}
