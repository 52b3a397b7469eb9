//! Goal: a declared file of many schedules is planned, applied, listed and exported in memory that grows with the file
//! and with nothing else, and nothing of it gets lost.
//! Method: twenty thousand schedules of several kinds, each command under a limit of memory.

use std::fmt::Write;

use serde_json::Value;

use crate::driver::Person;
use crate::{count, within};

const SCHEDULES: usize = 20_000;

/// What reading the file, comparing it and writing it down may take.
const FILE_MIB: u32 = 160;

/// What walking through everything may take, page by page.
const PAGE_MIB: u32 = 100;

/// A schedule in three kinds: plain, with a calendar, with a template.
fn text() -> String {
    let mut text = "calendars: {closed: {dates: [2030-01-01]}}\n\
        templates: {nightly: {cron: '${minute} 3 * * *', target: {type: process, argv: ['true']}}}\nschedules:\n"
        .to_owned();
    for number in 0..SCHEDULES {
        let minute = number % 60;
        let when = match number % 3 {
            0 => format!("cron: '{minute} * * * *', target: {{type: process, argv: [echo, '{number}']}}"),
            1 => "every: 1h, not_on: [closed], target: {type: queue, queue: q}".to_owned(),
            _ => format!("template: nightly, set: {{minute: {minute}}}"),
        };
        writeln!(text, "- {{name: job-{number:05}, tags: [large], payload: {{number: {number}}}, {when}}}")
            .expect("a text can be written");
    }
    text
}

fn summary(output: &std::process::Output) -> Value {
    let said: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    said["summary"].clone()
}

#[test]
fn a_file_of_many_schedules_is_applied_and_read_back_in_little_memory() {
    let person = Person::new();
    std::fs::write(person.home().join("file.yaml"), text()).expect("a file");
    let planned = within(&person, FILE_MIB, &["plan", "file.yaml", "--alone"]);
    assert_eq!(count(&planned, "\"describe\""), SCHEDULES);
    let applied = within(&person, FILE_MIB, &["apply", "file.yaml"]);
    assert_eq!(summary(&applied)["added"], SCHEDULES);
    let again = within(&person, FILE_MIB, &["apply", "file.yaml"]);
    assert_eq!((&summary(&again)["unchanged"], &summary(&again)["changed"]), (&SCHEDULES.into(), &0.into()));
    let listed = within(&person, PAGE_MIB, &["schedule", "list"]);
    assert_eq!(count(&listed, "\"status_detail\""), SCHEDULES);
    let exported = within(&person, PAGE_MIB, &["export"]);
    std::fs::write(person.home().join("exported.yaml"), &exported.stdout).expect("a file");
    let same = within(&person, FILE_MIB, &["apply", "exported.yaml"]);
    assert_eq!(summary(&same)["unchanged"], SCHEDULES, "what is exported is what was applied");
    within(&person, PAGE_MIB, &["system", "nodes"]);
    let checked = within(&person, PAGE_MIB, &["db", "check"]);
    assert_eq!(count(&checked, "\"what\""), 0);
}

#[test]
fn many_schedules_are_made_from_a_file_in_little_memory() {
    let person = Person::new();
    std::fs::write(person.home().join("file.yaml"), text()).expect("a file");
    let made = within(&person, FILE_MIB, &["schedule", "create", "--file", "file.yaml"]);
    assert_eq!(count(&made, "\"status_detail\""), SCHEDULES);
    // A service that brings the file with it finds it there already, under another owner.
    let refused = person.run(&["apply", &person.home().join("file.yaml").display().to_string()]);
    assert_eq!(refused.status.code(), Some(5), "{}", String::from_utf8_lossy(&refused.stderr));
}

#[test]
fn a_service_brings_a_file_of_many_schedules_with_it() {
    let person = Person::new();
    std::fs::write(person.home().join("file.yaml"), text()).expect("a file");
    let serving = person.serve_in_home(&["--config", "file.yaml"]);
    assert!(
        serving.greeting.iter().any(|line| line.contains(&format!("with {SCHEDULES} schedules"))),
        "{:?}",
        serving.greeting
    );
    let peak = crate::herd::peak_mib(&serving);
    println!("serve --config file.yaml with {SCHEDULES} schedules: {peak} MiB at most");
    assert!(peak < 300, "{peak} MiB");
    serving.stop();
}
