//! The table of examples is private: its test lives beside it.

use super::{Context, example, parse};
use crate::Zone;

#[test]
fn every_example_sentence_is_understood() {
    let context = Context { now: "2026-11-15T12:00:00Z".parse().unwrap(), zone: Zone::utc() };
    for sentence in example::SENTENCES {
        let found = parse(sentence, &context);
        assert!(found.is_ok(), "{sentence}: {found:?}");
    }
}
