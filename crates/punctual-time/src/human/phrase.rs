//! The top of the grammar: one phrase after another, in any order, until the text is used up.

use super::clock;
use super::cursor::Cursor;
use super::draft::{Draft, Edge, EdgeOf, Marks, Part};
use super::example;
use super::list::number_list;
use super::token::Kind;
use super::trouble::{Code, Trouble};
use super::words::{self, Unit};
use jiff::Zoned;

/// The state of one parse. The phrases live in the sibling files as further methods.
pub(super) struct Parser<'t> {
    pub(super) cursor: Cursor<'t>,
    pub(super) draft: Draft,
    /// Now, in the zone the text is about.
    pub(super) now: Zoned,
    pub(super) text: &'t str,
}

impl<'t> Parser<'t> {
    /// Reads all phrases. Every round takes at least one token or stops with an error.
    pub(super) fn read(&mut self) -> Result<(), Trouble> {
        while !self.cursor.is_done() {
            let before = self.cursor.at;
            if !self.phrase()? || self.cursor.at == before {
                return Err(self.not_understood());
            }
        }
        Ok(())
    }

    /// The error for the word here.
    pub(super) fn not_understood(&self) -> Trouble {
        let span = self.cursor.span();
        let word = self.text.get(span.clone()).unwrap_or("");
        if word.is_empty() {
            let message = "the text ends too early";
            return Trouble::new(Code::NotUnderstood, span, message).hint(example::hint(self.text, ""));
        }
        Trouble::new(Code::NotUnderstood, span, format!("`{word}` is not understood here"))
            .hint(example::hint(self.text, word))
    }

    fn phrase(&mut self) -> Result<bool, Trouble> {
        if self.cursor.eat_any(&["around the clock", "round the clock", "day and night"]) {
            return Ok(true);
        }
        match self.cursor.kind() {
            Some(Kind::Word(word)) => self.word_phrase(word),
            Some(Kind::Number { .. } | Kind::Decimal { .. } | Kind::Clock { .. }) => self.number_phrase(),
            Some(Kind::Ordinal(_)) => self.day_items(),
            Some(Kind::Date { .. }) => self.date_phrase(),
            Some(Kind::Zone(_)) => self.zone_phrase(),
            Some(Kind::Mark('@')) => {
                self.cursor.skip();
                self.at_phrase()
            }
            Some(Kind::Mark(':')) => {
                self.cursor.skip();
                self.colon_minutes()
            }
            Some(Kind::Mark('+' | '-')) => self.bare_offset(),
            Some(Kind::Mark(',' | ';' | '&' | '(' | ')' | '!' | '?')) => {
                self.cursor.skip();
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    fn word_phrase(&mut self, word: &str) -> Result<bool, Trouble> {
        match word {
            "every" | "each" | "any" | "all" | "alternate" | "alternating" => return self.every_phrase(),
            "once" | "twice" | "thrice" => return self.count_phrase(),
            "at" | "by" | "around" => {
                self.cursor.skip();
                return self.at_phrase();
            }
            "in" => return self.in_phrase(),
            "between" | "from" | "during" | "within" | "outside" | "over" => return self.between_phrase(),
            "starting" | "beginning" | "start" | "starts" | "begin" | "begins" | "since" | "as" | "after"
            | "effective" | "commencing" => {
                return Ok(self.edge_phrase() || self.start_phrase()?);
            }
            "until" | "till" | "til" | "through" | "thru" | "ending" | "ends" | "end" | "before" | "up"
            | "no" => {
                return Ok(self.edge_phrase() || self.end_phrase()?);
            }
            "middle" => return Ok(self.edge_phrase()),
            "except" | "excluding" | "but" | "not" | "skip" | "skipping" | "without" | "unless" | "never"
            | "other" | "excepting" => {
                return self.except_phrase();
            }
            "for" => return self.for_phrase(),
            "tomorrow" | "today" | "tonight" | "next" | "now" | "immediately" | "this" | "coming" => {
                return Ok(self.relative_phrase()? || self.open_phrase(word)?);
            }
            "of" | "past" => return self.of_phrase(),
            "if" | "when" => {
                self.cursor.skip();
                let it_is = ["it falls on", "it is on", "it is", "it's", "that is", "they are", "falling on"];
                self.draft.is_both = self.cursor.eat_any(&it_is);
                return Ok(self.draft.is_both);
            }
            _ => {}
        }
        self.open_phrase(word)
    }

    /// Phrases without a word of their own in front.
    fn open_phrase(&mut self, word: &str) -> Result<bool, Trouble> {
        if self.adverb_phrase()
            || self.count_phrase()?
            || self.edge_phrase()
            || self.mark_phrase()?
            || self.past_phrase()?
            || self.relative_phrase()?
            || self.day_items()?
            || self.part_phrase()
            || self.bare_window()?
            || self.clear_time_phrase()?
            || self.number_word_phrase()?
            || self.zone_phrase()?
        {
            return Ok(true);
        }
        if words::is_filler(word) {
            self.cursor.skip();
            // `every day at 9 the` breaks off.
            return Ok(!(self.cursor.is_done() && words::is_joint(word)));
        }
        Ok(false)
    }

    fn number_word_phrase(&mut self) -> Result<bool, Trouble> {
        let mut here = self.cursor;
        if here.count().is_none() {
            return Ok(false);
        }
        self.number_phrase()
    }

    /// A phrase that begins with a number: a date, a time, `15 minutes past`, `20 minutes from now`, `5m`.
    fn number_phrase(&mut self) -> Result<bool, Trouble> {
        Ok(self.bare_window()?
            || self.day_items()?
            || self.count_phrase()?
            || self.past_phrase()?
            || self.clear_time_phrase()?
            || self.later_phrase()?
            || self.literal_phrase()?)
    }

    pub(super) fn clear_time_phrase(&mut self) -> Result<bool, Trouble> {
        let mut here = self.cursor;
        if clock::clear_time(&mut here)?.is_none() && !self.is_short_list_of_times(here) {
            return Ok(false);
        }
        self.times()
    }

    /// `9 and 5pm`: a bare number counts as a time where the list it begins ends in a clear one.
    fn is_short_list_of_times(&self, mut here: Cursor<'_>) -> bool {
        while here.cardinal().is_some_and(|hour| hour < 25) && here.separator() {
            let mut beyond = here;
            if matches!(clock::clear_time(&mut beyond), Ok(Some(_))) {
                return true;
            }
        }
        false
    }

    /// What may follow `at`.
    pub(super) fn at_phrase(&mut self) -> Result<bool, Trouble> {
        if self.adverb_phrase() || self.mark_phrase()? || self.past_phrase()? || self.edge_phrase() {
            return Ok(true);
        }
        if self.cursor.eat_mark(':') {
            return self.colon_minutes();
        }
        if matches!(self.cursor.word(), Some("every" | "each")) {
            return self.every_phrase();
        }
        if self.draft.rate(Unit::Hour).is_some_and(|rate| rate.count == 1) && self.bare_minutes() {
            return Ok(true);
        }
        let mut here = self.cursor;
        here.eat("the");
        if let Some(part) = clock::part(&mut here).filter(|part| *part == Part::Night) {
            self.cursor = here;
            self.draft.part = Some(part);
            return Ok(true);
        }
        if matches!(self.cursor.word(), Some("the")) || matches!(self.cursor.kind(), Some(Kind::Ordinal(_))) {
            return self.day_items();
        }
        self.times()
    }

    /// `every hour at 10 and 40`: numbers beside `every hour` are minutes.
    fn bare_minutes(&mut self) -> bool {
        let mut here = self.cursor;
        let Ok(Some(set)) = number_list(&mut here, 60) else { return false };
        if set.count_ones() < 2 || !(here.is_done() || here.word().is_some_and(|word| word != "past")) {
            return false;
        }
        add(&mut self.draft.minutes, set, here.span_from(self.cursor));
        self.cursor = here;
        true
    }

    /// `:15`, after the colon.
    fn colon_minutes(&mut self) -> Result<bool, Trouble> {
        let start = self.cursor;
        let mut set = 0;
        while let Some(Kind::Number { value, digits: 2 }) = self.cursor.kind() {
            self.cursor.skip();
            set |= bit(value, 60, self.cursor.span_from(start))?;
            let mut here = self.cursor;
            if !here.separator() || !here.eat_mark(':') {
                break;
            }
            self.cursor = here;
        }
        add(&mut self.draft.minutes, set, self.cursor.span_from(start));
        // A colon that no minutes follow is punctuation: `every day: 9am`.
        Ok(!self.cursor.is_done() || set != 0)
    }

    /// `beginning of each month`, `the end of the quarter`, or `the start` alone after `every month`.
    pub(super) fn edge_phrase(&mut self) -> bool {
        let mut here = self.cursor;
        let had_article = here.eat("at the") || here.eat("on the") || here.eat("the") || here.eat("at");
        let edge = match here.word() {
            Some("beginning" | "begin" | "start") => Edge::Start,
            Some("middle") => Edge::Middle,
            Some("end") => Edge::End,
            _ => return false,
        };
        here.skip();
        let mut beyond = here;
        let of = beyond.eat_any(&["of", "in"]);
        beyond.eat_any(&["the", "each", "every", "a"]);
        beyond.eat_any(&["business", "working", "work"]);
        let unit = if of { beyond.word().and_then(words::unit) } else { None };
        match unit {
            Some(unit) if unit >= Unit::Hour => {
                beyond.skip();
                self.cursor = beyond;
            }
            _ if of => {
                beyond = here;
                beyond.eat_any(&["of", "in"]);
                if !self.edge_of_months(beyond) {
                    return false;
                }
                self.draft.edge = Some(EdgeOf { edge, unit: Some(Unit::Month) });
                return true;
            }
            _ if had_article || self.cursor.at > 0 => {
                let is_alone = here.is_done() || here.word().is_some_and(|w| matches!(w, "at" | "in" | "on"));
                if !is_alone {
                    return false;
                }
                self.cursor = here;
            }
            _ => return false,
        }
        self.draft.edge = Some(EdgeOf { edge, unit });
        true
    }

    fn edge_of_months(&mut self, here: Cursor<'_>) -> bool {
        let Some(month) = here.word().and_then(words::month) else { return false };
        self.draft.months |= 1 << month;
        self.cursor.at = here.at + 1;
        true
    }

    /// `every morning`, `in the evening`: without a time of its own it stands for one.
    pub(super) fn part_phrase(&mut self) -> bool {
        let mut here = self.cursor;
        here.eat("the");
        match clock::part(&mut here) {
            Some(part) => {
                self.cursor = here;
                self.draft.part = Some(part);
                true
            }
            None if here.eat("nightly") => {
                self.cursor = here;
                self.draft.part = Some(Part::Night);
                true
            }
            None => false,
        }
    }
}

/// The bit of `value`, or the error that it is out of range.
pub(super) fn bit(value: u32, limit: u32, span: std::ops::Range<usize>) -> Result<u64, Trouble> {
    if value >= limit {
        return Err(Trouble::new(
            Code::Contradiction,
            span,
            format!("`{value}` is out of range: the largest is {}", limit - 1),
        ));
    }
    Ok(1 << value)
}

/// Adds marks to those already said.
pub(super) fn add(marks: &mut Marks, set: u64, span: std::ops::Range<usize>) {
    marks.set |= set;
    marks.span = span;
}
