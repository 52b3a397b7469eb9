//! A JSON answer that is written as it is made: its lists item by item, so that a long one needs no more room than its
//! largest item.

use std::io::{self, BufWriter, Write};

use punctual::Failure;
use serde::Serialize;

use super::written;

/// Bytes that are gathered before they are written.
const BUFFER: usize = 64 * 1024;

/// An object on standard output, key by key.
pub(crate) struct Answer {
    out: BufWriter<io::Stdout>,
    comma: &'static str,
    /// Whether somebody still reads.
    is_read: bool,
}

impl Answer {
    /// Begins an object.
    pub(crate) fn begin() -> Result<Self, Failure> {
        let out = BufWriter::with_capacity(BUFFER, io::stdout());
        let mut answer = Self { out, comma: "", is_read: true };
        answer.put("{")?;
        Ok(answer)
    }

    /// A key with its value.
    pub(crate) fn value(&mut self, key: &str, value: &impl Serialize) -> Result<(), Failure> {
        self.key(key)?;
        self.json(value)
    }

    /// A key with a list; its items come one by one.
    pub(crate) fn list(
        &mut self,
        key: &str,
        items: impl IntoIterator<Item = impl Serialize>,
    ) -> Result<(), Failure> {
        self.begin_list(key)?;
        items.into_iter().try_for_each(|item| self.item(&item))?;
        self.end_list()
    }

    /// The beginning of a list.
    pub(crate) fn begin_list(&mut self, key: &str) -> Result<(), Failure> {
        self.key(key)?;
        self.comma = "";
        self.put("[")
    }

    /// An item of the list that was begun.
    pub(crate) fn item(&mut self, item: &impl Serialize) -> Result<(), Failure> {
        let comma = std::mem::replace(&mut self.comma, ",");
        self.put(comma)?;
        self.json(item)
    }

    /// The end of the list.
    pub(crate) fn end_list(&mut self) -> Result<(), Failure> {
        self.comma = ",";
        self.put("]")
    }

    /// The end of the object.
    pub(crate) fn end(mut self) -> Result<(), Failure> {
        self.put("}\n")?;
        written(self.out.flush())
    }

    /// Whether somebody still reads: a list that nobody reads need not be made.
    pub(crate) fn is_read(&self) -> bool {
        self.is_read
    }

    fn key(&mut self, key: &str) -> Result<(), Failure> {
        let comma = std::mem::replace(&mut self.comma, ",");
        self.put(comma)?;
        self.json(&key)?;
        self.put(":")
    }

    fn put(&mut self, text: &str) -> Result<(), Failure> {
        let result = self.out.write_all(text.as_bytes());
        self.note(result)
    }

    fn json(&mut self, value: &impl Serialize) -> Result<(), Failure> {
        if !self.is_read {
            return Ok(());
        }
        let result = serde_json::to_writer(&mut self.out, value);
        self.note(result.map_err(io::Error::from))
    }

    fn note(&mut self, result: io::Result<()>) -> Result<(), Failure> {
        self.is_read &= !matches!(&result, Err(error) if error.kind() == io::ErrorKind::BrokenPipe);
        written(result)
    }
}
