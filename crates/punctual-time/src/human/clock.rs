//! Times of day: `9am`, `17:30`, `0900`, `noon`, `quarter past nine`, and lists of them.

use super::cursor::Cursor;
use super::draft::{Group, Half, Part, Time};
use super::phrase::Parser;
use super::token::Kind;
use super::trouble::{Code, Trouble};
use super::words;
use std::ops::Range;

/// Takes `am`, `p.m.`, `a` … ; a single letter only when it is glued to the number.
fn half(cursor: &mut Cursor<'_>) -> Option<Half> {
    let half = match cursor.word()? {
        "am" => Half::Am,
        "pm" => Half::Pm,
        "a" if cursor.is_glued() => Half::Am,
        "p" if cursor.is_glued() => Half::Pm,
        _ => return None,
    };
    cursor.skip();
    Some(half)
}

/// Takes `in the morning`, `at night` and the like.
pub(super) fn part(cursor: &mut Cursor<'_>) -> Option<Part> {
    let mut here = *cursor;
    here.eat_any(&["in the", "at", "during the", "in"]);
    let part = match here.word()? {
        "morning" | "mornings" => Part::Morning,
        "afternoon" | "afternoons" => Part::Afternoon,
        "evening" | "evenings" => Part::Evening,
        "night" | "nights" => Part::Night,
        _ => return None,
    };
    here.skip();
    *cursor = here;
    Some(part)
}

/// Which half of the day an hour of 1..=12 means in that part of the day.
pub(super) fn half_of(part: Part, hour: u8) -> Half {
    match part {
        Part::Morning => Half::Am,
        Part::Afternoon | Part::Evening => Half::Pm,
        Part::Night if (6..12).contains(&hour) => Half::Pm,
        Part::Night => Half::Am,
    }
}

/// A time of day, if one stands here. A bare number up to 24 counts as one.
pub(super) fn time(cursor: &mut Cursor<'_>) -> Result<Option<Time>, Trouble> {
    let start = *cursor;
    let mut here = start;
    if let Some(hour) = named_hour(&mut here) {
        let span = here.span_from(start);
        *cursor = here;
        return Ok(Some(Time { hour, minute: 0, second: 0, half: None, is_bare: false, span }));
    }
    if let Some(time) = past_or_to(&mut here)? {
        *cursor = here;
        return Ok(Some(time));
    }
    let Some(mut written) = digits(&mut here) else { return Ok(None) };
    let given = half(&mut here);
    let had_clock = here.eat_any(&["o'clock", "o’clock", "o clock", "oclock", "sharp"]);
    if given.is_none() && !had_clock {
        here.eat_any(&["hours", "hrs"]);
        if here.is_glued() {
            here.eat("h");
        }
    }
    let given = given.or_else(|| half(&mut here));
    let mut beyond = here;
    let spoken = part(&mut beyond);
    written.half = match (given, spoken) {
        (None, Some(part)) if written.hour <= 12 => {
            here = beyond;
            Some(half_of(part, u8::try_from(written.hour).unwrap_or(0)))
        }
        (Some(given), Some(part)) => {
            let is_wrong = match part {
                Part::Morning => given == Half::Pm,
                Part::Afternoon | Part::Evening => given == Half::Am,
                Part::Night => false,
            };
            here = beyond;
            if is_wrong {
                let message = "am and the part of the day contradict each other";
                return Err(Trouble::new(Code::Contradiction, here.span_from(start), message));
            }
            Some(given)
        }
        (None, Some(_)) => {
            here = beyond;
            None
        }
        (given, None) => given,
    };
    written.is_bare &= written.half.is_none();
    let time = written.check(here.span_from(start))?;
    *cursor = here;
    Ok(Some(time))
}

/// A time that cannot be taken for anything but a time: it has a colon, am or pm, or a name.
pub(super) fn clear_time(cursor: &mut Cursor<'_>) -> Result<Option<Time>, Trouble> {
    let mut here = *cursor;
    let is_number = matches!(here.kind(), Some(Kind::Number { .. })) || here.word().is_some();
    let found = match time(&mut here) {
        // `90s` is a duration: a number that is no hour is only wrong where a time must stand.
        Err(_)
            if matches!(cursor.kind(), Some(Kind::Number { digits: 1..=3, .. }))
                && !is_half_next(*cursor) =>
        {
            None
        }
        found => found?,
    };
    // `2026` is a year unless `at` says otherwise.
    let is_year = matches!(cursor.kind(), Some(Kind::Number { value: 1970..=2199, digits: 4 }))
        && !matches!(cursor.word_at(1), Some("hours" | "hrs" | "am" | "pm"));
    let is_short = matches!(cursor.kind(), Some(Kind::Number { digits: 3, .. })) && !is_half_next(*cursor);
    match found {
        Some(_) if is_year || is_short => Ok(None),
        Some(time) if is_number && time.is_bare => Ok(None),
        found => {
            if found.is_some() {
                *cursor = here;
            }
            Ok(found)
        }
    }
}

fn is_half_next(mut cursor: Cursor<'_>) -> bool {
    cursor.skip();
    half(&mut cursor).is_some()
}

/// A time as it was written, not yet known to exist.
struct Written {
    hour: u32,
    minute: u32,
    second: u32,
    half: Option<Half>,
    is_bare: bool,
}

impl Written {
    /// A full time.
    fn at(hour: u32, minute: u32) -> Self {
        Written { hour, minute, second: 0, half: None, is_bare: false }
    }

    /// An hour alone.
    fn bare(hour: u32) -> Self {
        Written { is_bare: true, ..Written::at(hour, 0) }
    }

    fn check(&self, span: Range<usize>) -> Result<Time, Trouble> {
        let Written { hour, minute, second, half, is_bare } = *self;
        let is_end_of_day = hour == 24 && minute == 0 && second == 0;
        if (hour > 23 && !is_end_of_day) || minute > 59 || second > 59 {
            let text = if is_bare { format!("{hour}") } else { format!("{hour}:{minute:02}") };
            return Err(Trouble::new(Code::Contradiction, span, format!("`{text}` is not a time of day"))
                .hint("hours go from 0 to 23, minutes from 0 to 59"));
        }
        if let Some(half) = half
            && (hour > 12 || (hour == 0 && half == Half::Pm))
        {
            let word = if half == Half::Am { "am" } else { "pm" };
            return Err(Trouble::new(
                Code::Contradiction,
                span,
                format!("`{hour} {word}` is on neither the 12-hour nor the 24-hour clock"),
            )
            .hint(format!("write `{hour:02}:{minute:02}` without `{word}`")));
        }
        let small = |value: u32| u8::try_from(value).unwrap_or(0);
        Ok(Time { hour: small(hour), minute: small(minute), second: small(second), half, is_bare, span })
    }
}

fn named_hour(cursor: &mut Cursor<'_>) -> Option<u8> {
    let hour = match cursor.word()? {
        "noon" | "midday" | "noontime" => 12,
        "midnight" => 0,
        _ => return None,
    };
    cursor.skip();
    Some(hour)
}

/// The digits or number words of a time.
fn digits(cursor: &mut Cursor<'_>) -> Option<Written> {
    match cursor.kind()? {
        Kind::Clock { hour, minute, second } => {
            cursor.skip();
            Some(Written { second: second.unwrap_or(0), ..Written::at(hour, minute) })
        }
        Kind::Decimal { whole, fraction } if fraction.len() == 2 => {
            cursor.skip();
            Some(Written::at(whole, fraction.parse().ok()?))
        }
        Kind::Number { value, digits: 3 | 4 } => {
            cursor.skip();
            Some(Written::at(value / 100, value % 100))
        }
        Kind::Number { value, digits } => {
            cursor.skip();
            let mut here = *cursor;
            if here.is_glued()
                && here.eat("h")
                && here.is_glued()
                && let Some(Kind::Number { value: minute, digits: 2 }) = here.kind()
            {
                here.skip();
                // `1h30m` is a duration.
                if !(here.is_glued() && here.word().is_some()) {
                    *cursor = here;
                    return Some(Written::at(value, minute));
                }
            }
            if value == 12 && matches!(cursor.word(), Some("noon" | "midnight")) {
                return Some(Written::at(u32::from(named_hour(cursor)?), 0));
            }
            let is_plain = digits == 2 && value < 10 || value == 0;
            Some(if is_plain { Written::at(value, 0) } else { Written::bare(value) })
        }
        Kind::Word(word) => {
            let hour = words::cardinal(word).filter(|hour| *hour <= 12)?;
            cursor.skip();
            let mut here = *cursor;
            here.eat_any(&["oh", "o"]);
            let minute = here.cardinal().filter(|m| *m < 60 && here.word().and_then(words::unit).is_none());
            // `nine thirty` is a time; `nine and thirty` is two numbers.
            if let Some(minute) = minute
                && matches!(minute, 1..=9 | 10 | 15 | 20 | 25 | 30 | 35 | 40 | 45 | 50 | 55 | 59)
            {
                *cursor = here;
                return Some(Written::at(hour, minute));
            }
            Some(Written::bare(hour))
        }
        _ => None,
    }
}

/// `quarter past nine`, `twenty to 5pm`, `half past noon`.
fn past_or_to(cursor: &mut Cursor<'_>) -> Result<Option<Time>, Trouble> {
    let start = *cursor;
    let mut here = start;
    let Some((minutes, is_past)) = minutes_past_or_to(&mut here) else { return Ok(None) };
    let Some(base) = time(&mut here)? else { return Ok(None) };
    if base.minute != 0 {
        return Ok(None);
    }
    let mut time = base;
    time.span = here.span_from(start);
    if is_past {
        time.minute = u8::try_from(minutes).unwrap_or(0);
    } else {
        let hour = time.second_of_day() / 3600;
        if time.is_bare && hour == 1 {
            time.hour = 12;
        } else {
            time.half = None;
            time.hour = u8::try_from((hour + 23) % 24).unwrap_or(0);
        }
        time.minute = u8::try_from(60 - minutes).unwrap_or(0);
    }
    *cursor = here;
    Ok(Some(time))
}

/// `quarter past`, `20 minutes to`: the minutes, and true for past.
fn minutes_past_or_to(cursor: &mut Cursor<'_>) -> Option<(u32, bool)> {
    let mut here = *cursor;
    here.eat("a");
    // `8 to 18` is a range of hours: only `ten to six` and `10 minutes to 6` count backwards.
    let mut is_spoken = here.word().is_some();
    let minutes = match here.word() {
        Some("quarter") => {
            here.skip();
            15
        }
        Some("half") => {
            here.skip();
            30
        }
        _ => {
            let minutes = here.cardinal().filter(|minutes| (1..60).contains(minutes))?;
            is_spoken |= here.eat_any(&["minutes", "minute", "mins", "min"]);
            minutes
        }
    };
    let is_past = match here.word()? {
        "past" | "after" => true,
        "to" | "before" | "till" if is_spoken => false,
        _ => return None,
    };
    here.skip();
    *cursor = here;
    Some((minutes, is_past))
}

impl<'t> Parser<'t> {
    /// A list of times after `at`: `9am, 1pm and 5pm`.
    pub(super) fn times(&mut self) -> Result<bool, Trouble> {
        let Some(first) = time(&mut self.cursor)? else { return Ok(false) };
        let mut list = vec![first];
        loop {
            let mut here = self.cursor;
            if !here.separator() || self.is_another_phrase(here) {
                break;
            }
            here.eat_any(&["again at", "at"]);
            match time(&mut here)? {
                Some(next) if !self.is_unit_ahead(here) => {
                    list.push(next);
                    self.cursor = here;
                }
                _ => break,
            }
        }
        spread_half(&mut list);
        self.draft.times.append(&mut list);
        self.draft.note_group(Group::Time);
        self.city_after_time()?;
        Ok(true)
    }

    /// True if what follows the separator is a date or a count, although it begins with a number.
    fn is_another_phrase(&self, mut here: Cursor<'_>) -> bool {
        here.cardinal().is_some()
            && (here.word().and_then(words::month).is_some()
                || here.word().is_some_and(|word| matches!(word, "times" | "minutes" | "minute" | "days")))
    }

    fn is_unit_ahead(&self, here: Cursor<'_>) -> bool {
        here.word().and_then(words::month).is_some() && here.word() != Some("mon")
    }
}

/// `1 and 5pm` means 13:00; `9 and 5pm` means 09:00: a half spreads backwards while the hours rise.
fn spread_half(list: &mut [Time]) {
    for i in (1..list.len()).rev() {
        if let Some(half) = list[i].half
            && list[i - 1].is_bare
            && list[i - 1].hour % 12 < list[i].hour % 12
            && list[i - 1].hour <= 12
        {
            list[i - 1].half = Some(half);
            list[i - 1].is_bare = false;
        }
    }
}
