//! Text to tokens. Every token knows the bytes it came from, so that an error can point at the word.

use super::trouble::{Code, Trouble};

/// What one token is. Words are lower case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind<'t> {
    /// A word without digits, e.g. `every` or `o'clock`.
    Word(&'t str),
    /// `15`; the number of digits tells `0900` from `900`.
    Number { value: u32, digits: usize },
    /// `15th`.
    Ordinal(u32),
    /// `9:30` or `09:30:15`.
    Clock { hour: u32, minute: u32, second: Option<u32> },
    /// `1.5` or `9.30`.
    Decimal { whole: u32, fraction: &'t str },
    /// `2026-12-24`, `24.12.2026`, or a slashed date that has one reading only.
    Date { year: u32, month: u32, day: u32 },
    /// `Europe/Berlin`, still in lower case.
    Zone(&'t str),
    /// Punctuation.
    Mark(char),
}

/// One token and where it stands in the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'t> {
    pub(super) kind: Kind<'t>,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// The first part of zone names; a slash after any other word separates list items (`mon/wed/fri`).
const AREAS: [&str; 17] = [
    "africa",
    "america",
    "antarctica",
    "arctic",
    "asia",
    "atlantic",
    "australia",
    "brazil",
    "canada",
    "chile",
    "etc",
    "europe",
    "indian",
    "mexico",
    "pacific",
    "us",
    "posix",
];

/// Splits lower-case text into tokens.
pub(super) fn tokens(text: &str) -> Result<Vec<Token<'_>>, Trouble> {
    let mut lexer = Lexer { text, at: 0 };
    let mut found = Vec::new();
    while let Some(next) = lexer.rest().chars().next() {
        let start = lexer.at;
        let kind = match next {
            c if c.is_whitespace() => {
                lexer.at += c.len_utf8();
                continue;
            }
            c if c.is_ascii_digit() => lexer.number()?,
            c if c.is_ascii_alphabetic() => lexer.word(),
            c => {
                lexer.at += c.len_utf8();
                Kind::Mark(if matches!(c, '–' | '—' | '−') { '-' } else { c })
            }
        };
        // A full stop after a word is punctuation (`wed.`, `a.m.`), never a token of its own.
        if kind != Kind::Mark('.') {
            found.push(Token { kind, start, end: lexer.at });
        }
    }
    Ok(found)
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Lexer<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn word(&mut self) -> Kind<'t> {
        let rest = self.rest();
        if (rest.starts_with("a.m") || rest.starts_with("p.m"))
            && !rest[3..].starts_with(|c: char| c.is_ascii_alphanumeric())
        {
            self.at += 3;
            return Kind::Word(if rest.starts_with('a') { "am" } else { "pm" });
        }
        let letters = run(rest, |c| c.is_ascii_alphabetic() || matches!(c, '\'' | '’' | '_'));
        if rest[letters.len()..].starts_with('/') && AREAS.contains(&letters) {
            let zone = run(rest, |c| c.is_ascii_alphanumeric() || matches!(c, '/' | '_' | '-' | '+'));
            self.at += zone.len();
            return Kind::Zone(zone);
        }
        self.at += letters.len();
        Kind::Word(letters)
    }

    fn number(&mut self) -> Result<Kind<'t>, Trouble> {
        let start = self.at;
        let digits = self.digits();
        let value = self.value(digits, start)?;
        if digits.len() == 4
            && let Some((month, day)) = self.two_parts('-', start)?
        {
            if self.rest().starts_with('t') {
                self.at += 1;
            }
            return Ok(Kind::Date { year: value, month, day });
        }
        if let Some((month, year)) = self.two_parts('.', start)? {
            return Ok(Kind::Date { year, month, day: value });
        }
        if let Some((second, year)) = self.two_parts('/', start)? {
            return self.slashed((value, second, year), start);
        }
        if let Some(minute) = self.part(':', start)? {
            if self.at - start < digits.len() + 3 {
                let text = &self.text[start..self.at];
                let message = format!("`{text}` is not a time of day");
                return Err(Trouble::new(Code::Contradiction, start..self.at, message)
                    .hint(format!("write the minutes with two digits: `{value}:{minute:02}`")));
            }
            let second = self.part(':', start)?;
            return Ok(Kind::Clock { hour: value, minute, second });
        }
        let rest = self.rest();
        if rest.starts_with('.') && rest[1..].starts_with(|c: char| c.is_ascii_digit()) {
            self.at += 1;
            return Ok(Kind::Decimal { whole: value, fraction: self.digits() });
        }
        let suffix = run(rest, |c| c.is_ascii_alphabetic());
        if matches!(suffix, "st" | "nd" | "rd" | "th") {
            self.at += 2;
            return Ok(Kind::Ordinal(value));
        }
        Ok(Kind::Number { value, digits: digits.len() })
    }

    /// `12/24/2026` is read only where one of the two numbers cannot be a month.
    fn slashed(&self, (first, second, year): (u32, u32, u32), start: usize) -> Result<Kind<'t>, Trouble> {
        if first >= 1000 {
            return Ok(Kind::Date { year: first, month: second, day: year });
        }
        if first > 12 && second <= 12 {
            return Ok(Kind::Date { year, month: second, day: first });
        }
        if second > 12 && first <= 12 {
            return Ok(Kind::Date { year, month: first, day: second });
        }
        let text = &self.text[start..self.at];
        Err(Trouble::new(
            Code::Ambiguous,
            start..self.at,
            format!("`{text}` can be read with the day or the month first"),
        )
        .hint(format!("write `{year:04}-{first:02}-{second:02}` or `{year:04}-{second:02}-{first:02}`")))
    }

    fn digits(&mut self) -> &'t str {
        let digits = run(self.rest(), |c| c.is_ascii_digit());
        self.at += digits.len();
        digits
    }

    fn value(&self, digits: &str, start: usize) -> Result<u32, Trouble> {
        if digits.len() > 9 {
            return Err(Trouble::new(
                Code::Contradiction,
                start..self.at,
                format!("`{digits}` is too large a number"),
            ));
        }
        Ok(digits.parse().unwrap_or(0))
    }

    /// The number after `mark`, if there is one; otherwise nothing moves.
    fn part(&mut self, mark: char, start: usize) -> Result<Option<u32>, Trouble> {
        let rest = self.rest();
        if !rest.starts_with(mark) || !rest[1..].starts_with(|c: char| c.is_ascii_digit()) {
            return Ok(None);
        }
        self.at += 1;
        let digits = self.digits();
        self.value(digits, start).map(Some)
    }

    fn two_parts(&mut self, mark: char, start: usize) -> Result<Option<(u32, u32)>, Trouble> {
        let before = self.at;
        if let Some(first) = self.part(mark, start)?
            && let Some(second) = self.part(mark, start)?
        {
            return Ok(Some((first, second)));
        }
        self.at = before;
        Ok(None)
    }
}

fn run(text: &str, belongs: impl Fn(char) -> bool) -> &str {
    let end = text.find(|c| !belongs(c)).unwrap_or(text.len());
    &text[..end]
}
