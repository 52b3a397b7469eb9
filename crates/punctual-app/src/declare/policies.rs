//! What happens to the ticks of a schedule, defaults filled in.

use punctual_plan::{DEPENDS_TIMEOUT, Dependency, Jitter, LAUNCH_DELAY_MAX, Launch, Policy, ScheduleId};

use super::builder::Builder;
use super::duration;
use super::node::Node;
use super::raw::{self, Common};
use super::raw_word::{DurationText, Words};
use super::word::Word;

impl Builder<'_> {
    /// The policy of a node.
    pub(super) fn policy(&mut self, raw: &Common, node: &Node) -> Policy {
        let usual = Policy::default();
        let (jitter, launch) =
            (self.jitter(raw.jitter.as_ref(), node), self.launch(raw.launch.as_ref(), node));
        let depends_on = self.dependency(raw, node);
        let mut read =
            |text: &Option<DurationText>, key| duration::read(text.as_ref(), key, node, &mut self.problems);
        Policy {
            overlap: Word::of(raw.if_running).unwrap_or(self.defaults.overlap),
            lane: None,
            catch_up: Word::of(raw.catch_up).unwrap_or(self.defaults.catch_up),
            max_catch_up: raw.max_catch_up.unwrap_or(usual.max_catch_up),
            missed_audit_max: raw.missed_audit_max.unwrap_or(usual.missed_audit_max),
            grace: read(&raw.grace, "grace").unwrap_or(usual.grace),
            start_deadline: read(&raw.start_deadline, "start_deadline"),
            jitter,
            launch,
            retry_after: read(&raw.retry_after, "retry_after"),
            run_timeout: read(&raw.run_timeout, "run_timeout").unwrap_or(usual.run_timeout),
            max_consecutive_failures: match raw.max_consecutive_failures {
                Some(0) => None,
                said => said.or(usual.max_consecutive_failures),
            },
            guard: raw.guard.clone(),
            depends_on,
            delivery: Word::of(raw.delivery).unwrap_or(usual.delivery),
        }
    }

    /// What a tick waits for; the names are judged once all schedules are known.
    fn dependency(&mut self, raw: &Common, node: &Node) -> Option<Dependency> {
        let timeout =
            duration::read(raw.depends_timeout.as_ref(), "depends_timeout", node, &mut self.problems);
        let on: Vec<ScheduleId> =
            raw.depends_on.iter().flat_map(Words::iter).map(|name| self.id_of(name)).collect();
        (!on.is_empty()).then(|| Dependency { on, timeout: timeout.unwrap_or(DEPENDS_TIMEOUT) })
    }

    /// Refuses a timeout of nothing.
    pub(super) fn refuse_idle_timeout(&mut self, raw: &Common, node: &Node) {
        let waits = raw.depends_on.iter().any(|names| names.iter().next().is_some());
        if raw.depends_timeout.is_some() && !waits {
            let place = node.place_of_key("depends_timeout");
            self.problems.add(place, "`depends_timeout` changes nothing without `depends_on`", "remove it");
        }
    }

    fn launch(&mut self, raw: Option<&raw::Launch>, node: &Node) -> Launch {
        let (Some(raw), Some(node)) = (raw, node.get("launch")) else { return Launch::default() };
        if raw.attempts.is_none() && raw.delay.is_none() {
            let hint = "add `attempts:` or `delay:`, or remove it";
            self.problems.add(node.place, "`launch` says nothing", hint);
        }
        let delay = duration::read(raw.delay.as_ref(), "delay", node, &mut self.problems);
        if delay.is_some_and(|delay| delay > LAUNCH_DELAY_MAX) {
            let message = "`delay` is longer than a launch ever waits";
            self.problems.add(node.place_of("delay"), message, "write at most `1h`");
        }
        let usual = Launch::default();
        Launch {
            attempts_max: raw.attempts.unwrap_or(usual.attempts_max),
            delay: delay.unwrap_or(usual.delay),
        }
    }

    /// No jitter at all, written as `0s`, is a choice against the default.
    fn jitter(&mut self, raw: Option<&raw::Jitter>, node: &Node) -> Jitter {
        let (max, mode) = match raw {
            None => return self.defaults.jitter,
            Some(raw::Jitter::After(text)) => {
                (duration::read(Some(text), "jitter", node, &mut self.problems), None)
            }
            Some(raw::Jitter::Full(full)) => {
                let place = node.get("jitter").unwrap_or(node);
                (duration::read(Some(&full.max), "max", place, &mut self.problems), full.mode)
            }
        };
        Jitter { max: max.unwrap_or_default(), mode: Word::of(mode).unwrap_or_default() }
    }
}
