//! What each dialect reads, shown by what it prints: one spelling for one meaning.
#![allow(clippy::unwrap_used, reason = "a test may fail at once")]

use punctual_time::{Cron, Dialect, Field, Zone};

fn check(dialect: Dialect, text: &str, printed: &str) {
    let cron = Cron::parse(text, dialect).unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!(cron.to_string(), printed, "{text}");
    assert_eq!(Cron::parse(printed, dialect), Ok(cron), "{text}");
}

#[test]
fn posix_has_numbers_ranges_and_lists() {
    check(Dialect::Posix, "0 0 1,15 * 1", "0 0 1,15 * 1");
    check(Dialect::Posix, "\t00  09-17 * 1-12 0-6 ", "0 9-17 * * 0-6");
    check(Dialect::Posix, "0,15,30,45 * * * *", "0,15,30,45 * * * *");
    check(Dialect::Posix, "5-5,4,3,4 0-23 1-31 * *", "3-5 * 1-31 * *");
}

#[test]
fn standard_has_names_steps_and_macros() {
    let dialect = Dialect::Standard;
    check(dialect, "0,15,30,45 * * * *", "*/15 * * * *");
    check(dialect, "0 0 1 Jan-Aug/4 *", "0 0 1 1,5 *");
    check(dialect, "0 9 * * mOn-FRI", "0 9 * * 1-5");
    check(dialect, "0 9 * * fri-sun", "0 9 * * 0,5,6");
    check(dialect, "0 9 * * 5-7", "0 9 * * 0,5,6");
    check(dialect, "0 9 * * 7", "0 9 * * 0");
    check(dialect, "*/10 * * * * *", "*/10 * * * * *");
    check(dialect, "5-45/10,*/5,9 * * * *", "0,5,9,10,15,20,25,30,35,40,45,50,55 * * * *");
    check(dialect, "@Weekly", "0 0 * * 0");
    check(dialect, "  @annually ", "0 0 1 1 *");
    check(dialect, "0 0 ? * ?", "0 0 * * *");
    check(dialect, "0 0 */1 * *", "0 0 1-31 * *");
    check(dialect, "0 0 *,5 * 1", "0 0 1-31 * 1");
}

#[test]
fn standard_has_the_days_of_a_month() {
    let dialect = Dialect::Standard;
    check(dialect, "0 0 l * *", "0 0 L * *");
    check(dialect, "0 0 L-3,lw,L-5W,15w,1 * *", "0 0 1,15W,L-3,LW,L-5W * *");
    check(dialect, "0 0 * * FRI#L", "0 0 * * 5L");
    check(dialect, "0 0 * * fril,2#3", "0 0 * * 2#3,5L");
    check(dialect, "0 0 * * SUN-MON#3,MON-TUE#1", "0 0 * * 1#1,2#1,0#3,1#3");
    check(dialect, "0 0 * * 7L,3", "0 0 * * 3,0L");
    check(dialect, "0 0 13 * +5", "0 0 13 * +5");
    check(dialect, "0 0 13 * +*", "0 0 13 * *");
    check(dialect, "0 0 * * +FRI", "0 0 * * 5");
}

#[test]
fn quartz_counts_from_sunday_and_knows_years() {
    let dialect = Dialect::Quartz;
    check(dialect, "0 0/15 9 ? * MON-FRI", "0 */15 9 ? * 2-6");
    check(dialect, "0 0 12 ? * 6L", "0 0 12 ? * 6L");
    check(dialect, "0 0 12 ? * L", "0 0 12 ? * 7");
    check(dialect, "0 0 12 ? * SAT-SUN", "0 0 12 ? * 1,7");
    check(dialect, "0 0 22-2 * * ?", "0 0 0-2,22,23 * * ?");
    check(dialect, "0 0 0 ? 10-3 5#1", "0 0 0 ? 1-3,10-12 5#1");
    check(dialect, "0 0 12 1 1 ? 2030-2032,2040/20", "0 0 12 1 1 ? 2030-2032,2040,2060,2080");
    check(dialect, "0 0 12 1 1 ? *", "0 0 12 1 1 ?");
    check(dialect, "/20 5/25 * * * ?", "*/20 5,30,55 * * * ?");
    check(dialect, "0 15 10 L-1W,L-1 * ? 2099", "0 15 10 L-1,L-1W * ? 2099");
}

#[test]
fn h_is_one_value_per_schedule_within_its_bounds() {
    for id in ["a", "b", "nightly-backup", "01J8Z"] {
        let parse = |text: &str| Cron::parse_seeded(text, Dialect::Standard, id).unwrap();
        let whole = parse("H H H H H");
        assert_eq!(whole, parse("h h h h h"));
        assert!(whole.set(Field::DayOfMonth).first().unwrap() <= 28, "every month has it");
        assert_eq!(whole.set(Field::Hour).len(), 1);
        let stepped = parse("H/15 H(0-5) * * *");
        assert_eq!(stepped.set(Field::Minute).len(), 4);
        assert!(stepped.set(Field::Hour).first().unwrap() <= 5);
        assert!(parse("H(0-29)/10 * * * *").set(Field::Minute).iter().all(|minute| minute < 30));
    }
    let spread = |id: &str| Cron::parse_seeded("H * * * *", Dialect::Standard, id).unwrap();
    assert_ne!(spread("a"), spread("b"));
}

#[test]
fn the_search_reaches_across_the_century_without_a_leap_day() {
    let next = |text: &str, after: &str| {
        let cron = Cron::parse(text, Dialect::Standard).unwrap();
        cron.next(after.parse().unwrap(), &Zone::utc()).unwrap().to_string()
    };
    assert_eq!(next("0 0 29 2 *", "2096-03-01T00:00:00Z"), "2104-02-29T00:00:00Z");
    // Sundays on 29 February: 2088, then not before 2128.
    assert_eq!(next("0 0 29 2 +0", "2088-03-01T00:00:00Z"), "2128-02-29T00:00:00Z");
    assert_eq!(next("0 0 * 2 5#5", "2036-03-01T00:00:00Z"), "2064-02-29T00:00:00Z");
}

#[test]
fn a_day_of_the_month_that_is_short_is_skipped() {
    let cron = Cron::parse("0 0 31W * *", Dialect::Standard).unwrap();
    let months: Vec<String> = cron
        .upcoming("2025-01-01T00:00:00Z".parse().unwrap(), &Zone::utc())
        .take(4)
        .map(|tick| tick.to_string()[5..10].to_owned())
        .collect();
    assert_eq!(months, ["01-31", "03-31", "05-30", "07-31"]);
}

#[test]
fn years_end() {
    let cron = Cron::parse("0 0 0 1 1 ? 2024,2026", Dialect::Quartz).unwrap();
    let ticks: Vec<String> = cron
        .upcoming("2020-01-01T00:00:00Z".parse().unwrap(), &Zone::utc())
        .map(|tick| tick.to_string())
        .collect();
    assert_eq!(ticks, ["2024-01-01T00:00:00Z", "2026-01-01T00:00:00Z"]);
    let last = cron.prev("2500-01-01T00:00:00Z".parse().unwrap(), &Zone::utc()).unwrap();
    assert_eq!(last.to_string(), "2026-01-01T00:00:00Z");
}
