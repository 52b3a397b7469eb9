//! The closed list of reasons: name, values, sentence.

use core::fmt;
use core::net::IpAddr;

use jiff::Timestamp;

use super::Described;
use super::value::Value;
use crate::{OrgLimit, RunKey, RunStatus};

/// Makes the enum with its names, sentences and stored forms, so that none of them can be forgotten.
macro_rules! reasons {
    ($($(#[$meta:meta])* $variant:ident = $code:literal { $($(#[$fmeta:meta])* $field:ident: $type:ty,)+ } $sentence:literal;)+) => {
        /// Why, with the values that decided.
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Reason {
            $($(#[$meta])* $variant { $($(#[$fmeta])* $field: $type,)+ },)+
        }

        impl Reason {
            /// Every reason with its sentence, for the documentation.
            pub const LIST: &'static [Described] = &[$(Described { code: $code, sentence: $sentence },)+];

            /// The stable name, as stored and as shown in JSON.
            pub fn code(&self) -> &'static str {
                match self { $(Self::$variant { .. } => $code,)+ }
            }

            /// The deciding values in their stored form; [`Reason::from_stored`] reads them back.
            pub fn detail(&self) -> String {
                match self { $(Self::$variant { $($field,)+ } => [$(Value::store($field),)+].join(" "),)+ }
            }

            pub(super) fn read(code: &str, detail: &str) -> Option<Self> {
                match code {
                    $($code => {
                        let count = [$(stringify!($field),)+].len();
                        let mut values = detail.splitn(count, ' ');
                        Some(Self::$variant { $($field: Value::load(values.next()?)?,)+ })
                    })+
                    _ => None,
                }
            }

            /// One of each.
            #[cfg(test)]
            pub(crate) fn samples() -> Vec<Self> {
                vec![$(Self::$variant { $($field: Value::sample(),)+ },)+]
            }
        }

        impl fmt::Display for Reason {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self { $(Self::$variant { $($field,)+ } => write!(f, $sentence),)+ }
            }
        }
    };
}

reasons! {
    /// A later tick of the schedule was already due when this one was looked at.
    Overtaken = "overtaken" {
        /// The later tick.
        by: Timestamp,
    } "nobody looked before the schedule's later tick at {by} was due as well";
    /// No node was running from its instant until longer than the grace period after it.
    Outage = "outage" {
        /// When a node looked again.
        until: Timestamp,
        /// The grace period, in seconds.
        grace_s: i64,
    } "no node was running until {until}, longer than the grace of {grace_s} s";
    /// One run stands for the whole late stretch.
    CaughtUp = "caught_up" {
        /// How many ticks were late.
        slots: u64,
        /// The tick that runs for all of them.
        by: Timestamp,
    } "one run for all {slots} late ticks: that of {by}";
    /// More ticks were late than may be caught up.
    CatchUpLimit = "catch_up_limit" {
        /// How many ran.
        max: u32,
        /// How many ticks were late.
        slots: u64,
    } "of {slots} late ticks only the latest {max} run (`max_catch_up`)";
    /// It could not start in time.
    StartDeadline = "start_deadline" {
        /// How long it had, in seconds.
        limit_s: i64,
        /// When it was looked at.
        at: Timestamp,
    } "it was looked at {at}, later than its start deadline of {limit_s} s";
    /// A run that it takes turns with, as a rule the one before it, was still in flight.
    Overlap = "overlap" {
        /// The run in flight.
        run: RunKey,
    } "{run} was still in flight";
    /// Too many runs of the schedule were waiting for their turn.
    QueueFull = "queue_full" {
        /// How many.
        max: u32,
    } "{max} runs of the schedule were waiting already";
    /// It waited as long as it may.
    WaitedTooLong = "waited_too_long" {
        /// How long, in seconds.
        limit_s: i64,
        /// For what.
        wanted: String,
    } "it waited {limit_s} s for {wanted}";
    /// Its tick is outside the part of the day that the schedule runs in.
    OutsideWindow = "outside_window" {
        /// That part of the day.
        range: String,
    } "the schedule runs only between {range}";
    /// Its tick is on a weekday that the schedule leaves out.
    NotOn = "not_on" {
        /// The weekday.
        day: String,
    } "the schedule never runs on {day}";
    /// Its tick is on a date of a calendar that the schedule leaves out.
    Calendar = "calendar" {
        /// The calendar.
        name: String,
    } "its date is in the calendar `{name}`";
    /// Its tick is in quiet hours.
    QuietHours = "quiet_hours" {
        /// The policy.
        name: String,
    } "the quiet hours `{name}` suppress it";
    /// Another run holds its guard key.
    Guard = "guard" {
        /// The run that holds it.
        run: RunKey,
        /// The key.
        key: String,
    } "{run} holds the guard `{key}`";
    /// Its target fails, and nothing is sent there for a while.
    BreakerOpen = "breaker_open" {
        /// Until when.
        until: Timestamp,
        /// The target.
        target: String,
    } "the circuit breaker of `{target}` is open until {until}";
    /// Its target fails, and another run tries whether it still does.
    BreakerProbe = "breaker_probe" {
        /// The run that tries.
        run: RunKey,
        /// The target.
        target: String,
    } "the circuit breaker of `{target}` is half open and {run} probes it";
    /// A schedule that it depends on did not succeed.
    UpstreamFailed = "upstream_failed" {
        /// That schedule's tick.
        tick: Timestamp,
        /// How it ended.
        status: RunStatus,
        /// That schedule.
        schedule: String,
    } "it depends on `{schedule}`, whose tick at {tick} ended {status}";
    /// A schedule that it depends on has no tick to wait for.
    UpstreamAbsent = "upstream_absent" {
        /// That schedule.
        schedule: String,
    } "it depends on `{schedule}`, which had no tick at or before it";
    /// Its org has used up a limit.
    OrgLimit = "org_limit" {
        /// Which.
        limit: OrgLimit,
        /// How much it allows.
        max: u32,
    } "the org's limit `{limit}` of {max} was reached";
    /// The schedule has had all its runs.
    MaxRuns = "max_runs" {
        /// How many.
        max: u64,
    } "all {max} runs of the schedule have been (`max_runs`)";
    /// A person paused the schedule.
    Paused = "paused" {
        /// When.
        at: Timestamp,
        /// Who.
        by: String,
    } "the schedule was paused at {at} by {by}";
    /// A person paused the org or the installation.
    Maintenance = "maintenance" {
        /// When.
        at: Timestamp,
        /// What they noted.
        note: String,
    } "maintenance since {at}: {note}";
    /// Something that the schedule refers to cannot be resolved any more.
    Invalid = "invalid" {
        /// When that was found.
        at: Timestamp,
        /// What is wrong.
        error: String,
    } "the schedule was invalid at {at}: {error}";
    /// The schedule failed too often in a row.
    AutoDisabled = "auto_disabled" {
        /// When it was disabled.
        at: Timestamp,
        /// How often it had failed.
        failures: u32,
    } "the schedule was disabled at {at} after {failures} failures in a row";
    /// Nothing of the schedule is left to run.
    Exhausted = "exhausted" {
        /// Since when.
        at: Timestamp,
    } "the schedule was exhausted at {at}";
    /// Something newer took its place.
    Superseded = "superseded" {
        /// What.
        by: String,
    } "superseded by {by}";
    /// The schedule was deleted before the run was launched.
    Deleted = "deleted" {
        /// When.
        at: Timestamp,
    } "the schedule was deleted at {at}";
    /// The schedule's owner was removed.
    OwnerRemoved = "owner_removed" {
        /// When.
        at: Timestamp,
    } "the schedule's owner was removed at {at}";
    /// A person or a later tick cancelled it.
    Cancelled = "cancelled" {
        /// Who or what.
        by: String,
    } "cancelled by {by}";
    /// The scheduler died while the run was in flight and nobody can say how it ended.
    OutcomeUnknown = "outcome_unknown" {
        /// When the scheduler came back.
        found: Timestamp,
    } "the scheduler died while it ran; found at {found}, how it ended is unknown";
    /// The program ended with a code other than zero.
    ExitCode = "exit_code" {
        /// The code.
        code: i32,
    } "the program ended with exit code {code}";
    /// The program was ended by a signal.
    Signal = "signal" {
        /// The signal's number.
        signal: i32,
    } "the program was ended by signal {signal}";
    /// The executor said that it failed.
    Reported = "reported" {
        /// What it said.
        error: String,
    } "its executor reported: {error}";
    /// The run did not end within its time.
    Timeout = "timeout" {
        /// The time it had, in seconds.
        limit_s: i64,
    } "it did not end within {limit_s} s";
    /// Nobody ever answered for the run.
    Lost = "lost" {
        /// How long was waited, in seconds.
        limit_s: i64,
    } "nothing was heard of it within {limit_s} s";
    /// The target could not be reached or started.
    LaunchFailed = "launch_failed" {
        /// What the system said.
        error: String,
    } "it could not be launched: {error}";
    /// The target answered with a status that is no success.
    HttpStatus = "http_status" {
        /// The status.
        code: u32,
        /// Who answered.
        url: String,
    } "{url} answered {code}";
    /// The target wants nothing more, ever.
    Gone = "gone" {
        /// Who answered.
        url: String,
    } "{url} answered 410: it wants nothing more, and the schedule was disabled";
    /// The target was asked and gave no whole answer.
    Unanswered = "unanswered" {
        /// What was seen of it.
        error: String,
    } "it was asked and did not answer: {error}";
    /// The target is at an address to which nothing may be sent.
    AddressRefused = "address_refused" {
        /// The address.
        address: IpAddr,
        /// What leads there.
        url: String,
    } "{url} leads to {address}, to which nothing may be sent (`allow_private_targets`)";
    /// The workflow store has no such workflow.
    WorkflowNotFound = "workflow_not_found" {
        /// Which version.
        version: u32,
        /// Which workflow.
        workflow: String,
    } "there is no version {version} of the workflow `{workflow}`";
}
