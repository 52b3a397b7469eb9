//! The expressions of the sweep, at least twenty of each class.

/// What becomes of skipped local times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Gap {
    Shift,
    Skip,
}

/// What becomes of repeated local times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fold {
    First,
    Last,
    Both,
}

/// One expression with its overrides.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) class: &'static str,
    pub(crate) expr: String,
    pub(crate) gap: Option<Gap>,
    pub(crate) fold: Option<Fold>,
}

const ELAPSED: [&str; 20] = [
    "* * * * *",
    "*/5 * * * *",
    "0,15,30,45 * * * *",
    "0 * * * *",
    "30 * * * *",
    "59 * * * *",
    "1-59/2 * * * *",
    "*/7 0-23 * * *",
    "0,20,40 */1 * * *",
    "10-20 * * * *",
    "5 0-11,12-23 * * *",
    "45 * * * 0",
    "15 * 1-15 * *",
    "*/10 * * 3,4,9,10,11 *",
    "33 * 25-31 * 6",
    "0 * L * *",
    "0 * * * 0L",
    "29 * * * 0#2",
    "*/30 * * * 1-5",
    "50 0-22/2,1-23/2 * * *",
];

const HOUR_STEPS: [&str; 20] = [
    "0 */2 * * *",
    "0 */3 * * *",
    "0 */4 * * *",
    "0 */6 * * *",
    "0 */8 * * *",
    "0 */12 * * *",
    "30 */2 * * *",
    "15 1-23/2 * * *",
    "*/15 */2 * * *",
    "*/20 1-23/2 * * *",
    "*/5 0-4 * * *",
    "0 0-22 * * *",
    "0 1-23 * * *",
    "0,30 0-3 * * *",
    "10,50 2-22/5 * * *",
    "*/10 22-23,0-3 * * *",
    "7 */5 * * *",
    "45 0-23/7 * * *",
    "0 2-3 * * *",
    "1,59 0-2 * * *",
];

const EITHER_DAY: [&str; 20] = [
    "30 2 1 * 0",
    "30 1 1-7 * 0",
    "0 0 15 * 6",
    "0 2 25-31 * 0",
    "0 3 29 * 5,6",
    "15 1 */2 * 1",
    "45 2 8-14 3 0",
    "0 0 1,15 * 5",
    "30 0 30 * 4",
    "0 1 31 10 0",
    "0 4 2-6 * 2-4",
    "59 23 28 * 6",
    "0 2 1-31 * 0",
    "20 2 10 * 0-6",
    "40 1 26 * 0,6",
    "0 12 9 3,11 0",
    "5 3 4 * 1-5",
    "0 0,1,2,3 7 * 0",
    "*/30 2 27 * 0",
    "0 */2 1 * 0",
];

const CALENDAR: [&str; 24] = [
    "30 2 L * *",
    "30 1 L-1 * *",
    "0 0 L-2 * *",
    "0 2 LW * *",
    "30 2 1W * *",
    "0 0 15W * *",
    "30 1 31W * *",
    "0 3 28W,L * *",
    "30 2 * * 0L",
    "30 1 * * 0L",
    "0 0 * * 5L",
    "0 0 * * 6L",
    "0 2 * * 4L",
    "30 2 * * 0#1",
    "30 2 * * 0#2",
    "30 1 * * 0#1",
    "0 3 * * 0#3",
    "0 1 * * 0#4",
    "0 0 * * 0#5",
    "0 0 * * 6#1,6#2,6#3",
    "15 2 * 3 0#2",
    "45 1 * 10,11 0#1,0L",
    "0 2 L * 0",
    "0 */2 1W * 0#2",
];

const SECONDS: [&str; 24] = [
    "* * * * * *",
    "*/10 * * * * *",
    "0 */1 * * * *",
    "30 30 * * * *",
    "59 59 * * * *",
    "15,45 */5 * * * *",
    "0 30 2 * * *",
    "30 30 2 * * *",
    "59 59 1 * * *",
    "0 0 2 * * *",
    "1 0 3 * * *",
    "*/20 0 2 * * *",
    "0 30 1 * * *",
    "30 59 0 * * *",
    "59 59 23 * * *",
    "0 0 0 * * *",
    "*/30 */15 1,2 * * *",
    "10-50/20 0,30 0-3 * * *",
    "0 15 2 * * 0",
    "45 45 1 * * 0L",
    "7 7 */2 * * *",
    "0,1,2 0 1-3 * * *",
    "59 29 2 * * 0#2",
    "0 0 3 L * *",
];

/// Once a year, so that an answer lies many transitions ahead of the question.
const YEARLY: [&str; 20] = [
    "30 1 * 11 0#1",
    "30 1 * 10 0L",
    "30 2 * 10 0L",
    "0 1 * 10 0L",
    "30 2 * 3 0#2",
    "30 2 * 3 0L",
    "0 0 * 3 0L",
    "30 2 * 4 0#1",
    "45 2 * 4 0#1",
    "30 2 * 9 0L",
    "15 2 * 10 0#1",
    "0 3 * 10 0#1",
    "30 0 * 4 5L",
    "30 23 * 10 6L",
    "0 */2 * 3 0L",
    "*/30 * * 10 0L",
    "30 1 1 11 *",
    "30 2 10 3 *",
    "30 1 L 10 *",
    "0 0 29 2 *",
];

/// Fixed times around every hour at which clocks are changed.
fn fixed() -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for hour in ["0", "1", "2", "3", "23"] {
        for minute in ["0", "15", "30", "45", "59"] {
            all.push(format!("{minute} {hour} * * *"));
        }
    }
    all.extend(["0,30 2 * * *", "5 4 * * *", "0 9 * * 1-5", "0 22 * * 0", "0 9,17 * * *"].map(str::to_owned));
    all
}

/// Every case of the sweep.
pub(crate) fn all() -> Vec<Case> {
    let plain = |class: &'static str, exprs: &[&str]| -> Vec<Case> {
        exprs.iter().map(|expr| Case { class, expr: (*expr).to_owned(), gap: None, fold: None }).collect()
    };
    let fixed = fixed();
    let fixed: Vec<&str> = fixed.iter().map(String::as_str).collect();
    let mixed: Vec<&str> = fixed[5..20]
        .iter()
        .chain(&HOUR_STEPS[6..12])
        .chain(&ELAPSED[2..5])
        .chain(&EITHER_DAY[..3])
        .chain(&CALENDAR[8..11])
        .chain(&YEARLY[..18])
        .copied()
        .collect();
    let mut cases = plain("elapsed", &ELAPSED);
    cases.extend(plain("fixed time", &fixed));
    cases.extend(plain("hour steps", &HOUR_STEPS));
    cases.extend(plain("either day", &EITHER_DAY));
    cases.extend(plain("L, W, #", &CALENDAR));
    cases.extend(plain("yearly", &YEARLY));
    cases.extend(plain("seconds", &SECONDS));
    let ruled = |class, gap, fold| -> Vec<Case> {
        mixed.iter().map(|expr| Case { class, expr: (*expr).to_owned(), gap, fold }).collect()
    };
    cases.extend(ruled("gap: shift", Some(Gap::Shift), None));
    cases.extend(ruled("gap: skip", Some(Gap::Skip), None));
    cases.extend(ruled("fold: first", None, Some(Fold::First)));
    cases.extend(ruled("fold: last", None, Some(Fold::Last)));
    cases.extend(ruled("fold: both", None, Some(Fold::Both)));
    cases.extend(ruled("gap: skip, fold: both", Some(Gap::Skip), Some(Fold::Both)));
    cases
}
