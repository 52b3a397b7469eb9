//! Any text as a duration, a part of the day, a time, or a zone: answered without panic, printed as itself.
#![no_main]

use jiff::Timestamp;
use libfuzzer_sys::fuzz_target;
use punctual_time::{DayRange, Interval, Once, Timing, Windows, Zone};

fuzz_target!(|text: &str| {
    if let Ok(interval) = text.parse::<Interval>() {
        assert_eq!(interval.to_string().parse::<Interval>().as_ref(), Ok(&interval));
        let timing = Timing::new(interval, Zone::utc());
        let next = timing.next(Timestamp::UNIX_EPOCH).expect("an interval goes on");
        assert!(next > Timestamp::UNIX_EPOCH);
        assert_eq!(timing.prev(next), Some(Timestamp::UNIX_EPOCH));
    }
    if let Ok(range) = text.parse::<DayRange>() {
        assert_eq!(range.to_string().parse::<DayRange>().as_ref(), Ok(&range));
    }
    let zone = Zone::utc();
    if let Ok(once) = Once::parse(text, &zone) {
        assert_eq!(Once::parse(&once.to_string(), &zone).as_ref(), Ok(&once));
    }
    let _ = Once::after(text, Timestamp::UNIX_EPOCH, &zone);
    let _ = Windows::default().exclude(text, &[]);
    if text.contains('/') {
        let _ = Zone::get(text);
    }
});
