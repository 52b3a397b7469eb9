//! What a file says once it is checked: references resolved, defaults filled in, no behaviour.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::SignedDuration;
use punctual_time::{Bounds, Calendar, QuietHours, Timing, Windows, Zone};
use serde_json::{Map, Value};

use super::choice::choice;

choice! {
    /// What happens to a tick while a run of its scope is in flight.
    Overlap {
        /// It is skipped.
        Skip = "skip",
        /// It runs beside the others.
        Allow = "allow",
        /// It waits for its turn.
        Queue = "queue",
        /// What runs is cancelled first.
        Cancel = "cancel",
    }
}

choice! {
    /// What happens to ticks that nobody was there for.
    CatchUp {
        /// They are recorded as missed.
        Skip = "skip" | "none",
        /// One run stands for all of them.
        RunOnce = "run_once" | "fire_immediately",
        /// Each runs, up to `max_catch_up`.
        RunAll = "run_all" | "run_all_capped",
        /// Each runs, evenly spread.
        Spread = "spread",
    }
}

choice! {
    /// To which side a tick is moved.
    JitterMode {
        /// Later.
        After = "after",
        /// Earlier or later.
        Around = "around",
    }
}

choice! {
    /// What is done when nobody knows whether a delivery arrived.
    Delivery {
        /// It is repeated with the same key.
        AtLeastOnce = "at_least_once",
        /// It is given up.
        AtMostOnce = "at_most_once",
    }
}

choice! {
    /// Which end of another schedule's run is followed.
    Outcome {
        /// A success.
        Success = "success",
        /// A failure.
        Failure = "failure",
        /// Any end.
        Finish = "finish",
    }
}

choice! {
    /// What happens to a run beyond a limit.
    OverLimit {
        /// It waits.
        Wait = "wait",
        /// It is skipped with the reason.
        Skip = "skip",
    }
}

choice! {
    /// The method of a web request.
    Method {
        /// GET.
        Get = "GET",
        /// POST.
        Post = "POST",
        /// PUT.
        Put = "PUT",
        /// PATCH.
        Patch = "PATCH",
        /// DELETE.
        Delete = "DELETE",
    }
}

choice! {
    /// Whether a web request is a CloudEvent.
    CloudEvents {
        /// It is none.
        Off = "off",
        /// The attributes are headers.
        Binary = "binary",
        /// The body holds the attributes and the data.
        Structured = "structured",
    }
}

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
    /// Templates by name, as they were written: they are checked where they are used.
    pub templates: BTreeMap<String, Value>,
    /// The schedules by name.
    pub schedules: Vec<Schedule>,
}

/// Settings, defaults filled in.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The tenant that owns the schedules.
    pub org_id: Option<String>,
    /// The person or agent that owns the schedules.
    pub user_id: Option<String>,
    /// The zone of schedules that name none.
    pub timezone: Zone,
    /// The longest sleep.
    pub tick: SignedDuration,
    /// How far ahead ticks are planned.
    pub lookahead: SignedDuration,
    /// Catch-up runs per wake.
    pub max_catchup_per_tick: u32,
    /// The smallest distance between two ticks of a schedule.
    pub min_interval: SignedDuration,
    /// Where the programs of plugins are.
    pub plugins_dir: String,
    /// Limits of the tenant.
    pub limits: Limits,
}

/// Limits of a tenant; none where nothing is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How many schedules there may be.
    pub schedules: Option<u64>,
    /// How many runs may start in a minute.
    pub runs_per_minute: Option<u64>,
    /// How many runs may be in flight.
    pub runs_in_flight: Option<u64>,
    /// What happens to a run beyond them.
    pub over: OverLimit,
}

/// One schedule.
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    /// Unique; a plugin's schedule is `PLUGIN/ID`.
    pub name: String,
    /// For people.
    pub description: Option<String>,
    /// For choosing many at once.
    pub tags: Vec<String>,
    /// Whether it fires.
    pub enabled: bool,
    /// When.
    pub when: When,
    /// What was guessed in reading its English text.
    pub assumed: Vec<String>,
    /// What happens to its ticks.
    pub policies: Policies,
    /// Where its runs go.
    pub target: Arc<Target>,
    /// What they carry.
    pub payload: Map<String, Value>,
}

/// When a schedule fires.
#[derive(Clone, Debug, PartialEq)]
pub enum When {
    /// By the clock.
    Timed(Timing),
    /// Once, a while after the service starts; the timing is that of a start at the time of reading.
    AfterStart {
        /// How long after.
        delay: SignedDuration,
        /// The one-shot, if the service started now.
        timing: Timing,
    },
    /// After the runs of another schedule.
    Chained(Chained),
}

/// Fires after the runs of another schedule.
#[derive(Clone, Debug, PartialEq)]
pub struct Chained {
    /// The other schedule's name.
    pub schedule: String,
    /// Which end of its run counts.
    pub outcome: Outcome,
    /// How long after it.
    pub delay: SignedDuration,
    /// Where the windows are read.
    pub zone: Zone,
    /// From when, until when, how often.
    pub bounds: Bounds,
    /// When it may fire at all.
    pub windows: Windows,
}

/// What happens to the ticks of a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policies {
    /// While another run is in flight.
    pub if_running: Overlap,
    /// Which runs count as "another".
    pub scope: Scope,
    /// After an outage.
    pub catch_up: CatchUp,
    /// Runs of one outage.
    pub max_catch_up: u32,
    /// Missed ticks with an audit event of their own.
    pub missed_audit_max: u32,
    /// How late a tick may be and still run as usual.
    pub grace: SignedDuration,
    /// Later than this it is skipped.
    pub start_deadline: Option<SignedDuration>,
    /// How far it is moved.
    pub jitter: Option<Jitter>,
    /// How long after a failure it is tried again; without it, it is not.
    pub retry_after: Option<SignedDuration>,
    /// How long a run may take.
    pub run_timeout: SignedDuration,
    /// Failures in a row that disable it.
    pub max_consecutive_failures: u32,
    /// What is done about a doubtful delivery.
    pub delivery: Delivery,
    /// At most one run with this key is outstanding, across schedules.
    pub guard: Option<String>,
    /// The schedules that must have succeeded.
    pub depends_on: Vec<String>,
    /// How long to wait for them.
    pub depends_timeout: Option<SignedDuration>,
}

/// Which runs stand in each other's way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Those of the schedule.
    Schedule,
    /// Those of a plugin's command, whichever of its schedules they come from.
    Command {
        /// The plugin.
        plugin: String,
        /// The command.
        command: String,
    },
}

/// How far a tick is moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jitter {
    /// At most this far.
    pub max: SignedDuration,
    /// To which side.
    pub mode: JitterMode,
}

/// Where runs go.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// Its own name, or that of the schedule that has it to itself: the key of its circuit breaker.
    pub name: String,
    /// What it does.
    pub action: Action,
    /// When it is left alone.
    pub circuit_breaker: CircuitBreaker,
}

/// When a failing target is left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CircuitBreaker {
    /// Failures in a row that open it.
    pub threshold: u32,
    /// How long it stays open.
    pub reset_after: SignedDuration,
}

/// What a target does.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Runs a program.
    Process {
        /// The program and its arguments.
        argv: Vec<String>,
        /// Variables on top of the service's own.
        env: BTreeMap<String, String>,
        /// Where it runs.
        cwd: Option<String>,
    },
    /// Sends a web request.
    Webhook {
        /// Where to.
        url: String,
        /// How.
        method: Method,
        /// Headers on top of the usual ones.
        headers: BTreeMap<String, String>,
        /// A body of its own.
        body: Option<String>,
        /// The name of the secret that signs it.
        secret: Option<String>,
        /// Whether it is a CloudEvent.
        cloud_events: CloudEvents,
    },
    /// Leaves it for a worker.
    Queue {
        /// Which queue.
        queue: String,
        /// What kind of worker.
        worker_type: Option<String>,
        /// What it is asked.
        prompt: Option<String>,
        /// The repository it works on.
        repo_url: Option<String>,
        /// The branch of it.
        branch: String,
        /// What it should know.
        context: Map<String, Value>,
        /// How it should work.
        config: Map<String, Value>,
    },
    /// Writes a message.
    Message {
        /// Its template.
        message: Map<String, Value>,
    },
    /// Starts a workflow.
    Workflow {
        /// Which.
        workflow_id: String,
        /// Which version of it.
        version: u64,
    },
}

impl Action {
    /// The name of its type.
    pub fn name(&self) -> &'static str {
        match self {
            Action::Process { .. } => "process",
            Action::Webhook { .. } => "webhook",
            Action::Queue { .. } => "queue",
            Action::Message { .. } => "message",
            Action::Workflow { .. } => "workflow",
        }
    }
}
