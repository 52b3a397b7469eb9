//! A server goes on when nobody reads its log any more, as behind `serve | head`.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::driver::Person;
use crate::live::{each_second, until};

#[test]
fn a_server_whose_log_nobody_reads_any_more_goes_on() {
    let person = Person::new();
    each_second(&person, "tick", &["true"]);
    for format in ["json", "text"] {
        let mut command = person.command(&["serve", "--log-level", "trace", "--log-format", format]);
        let mut serving =
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
        let mut first = String::new();
        let stdout = serving.stdout.take().expect("a pipe");
        BufReader::new(stdout).read_line(&mut first).expect("it greets");
        let log = serving.stderr.take().expect("a pipe");
        BufReader::new(log).read_line(&mut first).expect("it logs");
        // Both ends are closed now; what comes later is written to nobody.
        let after = jiff::Timestamp::now().to_string();
        let is_later = |run: &serde_json::Value| {
            run["status"] == "success" && run["scheduled_for"].as_str().is_some_and(|at| *at > *after)
        };
        until(&person, "tick", is_later);
        let id = serving.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().expect("kill exists").success());
        let status = serving.wait().expect("it ends");
        assert!(status.success(), "{format}: {status}");
    }
}
