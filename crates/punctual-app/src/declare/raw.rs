//! The file as people write it: every key once, with its sentence. `punctual schema` is made from these types.
//!
//! Nothing here is checked beyond its shape; the files beside it turn these into `Declared`.

use std::collections::BTreeMap;

use punctual_plan::{CatchUp, ChainOn, Delivery, JitterMode, OverLimit, Overlap};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::raw_target::{Breaker, TargetChoice, TargetForm};
use super::raw_word::{DayWord, DurationText, Words};
use super::word::Word;

/// Schedules of Punctual, declared in YAML.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[allow(dead_code, reason = "the top is walked key by key; this type is its schema")]
pub(super) struct File {
    /// Settings of the installation, and defaults of the schedules.
    pub(super) settings: Option<Settings>,
    /// The schedules.
    pub(super) schedules: Option<Vec<Schedule>>,
    /// Named parts of the day in which nothing fires; schedules choose them with `quiet_hours`.
    pub(super) quiet_hours: Option<BTreeMap<String, Quiet>>,
    /// Named lists of dates; `not_on` takes their names.
    pub(super) calendars: Option<BTreeMap<String, Dates>>,
    /// Named parts of schedules; `template` takes their names, `set` fills their `${…}`.
    pub(super) templates: Option<BTreeMap<String, Template>>,
    /// Named targets; `target` takes their names.
    pub(super) targets: Option<BTreeMap<String, TargetForm>>,
    /// Programs with commands, each with its own schedules.
    pub(super) plugins: Option<BTreeMap<String, Plugin>>,
}

/// Settings of the installation, and defaults of the schedules.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub(super) struct Settings {
    /// The tenant that owns the schedules.
    pub(super) org_id: Option<String>,
    /// The person or agent that owns the schedules.
    pub(super) user_id: Option<String>,
    /// The zone of schedules that name none: an IANA name, or `local` for that of this host; `UTC` without it.
    pub(super) timezone: Option<String>,
    /// The longest sleep of the service, in milliseconds; 1000 without it.
    #[schemars(range(min = 1, max = 60_000))]
    pub(super) tick_ms: Option<u64>,
    /// How far ahead ticks are planned, in milliseconds; 60000 without it, at most an hour.
    #[schemars(range(min = 1, max = 3_600_000))]
    pub(super) lookahead_ms: Option<u64>,
    /// How many missed ticks are made up per wake; 100 without it.
    #[schemars(range(min = 1, max = 10_000))]
    pub(super) max_catchup_per_tick: Option<u32>,
    /// `if_running` of schedules that do not say; `skip` without it.
    pub(super) default_overlap_policy: Option<Word<Overlap>>,
    /// `catch_up` of schedules that do not say; `skip` without it.
    pub(super) default_catchup_policy: Option<Word<CatchUp>>,
    /// The jitter of schedules that do not say, in milliseconds; 0 without it.
    #[schemars(range(min = 0, max = 3_600_000))]
    pub(super) default_jitter_ms: Option<u64>,
    /// How long runs are kept that did not fail; `30d` without it.
    pub(super) keep_runs: Option<DurationText>,
    /// Runs of a schedule that are kept at most, failed ones excepted; 1000 without it.
    #[schemars(range(min = 1, max = 100_000_000))]
    pub(super) keep_runs_per_schedule: Option<u64>,
    /// How long failed runs are kept; `90d` without it.
    pub(super) keep_failures: Option<DurationText>,
    /// How long events of the audit log are kept; `365d` without it.
    pub(super) keep_audit: Option<DurationText>,
    /// How much the server logs: `error`, `warn`, `info`, `debug` or `trace`; `info` without it.
    pub(super) log_level: Option<String>,
    /// How the server logs: `text`, `json`, or `auto` by where it goes; `auto` without it.
    pub(super) log_format: Option<String>,
    /// The smallest distance between two ticks of a schedule; `1s` without it.
    pub(super) min_interval: Option<DurationText>,
    /// The folder with the programs of plugins that have no `run`; `plugins` without it.
    pub(super) plugins_dir: Option<String>,
    /// Who executes workflows that do not say who does: a web address, or a program with its arguments.
    pub(super) workflow_executor: Option<Words>,
    /// Addresses beside public ones that web requests may go to: `no`, `yes`, or networks; `no` without it.
    pub(super) allow_private_targets: Option<String>,
    /// The HTTP proxy that web requests go through, as `http://HOST:PORT`; none without it.
    pub(super) webhook_proxy: Option<String>,
    /// Where the server listens: an address on loopback, or `none`; `127.0.0.1:7424` without it.
    pub(super) listen: Option<String>,
    /// The programs that schedules may run which are made over HTTP, separated by commas; none without it.
    pub(super) http_programs: Option<String>,
    /// Who may read `/metrics`: whoever has a `token`, or `open` to all; `token` without it.
    pub(super) metrics_access: Option<String>,
    /// Limits of the tenant.
    pub(super) limits: Option<Limits>,
}

/// Limits of the tenant.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub(super) struct Limits {
    /// How many schedules there may be.
    #[schemars(range(min = 1))]
    pub(super) schedules: Option<u64>,
    /// How many runs may start in a minute.
    #[schemars(range(min = 1))]
    pub(super) runs_per_minute: Option<u64>,
    /// How many runs may be in flight.
    #[schemars(range(min = 1))]
    pub(super) runs_in_flight: Option<u64>,
    /// Whether a run beyond them waits or is skipped; `wait` without it.
    pub(super) over: Option<Word<OverLimit>>,
}

/// A part of the day in which nothing fires.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Quiet {
    /// The part of the day, such as `22:00-06:00`.
    pub(super) during: String,
    /// The weekdays on which it starts; every day without it.
    pub(super) on: Option<Vec<DayWord>>,
    /// A zone of its own, by IANA name or `local`; that of the schedule without it.
    pub(super) timezone: Option<String>,
}

/// A list of dates.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Dates {
    /// The dates, such as `2026-12-25`.
    pub(super) dates: Vec<String>,
}

/// Part of a schedule: any of its keys but `name`, `template` and `set`. It is checked where it is used, after its
/// `${…}` are filled from `set`, and without them where nobody uses it; `$${…}` stands for itself.
#[derive(Debug, Deserialize, JsonSchema)]
#[allow(dead_code, reason = "templates are merged before they are read; this type is their schema")]
pub(super) struct Template {
    /// As in a schedule.
    #[serde(default)]
    #[schemars(with = "Value")]
    pub(super) target: Option<Value>,
    /// As in a schedule.
    #[serde(default)]
    pub(super) lane: Option<String>,
    #[serde(flatten)]
    pub(super) common: Common,
}

/// A schedule.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Schedule {
    /// Its name, unique among all.
    pub(super) name: String,
    /// Where its runs go: the name of a target, or one of its own.
    pub(super) target: Option<TargetChoice>,
    /// Schedules with the same lane take turns as if they were one: `if_running` counts the runs of all of them.
    pub(super) lane: Option<String>,
    /// The template it begins with; its own keys come on top.
    #[allow(dead_code, reason = "merged before this is read")]
    pub(super) template: Option<String>,
    /// What fills the `${…}` of its template.
    #[allow(dead_code, reason = "merged before this is read")]
    pub(super) set: Option<Map<String, Value>>,
    #[serde(flatten)]
    pub(super) common: Common,
}

/// What schedules, templates and the schedules of plugins have in common.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Common {
    /// What it is for.
    pub(super) description: Option<String>,
    /// Words to choose many schedules by.
    pub(super) tags: Option<Vec<String>>,
    /// Whether it fires; `true` without it.
    pub(super) enabled: Option<bool>,
    /// How often, reckoned from `anchor`: `90s`, `5m`, `2h`, `1d`, `hourly`, `daily`, `weekly`, `monthly`, `2 weeks`, or seconds.
    pub(super) every: Option<DurationText>,
    /// A cron expression.
    pub(super) cron: Option<String>,
    /// One instant: RFC 3339, or a local time in the schedule's zone.
    pub(super) at: Option<String>,
    /// Once, this long after the service starts; a restart before it fires begins anew.
    pub(super) after: Option<DurationText>,
    /// After the runs of another schedule.
    pub(super) on: Option<On>,
    /// Plain English, such as `every weekday at 9am`.
    pub(super) schedule: Option<String>,
    /// The grammar of `cron`: `standard` (without it), `posix` or `quartz`.
    #[serde(default)]
    #[schemars(schema_with = "super::raw_word::dialects")]
    pub(super) dialect: Option<String>,
    /// What `every` is reckoned from: `fixed` (without it: `start_at`, else the creation), `last_start` or `last_finish`.
    #[serde(default)]
    #[schemars(schema_with = "super::raw_word::anchors")]
    pub(super) anchor: Option<String>,
    /// The instant that `every` is reckoned from in the place of its creation, such as that of a schedule that was moved here.
    pub(super) anchor_at: Option<String>,
    /// The zone in which local times and windows are read: an IANA name, or `local` for that of this host; that of the settings without it.
    pub(super) timezone: Option<String>,
    /// What clock changes do, if not the usual.
    pub(super) dst: Option<Dst>,
    /// The first instant at which it may fire.
    pub(super) start_at: Option<String>,
    /// The last instant at which it may fire, included.
    pub(super) end_at: Option<String>,
    /// How many runs there are in all.
    #[schemars(range(min = 1))]
    pub(super) max_runs: Option<u64>,
    /// The part of the day in which it fires, such as `08:00-18:00`; `22:00-06:00` goes over midnight.
    pub(super) only_between: Option<String>,
    /// Weekdays by name or number (0 and 7 are Sunday) and calendars by name, on which it does not fire.
    pub(super) not_on: Option<Vec<DayWord>>,
    /// Names of quiet hours in which it does not fire.
    pub(super) quiet_hours: Option<Words>,
    /// The same for one name.
    pub(super) quiet_hours_policy_id: Option<String>,
    /// What happens to a tick while another run is in flight; `skip` without it.
    pub(super) if_running: Option<Word<Overlap>>,
    /// What happens to ticks that nobody was there for; `skip` without it.
    pub(super) catch_up: Option<Word<CatchUp>>,
    /// How many ticks of one outage are made up; 100 without it.
    #[schemars(range(min = 1, max = 10_000))]
    pub(super) max_catch_up: Option<u32>,
    /// How many missed ticks get an audit event of their own before one sums up the rest; 100 without it.
    #[schemars(range(min = 0, max = 10_000))]
    pub(super) missed_audit_max: Option<u32>,
    /// How late a tick may be and still run as usual; `60s` without it.
    pub(super) grace: Option<DurationText>,
    /// A tick that cannot start within this is skipped.
    pub(super) start_deadline: Option<DurationText>,
    /// How far a tick is moved at most, always alike for the same tick; a duration, or `max` with `mode`.
    pub(super) jitter: Option<Jitter>,
    /// How often a launch that fails is tried, and how long after; `{attempts: 3, delay: 1s}` without it.
    pub(super) launch: Option<Launch>,
    /// How long after a failed run it is tried again; never without it.
    pub(super) retry_after: Option<DurationText>,
    /// How long a run may take; `1h` without it.
    pub(super) run_timeout: Option<DurationText>,
    /// Failures in a row that disable the schedule, 0 for never; 5 without it.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub(super) max_consecutive_failures: Option<u32>,
    /// Whether a doubtful delivery is repeated; `at_least_once` without it.
    pub(super) delivery: Option<Word<Delivery>>,
    /// At most one run with this key is outstanding, across schedules.
    pub(super) guard: Option<String>,
    /// Names of schedules whose latest tick must have succeeded.
    pub(super) depends_on: Option<Words>,
    /// How long to wait for them before the tick is skipped.
    pub(super) depends_timeout: Option<DurationText>,
    /// What its runs carry.
    pub(super) payload: Option<Map<String, Value>>,
}

impl Common {
    /// Its "when" as it was written; of `on` the schedule that it follows.
    pub(super) fn written(&self) -> Option<&str> {
        let every = self.every.as_ref().or(self.after.as_ref()).map(|text| text.0.as_str());
        let on = self.on.as_ref().map(|on| on.schedule.as_str());
        let text = self.cron.as_deref().or(self.at.as_deref()).or(self.schedule.as_deref());
        text.or(every).or(on)
    }
}

/// The runs of another schedule.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct On {
    /// Its name.
    pub(super) schedule: String,
    /// Which end of its run counts; `success` without it.
    pub(super) outcome: Option<Word<ChainOn>>,
    /// How long after it; at once without it.
    pub(super) delay: Option<DurationText>,
}

/// What clock changes do.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Dst {
    /// A time that the clock skips: `shift` it to the first instant after, or `skip` it.
    #[serde(default)]
    #[schemars(schema_with = "super::raw_word::gaps")]
    pub(super) gap: Option<String>,
    /// A time that comes twice: the `first`, the `last`, or `both`.
    #[serde(default)]
    #[schemars(schema_with = "super::raw_word::folds")]
    pub(super) fold: Option<String>,
}

/// How far a tick is moved.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum Jitter {
    /// Later by at most this.
    After(DurationText),
    /// With its side.
    Full(FullJitter),
}

/// How far a tick is moved, and to which side.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct FullJitter {
    /// At most this far.
    pub(super) max: DurationText,
    /// Only later (`after`, without it), or to both sides (`around`).
    pub(super) mode: Option<Word<JitterMode>>,
}

/// How launches that fail are repeated.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Launch {
    /// How often a launch is tried in all; 3 without it.
    #[schemars(range(min = 1, max = 100))]
    pub(super) attempts: Option<u32>,
    /// The wait before the second attempt, doubled before each further one, at most `1h`; `1s` without it.
    pub(super) delay: Option<DurationText>,
}

/// A program with commands, and its schedules.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Plugin {
    /// When its commands run.
    #[allow(dead_code, reason = "each is read with its place")]
    pub(super) schedules: Option<Vec<PluginSchedule>>,
    /// The program and its first arguments, to which the command is added; `plugins_dir/NAME` without it.
    pub(super) run: Option<Vec<String>>,
    /// When the plugin is left alone.
    pub(super) circuit_breaker: Option<Breaker>,
    /// What is common to all runs of a command.
    pub(super) commands: Option<BTreeMap<String, Command>>,
}

/// What is common to all runs of a command.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Command {
    /// What its runs carry, under what the schedule adds.
    pub(super) payload: Option<Map<String, Value>>,
}

/// When a command of a plugin runs. Here `if_running: queue` means `allow`.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct PluginSchedule {
    /// Unique within the plugin; `default` without it.
    pub(super) id: Option<String>,
    /// The command; `poll` without it.
    pub(super) command: Option<String>,
    #[serde(flatten)]
    pub(super) common: Common,
}
