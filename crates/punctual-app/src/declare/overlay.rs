//! Overlays: keys laid over the schedules of a file before it is read, to try out what they would change.

use super::node::{Content, Entry, Node};
use super::parse;
use super::problem::{Problems, Source};
use crate::Failure;

/// Keys of which a schedule has exactly one.
const SPECS: [&str; 6] = ["every", "cron", "at", "after", "on", "schedule"];

/// A key with its value, for all schedules or for one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overlay {
    /// Whose; all if none.
    schedule: Option<String>,
    key: String,
    /// The value, as YAML.
    value: String,
}

impl Overlay {
    /// Reads `KEY=VALUE` or `NAME:KEY=VALUE`.
    ///
    /// ```
    /// use punctual_app::declare::Overlay;
    ///
    /// assert!(Overlay::parse("catch_up=spread").is_ok());
    /// assert!(Overlay::parse("backup:retry_after=5m").is_ok());
    /// assert!(Overlay::parse("catch_up").is_err());
    /// ```
    ///
    /// # Errors
    /// When there is no `=`.
    pub fn parse(text: &str) -> Result<Self, Failure> {
        let (left, value) =
            text.split_once('=').filter(|(left, _)| !left.trim().is_empty()).ok_or_else(|| {
                Failure::invalid(
                    format!("`{text}` sets nothing"),
                    "write it as `catch_up=spread` or `NAME:catch_up=spread`",
                )
            })?;
        let (schedule, key) = match left.rsplit_once(':') {
            Some((schedule, key)) => (Some(schedule.trim().to_owned()), key),
            None => (None, left),
        };
        Ok(Self { schedule, key: key.trim().to_owned(), value: value.trim().to_owned() })
    }

    /// The one schedule that it is for, if it is not for all.
    pub(super) fn schedule(&self) -> Option<&str> {
        self.schedule.as_deref()
    }

    /// The same for one schedule alone.
    #[must_use]
    pub fn only_for(self, schedule: &str) -> Self {
        Self { schedule: Some(schedule.to_owned()), ..self }
    }
}

/// An overlay whose value was read.
pub(super) struct Laid<'a> {
    schedule: Option<&'a str>,
    entry: Entry,
}

/// Reads the overlays, and adds a source for each, so that what is wrong with it can be shown.
pub(super) fn read<'a>(
    overlays: &'a [Overlay],
    sources: &mut Vec<Source>,
    problems: &mut Problems,
) -> Vec<Laid<'a>> {
    let mut laid = Vec::new();
    for overlay in overlays {
        let text = format!("{}: {}", overlay.key, overlay.value);
        let source = Source { name: "--set".to_owned(), text };
        let number = u32::try_from(sources.len()).unwrap_or(u32::MAX);
        if let Some(Node { value: Content::Map(mut entries), .. }) = parse::value(number, &source, problems)
            && let Some(entry) = entries.pop()
        {
            laid.push(Laid { schedule: overlay.schedule.as_deref(), entry });
        }
        sources.push(source);
    }
    laid
}

impl Laid<'_> {
    /// Lays it over the schedules of the plugins of a file.
    pub(super) fn apply(&self, file: &mut Node) {
        for section in entries_of(file).filter(|section| section.key == "plugins") {
            entries_of(&mut section.value).for_each(|plugin| self.lay_plugin(plugin));
        }
    }

    /// Lays it over a schedule.
    pub(super) fn apply_to(&self, schedule: &mut Node) {
        let name = schedule.get("name").and_then(Node::text).map(str::to_owned);
        self.lay(schedule, name.as_deref());
    }

    fn lay_plugin(&self, plugin: &mut Entry) {
        let name = plugin.key.clone();
        for part in entries_of(&mut plugin.value).filter(|part| part.key == "schedules") {
            for schedule in items_of(&mut part.value) {
                let id = schedule.get("id").and_then(Node::text).unwrap_or("default");
                let whole = format!("{name}/{id}");
                self.lay(schedule, Some(&whole));
            }
        }
    }

    fn lay(&self, schedule: &mut Node, name: Option<&str>) {
        if self.schedule.is_some() && self.schedule != name {
            return;
        }
        if let Content::Map(entries) = &mut schedule.value {
            let is_spec = SPECS.contains(&self.entry.key.as_str());
            entries.retain(|entry| {
                entry.key != self.entry.key && !(is_spec && SPECS.contains(&entry.key.as_str()))
            });
            entries.push(self.entry.clone());
        }
    }
}

fn entries_of(node: &mut Node) -> impl Iterator<Item = &mut Entry> {
    match &mut node.value {
        Content::Map(entries) => entries.iter_mut(),
        _ => [].iter_mut(),
    }
}

fn items_of(node: &mut Node) -> impl Iterator<Item = &mut Node> {
    match &mut node.value {
        Content::List(items) => items.iter_mut(),
        _ => [].iter_mut(),
    }
}
