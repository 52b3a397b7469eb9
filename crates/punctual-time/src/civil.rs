//! Days and civil dates, by integer arithmetic alone.
//!
//! The hot path of the crate lives on these few functions, so they take and give plain numbers:
//! a *day* is days since 1970-01-01, a *local second* is seconds since 1970-01-01T00:00:00 of the wall clock.

/// Seconds in a civil day.
pub(crate) const DAY: i64 = 86_400;

/// The calendar repeats after this many years, weekdays included, so nothing new can be found beyond it.
pub(crate) const CYCLE_YEARS: i32 = 400;

/// Added to a day to make it positive: 30 cycles of 400 years.
const SHIFT_CYCLES: i64 = 30;
const CYCLE_DAYS: i64 = 146_097;
/// Days from 0000-03-01 to 1970-01-01.
const EPOCH_FROM_MARCH_0: i64 = 719_468;

/// A civil date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Date {
    /// Astronomical year.
    pub year: i32,
    /// 1 to 12.
    pub month: u32,
    /// 1 to 31.
    pub day: u32,
}

/// A local second taken apart into its day and the second of that day.
#[inline]
pub(crate) fn split(local: i64) -> (i64, u32) {
    let positive = (local + SHIFT_CYCLES * CYCLE_DAYS * DAY) as u64;
    let day = positive / DAY as u64;
    (day as i64 - SHIFT_CYCLES * CYCLE_DAYS, (positive - day * DAY as u64) as u32)
}

/// 0 for Sunday to 6 for Saturday.
#[inline]
pub(crate) fn weekday(day: i64) -> u32 {
    // A cycle is a whole number of weeks; 1970-01-01 was a Thursday.
    ((day + 4 + SHIFT_CYCLES * CYCLE_DAYS) as u64 % 7) as u32
}

/// The civil date of a day.
#[inline]
pub(crate) fn date(day: i64) -> Date {
    // Years start on 1 March here, so that the leap day is the last day of a year; the quotients
    // are the classic ones for a 1461-day and a 153-day pattern.
    let n = (day + EPOCH_FROM_MARCH_0 + SHIFT_CYCLES * CYCLE_DAYS) as u32;
    let quarter = 4 * n + 3;
    let century = quarter / CYCLE_DAYS as u32;
    let in_century = (quarter % CYCLE_DAYS as u32) / 4;
    let fours = u64::from(4 * in_century + 3) * 2_939_745;
    let year_of_century = (fours >> 32) as u32;
    let day_of_year = (fours as u32) / 2_939_745 / 4;
    let pattern = 2141 * day_of_year + 197_913;
    let (month, day) = (pattern >> 16, (pattern & 0xffff) / 2141 + 1);
    let year = (100 * century + year_of_century) as i32 - (SHIFT_CYCLES as i32) * CYCLE_YEARS;
    if day_of_year >= 306 {
        Date { year: year + 1, month: month - 12, day }
    } else {
        Date { year, month, day }
    }
}

/// The day of a civil date; the date must exist.
#[inline]
pub(crate) fn day_of(date: Date) -> i64 {
    let early = u32::from(date.month <= 2);
    let year = (date.year + SHIFT_CYCLES as i32 * CYCLE_YEARS) as u32 - early;
    let month = date.month + 12 * early;
    let century = year / 100;
    let year_days = 1461 * year / 4 - century + century / 4;
    let month_days = (979 * month - 2919) / 32;
    i64::from(year_days + month_days + date.day - 1) - EPOCH_FROM_MARCH_0 - SHIFT_CYCLES * CYCLE_DAYS
}

/// Whether the year has a 29 February.
#[inline]
pub(crate) fn is_leap(year: i32) -> bool {
    // A multiple of 4 and 25 is one of 100, a multiple of 16 and 25 one of 400.
    year & 3 == 0 && (year & 15 == 0 || year % 25 != 0)
}

/// Days in a month.
#[inline]
pub(crate) fn month_len(year: i32, month: u32) -> u32 {
    if month == 2 { 28 + u32::from(is_leap(year)) } else { 30 | (month ^ (month >> 3)) & 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_of_nine_centuries_agrees_with_jiff() {
        let mut civil = jiff::civil::date(1600, 1, 1);
        for day in
            day_of(Date { year: 1600, month: 1, day: 1 })..=day_of(Date { year: 2500, month: 12, day: 31 })
        {
            let ours = date(day);
            assert_eq!(
                (ours.year, ours.month, ours.day),
                (civil.year().into(), civil.month() as u32, civil.day() as u32)
            );
            assert_eq!(day_of(ours), day);
            assert_eq!(weekday(day), civil.weekday().to_sunday_zero_offset() as u32);
            assert_eq!(month_len(ours.year, ours.month), civil.days_in_month() as u32);
            civil = civil.tomorrow().unwrap();
        }
    }

    #[test]
    fn the_ends_of_time_do_not_overflow() {
        for year in [-9999, 0, 9999] {
            let first = Date { year, month: 1, day: 1 };
            assert_eq!(date(day_of(first)), first);
        }
        assert_eq!(split(-1), (-1, 86_399));
    }
}
