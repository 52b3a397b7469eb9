//! Any text as a cron expression in every dialect: answered without panic, printed as itself, ticking in order.
#![no_main]

use std::cell::OnceCell;

use jiff::Timestamp;
use libfuzzer_sys::fuzz_target;
use punctual_time::{Cron, Dialect, DstRule, Fold, Gap, Timing, Zone};

const RULES: [DstRule; 4] = [
    DstRule { gap: None, fold: None },
    DstRule { gap: Some(Gap::Skip), fold: Some(Fold::Both) },
    DstRule { gap: Some(Gap::Shift), fold: Some(Fold::Last) },
    DstRule { gap: Some(Gap::Shift), fold: Some(Fold::First) },
];

thread_local! {
    static ZONES: OnceCell<[Zone; 3]> = const { OnceCell::new() };
}

/// Where a search starts is drawn from the text itself.
fn start(text: &str) -> Timestamp {
    let drawn = text.bytes().fold(7_i64, |sum, byte| sum.wrapping_mul(31).wrapping_add(i64::from(byte)));
    Timestamp::from_second(drawn.rem_euclid(8_000_000_000) - 2_000_000_000).expect("within 1906 and 2160")
}

fn check(cron: &Cron, text: &str, zone: &Zone) {
    let mut at = start(text);
    for rule in RULES {
        for _ in 0..4 {
            let Some(next) = cron.next_by(rule, at, zone) else { break };
            assert!(next > at, "{cron} stands still");
            assert!(
                cron.prev_by(rule, next, zone).is_none_or(|before| before <= at),
                "{cron} is not in order"
            );
            at = next;
        }
    }
    assert!(cron.smallest_gap().is_none_or(|gap| gap.as_secs() > 0), "{cron} has no smallest gap");
    let why = Timing::new(*cron, zone.clone()).explain(at);
    assert!(!why.to_string().is_empty());
}

fuzz_target!(|text: &str| {
    for dialect in [Dialect::Posix, Dialect::Standard, Dialect::Quartz] {
        match Cron::parse_seeded(text, dialect, text) {
            Ok(cron) => {
                assert_eq!(Cron::parse(&cron.to_string(), dialect).as_ref(), Ok(&cron));
                ZONES.with(|zones| {
                    let zones = zones.get_or_init(|| {
                        ["America/New_York", "Australia/Lord_Howe", "Pacific/Apia"]
                            .map(|name| Zone::get(name).expect("bundled"))
                    });
                    zones.iter().for_each(|zone| check(&cron, text, zone));
                });
            }
            Err(error) => {
                assert!(text.get(error.span()).is_some(), "{error} points beside the text");
                assert!(!error.code().is_empty() && !error.to_string().is_empty());
            }
        }
    }
});
