//! What a run knows of itself: the same facts as a value, as JSON on standard input and as environment.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use punctual_plan::{Action, Facts, Object, Origin, Queue, RunKey, Schedule, Trace};
use punctual_store::{AttemptToken, Launchable};
use serde_json::{Value, json};

/// A longer text is left out of the environment, where the system allows 128 KiB a variable; it is on standard input.
const VARIABLE_BYTES_MAX: usize = 64 * 1024;

/// However rarely its schedule ticks, a run does not wait behind all that tick more often for longer than this.
const BEGUN_WITHIN: SignedDuration = SignedDuration::from_secs(60);

/// Everything about the run that a target is asked to do.
#[derive(Clone, Debug)]
pub struct Context {
    /// The run.
    pub run_id: RunKey,
    /// What brought it about.
    pub origin: Origin,
    /// The request, upstream run or backfill that it came from; empty for ticks.
    pub nonce: String,
    /// The instant it stands for.
    pub scheduled_for: Timestamp,
    /// When it was to start.
    pub fire_at: Timestamp,
    /// When this attempt was launched.
    pub triggered_at: Timestamp,
    /// Which attempt this is, from 1.
    pub attempt: u32,
    /// Under which claim it is launched: a later one wins.
    pub token: AttemptToken,
    /// The trace that what it does belongs to.
    pub trace: Option<Trace>,
    /// Its schedule, in the version that it belongs to.
    pub schedule: Arc<Schedule>,
}

impl Context {
    /// Describes an attempt that is about to be launched.
    pub fn new(run: &Launchable, token: AttemptToken, now: Timestamp) -> Self {
        Self {
            run_id: run.run,
            origin: run.origin,
            nonce: run.nonce.clone(),
            scheduled_for: run.scheduled_for,
            fire_at: run.fire_at,
            triggered_at: now,
            attempt: run.attempt,
            token,
            trace: run.trace,
            schedule: Arc::clone(&run.definition),
        }
    }

    /// The same for every attempt of the run: what to deduplicate by.
    pub fn idempotency_key(&self) -> String {
        self.facts().idempotency_key()
    }

    /// When it should have begun at the latest: before its schedule ticks again, and soon in any case.
    pub(super) fn until(&self) -> Timestamp {
        let soon = self.fire_at.saturating_add(BEGUN_WITHIN).unwrap_or(Timestamp::MAX);
        let next = self.schedule.when.timing().and_then(|timing| timing.planned_after(self.fire_at));
        next.map_or(soon, |next| next.min(soon))
    }

    fn facts(&self) -> Facts<'_> {
        Facts {
            schedule: &self.schedule,
            run: self.run_id,
            origin: self.origin,
            nonce: &self.nonce,
            scheduled_for: self.scheduled_for,
            fire_at: self.fire_at,
            triggered_at: self.triggered_at,
            attempt: self.attempt,
            trace: self.trace,
        }
    }

    /// What the run carries.
    pub fn payload(&self) -> &Object {
        &self.schedule.payload
    }

    /// Whether a person asked for it.
    pub fn is_manual(&self) -> bool {
        self.origin == Origin::Manual
    }

    /// The run as JSON; for a run of a queue with what its worker is asked.
    pub fn json(&self) -> Value {
        let mut json = Value::Object(self.facts().object());
        match &self.token {
            AttemptToken::Node(fence) => json["fence"] = json!(fence.0),
            AttemptToken::Holder(token) => json["token"] = json!(token),
        }
        match &self.schedule.target.action {
            Action::Queue(queue) => self.add_request(&mut json, queue),
            Action::Workflow(workflow) => {
                json["workflow_id"] = json!(workflow.workflow_id);
                json["workflow_version"] = json!(workflow.version);
            }
            _ => {}
        }
        json
    }

    /// What a worker is asked; its context also says by which schedule, when, and whether by hand.
    fn add_request(&self, json: &mut Value, queue: &Queue) {
        let mut context = queue.context.clone();
        for name in ["schedule_id", "schedule_name", "triggered_at", "manual_trigger"] {
            context.insert(name.to_owned(), json[name].clone());
        }
        json["queue"] = json!(queue.queue);
        json["worker_type"] = json!(queue.worker_type);
        json["prompt"] = json!(queue.prompt);
        json["repo_url"] = json!(queue.repo_url);
        json["branch"] = json!(queue.branch);
        json["context"] = Value::Object(context);
        json["config"] = json!(queue.config);
    }

    /// The same as variables: `PUNCTUAL_` and the name of the key in capitals; what has no value is left out. The trace is
    /// also where programs look for it: in `TRACEPARENT`.
    pub fn variables(&self) -> Vec<(String, String)> {
        let Value::Object(facts) = self.json() else { return Vec::new() };
        let variable = |(name, value): (String, Value)| {
            let text = match value {
                Value::Null => return None,
                Value::String(text) => text,
                other => other.to_string(),
            };
            let fits = text.len() <= VARIABLE_BYTES_MAX && !text.contains('\0');
            fits.then(|| (format!("PUNCTUAL_{}", name.to_uppercase()), text))
        };
        let trace = self.trace.map(|trace| ("TRACEPARENT".to_owned(), trace.to_string()));
        facts.into_iter().filter_map(variable).chain(trace).collect()
    }
}
