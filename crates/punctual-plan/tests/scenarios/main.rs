//! Goal: what happens to schedules can be read as a story, and stays so.
//! Method: each text file beside this one says what there is and what happens, then the ledger and the audit log that
//! come of it. `BLESS=1` writes those two parts anew. `parse` reads the format, `script` and `setting` know its words.
#![allow(clippy::disallowed_methods, reason = "the stories are in files")]

#[path = "../proof/golden.rs"]
mod golden;
mod parse;
#[path = "../proof/promises.rs"]
mod promises;
mod script;
mod setting;
#[path = "../proof/text.rs"]
mod text;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::tz::TimeZone;
use punctual_plan::{Scenario, Simulated, simulate};
use text::Clock;

/// Where the story ends and what comes of it begins.
const LEDGER: &str = "=== ledger";
const LOG: &str = "=== log";

/// What the stories must tell of, by words that at least one of them has to contain.
const WANTED: &[&str] = &[
    " pause ",
    " resume",
    " edit",
    " delete",
    " trigger",
    " force",
    " cancel ",
    " maintain ",
    " share ",
    " remove_owner",
    "catch_up skip",
    "catch_up run_once",
    "catch_up run_all",
    "catch_up spread",
    "max_catch_up ",
    "start_deadline ",
    "jitter after",
    "jitter around",
    "first_start",
    "max_runs ",
    "end_at ",
    "overlap queue",
    "overlap cancel",
    "overlap allow",
    "retry ",
    "breaker ",
    "guard ",
    "lane ",
    "depends_on ",
    "depends_timeout ",
    " success\n",
    " failure\n",
    " finish\n",
    "delay ",
    "limit per_minute",
    "limit in_flight",
    "over wait",
    "over skip",
    "auto_disabled",
    "at_most_once",
    "as a range",
    "only_between ",
    "anchor last_start",
    "anchor last_finish",
    "outcome_unknown",
    "superseded",
    "queue_full",
    "upstream_failed",
    "upstream_absent",
    "waited_too_long",
    "breaker_open",
    "breaker_probe",
    "org_limit",
    "exhausted",
    "paused",
    "deleted",
    "maintenance",
    "owner_removed",
    "invalid",
    "overtaken",
    "outage",
    "caught_up",
    "catch_up_limit",
    "overlap",
];

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios");
    let entries = std::fs::read_dir(folder).expect("the folder of stories");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "txt"));
    files.sort();
    files
}

fn clock(scenario: &Scenario) -> Clock {
    let day = |at: jiff::Timestamp| at.to_zoned(TimeZone::UTC).date();
    let is_one_day = day(scenario.from) == day(scenario.to);
    Clock { zone: TimeZone::UTC, format: if is_one_day { "%H:%M:%S%.f" } else { "%m-%dT%H:%M:%S%.f" } }
}

fn ledger(clock: &Clock, simulated: &Simulated) -> Vec<String> {
    let mut lines = clock.ledger(simulated);
    for account in &simulated.accounts {
        let status = account.state.status.name();
        let status = account.deleted_at.map_or(status, |_| "deleted");
        let next = account.next_run_at.map_or("never".to_owned(), |next| clock.say(next));
        lines.push(format!("= {} {status}, next {next}", account.schedule().name));
    }
    for (target, breaker) in simulated.breakers.iter().filter(|(_, breaker)| breaker.name() != "closed") {
        lines.push(format!("= breaker of {target} {}", breaker.name()));
    }
    lines
}

fn log(clock: &Clock, simulated: &Simulated) -> Vec<String> {
    let names: BTreeMap<_, _> =
        simulated.accounts.iter().map(|account| (account.key, &account.schedule().name)).collect();
    let line = |logged: &punctual_plan::Logged| {
        let (name, event) = (names[&logged.schedule], &logged.event);
        format!("{} {name} {}: {event}", clock.say(logged.at), event.name())
    };
    simulated.log.iter().map(line).collect()
}

#[test]
fn every_story_ends_as_recorded_and_keeps_the_promises() {
    let files = files();
    assert!(files.len() >= 25, "{} stories", files.len());
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a story");
        let (story, _) = text.split_once(LEDGER).unwrap_or((&text, ""));
        let scenario = parse::scenario(story).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let simulated = simulate(&scenario);
        let clock = clock(&scenario);
        let (ledger, log) = (ledger(&clock, &simulated).join("\n"), log(&clock, &simulated).join("\n"));
        let said = format!("{}\n\n{LEDGER}\n{ledger}\n\n{LOG}\n{log}\n", story.trim_end());
        golden::compare(&file, &said);
        let broken = promises::check(&scenario, &simulated).broken;
        assert!(broken.is_empty(), "{}: {broken:#?}", file.display());
    }
}

#[test]
fn together_the_stories_tell_of_everything() {
    let texts: String = files().iter().map(|file| std::fs::read_to_string(file).expect("a story")).collect();
    let untold: Vec<&&str> = WANTED.iter().filter(|word| !texts.contains(**word)).collect();
    assert!(untold.is_empty(), "no story has {untold:?}");
}
