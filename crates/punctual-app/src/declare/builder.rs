//! What all schedules of a reading share: the settings, the named things, and the problems found so far.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use jiff::SignedDuration;
use punctual_plan::{Executor, Jitter, JitterMode, OrgLimits, Pace, Policy, ScheduleId, Target};
use punctual_time::{Calendar, QuietHours, Zone};
use serde::de::DeserializeOwned;

use super::declared::Settings;
use super::duration;
use super::ground::{Defaults, Ground, MIN_INTERVAL};
use super::node::Node;
use super::problem::{Place, Problems};
use super::raw;
use super::raw_word::{self, DurationText};
use super::word::Word;
use crate::{name, zone_name};

/// Bytes that templates and plugins may be copied in all: 100 000 schedules with a template of 2 kB each.
const COPIES_MAX: usize = 200_000_000;

/// Policies among which an equal one is looked for.
const POLICIES_MAX: usize = 16;

/// What templates and plugins may multiply in all: a small file must not become a large value.
#[derive(Debug)]
pub(super) struct Allowance {
    /// Bytes; none once a copy was too much.
    left: Option<usize>,
}

impl Allowance {
    /// Takes the size of a copy; notes the first that is too much.
    pub(super) fn take(&mut self, size: usize, place: Place, problems: &mut Problems) -> bool {
        let Some(left) = self.left else { return false };
        self.left = left.checked_sub(size);
        if self.left.is_none() {
            let message = format!("templates and plugins are copied more than {COPIES_MAX} bytes in all");
            problems.add(place, message, "share less, or divide the schedules among several databases");
        }
        self.left.is_some()
    }

    /// Whether a copy was too much.
    pub(super) fn is_spent(&self) -> bool {
        self.left.is_none()
    }
}

/// Builds the checked value part by part.
#[derive(Debug)]
pub(super) struct Builder<'a> {
    pub(super) ground: &'a Ground,
    pub(super) settings: Settings,
    pub(super) defaults: Defaults,
    pub(super) calendars: Vec<Calendar>,
    /// Those that `not_on` may name: the declared ones, and the stored ones that they do not replace.
    pub(super) known_calendars: Vec<Calendar>,
    pub(super) quiet_hours: BTreeMap<String, QuietHours>,
    pub(super) targets: BTreeMap<String, Arc<Target>>,
    pub(super) problems: Problems,
    pub(super) copies: Allowance,
    /// The templates that schedules have named.
    pub(super) used_templates: HashSet<String>,
    /// Policies of the schedules before: most are alike, and each is kept once.
    policies: VecDeque<Arc<Policy>>,
    /// Making a zone reads some hundred transitions; each is made once.
    zones: HashMap<String, Zone>,
}

impl<'a> Builder<'a> {
    /// A builder that knows nothing but its ground.
    pub(super) fn on(ground: &'a Ground, problems: Problems) -> Self {
        let settings = Settings {
            owner: ground.owner.clone(),
            timezone: Zone::utc(),
            pace: Pace::default(),
            min_interval: ground.min_interval,
            plugins_dir: "plugins".to_owned(),
            schedules_max: None,
            limits: OrgLimits::default(),
            server: crate::Given::new(),
            executor: None,
        };
        Self {
            ground,
            settings,
            defaults: ground.defaults,
            calendars: Vec::new(),
            known_calendars: ground.calendars.clone(),
            quiet_hours: BTreeMap::new(),
            targets: BTreeMap::new(),
            problems,
            copies: Allowance { left: Some(COPIES_MAX) },
            used_templates: HashSet::new(),
            policies: VecDeque::new(),
            zones: HashMap::new(),
        }
    }

    /// Reads a node whose shape was checked; nothing if it had problems.
    pub(super) fn raw<T: DeserializeOwned>(&mut self, node: &Node) -> Option<T> {
        match serde_json::from_value(node.to_json()) {
            Ok(raw) => Some(raw),
            Err(error) => {
                self.problems.add(node.place, error.to_string(), "compare it with `punctual schema`");
                None
            }
        }
    }

    /// The zone of a key, if it has one.
    pub(super) fn zone(&mut self, name: Option<&String>, node: &Node) -> Option<Zone> {
        let name = name?;
        if let Some(zone) = self.zones.get(name) {
            return Some(zone.clone());
        }
        let found = zone_name(name).and_then(|name| Ok(Zone::get(&name)?));
        match found {
            Ok(zone) => {
                self.zones.insert(name.clone(), zone.clone());
                Some(zone)
            }
            Err(failure) => {
                self.problems.refuse(node.place_of("timezone"), failure);
                None
            }
        }
    }

    /// The id of the schedule of a name: the stored one, or the one that stands for the name until it is stored.
    pub(super) fn id_of(&self, name: &str) -> ScheduleId {
        let stored = self.ground.names.get(name).copied();
        stored.unwrap_or_else(|| ScheduleId::of_name(&self.settings.owner.org_id, name))
    }

    /// The id of a schedule that is read.
    pub(super) fn own_id(&self, name: &str) -> ScheduleId {
        self.ground.id.unwrap_or_else(|| self.id_of(name))
    }

    /// The policy as a schedule before has it, if one has.
    pub(super) fn share_policy(&mut self, policy: Policy) -> Arc<Policy> {
        if let Some(known) = self.policies.iter().find(|known| ***known == policy) {
            return Arc::clone(known);
        }
        let policy = Arc::new(policy);
        self.policies.push_front(Arc::clone(&policy));
        self.policies.truncate(POLICIES_MAX);
        policy
    }

    /// Puts the declared calendars before the stored ones that they do not replace.
    pub(super) fn know_calendars(&mut self) {
        let declared = &self.calendars;
        let is_stored = |one: &&Calendar| declared.iter().all(|other| other.name() != one.name());
        let stored = self.ground.calendars.iter().filter(is_stored);
        self.known_calendars = declared.iter().chain(stored).cloned().collect();
    }

    /// Refuses names that nobody could type or find again.
    pub(super) fn check_name(&mut self, name: &str, place: Place) {
        if let Some(problem) = name::problem(name) {
            self.problems.add(place, problem, name::HINT);
        }
    }

    /// Takes over what only the server goes by.
    fn serve_by(&mut self, raw: &raw::Settings, node: &Node) {
        let text = |length: &Option<DurationText>| length.as_ref().map(|length| length.0.clone());
        let said = [
            ("keep_runs", text(&raw.keep_runs)),
            ("keep_runs_per_schedule", raw.keep_runs_per_schedule.map(|count| count.to_string())),
            ("keep_failures", text(&raw.keep_failures)),
            ("keep_audit", text(&raw.keep_audit)),
            ("log_level", raw.log_level.clone()),
            ("log_format", raw.log_format.clone()),
            ("allow_private_targets", raw.allow_private_targets.clone()),
            ("webhook_proxy", raw.webhook_proxy.clone()),
            ("listen", raw.listen.clone()),
            ("http_programs", raw.http_programs.clone()),
            ("metrics_access", raw.metrics_access.clone()),
        ];
        for (name, value) in said.into_iter().filter_map(|(name, value)| Some((name, value?))) {
            if let Some(hint) = crate::settings::refused(name, &value) {
                self.problems.add(node.place_of(name), format!("`{value}` cannot be `{name}`"), hint);
            }
            self.settings.server.insert(name.to_owned(), value);
        }
    }

    /// Who executes workflows that do not say who does.
    fn usual_executor(&mut self, raw: raw_word::Words, node: &Node) -> Option<Executor> {
        let text = match raw {
            raw_word::Words::One(text) => text,
            raw_word::Words::Many(argv) => serde_json::Value::from(argv).to_string(),
        };
        if text.is_empty() {
            return None;
        }
        match super::executor::executor(&text) {
            Ok(executor) => Some(executor),
            Err(failure) => {
                self.problems.refuse(node.place_of("workflow_executor"), failure);
                None
            }
        }
    }

    /// Takes over the settings.
    pub(super) fn set(&mut self, node: &Node) {
        let Some(raw) = self.raw::<raw::Settings>(node) else { return };
        let millis = |value: u64| SignedDuration::from_millis(i64::try_from(value).unwrap_or(i64::MAX));
        let min_interval =
            duration::read(raw.min_interval.as_ref(), "min_interval", node, &mut self.problems);
        if min_interval.is_some_and(|least| least < MIN_INTERVAL) {
            let message = "`min_interval` is below a second";
            self.problems.add(node.place_of("min_interval"), message, "write at least `1s`");
        }
        if let Some(zone) = self.zone(raw.timezone.as_ref(), node) {
            self.settings.timezone = zone;
        }
        self.serve_by(&raw, node);
        if let Some(executor) = raw.workflow_executor {
            self.settings.executor = self.usual_executor(executor, node);
        }
        let (settings, pace) = (&mut self.settings, Pace::default());
        settings.owner.org_id = raw.org_id.unwrap_or_else(|| settings.owner.org_id.clone());
        settings.owner.user_id = raw.user_id.or_else(|| settings.owner.user_id.take());
        settings.pace = Pace {
            tick: raw.tick_ms.map_or(pace.tick, millis),
            lookahead: raw.lookahead_ms.map_or(pace.lookahead, millis),
            catch_up_per_tick_max: raw.max_catchup_per_tick.unwrap_or(pace.catch_up_per_tick_max),
        };
        settings.min_interval = min_interval.unwrap_or(settings.min_interval);
        settings.plugins_dir = raw.plugins_dir.unwrap_or_else(|| settings.plugins_dir.clone());
        if let Some(limits) = raw.limits {
            settings.schedules_max = limits.schedules;
            settings.limits = org_limits(&limits);
        }
        if self.ground.is_decided {
            return;
        }
        self.defaults = Defaults {
            overlap: Word::of(raw.default_overlap_policy).unwrap_or(self.defaults.overlap),
            catch_up: Word::of(raw.default_catchup_policy).unwrap_or(self.defaults.catch_up),
            jitter: Jitter {
                max: raw.default_jitter_ms.map_or(self.defaults.jitter.max, millis),
                mode: JitterMode::After,
            },
        };
    }
}

/// The limits of a tenant. What is beyond counting limits nothing, so the largest number stands for it.
fn org_limits(raw: &raw::Limits) -> OrgLimits {
    let count = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
    OrgLimits {
        per_minute_max: raw.runs_per_minute.map(count),
        in_flight_max: raw.runs_in_flight.map(count),
        over: Word::of(raw.over).unwrap_or_default(),
    }
}
