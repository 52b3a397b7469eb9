//! Following the ledger until something happens in it.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::Value;

use crate::driver::Person;

/// Follows the runs of a schedule until one is as it is wanted.
pub(crate) fn until(person: &Person, schedule: &str, wanted: impl Fn(&Value) -> bool) -> Value {
    let mut command = person.command(&["runs", schedule, "--follow"]);
    let mut child = command.stdout(Stdio::piped()).spawn().expect("the program starts");
    let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let read = |line: std::io::Result<String>| -> Value {
        serde_json::from_str(&line.expect("a line")).expect("JSON")
    };
    let found = lines.map(read).map(|line| line["run"].clone()).find(|run| wanted(run)).expect("it comes");
    child.kill().expect("it runs");
    child.wait().expect("it has ended");
    found
}

/// Follows the runs of a schedule until one is in a state.
pub(crate) fn until_status(person: &Person, schedule: &str, status: &str) -> Value {
    until(person, schedule, |run| run["status"] == status)
}

pub(crate) fn id(run: &Value) -> String {
    run["id"].as_str().expect("an id").to_owned()
}

/// Makes a schedule that runs a program each second.
pub(crate) fn each_second(person: &Person, name: &str, argv: &[&str]) {
    let line = [&["schedule", "create", "--name", name, "--cron", "* * * * * *", "--"], argv].concat();
    person.json(&line);
}
