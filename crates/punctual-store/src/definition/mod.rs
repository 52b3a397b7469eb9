//! A schedule in its one written form: JSON, the same in every database and in exports.
//!
//! [`encode`] writes it, [`decode`] reads it back. Specs are written in their canonical form, so that nothing has to be
//! guessed again; calendars and quiet hours are written by name and looked up in [`Shared`] when it is read. `shared` has
//! their own bodies.

mod kind;
mod shared;
mod target;
mod webhook;
mod when;

use std::fmt;
use std::sync::Arc;

use jiff::SignedDuration;
use punctual_plan::{Dependency, Jitter, Launch, Object, Owner, Policy, Schedule, ScheduleId, UnknownName};
use serde::{Deserialize, Serialize};

pub use shared::{Shared, calendar_body, quiet_hours_body};

/// A stored definition that cannot be used any more, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable(pub String);

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unreadable {}

impl From<punctual_time::Error> for Unreadable {
    fn from(error: punctual_time::Error) -> Self {
        Self(error.to_string())
    }
}

impl From<UnknownName> for Unreadable {
    fn from(error: UnknownName) -> Self {
        Self(error.to_string())
    }
}

#[derive(Serialize, Deserialize)]
struct Written {
    id: uuid::Uuid,
    name: String,
    org_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    user_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
    version: i64,
    spec: String,
    dialect: String,
    when: when::Written,
    policy: WrittenPolicy,
    target: target::Written,
    #[serde(default, skip_serializing_if = "Object::is_empty")]
    payload: Object,
}

/// Policies by their public names; durations in milliseconds; what is default is left out.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct WrittenPolicy {
    #[serde(skip_serializing_if = "Option::is_none")]
    if_running: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lane: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    catch_up: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_catch_up: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    missed_audit_max: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    grace_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    start_deadline_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    jitter_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    jitter_mode: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    launch_attempts: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    launch_delay_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    run_timeout_ms: Option<i64>,
    /// 0 stands for never.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_consecutive_failures: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    guard: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    depends_on: Vec<uuid::Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    depends_timeout_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    delivery: Option<String>,
}

/// Writes a definition.
pub fn encode(schedule: &Schedule) -> String {
    let written = Written {
        id: schedule.id.0,
        name: schedule.name.clone(),
        org_id: schedule.owner.org_id.clone(),
        user_id: schedule.owner.user_id.clone(),
        description: schedule.description.clone(),
        tags: schedule.tags.clone(),
        version: schedule.version,
        spec: schedule.spec.clone(),
        dialect: schedule.dialect.to_string(),
        when: when::Written::of(&schedule.when),
        policy: WrittenPolicy::of(&schedule.policy),
        target: target::Written::of(&schedule.target),
        payload: schedule.payload.clone(),
    };
    serde_json::to_string(&written).expect("strings and numbers can always be written")
}

/// Reads a definition back.
///
/// # Errors
/// When something it refers to is gone, or another version wrote what this one does not know.
pub fn decode(text: &str, shared: &Shared) -> Result<Schedule, Unreadable> {
    Definition::parse(text)?.read(shared)
}

/// A definition whose JSON was read, before what it refers to by name is looked up.
pub(crate) struct Definition(Written);

impl Definition {
    pub(crate) fn parse(text: &str) -> Result<Self, Unreadable> {
        let written = serde_json::from_str(text);
        written.map(Self).map_err(|error| Unreadable(format!("its definition: {error}")))
    }

    /// Whether it refers to calendars or quiet hours.
    pub(crate) fn is_sharing(&self) -> bool {
        self.0.when.is_sharing()
    }

    pub(crate) fn read(self, shared: &Shared) -> Result<Schedule, Unreadable> {
        let Self(written) = self;
        Ok(Schedule {
            id: ScheduleId(written.id),
            name: written.name,
            owner: Owner { org_id: written.org_id, user_id: written.user_id },
            description: written.description,
            tags: written.tags,
            version: written.version,
            spec: written.spec,
            dialect: written.dialect.parse()?,
            when: written.when.read(shared)?,
            policy: Arc::new(written.policy.read()?),
            target: Arc::new(written.target.read()?),
            payload: written.payload,
        })
    }
}

/// A duration in milliseconds.
pub(crate) fn millis(duration: SignedDuration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

/// What differs from a default.
fn other<T: PartialEq>(value: T, default: &T) -> Option<T> {
    (value != *default).then_some(value)
}

impl WrittenPolicy {
    fn of(policy: &Policy) -> Self {
        let default = Policy::default();
        let length = |value: SignedDuration, default| other(value, &default).map(millis);
        Self {
            if_running: other(policy.overlap, &default.overlap).map(|value| value.name().to_owned()),
            lane: policy.lane.clone(),
            catch_up: other(policy.catch_up, &default.catch_up).map(|value| value.name().to_owned()),
            max_catch_up: other(policy.max_catch_up, &default.max_catch_up),
            missed_audit_max: other(policy.missed_audit_max, &default.missed_audit_max),
            grace_ms: length(policy.grace, default.grace),
            start_deadline_ms: policy.start_deadline.map(millis),
            jitter_ms: length(policy.jitter.max, default.jitter.max),
            jitter_mode: other(policy.jitter.mode, &default.jitter.mode).map(|value| value.name().to_owned()),
            launch_attempts: other(policy.launch.attempts_max, &default.launch.attempts_max),
            launch_delay_ms: length(policy.launch.delay, default.launch.delay),
            retry_after_ms: policy.retry_after.map(millis),
            run_timeout_ms: length(policy.run_timeout, default.run_timeout),
            max_consecutive_failures: other(
                policy.max_consecutive_failures,
                &default.max_consecutive_failures,
            )
            .map(Option::unwrap_or_default),
            guard: policy.guard.clone(),
            depends_on: policy.depends_on.iter().flat_map(|on| &on.on).map(|id| id.0).collect(),
            depends_timeout_ms: policy.depends_on.as_ref().map(|on| millis(on.timeout)),
            delivery: other(policy.delivery, &default.delivery).map(|value| value.name().to_owned()),
        }
    }

    fn read(self) -> Result<Policy, Unreadable> {
        let default = Policy::default();
        let length = |value: Option<i64>| value.map(SignedDuration::from_millis);
        let depends_on = (!self.depends_on.is_empty()).then(|| {
            let mut dependency = Dependency::on(self.depends_on.into_iter().map(ScheduleId).collect());
            dependency.timeout = length(self.depends_timeout_ms).unwrap_or(dependency.timeout);
            dependency
        });
        Ok(Policy {
            overlap: named(self.if_running)?.unwrap_or(default.overlap),
            lane: self.lane,
            catch_up: named(self.catch_up)?.unwrap_or(default.catch_up),
            max_catch_up: self.max_catch_up.unwrap_or(default.max_catch_up),
            missed_audit_max: self.missed_audit_max.unwrap_or(default.missed_audit_max),
            grace: length(self.grace_ms).unwrap_or(default.grace),
            start_deadline: length(self.start_deadline_ms),
            jitter: Jitter {
                max: length(self.jitter_ms).unwrap_or(default.jitter.max),
                mode: named(self.jitter_mode)?.unwrap_or(default.jitter.mode),
            },
            launch: Launch {
                attempts_max: self.launch_attempts.unwrap_or(default.launch.attempts_max),
                delay: length(self.launch_delay_ms).unwrap_or(default.launch.delay),
            },
            retry_after: length(self.retry_after_ms),
            run_timeout: length(self.run_timeout_ms).unwrap_or(default.run_timeout),
            max_consecutive_failures: self
                .max_consecutive_failures
                .map_or(default.max_consecutive_failures, |max| (max > 0).then_some(max)),
            guard: self.guard,
            depends_on,
            delivery: named(self.delivery)?.unwrap_or(default.delivery),
        })
    }
}

/// Reads a name, if there is one.
fn named<T: std::str::FromStr<Err = UnknownName>>(name: Option<String>) -> Result<Option<T>, Unreadable> {
    Ok(name.map(|name| name.parse()).transpose()?)
}
