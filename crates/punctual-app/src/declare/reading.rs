//! From the files to the checked value: parse all, check the shape, build what schedules share, then the schedules.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::builder::Builder;
use super::conform;
use super::declared::Declared;
use super::ground::Ground;
use super::keys::stored_templates;
use super::node::{Content, Entry, Node};
use super::order;
use super::overlay::{self, Laid, Overlay};
use super::packed::Packed;
use super::parse::{self, File};
use super::problem::{Place, Problems, Source};
use super::schedule::Placed;
use super::schema::{resolve, schema};
use super::template;
use super::{Progress, Watch};
use crate::Failure;

/// Schedules in all files together.
const SCHEDULES_MAX: usize = 100_000;

/// After so many schedules it is told how far the reading is.
const WATCH_STEP: usize = 1_000;

/// Reads sources that were loaded.
pub(super) fn read(
    mut sources: Vec<Source>,
    overlays: &[Overlay],
    ground: &Ground,
    watch: Watch<'_>,
) -> Result<Declared, Failure> {
    let mut problems = Problems::default();
    let mut files = Vec::new();
    let texts = sources.len();
    let overlays = overlay::read(overlays, &mut sources, &mut problems);
    for (number, source) in (0_u32..).zip(&sources[..texts]) {
        if let Some(mut file) = parse::file(number, source, &mut problems) {
            overlays.iter().for_each(|overlay| overlay.apply(&mut file.shell));
            conform::check_shell(&file.shell, schema(), &mut problems);
            files.push(file);
        }
    }
    let mut builder = Builder::on(ground, problems);
    let (shells, schedules): (Vec<Node>, Vec<Bundle<'_>>) = files
        .into_iter()
        .map(|File { number, shell, schedules }| (shell, Bundle { number, schedules, overlays: &overlays }))
        .unzip();
    let templates = builder.named(&shells, "templates");
    builder.share(&shells);
    let declared: HashSet<&str> = templates.iter().map(|entry| entry.key.as_str()).collect();
    let stored: Vec<Entry> = stored_templates(ground).collect();
    let stored = stored.iter().filter(|entry| !declared.contains(entry.key.as_str()));
    let known: Vec<&Entry> = templates.iter().copied().chain(stored).collect();
    let mut placed = builder.schedules(schedules, &known, watch);
    placed.extend(builder.plugins(&shells, placed.len()));
    builder.check_idle(&templates);
    builder.refuse_twins(&placed);
    builder.refuse_crowd(placed.len(), &shells);
    if builder.problems.count() == 0 {
        order::check(&placed, &ground.names, &mut builder.problems);
    }
    if let Some(failure) = std::mem::take(&mut builder.problems).into_failure(&sources) {
        return Err(failure);
    }
    let mut schedules: Vec<_> = placed.into_iter().map(|placed| placed.schedule).collect();
    schedules.sort_by(|one, other| one.definition.name.cmp(&other.definition.name));
    let named = |calendar: punctual_time::Calendar| (calendar.name().to_owned(), calendar);
    let template = |entry: &&Entry| (entry.key.clone(), entry.value.to_json());
    Ok(Declared {
        settings: builder.settings,
        calendars: builder.calendars.into_iter().map(named).collect::<BTreeMap<_, _>>(),
        quiet_hours: builder.quiet_hours,
        targets: builder.targets,
        templates: templates.iter().map(template).collect(),
        schedules,
    })
}

/// The schedules of one file.
struct Bundle<'a> {
    number: u32,
    schedules: Packed,
    overlays: &'a [Laid<'a>],
}

impl Bundle<'_> {
    fn nodes(&self) -> impl Iterator<Item = Node> + '_ {
        self.schedules.iter(self.number).map(|mut node| {
            self.overlays.iter().for_each(|overlay| overlay.apply_to(&mut node));
            node
        })
    }
}

impl Builder<'_> {
    /// The sections that schedules refer to.
    fn share(&mut self, files: &[Node]) {
        let mut settings = files.iter().filter_map(|file| file.get("settings"));
        if let Some(node) = settings.next()
            && self.has_shape(node, &schema()["properties"]["settings"])
        {
            self.set(node);
        }
        for again in settings {
            self.problems.add(again.place, "`settings` are in another file already", "keep them in one file");
        }
        for entry in self.named(files, "calendars") {
            self.calendar(entry);
        }
        self.know_calendars();
        for entry in self.named(files, "quiet_hours") {
            self.quiet(entry);
        }
        for entry in self.named(files, "targets") {
            self.named_target(entry);
        }
    }

    /// The entries of a section in all files that have the right shape, each name once.
    fn named<'a>(&mut self, files: &'a [Node], section: &str) -> Vec<&'a Entry> {
        let shape = &resolve(&schema()["properties"][section])["additionalProperties"];
        let mut seen: HashMap<&str, Place> = HashMap::new();
        let mut found = Vec::new();
        for entry in files.iter().filter_map(|file| file.get(section)).flat_map(Node::entries) {
            if seen.insert(&entry.key, entry.place).is_some() {
                let message = format!("`{}` is in another file already", entry.key);
                self.problems.add(entry.place, message, "names are unique across the files of a folder");
            } else if self.has_shape(&entry.value, shape) {
                found.push(entry);
            }
        }
        found
    }

    /// The schedules of the files, each looked at by itself; a file is let go once all of its are read.
    fn schedules(&mut self, bundles: Vec<Bundle<'_>>, templates: &[&Entry], watch: Watch<'_>) -> Vec<Placed> {
        let shape = &schema()["properties"]["schedules"]["items"];
        let templates: HashMap<&str, &Entry> =
            templates.iter().map(|entry| (entry.key.as_str(), *entry)).collect();
        let total = bundles.iter().map(|one| one.schedules.len()).sum::<usize>().min(SCHEDULES_MAX);
        let mut placed = Vec::with_capacity(total);
        for bundle in bundles {
            for node in bundle.nodes() {
                if self.is_beyond(placed.len() + 1, &node) {
                    return placed;
                }
                if placed.len().is_multiple_of(WATCH_STEP) {
                    watch(Progress { done: placed.len(), total });
                }
                self.use_template(&node);
                let before = self.problems.count();
                let whole = template::expand(node, &templates, &mut self.copies, &mut self.problems);
                if self.problems.count() == before && self.has_shape(&whole, shape) {
                    placed.extend(self.schedule(&whole));
                }
            }
        }
        placed
    }

    /// The schedules of the plugins, after some that were read before.
    fn plugins(&mut self, files: &[Node], before: usize) -> Vec<Placed> {
        let mut placed = Vec::new();
        for entry in self.named(files, "plugins") {
            placed.extend(self.plugin(entry));
            if self.is_beyond(before + placed.len(), &entry.value) {
                return placed;
            }
        }
        placed
    }

    fn is_beyond(&mut self, count: usize, node: &Node) -> bool {
        let is_beyond = count > SCHEDULES_MAX;
        if is_beyond {
            let message = format!("there are more than {SCHEDULES_MAX} schedules");
            self.problems.add(node.place, message, "divide them among several databases");
        }
        is_beyond || self.problems.is_full() || self.copies.is_spent()
    }

    fn refuse_twins(&mut self, placed: &[Placed]) {
        let mut seen: HashMap<&str, Place> = HashMap::new();
        for found in placed {
            let name = found.name();
            if let Some(first) = seen.insert(name, found.place) {
                let message = format!("the name `{name}` is taken by the schedule on line {}", first.line);
                let hint = match name.contains('/') {
                    true => "give each schedule of a plugin an `id` of its own",
                    false => "choose another name",
                };
                self.problems.add(found.place, message, hint);
            }
        }
    }

    /// Refuses more schedules than the tenant may have.
    fn refuse_crowd(&mut self, count: usize, files: &[Node]) {
        let max = self.settings.schedules_max.filter(|max| count as u64 > *max);
        let limits = files.iter().find_map(|file| file.get("settings")).and_then(|node| node.get("limits"));
        if let (Some(max), Some(limits)) = (max, limits) {
            let message = format!("there are {count} schedules, and `limits.schedules` allows {max}");
            self.problems.add(limits.place_of("schedules"), message, "raise it, or declare fewer");
        }
    }

    /// Whether a node has the shape of a part of the schema; notes where it does not.
    pub(super) fn has_shape(&mut self, node: &Node, shape: &'static serde_json::Value) -> bool {
        let before = self.problems.count();
        if node.value == Content::Null {
            self.problems.add(node.place, "there is nothing here", "write its keys, or remove it");
        } else {
            conform::check(node, shape, &mut self.problems);
        }
        self.problems.count() == before
    }
}
