//! The vocabulary: words that name a day, a month, a unit or a number. Sunday is 0.

/// The units people count in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Unit {
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Quarter,
    Year,
}

/// How many units there are.
pub(super) const UNITS: usize = 8;

/// The weekdays in the order of cron, as `not_on` spells them.
pub(super) const WEEKDAYS: [&str; 7] =
    ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

/// The months in order.
pub(super) const MONTHS: [&str; 12] = [
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

/// Monday to Friday as a mask.
pub(super) const WORKDAYS: u8 = 0b011_1110;
/// Saturday and Sunday as a mask.
pub(super) const WEEKEND: u8 = 0b100_0001;

/// `mon`, `tues`, `thursdays` …: 0 is Sunday.
pub(super) fn weekday(word: &str) -> Option<u8> {
    let short = match word {
        "tues" | "tue" | "tu" => return Some(2),
        "weds" | "we" => return Some(3),
        "thur" | "thurs" | "thu" | "th" => return Some(4),
        "su" => return Some(0),
        "mo" => return Some(1),
        "fr" => return Some(5),
        "sa" => return Some(6),
        "" => return None,
        word => word.strip_suffix("'s").or_else(|| word.strip_suffix('s')).unwrap_or(word),
    };
    let named =
        |name: &&str| **name == *short || **name == *word || (short.len() == 3 && name.starts_with(short));
    (0u8..).zip(WEEKDAYS).find(|(_, name)| named(name)).map(|(number, _)| number)
}

/// `jan`, `sept`, `december` …: 1 is January.
pub(super) fn month(word: &str) -> Option<u8> {
    if word == "sept" {
        return Some(9);
    }
    (1u8..)
        .zip(MONTHS)
        .find(|(_, name)| *name == word || (word.len() == 3 && name.starts_with(word)))
        .map(|m| m.0)
}

/// `minutes`, `mins`, `m` …
pub(super) fn unit(word: &str) -> Option<Unit> {
    Some(match word {
        "second" | "seconds" | "sec" | "secs" | "s" => Unit::Second,
        "minute" | "minutes" | "min" | "mins" | "m" | "minutely" => Unit::Minute,
        "hour" | "hours" | "hr" | "hrs" | "h" => Unit::Hour,
        "day" | "days" | "d" => Unit::Day,
        "week" | "weeks" | "wk" | "wks" | "w" => Unit::Week,
        "month" | "months" | "mth" | "mths" => Unit::Month,
        "quarter" | "quarters" => Unit::Quarter,
        "year" | "years" | "yr" | "yrs" | "y" => Unit::Year,
        _ => return None,
    })
}

/// `daily`, `hourly` … with how many of the unit.
pub(super) fn adverb(word: &str) -> Option<(u32, Unit)> {
    Some(match word {
        "secondly" => (1, Unit::Second),
        "minutely" => (1, Unit::Minute),
        "hourly" => (1, Unit::Hour),
        "daily" | "everyday" => (1, Unit::Day),
        "weekly" => (1, Unit::Week),
        "fortnightly" => (2, Unit::Week),
        "monthly" => (1, Unit::Month),
        "quarterly" => (1, Unit::Quarter),
        "yearly" | "annually" => (1, Unit::Year),
        _ => return None,
    })
}

/// `one` … `nineteen`, and the tens.
pub(super) fn cardinal(word: &str) -> Option<u32> {
    const SMALL: [&str; 20] = [
        "zero",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
        "eighteen",
        "nineteen",
    ];
    (0u32..).zip(SMALL).find(|(_, name)| *name == word).map(|(number, _)| number).or_else(|| tens(word))
}

/// `twenty` … `ninety`.
pub(super) fn tens(word: &str) -> Option<u32> {
    const TENS: [&str; 8] = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
    (2u32..).zip(TENS).find(|(_, name)| *name == word).map(|(number, _)| number * 10)
}

/// `first` … `twentieth`, `thirtieth`. `second` is also a unit: the caller decides.
pub(super) fn ordinal(word: &str) -> Option<u32> {
    const ORDINALS: [&str; 20] = [
        "first",
        "second",
        "third",
        "fourth",
        "fifth",
        "sixth",
        "seventh",
        "eighth",
        "ninth",
        "tenth",
        "eleventh",
        "twelfth",
        "thirteenth",
        "fourteenth",
        "fifteenth",
        "sixteenth",
        "seventeenth",
        "eighteenth",
        "nineteenth",
        "twentieth",
    ];
    if word == "thirtieth" {
        return Some(30);
    }
    (1u32..).zip(ORDINALS).find(|(_, name)| *name == word).map(|(number, _)| number)
}

/// Words that may stand in a list of weekdays for several of them, as a mask.
pub(super) fn weekday_group(word: &str) -> Option<u8> {
    match word {
        "weekday" | "weekdays" | "workday" | "workdays" | "wkday" | "wkdays" => Some(WORKDAYS),
        "mwf" => Some(0b010_1010),
        "tth" | "tuth" => Some(0b001_0100),
        "weekend" | "weekends" => Some(WEEKEND),
        _ => None,
    }
}

/// Words that announce another: a text cannot end with one.
pub(super) fn is_joint(word: &str) -> bool {
    matches!(word, "the" | "on" | "and" | "or" | "then" | "that" | "is" | "a" | "also")
}

/// Politeness and verbs that say nothing about when.
pub(super) fn is_filler(word: &str) -> bool {
    matches!(
        word,
        "please"
            | "run"
            | "runs"
            | "it"
            | "this"
            | "execute"
            | "trigger"
            | "fire"
            | "fires"
            | "schedule"
            | "job"
            | "always"
            | "only"
            | "just"
            | "exactly"
            | "precisely"
            | "then"
            | "and"
            | "also"
            | "or"
            | "the"
            | "on"
            | "sharp"
            | "that"
            | "is"
            | "a"
            | "me"
            | "remind"
            | "do"
    )
}
