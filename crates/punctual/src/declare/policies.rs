//! What happens to the ticks of a schedule, defaults filled in.

use jiff::SignedDuration;

use super::builder::Builder;
use super::declared::{Delivery, Jitter, JitterMode, Policies, Scope};
use super::duration;
use super::node::Node;
use super::raw::{self, Common};
use super::raw_word::DurationText;

/// Ticks of one outage that are made up.
const MAX_CATCH_UP: u32 = 100;
/// Missed ticks with an audit event of their own.
const MISSED_AUDIT_MAX: u32 = 100;
/// How late a tick may be and still run as usual.
const GRACE: SignedDuration = SignedDuration::from_secs(60);
/// How long a run may take.
const RUN_TIMEOUT: SignedDuration = SignedDuration::from_hours(1);
/// Failures in a row that disable a schedule.
const MAX_CONSECUTIVE_FAILURES: u32 = 5;

impl Builder {
    /// The policies of a node.
    pub(super) fn policies(&mut self, raw: &Common, node: &Node, scope: Scope) -> Policies {
        if raw.depends_timeout.is_some() && raw.depends_on.is_none() {
            let place = node.place_of_key("depends_timeout");
            self.problems.add(place, "`depends_timeout` changes nothing without `depends_on`", "remove it");
        }
        let jitter = self.jitter(raw.jitter.as_ref(), node);
        let mut read =
            |text: &Option<DurationText>, key| duration::read(text.as_ref(), key, node, &mut self.problems);
        Policies {
            if_running: raw.if_running.unwrap_or(self.defaults.if_running),
            scope,
            catch_up: raw.catch_up.unwrap_or(self.defaults.catch_up),
            max_catch_up: raw.max_catch_up.unwrap_or(MAX_CATCH_UP),
            missed_audit_max: raw.missed_audit_max.unwrap_or(MISSED_AUDIT_MAX),
            grace: read(&raw.grace, "grace").unwrap_or(GRACE),
            start_deadline: read(&raw.start_deadline, "start_deadline"),
            jitter,
            retry_after: read(&raw.retry_after, "retry_after"),
            run_timeout: read(&raw.run_timeout, "run_timeout").unwrap_or(RUN_TIMEOUT),
            max_consecutive_failures: raw.max_consecutive_failures.unwrap_or(MAX_CONSECUTIVE_FAILURES),
            delivery: raw.delivery.unwrap_or(Delivery::AtLeastOnce),
            guard: raw.guard.clone(),
            depends_on: raw.depends_on.iter().flat_map(|words| words.iter().cloned()).collect(),
            depends_timeout: read(&raw.depends_timeout, "depends_timeout"),
        }
    }

    /// No jitter at all, written as `0s`, is a choice against the default.
    fn jitter(&mut self, raw: Option<&raw::Jitter>, node: &Node) -> Option<Jitter> {
        let jitter = match raw {
            None => return self.defaults.jitter,
            Some(raw::Jitter::After(text)) => {
                let max = duration::read(Some(text), "jitter", node, &mut self.problems)?;
                Jitter { max, mode: JitterMode::After }
            }
            Some(raw::Jitter::Full(full)) => {
                let place = node.get("jitter").unwrap_or(node);
                let max = duration::read(Some(&full.max), "max", place, &mut self.problems)?;
                Jitter { max, mode: full.mode.unwrap_or(JitterMode::After) }
            }
        };
        (!jitter.max.is_zero()).then_some(jitter)
    }
}
