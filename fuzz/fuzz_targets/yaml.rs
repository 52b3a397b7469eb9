//! Any text as a file of schedules: answered without panic, and what is read can be described and planned.
#![no_main]

use jiff::Timestamp;
use libfuzzer_sys::fuzz_target;
use punctual::declare;

fuzz_target!(|text: &str| {
    let now: Timestamp = "2026-11-15T12:00:00Z".parse().expect("an instant");
    match declare::read_text("fuzz.yaml", text, now) {
        Ok(declared) => {
            for schedule in declared.schedules.iter().take(3) {
                assert!(!schedule.describe().is_empty());
                let forecast = schedule.forecast(now);
                assert!(forecast.fires.is_sorted_by_key(|tick| tick.at));
            }
        }
        Err(failure) => assert!(!failure.message.is_empty()),
    }
});
