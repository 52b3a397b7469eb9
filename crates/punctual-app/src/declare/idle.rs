//! Templates that nobody uses: what is wrong with them is told before somebody does.
//!
//! A template that is used is checked as part of the schedules that it becomes. One that is not is read as a schedule
//! of its own name: first its shape with every `${…}` left open, then the meaning of the keys that hold none.

use super::builder::Builder;
use super::node::{Content, Entry, Node};
use super::raw;
use super::schema::schema;
use super::template;

impl Builder<'_> {
    /// Notes the template that a schedule names.
    pub(super) fn use_template(&mut self, schedule: &Node) {
        if let Some(name) = schedule.get("template").and_then(Node::text)
            && !self.used_templates.contains(name)
        {
            self.used_templates.insert(name.to_owned());
        }
    }

    /// Checks the templates that no schedule has named.
    pub(super) fn check_idle(&mut self, templates: &[&Entry]) {
        let used = std::mem::take(&mut self.used_templates);
        for entry in templates.iter().filter(|entry| !used.contains(&entry.key)) {
            let whole = as_schedule(entry);
            if self.has_shape(&whole, &schema()["properties"]["schedules"]["items"]) {
                self.check_closed(&closed(&whole));
            }
        }
    }

    /// Checks what the keys of a part of a schedule mean. What is missing may come from whoever uses it.
    fn check_closed(&mut self, node: &Node) {
        let Some(raw) = self.raw::<raw::Schedule>(node) else { return };
        if raw.target.is_some() {
            self.chosen_target(&raw.name, raw.target, node);
        }
        self.policy(&raw.common, node);
        self.check_when(&raw.common, node, &raw.name);
    }
}

/// A template under its own name, with `Open` in the place of every value that holds a `${…}`.
fn as_schedule(template: &Entry) -> Node {
    let name = Node { place: template.place, value: Content::Text(template.key.clone()) };
    let mut entries = vec![Entry { key: "name".to_owned(), place: template.place, value: name }];
    entries.extend(template::open(&template.value).entries().iter().cloned());
    Node { place: template.value.place, value: Content::Map(entries) }
}

/// Only the keys in whose values nothing is open.
fn closed(node: &Node) -> Node {
    let entries = node.entries().iter().filter(|entry| !is_open(&entry.value)).cloned().collect();
    Node { place: node.place, value: Content::Map(entries) }
}

fn is_open(node: &Node) -> bool {
    match &node.value {
        Content::Open => true,
        Content::List(items) => items.iter().any(is_open),
        Content::Map(entries) => entries.iter().any(|entry| is_open(&entry.value)),
        _ => false,
    }
}
