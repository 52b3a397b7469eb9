//! One schedule: its own form, and the schedules of plugins.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use punctual_plan::{Action, Object, Overlap, Policy, Process, Target, When, check_message};
use punctual_time::{Dialect, Spec};

use super::builder::Builder;
use super::declared::Schedule;
use super::node::{Entry, Node};
use super::problem::Place;
use super::raw::{self, Common, Plugin, PluginSchedule};
use super::raw_word::Words;
use super::when::Read;
use super::word::Word;

/// The command of a plugin that has a guard.
const POLL: &str = "poll";

/// A schedule, and where it and what it refers to is named.
pub(super) struct Placed {
    pub(super) schedule: Schedule,
    /// Where its name is.
    pub(super) place: Place,
    /// The schedules of `depends_on`, then that of `on`.
    pub(super) waits_for: Vec<Reference>,
}

impl Placed {
    /// The schedule's name.
    pub(super) fn name(&self) -> &str {
        &self.schedule.definition.name
    }
}

/// A schedule that another one names.
pub(super) struct Reference {
    pub(super) name: String,
    pub(super) place: Place,
}

/// A plugin as its schedules see it.
struct Plugged {
    name: String,
    target: Target,
    payloads: BTreeMap<String, Object>,
    /// How much each schedule of a command copies.
    sizes: BTreeMap<String, usize>,
    run_size: usize,
}

/// The parts of a schedule that are known before its time is.
struct Parts {
    name: String,
    common: Common,
    policy: Policy,
    target: Option<Arc<Target>>,
}

impl Builder<'_> {
    /// Reads a schedule whose shape was checked and whose template is in it.
    pub(super) fn schedule(&mut self, node: &Node) -> Option<Placed> {
        let raw: raw::Schedule = self.raw(node)?;
        self.check_name(&raw.name, node.place_of("name"));
        let target = self.chosen_target(&raw.name, raw.target, node);
        let policy = Policy { lane: raw.lane, ..self.policy(&raw.common, node) };
        let parts = Parts { name: raw.name, common: raw.common, policy, target };
        self.assemble(parts, node, node.place_of("name"))
    }

    /// Reads the schedules of a plugin.
    pub(super) fn plugin(&mut self, entry: &Entry) -> Vec<Placed> {
        self.check_name(&entry.key, entry.place);
        if entry.key.contains('/') {
            // `PLUGIN/ID` names its schedules and `PLUGIN/COMMAND` their lanes: both must mean one plugin.
            let message = format!("`{}` holds a `/` and cannot name a plugin", entry.key);
            self.problems.add(entry.place, message, "choose a name without it");
        }
        let node = &entry.value;
        let Some(raw) = self.raw::<Plugin>(node) else { return Vec::new() };
        let argv = raw.run.unwrap_or_else(|| vec![format!("{}/{}", self.settings.plugins_dir, entry.key)]);
        if argv.first().is_none_or(String::is_empty) {
            self.problems.add(
                node.place_of("run"),
                "no program is named",
                "write `run: [program, argument]`",
            );
        }
        let breaker = self.breaker(raw.circuit_breaker.as_ref(), node);
        let target = Target { name: entry.key.clone(), action: Action::Process(Process::new(argv)), breaker };
        if self.targets.insert(entry.key.clone(), Arc::new(target.clone())).is_some() {
            let message = format!("`{}` names a target and a plugin", entry.key);
            self.problems.add(
                entry.place,
                message,
                "rename one of them: they share their circuit breakers' names",
            );
        }
        let run_size = node.get("run").map_or(0, Node::size);
        let commands = node.get("commands").map(Node::entries).unwrap_or_default();
        let sizes = commands.iter().map(|entry| (entry.key.clone(), entry.value.size())).collect();
        let payloads = raw.commands.unwrap_or_default();
        let payloads =
            payloads.into_iter().map(|(name, command)| (name, command.payload.unwrap_or_default()));
        let plugin =
            Plugged { name: entry.key.clone(), target, payloads: payloads.collect(), sizes, run_size };
        let schedules = node.get("schedules").map(Node::items).unwrap_or_default();
        self.refuse_idle(&plugin, node);
        schedules.iter().filter_map(|schedule| self.plugin_schedule(&plugin, schedule)).collect()
    }

    /// A payload of a command that no schedule runs would be ignored.
    fn refuse_idle(&mut self, plugin: &Plugged, node: &Node) {
        let schedules = node.get("schedules").map(Node::items).unwrap_or_default();
        let run: BTreeSet<&str> = schedules
            .iter()
            .map(|schedule| {
                schedule.get("command").map_or(POLL, |command| command.text().unwrap_or_default())
            })
            .collect();
        for entry in node.get("commands").map(Node::entries).unwrap_or_default() {
            if !run.contains(entry.key.as_str()) {
                let message = format!("no schedule of `{}` runs the command `{}`", plugin.name, entry.key);
                let hint = super::nearest::hint(
                    &entry.key,
                    run.iter().copied(),
                    "add a schedule for it, or remove it",
                );
                self.problems.add(entry.place, message, hint);
            }
        }
    }

    fn plugin_schedule(&mut self, plugin: &Plugged, node: &Node) -> Option<Placed> {
        let raw: PluginSchedule = self.raw(node)?;
        let id = raw.id.unwrap_or_else(|| "default".to_owned());
        self.check_name(&id, node.place_of("id"));
        let command = raw.command.unwrap_or_else(|| POLL.to_owned());
        let size = plugin.run_size + plugin.sizes.get(&command).copied().unwrap_or_default();
        if !self.copies.take(size, node.place, &mut self.problems) {
            return None;
        }
        let mut policy = self.policy(&raw.common, node);
        policy.lane = Some(format!("{}/{command}", plugin.name));
        if Word::of(raw.common.if_running) == Some(Overlap::Queue) {
            // There it means "enqueue whatever is in flight".
            policy.overlap = Overlap::Allow;
        }
        if command == POLL {
            if raw.common.guard.is_some() {
                let message = format!("the guard of a `{POLL}` is its plugin, `{}`", plugin.name);
                let hint = "remove `guard`, or choose another command";
                self.problems.add(node.place_of_key("guard"), message, hint);
            }
            policy.guard = Some(plugin.name.clone());
        }
        let mut target = plugin.target.clone();
        if let Action::Process(process) = &mut target.action {
            process.argv.push(command.clone());
        }
        let mut common = raw.common;
        let mut payload = plugin.payloads.get(&command).cloned().unwrap_or_default();
        payload.extend(common.payload.take().unwrap_or_default());
        common.payload = Some(payload);
        let name = format!("{}/{id}", plugin.name);
        let parts = Parts { name, common, policy, target: Some(Arc::new(target)) };
        self.assemble(parts, node, node.place_of("id"))
    }

    fn assemble(&mut self, parts: Parts, node: &Node, place: Place) -> Option<Placed> {
        self.refuse_idle_timeout(&parts.common, node);
        let id = self.own_id(&parts.name);
        let read = self.when(&parts.common, node, &id.to_string());
        let (Read { when, after_start, assumed, spec }, target, common) =
            (read?, parts.target?, parts.common);
        let waits_for = references(&common, node);
        let definition = punctual_plan::Schedule {
            id,
            name: parts.name,
            owner: self.settings.owner.clone(),
            spec: spec.or_else(|| common.written().map(str::to_owned)).unwrap_or_default(),
            description: common.description,
            tags: common.tags.unwrap_or_default(),
            version: 1,
            dialect: dialect(&when),
            when,
            policy: self.share_policy(parts.policy),
            target,
            payload: common.payload.unwrap_or_default(),
        };
        self.check_letter(&definition, node);
        let enabled = common.enabled.unwrap_or(true);
        Some(Placed { schedule: Schedule { definition, enabled, after_start, assumed }, place, waits_for })
    }
}

impl Builder<'_> {
    /// Refuses a message that could not be written when its run is due.
    fn check_letter(&mut self, definition: &punctual_plan::Schedule, node: &Node) {
        let Action::Message { message } = &definition.target.action else { return };
        if let Err(problem) = check_message(message, &definition.payload) {
            let place = node.get("target").map_or(node.place, |target| target.place_of("message"));
            self.problems.add(place, problem.to_string(), problem.hint());
        }
    }
}

fn references(raw: &Common, node: &Node) -> Vec<Reference> {
    let depends_on = raw.depends_on.iter().flat_map(Words::iter);
    let depends_on =
        depends_on.map(|name| Reference { name: name.clone(), place: node.place_of("depends_on") });
    let place = node.get("on").map_or(node.place, |on| on.place_of("schedule"));
    let on = raw.on.iter().map(|on| Reference { name: on.schedule.clone(), place });
    depends_on.chain(on).collect()
}

fn dialect(when: &When) -> Dialect {
    match when.timing().map(|timing| &timing.spec) {
        Some(Spec::Cron(cron)) => cron.dialect(),
        _ => Dialect::default(),
    }
}
