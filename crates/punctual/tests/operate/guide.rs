//! The guide for operators works as it is written.

use std::path::Path;

use crate::driver::{Person, Serving};
use crate::live::{id, until_status};

/// The words of a line as a shell would pass them; the page uses double quotes only.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (place, part) in line.split('"').enumerate() {
        if place % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

#[test]
fn every_command_of_the_guide_works_in_its_order() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guides/operate.md");
    let text = std::fs::read_to_string(page).expect("the page is there");
    let person = Person::new();
    let mut serving: Option<Serving> = None;
    let mut first = String::new();
    let mut count = 0;
    for line in text.lines().filter_map(|line| line.strip_prefix("$ punctual ")) {
        if line == "serve" {
            serving = Some(person.serve());
            first = id(&until_status(&person, "tick", "success"));
            continue;
        }
        let words = words(line);
        // A slow start may have missed the very first tick; the page means the first run that there is.
        let words: Vec<&str> =
            words.iter().map(|word| if word == "run-1" { first.as_str() } else { word.as_str() }).collect();
        let output = person.run(&words);
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(!output.stdout.is_empty(), "{line}");
        count += 1;
    }
    assert!(count > 20, "the page shows {count} commands");
    serving.expect("the guide serves").stop();
}
