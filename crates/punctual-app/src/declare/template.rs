//! Templates: a schedule begins with the keys of its template, whose `${…}` are filled from `set`.

use std::collections::{BTreeSet, HashMap};

use super::builder::Allowance;
use super::nearest;
use super::node::{Content, Entry, Node};
use super::problem::Problems;

/// Keys that a schedule has for itself.
const OWN_KEYS: [&str; 3] = ["name", "template", "set"];

/// The schedule with its template under its own keys; itself if it has none.
pub(super) fn expand(
    schedule: Node,
    templates: &HashMap<&str, &Entry>,
    copies: &mut Allowance,
    problems: &mut Problems,
) -> Node {
    let Some(name) = schedule.get("template").and_then(Node::text) else {
        if schedule.get("set").is_some() {
            let place = schedule.place_of_key("set");
            problems.add(
                place,
                "`set` fills a template, and there is none",
                "add `template:`, or remove `set`",
            );
        }
        return schedule;
    };
    let Some(template) = templates.get(name) else {
        let mut known: Vec<&str> = templates.keys().copied().collect();
        known.sort_unstable();
        let hint = nearest::hint(name, known, "there are no `templates`");
        problems.add(schedule.place_of("template"), format!("there is no template `{name}`"), hint);
        return schedule;
    };
    if !copies.take(template.value.size(), schedule.place, problems) {
        return schedule;
    }
    let set = schedule.get("set").map(Node::entries).unwrap_or_default();
    let set = set.iter().map(|entry| (entry.key.as_str(), &entry.value)).collect();
    let mut filling = Filling { schedule: &schedule, set, used: BTreeSet::new(), copies, problems };
    let mut entries = schedule.entries().to_vec();
    for entry in template.value.entries() {
        let is_own = OWN_KEYS.contains(&entry.key.as_str());
        if !is_own && schedule.get(&entry.key).is_none() {
            entries.push(filling.fill_entry(entry));
        } else {
            // A placeholder that the schedule replaces is not unknown.
            filling.look(&entry.value);
        }
    }
    filling.refuse_unused();
    Node { place: schedule.place, value: Content::Map(entries) }
}

/// A value of a template with `Open` for every text that holds a `${…}`.
pub(super) fn open(node: &Node) -> Node {
    let value = match &node.value {
        Content::Text(text) => open_text(text),
        Content::List(items) => Content::List(items.iter().map(open).collect()),
        Content::Map(entries) => {
            let open = |entry: &Entry| Entry {
                key: entry.key.clone(),
                place: entry.place,
                value: open(&entry.value),
            };
            Content::Map(entries.iter().map(open).collect())
        }
        other => other.clone(),
    };
    Node { place: node.place, value }
}

fn open_text(text: &str) -> Content {
    let plain = pieces(text).into_iter().map(|piece| match piece {
        Piece::Text(text) => Some(text),
        Piece::Slot(_) => None,
    });
    plain.collect::<Option<String>>().map_or(Content::Open, Content::Text)
}

struct Filling<'a> {
    schedule: &'a Node,
    set: HashMap<&'a str, &'a Node>,
    copies: &'a mut Allowance,
    used: BTreeSet<String>,
    problems: &'a mut Problems,
}

impl Filling<'_> {
    fn fill(&mut self, node: &Node) -> Node {
        let value = match &node.value {
            Content::Text(text) => return self.fill_text(node, text),
            Content::List(items) => Content::List(items.iter().map(|item| self.fill(item)).collect()),
            Content::Map(entries) => {
                Content::Map(entries.iter().map(|entry| self.fill_entry(entry)).collect())
            }
            other => other.clone(),
        };
        Node { place: node.place, value }
    }

    fn fill_entry(&mut self, entry: &Entry) -> Entry {
        Entry { key: entry.key.clone(), place: entry.place, value: self.fill(&entry.value) }
    }

    /// A text that is one placeholder becomes the value itself, whatever its kind.
    fn fill_text(&mut self, node: &Node, text: &str) -> Node {
        let pieces = pieces(text);
        if let [Piece::Slot(key)] = pieces.as_slice() {
            let value = self.value(key).map_or(Content::Text(text.to_owned()), |found| found.value);
            return Node { place: node.place, value };
        }
        let filled: String = pieces
            .iter()
            .map(|piece| match piece {
                Piece::Text(text) => (*text).to_owned(),
                Piece::Slot(key) => self.value(key).map_or(String::new(), |value| plain(&value)),
            })
            .collect();
        Node { place: node.place, value: Content::Text(filled) }
    }

    fn value(&mut self, key: &str) -> Option<Node> {
        self.used.insert(key.to_owned());
        let Some(found) = self.set.get(key).copied() else {
            let place = self.schedule.place_of("set");
            let hint = format!("add `{key}:` to `set`");
            self.problems.add(place, format!("`{key}` of the template is not set"), hint);
            return None;
        };
        self.copies.take(found.size(), self.schedule.place, self.problems).then(|| found.clone())
    }

    /// Notes the placeholders of a value that is not used.
    fn look(&mut self, node: &Node) {
        match &node.value {
            Content::Text(text) => {
                for piece in pieces(text) {
                    if let Piece::Slot(key) = piece {
                        self.used.insert(key.to_owned());
                    }
                }
            }
            Content::List(items) => items.iter().for_each(|item| self.look(item)),
            Content::Map(entries) => entries.iter().for_each(|entry| self.look(&entry.value)),
            _ => {}
        }
    }

    fn refuse_unused(self) {
        let set = self.schedule.get("set");
        for entry in set.map(Node::entries).unwrap_or_default() {
            if !self.used.contains(&entry.key) {
                let known = self.used.iter().map(String::as_str);
                let hint = nearest::hint(&entry.key, known, "the template has no `${…}`");
                self.problems.add(entry.place, format!("the template has no `${{{}}}`", entry.key), hint);
            }
        }
    }
}

enum Piece<'a> {
    Text(&'a str),
    Slot(&'a str),
}

/// The text between the placeholders, and their names.
fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        let name_end = rest[start..].find('}').map(|end| start + end);
        let Some(end) = name_end else { break };
        let name = rest[start + 2..end].trim();
        if is_reference(name) {
            // It is filled in when a run starts, as is the second dollar before it.
            pieces.push(Piece::Text(&rest[..=end]));
        } else if rest[..start].ends_with('$') {
            // `$${name}` stands for `${name}`.
            pieces.push(Piece::Text(&rest[..start - 1]));
            pieces.push(Piece::Text(&rest[start..=end]));
        } else {
            if start > 0 {
                pieces.push(Piece::Text(&rest[..start]));
            }
            pieces.push(Piece::Slot(name));
        }
        rest = &rest[end + 1..];
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest));
    }
    pieces
}

/// Whether it stands for what is only known at launch: a secret, a variable or a file.
fn is_reference(name: &str) -> bool {
    ["secret:", "env:", "file:"].iter().any(|kind| name.starts_with(kind))
}

fn plain(node: &Node) -> String {
    node.text().map_or_else(|| node.to_json().to_string(), str::to_owned)
}
