//! Values that nobody may see are taken out of what a program prints, also where two reads cut them apart.

use std::sync::Arc;

/// What stands in the place of such a value.
const MASK: &[u8] = b"***";

/// Takes values out of one stream.
#[derive(Clone, Default)]
pub(super) struct Redactor {
    /// The longest first: of two that begin alike the longer one is hidden whole.
    values: Arc<[Vec<u8>]>,
    /// The end of what was read, while it may be the beginning of a value.
    held: Vec<u8>,
}

impl Redactor {
    pub(super) fn new(values: &[String]) -> Self {
        let mut values: Vec<Vec<u8>> =
            values.iter().filter(|value| !value.is_empty()).map(|value| value.as_bytes().to_vec()).collect();
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        values.dedup();
        Self { values: values.into(), held: Vec::new() }
    }

    /// What may be shown of the stream so far.
    pub(super) fn pass(&mut self, bytes: &[u8]) -> Vec<u8> {
        if self.values.is_empty() {
            return bytes.to_vec();
        }
        let mut all = std::mem::take(&mut self.held);
        all.extend_from_slice(bytes);
        let mut shown = Vec::with_capacity(all.len());
        let mut at = 0;
        while at < all.len() {
            let plain = all[at..].iter().position(|byte| self.begins(*byte)).unwrap_or(all.len() - at);
            shown.extend_from_slice(&all[at..at + plain]);
            at += plain;
            let rest = &all[at..];
            if rest.is_empty() {
                break;
            }
            // A value that could still turn out to be there is waited for, even if a shorter one is.
            if self.values.iter().any(|value| value.len() > rest.len() && value.starts_with(rest)) {
                self.held = rest.to_vec();
                break;
            }
            at += self.take(rest, &mut shown);
        }
        shown
    }

    /// Whether a value begins with a byte: most of a stream is passed on without a closer look.
    fn begins(&self, byte: u8) -> bool {
        self.values.iter().any(|value| value[0] == byte)
    }

    /// What is left when the stream has ended.
    pub(super) fn finish(&mut self) -> Vec<u8> {
        let held = std::mem::take(&mut self.held);
        let mut shown = Vec::new();
        let mut at = 0;
        while at < held.len() {
            at += self.take(&held[at..], &mut shown);
        }
        shown
    }

    /// Shows the next byte, or hides the value that begins with it; gives back how many bytes that took.
    fn take(&self, rest: &[u8], shown: &mut Vec<u8>) -> usize {
        if let Some(value) = self.values.iter().find(|value| rest.starts_with(value)) {
            shown.extend_from_slice(MASK);
            return value.len();
        }
        shown.push(rest[0]);
        1
    }

    /// A text without the values.
    pub(super) fn text(&self, text: &str) -> String {
        let mut own = Self { values: Arc::clone(&self.values), held: Vec::new() };
        let mut shown = own.pass(text.as_bytes());
        shown.extend(own.finish());
        String::from_utf8_lossy(&shown).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(values: &[&str], chunks: &[&str], expected: &str) {
        let values: Vec<String> = values.iter().map(|&value| value.to_owned()).collect();
        let mut redactor = Redactor::new(&values);
        let mut shown: Vec<u8> = chunks.iter().flat_map(|chunk| redactor.pass(chunk.as_bytes())).collect();
        shown.extend(redactor.finish());
        assert_eq!(String::from_utf8_lossy(&shown), expected, "{values:?} in {chunks:?}");
    }

    #[test]
    fn values_are_hidden_wherever_they_stand() {
        check(&[], &["as it is"], "as it is");
        check(&[""], &["as it is"], "as it is");
        check(&["key"], &["a key and a key"], "a *** and a ***");
        check(&["key"], &["a k", "e", "y!"], "a ***!");
        check(&["key"], &["a k", "e"], "a ke");
        check(&["aab"], &["aaa", "b"], "a***");
        check(&["ab", "abcd"], &["abc", "d abc", "x"], "*** ***cx");
        check(&["ab", "abcd"], &["ab"], "***");
    }
}
