//! Things that schedules share by name: calendars, quiet hours and targets.

use std::sync::Arc;

use jiff::civil::Date;
use punctual_plan::{Action, BreakerRule, Queue, Target, Workflow};
use punctual_time::{Calendar, DayRange, QuietHours, Weekdays, Windows};

use super::builder::Builder;
use super::duration;
use super::nearest;
use super::node::{Entry, Node};
use super::raw::{Dates, Quiet};
use super::raw_target::{self, Breaker, TargetChoice, TargetForm};

/// The longest id of a workflow, in bytes.
const WORKFLOW_BYTES_MAX: usize = 128;

/// Words that `not_on` already takes.
const WEEKDAYS: [&str; 7] = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

impl Builder<'_> {
    /// Takes over a calendar.
    pub(super) fn calendar(&mut self, entry: &Entry) {
        self.check_name(&entry.key, entry.place);
        let is_weekday = WEEKDAYS.iter().any(|day| entry.key.eq_ignore_ascii_case(day));
        if is_weekday || entry.key.parse::<u8>().is_ok() {
            let message = format!("`{}` is a weekday and cannot name a calendar", entry.key);
            self.problems.add(entry.place, message, "choose another name, such as `holidays`");
        }
        let Some(raw) = self.raw::<Dates>(&entry.value) else { return };
        let nodes = entry.value.get("dates").map(Node::items).unwrap_or_default();
        let mut dates = Vec::new();
        for (text, node) in raw.dates.iter().zip(nodes) {
            match text.parse::<Date>() {
                Ok(date) => dates.push(date),
                Err(_) => {
                    self.problems.add(
                        node.place,
                        format!("`{text}` is not a date"),
                        "write it as `2026-12-25`",
                    );
                }
            }
        }
        self.calendars.push(Calendar::new(entry.key.as_str(), dates));
    }

    /// Takes over quiet hours.
    pub(super) fn quiet(&mut self, entry: &Entry) {
        self.check_name(&entry.key, entry.place);
        let node = &entry.value;
        let Some(raw) = self.raw::<Quiet>(node) else { return };
        let zone = self.zone(raw.timezone.as_ref(), node);
        let days = self.weekdays(&raw, node);
        match raw.during.parse::<DayRange>() {
            Ok(during) => {
                let quiet = QuietHours { name: entry.key.clone(), during, on: days, zone };
                self.quiet_hours.insert(entry.key.clone(), quiet);
            }
            Err(error) => self.problems.refuse(node.place_of("during"), error),
        }
    }

    /// Quiet hours start on weekdays only: calendars have no part in it.
    fn weekdays(&mut self, raw: &Quiet, node: &Node) -> Weekdays {
        let mut windows = Windows::default();
        let nodes = node.get("on").map(Node::items).unwrap_or_default();
        for (word, node) in raw.on.iter().flatten().zip(nodes) {
            if windows.exclude(&word.0, &[]).is_err() {
                let hint = nearest::hint(&word.0, WEEKDAYS, "");
                self.problems.add(node.place, format!("`{}` is not a weekday", word.0), hint);
            }
        }
        windows.not_on
    }

    /// Takes over a named target.
    pub(super) fn named_target(&mut self, entry: &Entry) {
        self.check_name(&entry.key, entry.place);
        if let Some(form) = self.raw::<TargetForm>(&entry.value) {
            if form.name().is_some() {
                let message = format!("the target `{}` has a name already", entry.key);
                self.problems.add(entry.value.place_of_key("name"), message, "remove `name`");
            }
            let target = self.target(&entry.key, form, &entry.value);
            self.targets.insert(entry.key.clone(), Arc::new(target));
        }
    }

    /// The target that a schedule chooses.
    pub(super) fn chosen_target(
        &mut self,
        name: &str,
        choice: Option<TargetChoice>,
        node: &Node,
    ) -> Option<Arc<Target>> {
        match choice {
            Some(TargetChoice::Own(form)) => {
                let place = node.get("target").unwrap_or(node);
                Some(Arc::new(self.target(name, *form, place)))
            }
            Some(TargetChoice::Name(target)) => {
                let found = self.targets.get(&target).or_else(|| self.ground.targets.get(&target)).cloned();
                if found.is_none() {
                    let known = self.targets.keys().chain(self.ground.targets.keys()).map(String::as_str);
                    let hint = nearest::hint(&target, known, "there are no `targets`");
                    self.problems.add(
                        node.place_of("target"),
                        format!("there is no target `{target}`"),
                        hint,
                    );
                }
                found
            }
            None => {
                let hint =
                    "add `target: {type: process, argv: [echo, hello]}`, or the name of one of `targets`";
                self.problems.add(node.place, "`target` is missing", hint);
                None
            }
        }
    }

    fn target(&mut self, name: &str, form: TargetForm, node: &Node) -> Target {
        let breaker = self.breaker(form.breaker(), node);
        let name = form.name().unwrap_or(name).to_owned();
        let action = match form {
            TargetForm::Process(raw) => Action::Process(self.process(raw, node)),
            TargetForm::Webhook(raw) => Action::Webhook(self.webhook(raw, node)),
            TargetForm::Queue(raw) => Action::Queue(queue(raw)),
            TargetForm::Message(raw) => Action::Message { message: raw.message },
            TargetForm::Workflow(raw) => Action::Workflow(self.workflow(raw, node)),
        };
        Target { name, action, breaker }
    }

    fn workflow(&mut self, raw: raw_target::Workflow, node: &Node) -> Workflow {
        if let Some(problem) = workflow_problem(&raw.workflow_id) {
            self.problems.add(node.place_of("workflow_id"), problem, "choose one without `@` and spaces");
        }
        let own = raw.executor.and_then(|executor| self.executor(executor, node));
        let executor = own.or_else(|| self.settings.executor.clone());
        Workflow { workflow_id: raw.workflow_id, version: self.version(raw.version, node), executor }
    }

    fn version(&mut self, version: u64, node: &Node) -> u32 {
        u32::try_from(version).unwrap_or_else(|_| {
            let hint = format!("write at most `{}`", u32::MAX);
            self.problems.add(node.place_of("version"), format!("`{version}` is too large"), hint);
            u32::MAX
        })
    }

    /// The circuit breaker under a node, defaults filled in.
    pub(super) fn breaker(&mut self, raw: Option<&Breaker>, node: &Node) -> BreakerRule {
        let node = node.get("circuit_breaker").unwrap_or(node);
        let reset_after = raw.and_then(|raw| raw.reset_after.as_ref());
        let reset_after = duration::read(reset_after, "reset_after", node, &mut self.problems);
        let usual = BreakerRule::default();
        BreakerRule {
            threshold: raw.and_then(|raw| raw.threshold).unwrap_or(usual.threshold),
            reset_after: reset_after.unwrap_or(usual.reset_after),
        }
    }
}

/// What keeps a text from being the id of a workflow: `@` stands between it and its version.
pub(crate) fn workflow_problem(id: &str) -> Option<String> {
    let is_bad = |letter: char| letter == '@' || letter.is_whitespace() || letter.is_control();
    let is_long = id.len() > WORKFLOW_BYTES_MAX;
    (id.is_empty() || is_long || id.contains(is_bad)).then(|| format!("`{id}` cannot name a workflow"))
}

fn queue(raw: raw_target::Queue) -> Queue {
    Queue {
        queue: raw.queue,
        worker_type: raw.worker_type,
        prompt: raw.prompt,
        repo_url: raw.repo_url,
        branch: raw.branch.unwrap_or_else(|| "main".to_owned()),
        context: raw.context.unwrap_or_default(),
        config: raw.config.unwrap_or_default(),
    }
}
