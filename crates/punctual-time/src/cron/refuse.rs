//! The words of refusal: what is wrong, in which field and column, and the text to write instead.
//!
//! Everything here is off the hot path: it runs once, when a text is refused.

use std::ops::Range as Span;

use super::item::{FieldText, Range, named};
use super::parse::{BLANKS, EXPRESSION_LEN_MAX, Source, Split};
use super::{Cron, Dialect, Field, ROW_MASK, Set};
use crate::Error;

const OTHER_DIALECT: &str = "choose the dialect `standard`";

/// The column of a byte, counted in characters from 1.
fn column(text: &str, byte: usize) -> usize {
    text.get(..byte).map_or(byte, |before| before.chars().count()) + 1
}

/// Where an item starts and ends.
fn item_span(text: &FieldText<'_>) -> Span<usize> {
    let rest = &text.source.text.as_bytes()[text.item..text.to];
    text.item..text.item + rest.iter().position(|&byte| byte == b',').unwrap_or(rest.len())
}

fn item<'a>(text: &FieldText<'a>) -> &'a str {
    &text.source.text[item_span(text)]
}

/// An error about the item that is read.
fn about(text: &FieldText<'_>, code: &'static str, problem: &str) -> Error {
    about_span(text, item_span(text), (code, problem))
}

fn about_span(text: &FieldText<'_>, span: Span<usize>, (code, problem): (&'static str, &str)) -> Error {
    let token = &text.source.text[span.clone()];
    let place = column(text.source.text, span.start);
    Error::new(code, format!("`{token}` {problem} ({} field, column {place})", text.field)).at(span)
}

pub(super) fn empty(text: &str) -> Error {
    Error::new("empty_expression", "the expression is empty").at(0..text.len()).with_hint(
        "write five fields: minute, hour, day-of-month, month, day-of-week; `* * * * *` is every minute",
    )
}

pub(super) fn too_long(text: &str) -> Error {
    Error::new("too_long", format!("the expression has `{}` bytes", text.len()))
        .at(0..text.len())
        .with_hint(format!("write at most `{EXPRESSION_LEN_MAX}`"))
}

pub(super) fn field_count(source: Source<'_>, fields: &Split) -> Error {
    let text = source.text.trim_matches(BLANKS);
    let first = text.split(BLANKS).next().unwrap_or_default();
    let span = fields.spans[0].0 as usize..source.text.trim_end_matches(BLANKS).len();
    if first.starts_with('@') {
        return macro_name(source, None);
    }
    if let Some(error) = zone_prefix(first, span.start) {
        return error;
    }
    let wanted = match source.dialect {
        Dialect::Posix => "five fields",
        Dialect::Standard => "five fields, or six with seconds first",
        Dialect::Quartz => "six fields, or seven with years last",
    };
    let error =
        Error::new("wrong_field_count", format!("`{text}` has {} fields instead of {wanted}", fields.count));
    let error = error.at(span);
    match (source.dialect, fields.count) {
        (Dialect::Posix, 6) => error.with_hint("drop the seconds, or choose the dialect `standard`"),
        (Dialect::Standard, 7) => error.with_hint("drop the years, or choose the dialect `quartz`"),
        (Dialect::Quartz, 5) => error.with_hint("put `0` before it for the seconds"),
        (_, count) if count < 5 => error.with_hint("write `*` for each field that does not matter"),
        _ => error.with_hint("separate fields with blanks, and items within a field with commas only"),
    }
}

/// The zone that crontabs may write before an expression.
fn zone_prefix(word: &str, start: usize) -> Option<Error> {
    let zone = word.strip_prefix("CRON_TZ=").or(word.strip_prefix("TZ="))?;
    let message = format!("`{word}` is not a cron field (column {})", start + 1);
    let error = Error::new("zone_in_expression", message).at(start..start + word.len());
    Some(error.with_hint(format!("give the zone on its own: timezone `{zone}`")))
}

pub(super) fn macro_name(source: Source<'_>, meaning: Option<&'static str>) -> Error {
    let start = source.text.len() - source.text.trim_start_matches(BLANKS).len();
    let text = source.text.trim_matches(BLANKS);
    let span = start..start + text.len();
    let place = column(source.text, start);
    match (meaning, source.dialect) {
        (Some(meaning), Dialect::Posix) => {
            Error::new("not_posix", format!("`{text}` is not POSIX cron (column {place})"))
                .at(span)
                .with_hint(format!("write `{meaning}`, or {OTHER_DIALECT}"))
                .with_fix(meaning)
        }
        (Some(meaning), _) => {
            let error =
                Error::new("not_quartz", format!("`{text}` is not Quartz cron (column {place})")).at(span);
            match Cron::parse(meaning, Dialect::Standard) {
                Ok(cron) => error.with_fix(cron.as_quartz().to_string()),
                Err(_) => error,
            }
        }
        (None, _) => {
            let error =
                Error::new("unknown_macro", format!("`{text}` is not a macro (column {place})")).at(span);
            match text.split_once(|c: char| c.is_ascii_whitespace()) {
                None if text.eq_ignore_ascii_case("@every_minute") => error.with_fix("* * * * *"),
                None if text.eq_ignore_ascii_case("@every_second") => error.with_fix("* * * * * *"),
                Some(("@every", delay)) => {
                    error.with_hint(format!("that is an interval, not cron: `every: {}`", delay.trim_matches(BLANKS)))
                }
                _ if text.eq_ignore_ascii_case("@reboot") => {
                    error.with_hint("a schedule knows no reboot; a one-shot with `after: 0s` fires at service start")
                }
                _ => error.with_hint(
                    "write one of `@yearly`, `@monthly`, `@weekly`, `@daily`, `@midnight`, `@hourly`, or five fields",
                ),
            }
        }
    }
}

pub(super) fn day_fields(source: Source<'_>, fields: &Split) -> Error {
    let span = fields.spans[3].0 as usize..fields.spans[5].1 as usize;
    let text = &source.text[span.clone()];
    let place = column(source.text, span.start);
    let mut words = text.split(BLANKS).filter(|word| !word.is_empty());
    let (day, month, weekday) = (words.next(), words.next(), words.next());
    let error = Error::new(
        "day_fields",
        format!("Quartz wants `?` in one of day-of-month and day-of-week, and only one (column {place})"),
    );
    let error = error.at(span);
    match (day, month, weekday) {
        (Some(day), Some(month), Some("*" | "?")) => {
            let day = if day == "?" { "*" } else { day };
            error.with_fix(format!("{day} {month} ?"))
        }
        (Some("*"), Some(month), Some(weekday)) => error.with_fix(format!("? {month} {weekday}")),
        _ => error
            .with_hint("make two schedules of it, or choose the dialect `standard`, where either day fires"),
    }
}

pub(super) fn never_fires(source: Source<'_>, fields: &Split, cron: &Cron) -> Error {
    let (from, to) = fields.spans[if fields.count == 5 { 2 } else { 3 }];
    let text = source.text.trim_matches(BLANKS);
    let place = column(source.text, from as usize);
    let problem = format!("`{text}` never fires: no such date exists (day-of-month field, column {place})");
    let error = Error::new("never_fires", problem).at(from as usize..to as usize);
    let longest = cron.set(Field::Month).iter().map(|month| crate::civil::month_len(2000, month)).max();
    match (longest, source.dialect) {
        (Some(days), Dialect::Posix) => error.with_hint(format!("the month has at most `{days}` days")),
        (Some(days), _) if cron.days.trailing_zeros() > days => {
            error.with_hint(format!("the month has at most `{days}` days; `L` is its last day"))
        }
        _ => error.with_hint("no day satisfies all of its fields"),
    }
}

/// A mark that this dialect does not have here.
pub(super) fn misplaced(text: &FieldText<'_>) -> Error {
    if text.source.dialect == Dialect::Posix {
        return unreadable(text);
    }
    let written = item(text);
    let error = about(text, "not_in_field", "does not belong here");
    match written.as_bytes().first() {
        Some(b'?') => error.with_hint("`?` stands alone in a day field; elsewhere write `*`").with_fix("*"),
        Some(b'+') => error.with_hint("`+` comes first in the day-of-week field of the dialect `standard`"),
        Some(b'L' | b'l') => {
            error.with_hint("`L` stands alone here, or after a weekday: `6L` is the last Friday")
        }
        _ => error.with_hint("`W` belongs to a single day: `15W`"),
    }
}

/// Anything that is not an item of the field.
pub(super) fn unreadable(text: &FieldText<'_>) -> Error {
    if let Some(error) = zone_prefix(text.text(), text.from) {
        return error;
    }
    if text.source.dialect == Dialect::Posix {
        return not_posix(text);
    }
    let written = item(text);
    let error = about(text, "bad_value", "is not understood");
    let (first, rest) = written.split_at(written.chars().next().map_or(0, char::len_utf8));
    let is_number = !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit());
    match (first, text.field) {
        ("L" | "l", Field::DayOfWeek) if is_number => error.with_fix(format!("{rest}L")),
        ("W" | "w", Field::DayOfMonth) if is_number => error.with_fix(format!("{rest}W")),
        ("L" | "l", Field::DayOfWeek) if rest.is_empty() => {
            error.with_hint("put the weekday before it: `5L` is the last Friday of the month")
        }
        ("L" | "l" | "W" | "w", _) => error.with_hint("`L` and `W` belong to the day-of-month field"),
        ("H" | "h", _) if text.source.dialect == Dialect::Quartz => error.with_hint(OTHER_DIALECT),
        ("-", _) => error.with_hint("a range needs both ends: `1-5`"),
        _ => error.with_hint(expected(text)),
    }
}

/// What may stand in a field.
fn expected(text: &FieldText<'_>) -> String {
    let (min, max) = (text.field.min(text.source.dialect), text.field.max(text.source.dialect));
    let names = match text.field {
        Field::Month => ", `jan`-`dec`",
        Field::DayOfWeek => ", `sun`-`sat`",
        _ => "",
    };
    format!("write `*`, or numbers `{min}`-`{max}`{names}, ranges, steps and lists of them")
}

/// Something other dialects have, or nobody.
fn not_posix(text: &FieldText<'_>) -> Error {
    let written = item(text);
    let whole = (0, written.len());
    let source = |dialect| Source { text: written, dialect, seed: "" };
    for dialect in [Dialect::Standard, Dialect::Quartz] {
        let Ok(parts) = FieldText::new(source(dialect), text.field, whole).parts() else { continue };
        let error = about(text, "not_posix", "is not POSIX cron");
        let is_hashed = written.starts_with(['H', 'h']);
        let is_plain = parts.near | parts.last | parts.last_near == 0
            && (text.field != Field::DayOfWeek || parts.values & ROW_MASK == parts.values)
            && !is_hashed;
        if !is_plain {
            return error.with_hint(OTHER_DIALECT);
        }
        let fix = if is_whole(text, parts.values) {
            "*".to_owned()
        } else {
            Set::from_bits(parts.values).to_string()
        };
        return error.with_hint(format!("write `{fix}`, or {OTHER_DIALECT}")).with_fix(fix);
    }
    if let Some(value) = full_name(text.field, written) {
        return about(text, "not_posix", "is not POSIX cron").with_fix(value.to_string());
    }
    about(text, "bad_value", "is not understood").with_hint(expected(text))
}

fn is_whole(text: &FieldText<'_>, values: u64) -> bool {
    let (min, last) = (text.field.min(Dialect::Posix), text.field.last(Dialect::Posix));
    values.count_ones() == last - min + 1
}

/// A list that contains a star.
pub(super) fn starred_list(text: &FieldText<'_>) -> Error {
    let span = text.from..text.to;
    about_span(text, span, ("not_posix", "is not POSIX cron"))
        .with_hint(format!("write `*`, which is everything, or {OTHER_DIALECT}"))
        .with_fix("*")
}

pub(super) fn empty_item(text: &FieldText<'_>) -> Error {
    about_span(text, text.from..text.to, ("empty_item", "has nothing between two commas or at an end"))
        .with_hint("remove the surplus comma")
}

pub(super) fn step_without_range(text: &FieldText<'_>) -> Error {
    if text.source.dialect == Dialect::Posix {
        return not_posix(text);
    }
    let written = item(text);
    let last = text.field.last(text.source.dialect);
    let error = about(text, "step_without_range", "has a step without a range");
    match written.split_once('/') {
        Some((start, step)) => error.with_fix(format!("{start}-{last}/{step}")),
        None => error,
    }
}

pub(super) fn occurrence(text: &FieldText<'_>) -> Error {
    about(text, "out_of_range", "names no weekday of a month")
        .with_hint("write `#1` to `#5`, or `#L` for the last: `1#2` is the second Monday")
}

pub(super) fn before_last(text: &FieldText<'_>) -> Error {
    about(text, "out_of_range", "lies before the first day of every month").with_hint("write `L-1` to `L-30`")
}

pub(super) fn out_of_range(text: &FieldText<'_>, start: usize) -> Error {
    let (min, max) = (text.field.min(text.source.dialect), text.field.max(text.source.dialect));
    let digits =
        text.source.text.as_bytes()[start..text.to].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let span = start..start + digits;
    let token = &text.source.text[span.clone()];
    let error = about_span(text, span, ("out_of_range", &format!("is not within `{min}`-`{max}`")));
    match (text.field, text.source.dialect, token) {
        (Field::DayOfWeek, Dialect::Posix, "7") if item(text) != "7" => not_posix(text),
        (Field::DayOfWeek, Dialect::Posix, "7") => error.with_hint("Sunday is `0`").with_fix("0"),
        (Field::Minute | Field::Second, _, "60") => error.with_hint("write `0`, which begins the next one"),
        (Field::Hour, _, "24") => error.with_hint("midnight is hour `0`"),
        (Field::DayOfWeek, Dialect::Quartz, "0") => {
            error.with_hint("in `quartz` Sunday is `1`").with_fix("1")
        }
        _ => error.with_hint(format!("write a number from `{min}` to `{max}`")),
    }
}

/// A name that is not one, or not in this dialect.
pub(super) fn name(text: &FieldText<'_>, start: usize) -> Error {
    if text.source.dialect == Dialect::Posix {
        return not_posix(text);
    }
    let bytes = &text.source.text.as_bytes()[start..text.to];
    let letters = bytes.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let span = start..start + letters;
    let token = &text.source.text[span.clone()];
    if matches!(token, "L" | "l" | "W" | "w") {
        return unreadable(text);
    }
    let what = if text.field == Field::Month { "is not a month" } else { "is not a weekday" };
    let error = about_span(text, span, ("unknown_name", what));
    if full_name(text.field, token).is_some() {
        return error.with_fix(token[..3].to_ascii_lowercase());
    }
    match text.field {
        Field::Month | Field::DayOfWeek => error.with_hint(expected(text)),
        _ => unreadable(text),
    }
}

/// The value of a name that is spelled out, or cut anywhere after its third letter.
fn full_name(field: Field, word: &str) -> Option<u32> {
    const FULL: [&str; 19] = [
        "sunday",
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    let word = word.to_ascii_lowercase();
    let is_known = word.len() >= 3 && FULL.iter().any(|full| full.starts_with(&word));
    if is_known { named(field, &word.as_bytes()[..3]) } else { None }
}

pub(super) fn step(text: &FieldText<'_>, start: usize) -> Error {
    let max = text.field.max(text.source.dialect);
    let bytes = &text.source.text.as_bytes()[start..text.to];
    let digits = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let token = &text.source.text[start..start + digits];
    let error = about(text, "bad_step", "has no usable step");
    if token.is_empty() {
        return error.with_hint(format!("after `/` write a number from `1` to `{max}`"));
    }
    if token.bytes().all(|byte| byte == b'0') {
        return error.with_hint("a step of `0` stands still; write `1` or more");
    }
    let unit = if text.field == Field::Minute { ", or use an interval: `every: 90m`" } else { "" };
    error.with_hint(format!("steps start anew in each larger unit, so at most `{max}` makes sense{unit}"))
}

pub(super) fn descending(text: &FieldText<'_>, range: Range) -> Error {
    let dialect = text.source.dialect;
    let (min, last) = (text.field.min(dialect), text.field.last(dialect));
    let error = about(text, "descending_range", "goes backwards");
    let part = |from: u32, to: u32| if from == to { from.to_string() } else { format!("{from}-{to}") };
    if text.field == Field::Year {
        return error.with_fix(part(range.to, range.from));
    }
    if text.field == Field::DayOfWeek && range.from == 7 {
        return error.with_fix(part(0, range.to));
    }
    if text.field == Field::DayOfWeek && range.to == 0 && range.step == 1 && dialect == Dialect::Standard {
        return error.with_fix(part(range.from, 7));
    }
    if range.step == 1 {
        return error.with_fix(format!("{},{}", part(range.from, last), part(min, range.to)));
    }
    let count = last - min + 1;
    let values: Vec<String> = (range.from..=range.to + count)
        .step_by(range.step as usize)
        .map(|value| ((value - min) % count + min).to_string())
        .collect();
    error.with_fix(values.join(","))
}

impl Cron {
    /// The same sets as Quartz would hold them.
    fn as_quartz(mut self) -> Cron {
        self.dialect = Dialect::Quartz;
        self.flags |= super::SIX_FIELDS;
        self
    }
}
