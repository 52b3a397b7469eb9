//! Any text as English: answered without panic, and what it becomes can be read, planned and described.
#![no_main]

use std::cell::OnceCell;

use libfuzzer_sys::fuzz_target;
use punctual_time::human::{self, Context, Parsed};
use punctual_time::{Cron, DayRange, Dialect, Interval, Once, Spec, Timing, Zone, describe};

thread_local! {
    static CONTEXT: OnceCell<Context> = const { OnceCell::new() };
}

/// The spec of what was read; its texts are those of the crate's own readers.
fn spec(parsed: &Parsed, zone: &Zone) -> Spec {
    match (&parsed.cron, &parsed.every, &parsed.at) {
        (Some(cron), None, None) => Cron::parse(cron, Dialect::Standard).expect("cron that was built").into(),
        (None, Some(every), None) => every.parse::<Interval>().expect("an interval that was built").into(),
        (None, None, Some(at)) => Once::parse(at, zone).expect("a time that was built").into(),
        _ => panic!("exactly one of cron, every and at: {parsed:?}"),
    }
}

fn check(parsed: &Parsed, context: &Context) {
    let zone = parsed.timezone.as_ref().map(|name| Zone::get(name).expect("a zone that was found"));
    let zone = zone.unwrap_or_else(|| context.zone.clone());
    let mut timing = Timing::new(spec(parsed, &zone), zone);
    timing.created_at = context.now;
    timing.windows.only_between =
        parsed.only_between.as_ref().map(|range| range.parse::<DayRange>().expect("a range that was built"));
    assert!(timing.next(context.now).is_none_or(|next| next > context.now));
    assert!(!describe::timing(&timing).is_empty());
    assert!(!describe::parsed(parsed, context).expect("what was read can be said").is_empty());
}

fuzz_target!(|text: &str| {
    CONTEXT.with(|context| {
        let context = context.get_or_init(|| Context {
            now: "2026-11-15T12:00:00Z".parse().expect("an instant"),
            zone: Zone::get("Europe/Berlin").expect("bundled"),
        });
        match human::parse(text, context) {
            Ok(parsed) => check(&parsed, context),
            Err(error) => {
                assert!(text.get(error.span()).is_some(), "{error} points beside the text");
                assert!(!error.code().is_empty() && !error.to_string().is_empty());
            }
        }
    });
});
