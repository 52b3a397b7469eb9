//! Lists and ranges: `mon, wed-fri`, `1st through 5th and last`, `june to august`, `5 through 10 and 20`.

use super::cursor::{Cursor, Ordinal};
use super::phrase::bit;
use super::token::Kind;
use super::trouble::{Code, Trouble};
use super::words;

/// The bits from `from` to `to`, going round the end of `names` if `to` comes first.
fn around(from: u8, to: u8, names: (u8, u8)) -> u16 {
    let (first, last) = names;
    let mut mask = 0;
    let mut here = from;
    for _ in first..=last {
        mask |= 1 << here;
        if here == to {
            break;
        }
        here = if here == last { first } else { here + 1 };
    }
    mask
}

/// One weekday, a range of them, or a group such as `weekends`.
fn weekday_item(cursor: &mut Cursor<'_>) -> Option<u8> {
    let mut here = *cursor;
    here.eat_any(&["on", "every", "the"]);
    if here.eat_any(&["business days", "business day", "working days", "working day", "work days"]) {
        *cursor = here;
        return Some(words::WORKDAYS);
    }
    let mut short = here;
    if short.eat("m") && short.eat_mark('-') && short.eat("f") {
        *cursor = short;
        return Some(words::WORKDAYS);
    }
    let word = here.word()?;
    if let Some(mask) = words::weekday_group(word) {
        here.skip();
        *cursor = here;
        return Some(mask);
    }
    let from = words::weekday(word)?;
    here.skip();
    *cursor = here;
    if here.range_word()
        && let Some(to) = here.word().and_then(words::weekday)
    {
        here.skip();
        *cursor = here;
        return u8::try_from(around(from, to, (0, 6))).ok();
    }
    Some(1 << from)
}

/// `mon, wed and fri`, `weekends and friday`.
pub(super) fn weekday_list(cursor: &mut Cursor<'_>) -> Option<u8> {
    let mut mask = weekday_item(cursor)?;
    loop {
        let mut here = *cursor;
        if !here.separator() {
            return Some(mask);
        }
        let Some(more) = weekday_item(&mut here) else { return Some(mask) };
        mask |= more;
        *cursor = here;
    }
}

/// Weekdays by name only, after an ordinal: `first monday and tuesday`.
pub(super) fn weekday_names(cursor: &mut Cursor<'_>) -> Option<u8> {
    let mut mask = 1 << cursor.word().and_then(words::weekday)?;
    cursor.skip();
    loop {
        let mut here = *cursor;
        if !here.separator() {
            return Some(mask);
        }
        let Some(day) = here.word().and_then(words::weekday) else { return Some(mask) };
        here.skip();
        mask |= 1 << day;
        *cursor = here;
    }
}

/// One month or a range of them.
fn month_item(cursor: &mut Cursor<'_>) -> Option<u16> {
    let mut here = *cursor;
    here.eat_any(&["in", "every", "each", "of"]);
    let word = here.word()?;
    let from = words::month(word)?;
    here.skip();
    *cursor = here;
    if here.range_word()
        && let Some(to) = here.word().and_then(words::month)
    {
        here.skip();
        *cursor = here;
        return Some(around(from, to, (1, 12)));
    }
    Some(1 << from)
}

/// `january and july`, `june to august`.
pub(super) fn month_list(cursor: &mut Cursor<'_>) -> Option<u16> {
    let mut mask = month_item(cursor)?;
    loop {
        let mut here = *cursor;
        if !here.separator() {
            return Some(mask);
        }
        let before = here;
        let Some(more) = month_item(&mut here) else { return Some(mask) };
        // `july 4th and december 25th`: the second month has days of its own.
        if is_day(here) && before.word() != Some("in") {
            return Some(mask);
        }
        mask |= more;
        *cursor = here;
    }
}

fn is_day(mut cursor: Cursor<'_>) -> bool {
    cursor.eat("the");
    matches!(cursor.kind(), Some(Kind::Ordinal(_) | Kind::Number { digits: 1 | 2, .. }))
        && !is_time_number(cursor)
}

/// True if the number here belongs to a time, a unit or a count rather than to a list of days.
pub(super) fn is_time_number(mut cursor: Cursor<'_>) -> bool {
    cursor.skip();
    match cursor.kind() {
        Some(Kind::Word(word)) => {
            matches!(
                word,
                "am" | "pm" | "a" | "p" | "o'clock" | "times" | "past" | "hours" | "minutes" | "days"
            )
        }
        _ => false,
    }
}

/// The days after a month: `20 and 30`, `1st through 5th`. Bit n is day n.
pub(super) fn month_days(cursor: &mut Cursor<'_>) -> Result<Option<u32>, Trouble> {
    let mut mask = 0u64;
    let mut here = *cursor;
    while let Some(from) = day_number(&mut here) {
        let mut to = from;
        let mut beyond = here;
        if beyond.range_word() {
            beyond.eat("the");
            if let Some(end) = day_number(&mut beyond) {
                to = end;
                here = beyond;
            }
        }
        for day in from..=to.min(32) {
            mask |= bit(day, 32, here.span_from(*cursor))?;
        }
        *cursor = here;
        if !here.separator() {
            break;
        }
        here.eat("the");
    }
    Ok(u32::try_from(mask).ok().filter(|mask| *mask != 0))
}

fn day_number(cursor: &mut Cursor<'_>) -> Option<u32> {
    let number = match cursor.kind()? {
        Kind::Ordinal(number) => number,
        Kind::Number { value, digits: 1 | 2 } if !is_time_number(*cursor) => value,
        _ => {
            let Some(Ordinal::Nth(number)) = cursor.ordinal() else { return None };
            return Some(number);
        }
    };
    cursor.skip();
    Some(number)
}

/// `1-5th`, `1, 15`: numbers and ordinals below 60 as bits.
pub(super) fn mixed_list(cursor: &mut Cursor<'_>) -> Option<u64> {
    let mut set = 0;
    let mut here = *cursor;
    while let Some(from) = day_number(&mut here) {
        let mut to = from;
        let mut beyond = here;
        if beyond.range_word()
            && let Some(end) = day_number(&mut beyond)
        {
            to = end;
            here = beyond;
        }
        if from > to || to > 59 {
            return None;
        }
        set |= (from..=to).fold(0u64, |set, n| set | 1 << n);
        *cursor = here;
        // `1/4` is a fraction.
        if here.kind() == Some(Kind::Mark('/')) || !here.separator() {
            break;
        }
    }
    Some(set).filter(|set| *set != 0)
}

/// `1st, 3rd through 5th and last`. Nothing if there is no ordinal here.
pub(super) fn ordinal_list(cursor: &mut Cursor<'_>) -> Result<Option<Vec<Ordinal>>, Trouble> {
    let start = *cursor;
    let mut list = Vec::new();
    let mut here = *cursor;
    while let Some(from) = here.ordinal() {
        let mut beyond = here;
        let mut to = from;
        if beyond.range_word() {
            beyond.eat("the");
            if let Some(end) = beyond.ordinal() {
                beyond.eat_any(&["day"]);
                to = end;
                here = beyond;
            }
        }
        match (from, to) {
            (Ordinal::Nth(from), Ordinal::Nth(to)) if from <= to && to <= 60 => {
                list.extend((from..=to).map(Ordinal::Nth));
            }
            (Ordinal::FromEnd(from), Ordinal::FromEnd(to)) if to <= from && from <= 31 => {
                list.extend((to..=from).map(Ordinal::FromEnd));
            }
            // The last days of a month differ in number: `20th through last` names 20 … 31.
            (Ordinal::Nth(from), Ordinal::FromEnd(1)) if (1..=31).contains(&from) => {
                list.extend((from..=31).map(Ordinal::Nth));
            }
            _ => {
                return Err(Trouble::new(
                    Code::Contradiction,
                    here.span_from(start),
                    "this range of days ends before it begins",
                ));
            }
        }
        *cursor = here;
        if !here.separator() {
            break;
        }
        // `the 1st and the last weekday` are two items; `the first and the third monday` is one.
        let had_article = here.eat("the");
        if had_article && matches!(start.kind(), Some(Kind::Ordinal(_))) && here.word().is_some() {
            break;
        }
        // `the 5th day before the last day` is an item of its own.
        let mut beyond = here;
        if beyond.ordinal().is_some() && beyond.eat("day before") {
            break;
        }
    }
    Ok(Some(list).filter(|list| !list.is_empty()))
}

/// `5 through 10, 20 and 30` below `limit`, as bits. Nothing if there is no number here.
pub(super) fn number_list(cursor: &mut Cursor<'_>, limit: u32) -> Result<Option<u64>, Trouble> {
    let start = *cursor;
    let mut set = 0;
    let mut here = *cursor;
    while let Some(from) = list_number(&mut here) {
        let mut to = from;
        let mut beyond = here;
        if beyond.range_word()
            && let Some(end) = list_number(&mut beyond)
        {
            to = end;
            here = beyond;
        }
        let span = here.span_from(start);
        if to < from {
            let message = format!("the range {from} to {to} ends before it begins");
            return Err(Trouble::new(Code::Contradiction, span, message));
        }
        bit(to, limit, span)?;
        set |= (from..=to).fold(0u64, |set, n| set | 1 << n);
        *cursor = here;
        if !here.separator() {
            break;
        }
    }
    Ok(Some(set).filter(|set| *set != 0))
}

fn list_number(cursor: &mut Cursor<'_>) -> Option<u32> {
    let mut here = *cursor;
    let value = here.cardinal()?;
    if matches!(here.word(), Some("am" | "pm" | "times" | "o'clock"))
        || (here.is_glued() && here.word().is_some())
    {
        return None;
    }
    *cursor = here;
    Some(value)
}
