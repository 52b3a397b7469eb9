//! A place in the tokens. It is `Copy`: a phrase that does not fit is undone by restoring the old value.

use super::token::{Kind, Token};
use super::words;
use std::ops::Range;

/// Where the parser stands.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'t> {
    tokens: &'t [Token<'t>],
    pub(super) at: usize,
}

/// An ordinal of a list such as `first, third and last`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ordinal {
    /// Counted from the start: `3rd` is 3.
    Nth(u32),
    /// Counted from the end: `last` is 1, `second to last` is 2.
    FromEnd(u32),
}

impl<'t> Cursor<'t> {
    pub(super) fn new(tokens: &'t [Token<'t>]) -> Self {
        Cursor { tokens, at: 0 }
    }

    pub(super) fn is_done(&self) -> bool {
        self.at >= self.tokens.len()
    }

    pub(super) fn kind(&self) -> Option<Kind<'t>> {
        self.kind_at(0)
    }

    pub(super) fn kind_at(&self, ahead: usize) -> Option<Kind<'t>> {
        self.tokens.get(self.at + ahead).map(|token| token.kind)
    }

    pub(super) fn word(&self) -> Option<&'t str> {
        self.word_at(0)
    }

    pub(super) fn word_at(&self, ahead: usize) -> Option<&'t str> {
        match self.kind_at(ahead) {
            Some(Kind::Word(word)) => Some(word),
            _ => None,
        }
    }

    /// True if one of the words comes later in the text.
    pub(super) fn has_ahead(&self, words: &[&str]) -> bool {
        let rest = self.tokens.get(self.at..).unwrap_or(&[]);
        rest.iter().any(|token| matches!(token.kind, Kind::Word(word) if words.contains(&word)))
    }

    /// True if the two tokens stand without a space between them.
    pub(super) fn is_glued(&self) -> bool {
        match (self.at.checked_sub(1).and_then(|i| self.tokens.get(i)), self.tokens.get(self.at)) {
            (Some(before), Some(here)) => before.end == here.start,
            _ => false,
        }
    }

    /// The bytes of the token here, or the end of the text.
    pub(super) fn span(&self) -> Range<usize> {
        match self.tokens.get(self.at) {
            Some(token) => token.start..token.end,
            None => self.tokens.last().map_or(0..0, |last| last.end..last.end),
        }
    }

    /// The bytes of the token before this place.
    pub(super) fn span_before(mut self) -> Range<usize> {
        self.at = self.at.saturating_sub(1);
        self.span()
    }

    /// The bytes from `start` up to the token before this place.
    pub(super) fn span_from(&self, start: Cursor<'t>) -> Range<usize> {
        let from = start.span().start;
        let to = self.at.checked_sub(1).and_then(|i| self.tokens.get(i)).map_or(from, |token| token.end);
        from..to.max(from)
    }

    pub(super) fn skip(&mut self) {
        self.at += 1;
    }

    /// Takes the words if they come next, all of them, in this order.
    pub(super) fn eat(&mut self, phrase: &str) -> bool {
        let mut here = *self;
        for word in phrase.split(' ') {
            if here.word() != Some(word) {
                return false;
            }
            here.skip();
        }
        *self = here;
        true
    }

    /// Takes the first of the phrases that comes next; list longer phrases first.
    pub(super) fn eat_any(&mut self, phrases: &[&str]) -> bool {
        phrases.iter().any(|phrase| self.eat(phrase))
    }

    pub(super) fn eat_mark(&mut self, mark: char) -> bool {
        let is_here = self.kind() == Some(Kind::Mark(mark));
        if is_here {
            self.skip();
        }
        is_here
    }

    /// Takes `,`, `and`, `or`, `&` and the like; true if there was at least one.
    pub(super) fn separator(&mut self) -> bool {
        let start = self.at;
        loop {
            match self.kind() {
                // `9am +02:00` is an offset, not a list.
                Some(Kind::Mark('+')) if matches!(self.kind_at(1), Some(Kind::Clock { .. })) => {
                    return self.at > start;
                }
                Some(Kind::Mark(',' | '&' | '+' | '/' | ';')) | Some(Kind::Word("and" | "or")) => self.skip(),
                _ => return self.at > start,
            }
        }
    }

    /// Takes `to`, `through`, `-` and the like.
    pub(super) fn range_word(&mut self) -> bool {
        self.eat_any(&["up to", "to", "through", "thru", "until", "till", "til"]) || self.eat_mark('-')
    }

    /// Takes `15`, `fifteen` or `twenty five`.
    pub(super) fn cardinal(&mut self) -> Option<u32> {
        if let Some(Kind::Number { value, .. }) = self.kind() {
            self.skip();
            return Some(value);
        }
        let word = self.word()?;
        let value = words::cardinal(word)?;
        self.skip();
        if words::tens(word).is_some() {
            let mut here = *self;
            here.eat_mark('-');
            if let Some(ones) = here.word().and_then(words::cardinal)
                && (1..10).contains(&ones)
            {
                here.skip();
                *self = here;
                return Some(value + ones);
            }
        }
        Some(value)
    }

    /// Takes a number as [`cardinal`](Self::cardinal) does, or `a`, `an`, `a couple of`.
    pub(super) fn count(&mut self) -> Option<u32> {
        if self.eat_any(&["a couple of", "a couple", "couple of", "couple"]) {
            return Some(2);
        }
        if self.eat_any(&["a dozen", "dozen"]) {
            return Some(12);
        }
        if self.eat_any(&["a", "an"]) {
            return Some(1);
        }
        self.cardinal()
    }

    /// Takes one of `3rd`, `third`, `twenty first`, `last`, `second to last`, `last but one`.
    pub(super) fn ordinal(&mut self) -> Option<Ordinal> {
        let mut here = *self;
        if here.eat_any(&["last but one", "penultimate", "next to last", "next-to-last"]) {
            *self = here;
            return Some(Ordinal::FromEnd(2));
        }
        if here.eat_any(&["very last", "final", "last"]) {
            *self = here;
            return Some(Ordinal::FromEnd(1));
        }
        let number = here.plain_ordinal()?;
        *self = here;
        for joint in ['-', ' '] {
            let mut beyond = *self;
            let is_joined = joint == '-' && beyond.eat_mark('-');
            let to = beyond.eat_any(&["to"]);
            if is_joined && to {
                beyond.eat_mark('-');
            }
            if (to || joint == ' ' || is_joined) && beyond.eat("last") {
                *self = beyond;
                return Some(Ordinal::FromEnd(number));
            }
        }
        Some(Ordinal::Nth(number))
    }

    fn plain_ordinal(&mut self) -> Option<u32> {
        if let Some(Kind::Ordinal(value)) = self.kind() {
            self.skip();
            return Some(value);
        }
        let word = self.word()?;
        if let Some(value) = words::ordinal(word) {
            self.skip();
            return Some(value);
        }
        let tens = words::tens(word)?;
        let mut here = *self;
        here.skip();
        here.eat_mark('-');
        let ones = here.word().and_then(words::ordinal).filter(|ones| *ones < 10)?;
        here.skip();
        *self = here;
        Some(tens + ones)
    }

    /// Takes a unit word, with an optional hyphen before it (`15-minute`).
    pub(super) fn unit(&mut self) -> Option<words::Unit> {
        let mut here = *self;
        here.eat_mark('-');
        let unit = here.word().and_then(words::unit)?;
        here.skip();
        *self = here;
        Some(unit)
    }
}
