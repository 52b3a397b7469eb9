//! Many values in little room: what a large file says is kept so until each is looked at.
//!
//! A tree in which everything knows its place takes some thousand bytes for a schedule, and a file may hold a hundred
//! thousand of them. Packed, a value takes about the room of its text.

use std::collections::HashMap;

use serde_json::Number;

use super::node::{Content, Entry, Node};
use super::problem::Place;

/// What comes next in the bytes.
#[derive(Clone, Copy)]
#[repr(u8)]
enum Mark {
    Null,
    False,
    True,
    Number,
    Text,
    List,
    Map,
    Open,
}

impl Mark {
    const ALL: [Self; 8] =
        [Self::Null, Self::False, Self::True, Self::Number, Self::Text, Self::List, Self::Map, Self::Open];
}

/// Values one after the other.
#[derive(Debug, Default)]
pub(super) struct Packed {
    bytes: Vec<u8>,
    count: usize,
    /// Keys repeat from value to value; each is kept once.
    keys: Vec<String>,
    numbers: HashMap<String, usize>,
    /// The line of the last place: the next one is mostly on the same or the following line.
    line: u32,
}

impl Packed {
    /// Adds a value.
    pub(super) fn push(&mut self, node: &Node) {
        self.count += 1;
        self.put_node(node);
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// The values as they were, in the file of this number.
    pub(super) fn iter(&self, file: u32) -> impl Iterator<Item = Node> + '_ {
        let mut reader = Reader { packed: self, at: 0, file, line: 0 };
        (0..self.count).map(move |_| reader.node())
    }

    fn put_number(&mut self, mut number: usize) {
        while number >= 0x80 {
            self.bytes.push((number & 0x7f) as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }

    fn put_text(&mut self, text: &str) {
        self.put_number(text.len());
        self.bytes.extend_from_slice(text.as_bytes());
    }

    fn put_place(&mut self, place: Place) {
        // An alias stands further down than what it stands for, so a line may also be an earlier one.
        let step = i64::from(place.line) - i64::from(self.line);
        self.line = place.line;
        self.put_number(((step << 1) ^ (step >> 63)) as usize);
        self.put_number(place.column as usize);
    }

    fn put_key(&mut self, key: &str) {
        let number = match self.numbers.get(key) {
            Some(number) => *number,
            None => {
                let number = self.keys.len();
                self.keys.push(key.to_owned());
                self.numbers.insert(key.to_owned(), number);
                number
            }
        };
        self.put_number(number);
    }

    fn put_node(&mut self, node: &Node) {
        self.put_place(node.place);
        let mut mark = |mark: Mark| self.bytes.push(mark as u8);
        match &node.value {
            Content::Null => mark(Mark::Null),
            Content::Bool(false) => mark(Mark::False),
            Content::Bool(true) => mark(Mark::True),
            Content::Open => mark(Mark::Open),
            Content::Number(number) => {
                mark(Mark::Number);
                self.put_text(&number.to_string());
            }
            Content::Text(text) => {
                mark(Mark::Text);
                self.put_text(text);
            }
            Content::List(items) => {
                mark(Mark::List);
                self.put_number(items.len());
                items.iter().for_each(|item| self.put_node(item));
            }
            Content::Map(entries) => {
                mark(Mark::Map);
                self.put_number(entries.len());
                for entry in entries {
                    self.put_key(&entry.key);
                    self.put_place(entry.place);
                    self.put_node(&entry.value);
                }
            }
        }
    }
}

/// Reads the values back. It reads only what was written above, so what it expects is there.
struct Reader<'a> {
    packed: &'a Packed,
    at: usize,
    file: u32,
    line: u32,
}

impl Reader<'_> {
    fn byte(&mut self) -> u8 {
        let byte = self.packed.bytes[self.at];
        self.at += 1;
        byte
    }

    fn number(&mut self) -> usize {
        let (mut number, mut shift) = (0, 0);
        loop {
            let byte = self.byte();
            number |= usize::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return number;
            }
            shift += 7;
        }
    }

    fn text(&mut self) -> &str {
        let length = self.number();
        let bytes = &self.packed.bytes[self.at..self.at + length];
        self.at += length;
        std::str::from_utf8(bytes).expect("it was written from a text")
    }

    fn place(&mut self) -> Place {
        let step = self.number() as i64;
        let step = (step >> 1) ^ -(step & 1);
        self.line = u32::try_from(i64::from(self.line) + step).expect("it was written from a line");
        let column = u32::try_from(self.number()).expect("it was written from a column");
        Place { file: self.file, line: self.line, column }
    }

    fn node(&mut self) -> Node {
        let place = self.place();
        let mark = Mark::ALL[usize::from(self.byte())];
        let value = match mark {
            Mark::Null => Content::Null,
            Mark::False => Content::Bool(false),
            Mark::True => Content::Bool(true),
            Mark::Open => Content::Open,
            Mark::Number => {
                let number: Number = self.text().parse().expect("it was written from a number");
                Content::Number(number)
            }
            Mark::Text => Content::Text(self.text().to_owned()),
            Mark::List => {
                let count = self.number();
                Content::List((0..count).map(|_| self.node()).collect())
            }
            Mark::Map => {
                let count = self.number();
                Content::Map((0..count).map(|_| self.entry()).collect())
            }
        };
        Node { place, value }
    }

    fn entry(&mut self) -> Entry {
        let key = self.number();
        let key = self.packed.keys[key].clone();
        Entry { key, place: self.place(), value: self.node() }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn place(line: u32, column: u32) -> Place {
        Place { file: 7, line, column }
    }

    #[test]
    fn what_is_packed_reads_back_as_it_was() {
        let long = "ä".repeat(300);
        let values = json!([
            null, true, false, 0, -5, 1.5, u64::MAX, i64::MIN, "", "text", long, [], {},
            {"name": "a", "tags": ["x", ["y"]], "payload": {"name": {"deep": null}}},
            {"name": "b", "tags": [], "payload": {"deep": 1e300}},
        ]);
        let mut packed = Packed::default();
        let mut nodes = Vec::new();
        // Lines that go on, stay, go back as aliases do, and jump.
        for (value, line) in values.as_array().unwrap().iter().zip([1, 2, 2, 900_000, 3, 4].iter().cycle()) {
            let node = Node::of_json(value, place(*line, 3 + line % 200));
            packed.push(&node);
            nodes.push(node);
        }
        let open = Node { place: place(0, 0), value: Content::Open };
        packed.push(&open);
        nodes.push(open);
        assert_eq!(packed.len(), nodes.len());
        assert_eq!(packed.iter(7).collect::<Vec<_>>(), nodes);
        assert_eq!(packed.iter(7).collect::<Vec<_>>(), nodes, "and again");
    }
}
