//! Things that schedules share by name: calendars, quiet hours and targets.

use std::sync::Arc;

use jiff::SignedDuration;
use jiff::civil::Date;
use punctual_time::{Calendar, DayRange, QuietHours, Weekdays, Windows};

use super::builder::Builder;
use super::declared::{Action, CircuitBreaker, CloudEvents, Method, Target};
use super::duration;
use super::nearest;
use super::node::{Entry, Node};
use super::raw::{Dates, Quiet};
use super::raw_target::{Breaker, TargetChoice, TargetForm};

/// Failures in a row that open a breaker without a threshold of its own.
const THRESHOLD: u32 = 5;
/// How long it stays open.
const RESET_AFTER: SignedDuration = SignedDuration::from_mins(5);
/// Words that `not_on` already takes.
const WEEKDAYS: [&str; 7] = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

impl Builder {
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
            Err(error) => self.problems.refuse(node.place_of("during"), &error),
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
                let found = self.targets.get(&target).cloned();
                if found.is_none() {
                    let known = self.targets.keys().map(String::as_str);
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
        let (action, breaker) = action(form);
        match &action {
            Action::Process { argv, .. } if argv.first().is_none_or(String::is_empty) => {
                self.problems.add(
                    node.place_of("argv"),
                    "no program is named",
                    "write `argv: [echo, hello]`",
                );
            }
            Action::Webhook { url, .. } if !url.starts_with("https://") && !url.starts_with("http://") => {
                let message = format!("`{url}` is not a web address");
                self.problems.add(node.place_of("url"), message, "begin it with `https://`");
            }
            _ => {}
        }
        let circuit_breaker = self.breaker(breaker.as_ref(), node);
        Target { name: name.to_owned(), action, circuit_breaker }
    }

    /// The circuit breaker under a node, defaults filled in.
    pub(super) fn breaker(&mut self, raw: Option<&Breaker>, node: &Node) -> CircuitBreaker {
        let node = node.get("circuit_breaker").unwrap_or(node);
        let reset_after = raw.and_then(|raw| raw.reset_after.as_ref());
        let reset_after = duration::read(reset_after, "reset_after", node, &mut self.problems);
        CircuitBreaker {
            threshold: raw.and_then(|raw| raw.threshold).unwrap_or(THRESHOLD),
            reset_after: reset_after.unwrap_or(RESET_AFTER),
        }
    }
}

fn action(form: TargetForm) -> (Action, Option<Breaker>) {
    match form {
        TargetForm::Process(raw) => {
            let action = Action::Process { argv: raw.argv, env: raw.env.unwrap_or_default(), cwd: raw.cwd };
            (action, raw.circuit_breaker)
        }
        TargetForm::Webhook(raw) => {
            let action = Action::Webhook {
                url: raw.url,
                method: raw.method.unwrap_or(Method::Post),
                headers: raw.headers.unwrap_or_default(),
                body: raw.body,
                secret: raw.secret,
                cloud_events: raw.cloud_events.unwrap_or(CloudEvents::Off),
            };
            (action, raw.circuit_breaker)
        }
        TargetForm::Queue(raw) => {
            let action = Action::Queue {
                queue: raw.queue,
                worker_type: raw.worker_type,
                prompt: raw.prompt,
                repo_url: raw.repo_url,
                branch: raw.branch.unwrap_or_else(|| "main".to_owned()),
                context: raw.context.unwrap_or_default(),
                config: raw.config.unwrap_or_default(),
            };
            (action, raw.circuit_breaker)
        }
        TargetForm::Message(raw) => (Action::Message { message: raw.message }, raw.circuit_breaker),
        TargetForm::Workflow(raw) => {
            let action = Action::Workflow { workflow_id: raw.workflow_id, version: raw.version };
            (action, raw.circuit_breaker)
        }
    }
}
