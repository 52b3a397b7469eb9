//! What a file says once it is checked: references resolved, defaults filled in, no behaviour.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use jiff::SignedDuration;
use punctual_plan::{Executor, OrgLimits, Owner, Pace, ScheduleId, Target};
use punctual_time::{Calendar, QuietHours, Zone};
use serde_json::Value;

use super::nearest;
use crate::{Failure, Kind};

/// Everything that a file or folder declares.
#[derive(Clone, Debug, PartialEq)]
pub struct Declared {
    /// The settings of the installation.
    pub settings: Settings,
    /// Named calendars.
    pub calendars: BTreeMap<String, Calendar>,
    /// Named quiet hours.
    pub quiet_hours: BTreeMap<String, QuietHours>,
    /// Named targets, plugins among them under their own name.
    pub targets: BTreeMap<String, Arc<Target>>,
    /// Templates by name, as they were written.
    pub templates: BTreeMap<String, Value>,
    /// The schedules by name.
    pub schedules: Vec<Schedule>,
}

impl Declared {
    /// The schedule of a name.
    ///
    /// # Errors
    /// When there is none, with the one that was meant.
    pub fn get(&self, name: &str) -> Result<&Schedule, Failure> {
        self.place(name).map(|place| &self.schedules[place])
    }

    /// The same with the schedule of one name alone; as it is, if none is named.
    ///
    /// # Errors
    /// When there is none, with the one that was meant.
    pub fn only(mut self, name: Option<&str>) -> Result<Self, Failure> {
        if let Some(name) = name {
            let place = self.place(name)?;
            self.schedules = vec![self.schedules.swap_remove(place)];
        }
        Ok(self)
    }

    /// The place of a name among the schedules.
    ///
    /// # Errors
    /// When there is none, with the one that was meant.
    pub fn place(&self, name: &str) -> Result<usize, Failure> {
        let found = self.schedules.iter().position(|schedule| schedule.definition.name == name);
        found.ok_or_else(|| {
            let names = self.schedules.iter().map(|schedule| schedule.definition.name.as_str());
            let hint = nearest::hint(name, names, "the file declares no schedule");
            Failure {
                kind: Kind::NotFound,
                message: format!("there is no schedule `{name}` in the file"),
                hint: Some(hint),
            }
        })
    }

    /// The names behind the ids by which schedules refer to each other.
    pub fn names(&self) -> Names<'_> {
        let definitions = self.schedules.iter().map(|schedule| &schedule.definition);
        Names(definitions.map(|definition| (definition.id, definition.name.as_str())).collect())
    }
}

/// The names of declared schedules by their ids.
#[derive(Clone, Debug)]
pub struct Names<'a>(HashMap<ScheduleId, &'a str>);

impl<'a> Names<'a> {
    /// Names that are known from elsewhere.
    pub fn of(names: impl IntoIterator<Item = (ScheduleId, &'a str)>) -> Self {
        Self(names.into_iter().collect())
    }

    /// The name of a schedule, if it is declared.
    ///
    /// ```
    /// let text = "schedules: [{name: a, cron: 0 3 * * *, target: {type: process, argv: [x]}}]";
    /// let declared = punctual_app::declare::read_text("jobs.yaml", text, jiff::Timestamp::UNIX_EPOCH)?;
    /// assert_eq!(declared.names().get(declared.schedules[0].definition.id), Some("a"));
    /// # Ok::<(), punctual_app::Failure>(())
    /// ```
    pub fn get(&self, id: ScheduleId) -> Option<&str> {
        self.0.get(&id).copied()
    }
}

/// Settings, defaults filled in.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Who owns the schedules.
    pub owner: Owner,
    /// The zone of schedules that name none.
    pub timezone: Zone,
    /// How far ahead ticks are planned, and how fast missed ones are made up.
    pub pace: Pace,
    /// The smallest distance between two ticks of a schedule.
    pub min_interval: SignedDuration,
    /// Where the programs of plugins are.
    pub plugins_dir: String,
    /// How many schedules the tenant may have; any number, if none.
    pub schedules_max: Option<u64>,
    /// What the tenant's runs may use.
    pub limits: OrgLimits,
    /// How long the server keeps rows and how it logs, as it was written; it reads them with its other settings.
    pub server: crate::Given,
    /// Who executes workflows that do not say who does.
    pub executor: Option<Executor>,
}

/// One schedule.
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    /// What it is. Its id, and those it refers to, are made of names: no database has given others yet.
    pub definition: punctual_plan::Schedule,
    /// Whether it fires.
    pub enabled: bool,
    /// How long after each start of the service it fires; its timing is that of a start at the time of reading.
    pub after_start: Option<SignedDuration>,
    /// What was guessed in reading its English text.
    pub assumed: Vec<String>,
}
