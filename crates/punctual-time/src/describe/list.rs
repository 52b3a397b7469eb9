//! Lists, runs and progressions of numbers, in words.

use crate::Set;

/// Days of the week, Sunday first.
pub(super) const WEEKDAYS: [&str; 7] =
    ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// Months, January first.
pub(super) const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// The shortest run that is written as a range.
const RUN_MIN: u32 = 3;

/// `a`, `a and b`, `a, b and c`.
pub(super) fn and(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}

/// The values as items, runs of three and more as `from through to`.
pub(super) fn runs(set: Set, say: impl Fn(u32) -> String) -> Vec<String> {
    let mut items = Vec::new();
    let mut values = set.iter().peekable();
    while let Some(from) = values.next() {
        let mut to = from;
        while let Some(next) = values.next_if(|next| *next == to + 1) {
            to = next;
        }
        match to - from + 1 {
            length if length >= RUN_MIN => items.push(format!("{} through {}", say(from), say(to))),
            2 => items.extend([say(from), say(to)]),
            _ => items.push(say(from)),
        }
    }
    items
}

/// A set that a rate could count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Progression {
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) step: u32,
}

/// The values as a progression of at least three, if they are one.
pub(super) fn progression(set: Set) -> Option<Progression> {
    let values: Vec<u32> = set.iter().collect();
    let [first, second, .., last] = values.as_slice() else { return None };
    let step = second - first;
    let is_even = values.windows(2).all(|pair| pair[1] - pair[0] == step);
    is_even.then_some(Progression { from: *first, to: *last, step })
}

/// The `n` for which the set is every `n`th of `count` marks, beginning with 0, without a gap at the end.
pub(super) fn divisor(set: Set, count: u32) -> Option<u32> {
    let len = set.len();
    if len == 0 || !count.is_multiple_of(len) {
        return None;
    }
    let step = count / len;
    (0..len).all(|i| set.contains(i * step)).then_some(step)
}

/// `1st`, `22nd`, `13th`.
pub(super) fn ordinal(number: u32) -> String {
    let suffix = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{number}{suffix}")
}

/// `first` to `fifth`.
pub(super) fn ordinal_word(number: u32) -> &'static str {
    match number {
        1 => "first",
        2 => "second",
        3 => "third",
        4 => "fourth",
        _ => "fifth",
    }
}

/// `minute`, `5 minutes`.
pub(super) fn units(count: u32, unit: &str) -> String {
    if count == 1 { unit.to_owned() } else { format!("{count} {unit}s") }
}
